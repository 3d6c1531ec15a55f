"""Files that are there only when they are whole: written under another name beside their own, then renamed."""

from __future__ import annotations

import os
import re
import secrets
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PENDING: set[Path] = set()
"""The files that are being written: whoever ends the process at once removes them."""


@contextmanager
def whole_files(paths: Iterable[Path]) -> Iterator[dict[Path, Path]]:
    """Where to write the content of some files; it is put in their places when all of it is there.

    What is no file, such as /dev/stdout, is written to as it is.
    """
    places: dict[Path, Path] = {}
    try:
        for path in paths:
            with naming(path):
                places[path] = _temporary(path)
        yield places
        for path, temporary in places.items():
            if temporary != path:
                with naming(path):
                    _synchronise(temporary)
        for path, temporary in places.items():
            if temporary != path:
                with naming(path):
                    temporary.replace(path.resolve())
                PENDING.discard(temporary)
    finally:
        for path, temporary in places.items():
            if temporary != path:
                temporary.unlink(missing_ok=True)
                PENDING.discard(temporary)


def remove_pending() -> None:
    """Remove what is not whole, before the process ends."""
    for path in list(PENDING):
        with suppress(OSError):
            path.unlink()


@contextmanager
def naming(name: Path | str) -> Iterator[None]:
    """Say which file it was that could not be written: errors of Arrow's do not."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        found = re.search(r"\[errno (\d+)\]", str(error), re.IGNORECASE)
        number = error.errno or (int(found[1]) if found else 0)
        raise OSError(number, os.strerror(number) if number else str(error), str(name)) from error


@contextmanager
def naming_stdout() -> Iterator[None]:
    """Say that it was stdout, and let what is still buffered go nowhere."""
    try:
        with naming("stdout"):
            yield
    except BrokenPipeError:
        raise
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def _temporary(path: Path) -> Path:
    """A new file beside another, with the rights that the other has or would have."""
    if path.exists() and not path.is_file():
        return path
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    # the system takes the umask from these rights: to ask for it would be to change it, for all threads
    handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    PENDING.add(temporary)
    os.close(handle)
    if target.exists():
        temporary.chmod(target.stat().st_mode & 0o777)
    return temporary


def _synchronise(path: Path) -> None:
    """Have the content on the disk before its name: the disk may be full."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
