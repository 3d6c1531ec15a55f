"""Which files of the cache may be loaded: those that this user wrote, in a place where nobody else can write.

Machine code is loaded as it is.  So the directory must belong to this user, and nobody else may write to it or
swap it for another; and each file carries a code that only who knows the key beside it can make (HMAC, RFC 2104).
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
import tempfile
from functools import cache
from pathlib import Path

KEY = "key"
KEY_LENGTH = 32
CODE_LENGTH = hashlib.sha256().digest_size
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
HAS_OWNERS = os.name == "posix"
# No links, and no waiting for whoever writes to a pipe.
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def is_own_directory(path: Path) -> bool:
    """Whether a directory, whose path has no links, is this user's alone, and so are the ways to it."""
    if not HAS_OWNERS:
        return True
    here = path.stat()
    if not stat.S_ISDIR(here.st_mode) or here.st_uid != os.geteuid() or here.st_mode & OTHERS_WRITE:
        return False
    return all(_is_safe_way(parent.stat()) for parent in path.parents)


def _is_safe_way(above: os.stat_result) -> bool:
    """Whether nobody else can swap what is in a directory: with the sticky bit, only owners can."""
    if above.st_uid not in (0, os.geteuid()):
        return False
    if not above.st_mode & OTHERS_WRITE or above.st_mode & stat.S_ISVTX:
        return True
    return not above.st_mode & stat.S_IWOTH and _is_private(above.st_gid)


def _is_private(group: int) -> bool:
    """Whether this user is the only one in a group, as on systems where each has a group of the same name."""
    import grp
    import pwd

    try:
        name, found = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return found.gr_name == name and set(found.gr_mem) <= {name}


def make_own_directory(path: Path) -> None:
    """Make a directory for this user alone, and those above it that are missing."""
    for parent in [*reversed(path.parents), path]:
        if not parent.exists():
            parent.mkdir(mode=0o700, exist_ok=True)


def read_own(path: Path, forbidden: int = OTHERS_WRITE) -> bytes | None:
    """The content of a file of this user's, no link; None if there is none, or if others have rights to it."""
    try:
        handle = os.open(path, os.O_RDONLY | _FLAGS)
    except OSError:
        return None
    try:
        held = os.fstat(handle)
        is_own = not HAS_OWNERS or (held.st_uid == os.geteuid() and not held.st_mode & forbidden)
        if not stat.S_ISREG(held.st_mode) or not is_own:
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)


def put(path: Path, content: bytes) -> None:
    """Write a file for this user alone, such that nobody sees half of it."""
    temporary = _written(path.parent, content)
    try:
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def _written(directory: Path, content: bytes) -> Path:
    handle, temporary = tempfile.mkstemp(dir=directory, suffix=".tmp")  # with mode 0600, and only if it is new
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
    return Path(temporary)


# ---- the key -----------------------------------------------------------------------------------------------


@cache
def key_of(directory: Path) -> bytes:
    """The key of a cache, made when there is none that only this user can read."""
    path = directory / KEY
    was_there = os.path.lexists(path)
    found = _read_key(path)
    if found is not None:
        return found
    if was_there:
        path.unlink(missing_ok=True)
    temporary = _written(directory, secrets.token_bytes(KEY_LENGTH))
    try:
        os.link(temporary, path)  # fails if another process was faster: then its key counts
    except FileExistsError:
        pass
    finally:
        temporary.unlink(missing_ok=True)
    found = _read_key(path)
    if found is None:
        raise OSError(f"{path}: required a file of this user's alone")
    return found


def _read_key(path: Path) -> bytes | None:
    found = read_own(path, forbidden=stat.S_IRWXG | stat.S_IRWXO)
    return found if found is not None and len(found) == KEY_LENGTH else None


# ---- files ---------------------------------------------------------------------------------------------------


def put_signed(path: Path, content: bytes) -> None:
    """Write a file with the code that says who wrote it, and under which name."""
    put(path, _code(path, content) + content)


def read_signed(path: Path) -> bytes | None:
    """The content of a file, if this user wrote it under this name."""
    held = read_own(path)
    if held is None:
        return None
    code, content = held[:CODE_LENGTH], held[CODE_LENGTH:]
    return content if hmac.compare_digest(code, _code(path, content)) else None


def _code(path: Path, content: bytes) -> bytes:
    return hmac.digest(key_of(path.parent), path.name.encode() + b"\0" + content, "sha256")
