#!/usr/bin/env bash
# Sets up the virtual environment given as argument (default .venv) with everything `make check` needs.
# Run it through `make setup`, which skips it when nothing has changed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv="${1:-.venv}"
python="${PYTHON:-python3}"
java_wanted=17

step() { echo "setup: $*"; }
fail() {
    printf 'setup: %s\n' "$@" >&2
    exit 1
}

is_recent() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

pip_install() {
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
}

check_python() {
    command -v "$python" >/dev/null ||
        fail "'$python' was not found." \
            "Install Python 3.11 or newer, or name one: make setup PYTHON=/path/to/python3.12"
    is_recent "$python" ||
        fail "Ouzel needs Python 3.11 or newer; '$python' is $("$python" --version 2>&1 | head -n 1)." \
            "Name a newer one: make setup PYTHON=python3.12"
    # Debian and Ubuntu ship Python without ensurepip, and the venv it then creates has no pip.
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "'$python' cannot create virtual environments: its venv or ensurepip module is missing." \
            "On Debian or Ubuntu: apt install $("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
}

# An environment left half made, or whose Python has gone or was too old, is made again.
create_venv() {
    if is_recent "$venv/bin/python" && "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        step "using the environment in $venv"
        return
    fi
    check_python
    step "creating $venv with $("$python" --version)"
    "$python" -m venv --clear "$venv"
}

install_python_packages() {
    # What comes as source, PySpark and Ouzel itself, is built with these, not with whatever is newest.
    step "installing the build tools of requirements-build.lock"
    pip_install --require-hashes -r requirements-build.lock ||
        fail "could not install requirements-build.lock; pip says why above." \
            "It needs a package index that pip can reach."
    step "installing the packages of requirements.lock (this takes two or three minutes: Spark is 450 MB)"
    pip_install --require-hashes --no-build-isolation -r requirements.lock ||
        fail "could not install requirements.lock; pip says why above." \
            "It needs a package index that pip can reach, and wheels for this platform."
    step "installing Ouzel itself, editable"
    pip_install --no-deps --no-build-isolation --editable . ||
        fail "could not install Ouzel itself; pip says why above."
}

# The first number that `java -version` reports, 0 if it does not run: 17 for "17.0.15", 1 for "1.8.0".
java_major() {
    local version
    version="$("$1" -version 2>&1)" || version=""
    [[ $version =~ version\ \"([0-9]+) ]] && echo "${BASH_REMATCH[1]}" || echo 0
}

# Only Spark needs Java.  It takes the one in JAVA_HOME, if that is set, before the one on the path: so do we.
install_java() {
    local java="${JAVA_HOME:+$JAVA_HOME/bin/}java"
    if (($(java_major "$java") >= java_wanted)); then
        step "Java: using '$java', version $(java_major "$java")"
        return
    fi
    step "Java: '$java' is missing or older than $java_wanted, installing requirements-java.lock"
    pip_install --require-hashes -r requirements-java.lock ||
        fail "could not install Java from requirements-java.lock; pip says why above." \
            "Or install Java $java_wanted or newer yourself, put it on the path, and run make setup again."
}

create_venv
install_python_packages
install_java
step "done"
