"""Servers as processes of our own: started on loopback, waited for, stopped by their process ids."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from ouzel.errors import OuzelError

LOOPBACK = "127.0.0.1"
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java compiles less thoroughly: half the time to start, for servers that live as long as a test."""


class Server:
    """A process that writes to a log and runs until the end of the `with` block."""

    def __init__(
        self,
        command: Sequence[str | Path],
        log: Path,
        environment: Mapping[str, str],
        user: str | None = None,
    ) -> None:
        """Start it, as another user if one is named; the environment is added to this process's."""
        self.log = log
        with log.open("wb") as output:
            self.process = subprocess.Popen(  # noqa: S603 - commands that this package makes
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
                user=user,
                start_new_session=True,  # what it starts can be stopped with it, and Ctrl-C leaves that to us
            )

    def wait_until(self, ready: Callable[[], bool], seconds: float = 120) -> None:
        """Wait until it is ready; say what its log says if it never is."""
        end = time.monotonic() + seconds
        while not ready():
            code = self.process.poll()
            if code is not None or time.monotonic() > end:
                how = f"was not ready after {seconds:g} seconds" if code is None else f"ended with code {code}"
                raise OuzelError(f"the server '{self.log.stem}' {how}; the end of its log:\n{self.last_words()}")
            time.sleep(0.1)

    def last_words(self, lines: int = 15) -> str:
        """The end of the log."""
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])

    def stop(self, seconds: float = 20) -> None:
        """End the process and those that it started: ask, and after a while use force."""
        for order in (signal.SIGTERM, signal.SIGKILL):
            if self.process.poll() is not None:
                return
            os.killpg(self.process.pid, order)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(seconds)

    def __enter__(self) -> Server:
        """The server, running."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop it."""
        self.stop()


def free_port() -> int:
    """A port on loopback that nobody listens on."""
    with socket.create_server((LOOPBACK, 0)) as probe:
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    """Whether somebody listens on a port on loopback."""
    with suppress(OSError), socket.create_connection((LOOPBACK, port), timeout=1):
        return True
    return False
