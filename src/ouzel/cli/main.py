"""The `ouzel` command from its first moment on: Ctrl-C ends it within a second, with one line.

Nothing is imported here that takes time: the commands are, while Ctrl-C is taken care of already.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

STOPPED = 130
LINE = "stopped by Ctrl-C\n"
# What removes a progress bar and shows the cursor again.
BAR_OFF = "\r\x1b[2K\x1b[?25h"
# So many seconds a command has to put its things in order once it was interrupted.
PATIENCE = 0.7
_leaving = threading.Lock()
_handled = threading.Event()


class _Closed(io.TextIOBase):
    """Stands for stdin or stdout where whoever started the command has closed it: an error once it is used."""

    def __init__(self, name: str) -> None:
        self.name = name

    def write(self, _text: str) -> int:
        raise self._error

    @property
    def buffer(self) -> Any:
        raise self._error

    @property
    def _error(self) -> OSError:
        return OSError(errno.EBADF, "it is closed", self.name)


def _stand_in() -> None:
    """Let nothing else be taken for stdin, stdout or stderr where these are closed."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            try:
                os.fstat(number)
            except OSError:
                os.open(os.devnull, os.O_RDWR)  # its number is the first that is free
            setattr(sys, name, _Closed(name) if number < 2 else os.fdopen(number, "w", closefd=False))


def main(args: Sequence[str] | None = None) -> None:
    """Run the command, and end with its exit code."""
    _stand_in()
    if args is not None:  # a program calls it, and lives on
        from ouzel.cli.commands import run_command

        try:
            return run_command(args)
        except KeyboardInterrupt:
            sys.stderr.write(LINE)
            raise SystemExit(STOPPED) from None
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # an exception in the midst of an import may get lost
        signal.signal(signal.SIGINT, _leave)
        _handled.set()
        _watch()
    from ouzel.cli.commands import run_command

    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return run_command(None)
    except KeyboardInterrupt:
        _leave()
        # the thread that watches is leaving already: Python must not end, without a code, before it has
        time.sleep(PATIENCE)
        os._exit(STOPPED)


def leave_on_ctrl_c(*ends: Callable[[], None]) -> None:
    """From now on, let Ctrl-C end the command at once, after functions that must not take long."""

    def leave(*_signal: Any) -> None:
        for end in ends:
            with suppress(Exception):
                end()
        _leave()

    if _handled.is_set():
        signal.signal(signal.SIGINT, leave)


def _leave(*_signal: Any) -> None:
    """Say so and end at once, without waiting for what may still be at work in threads."""
    if _leaving.acquire(blocking=False):
        files = sys.modules.get("ouzel.cli.whole_files")
        if files is not None:
            files.remove_pending()
        with suppress(OSError):
            os.write(2, (BAR_OFF + LINE if os.isatty(2) else LINE).encode())
        os._exit(STOPPED)


def _watch() -> None:
    """Let a thread see to it that Ctrl-C ends the command even if a long call does not let Python handle it."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)

    def wait() -> None:
        while number := os.read(reading, 1):
            # a stream handles Ctrl-C itself, as it takes some time to end well
            if number[0] == signal.SIGINT and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                time.sleep(PATIENCE)
                _leave()

    threading.Thread(target=wait, daemon=True).start()


if __name__ == "__main__":
    # the module by its name: the commands import it by that too
    from ouzel.cli.main import main as named

    named()
