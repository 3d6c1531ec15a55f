"""Generated source becomes a function: run as it is, or compiled by Numba and cached on disk.

The cache is keyed by the source, which depends on the shape of a plan only: constants and columns are arguments.
Files are put in place whole, so that processes which fill the cache at once cannot see half of one.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import inspect
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from ouzel.kernels import arithmetic, arrays
from ouzel.kernels.interpret import function_of

Kernel = Callable[..., Any]

HELPERS: dict[str, Kernel] = {
    name: value
    for module in (arithmetic, arrays)
    for name, value in vars(module).items()
    if isinstance(value, FunctionType)
}
"""The functions that kernels may call."""

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
"""How Numba compiles.  nogil: kernels run in several threads at once; numpy: our own code checks divisors."""

_HEADER = '''"""Written by Ouzel; safe to delete."""
import numpy as np
from ouzel.kernels.compiled import {names}

'''


def is_enabled() -> bool:
    """Whether kernels may be compiled; OUZEL_JIT=0 says no."""
    return os.environ.get("OUZEL_JIT", "1") != "0"


@cache
def interpreted(source: str) -> Kernel:
    """The function `kernel` of generated source, uncompiled."""
    return function_of(source, HELPERS)


@cache
def compiled(source: str) -> Kernel:
    """The function `kernel` of generated source, compiled; from the cache if it was compiled before."""
    called = set(re.findall(r"\w+(?=\()", source))
    text = _HEADER.format(names=", ".join(["jit", *sorted(called & HELPERS.keys())])) + source
    digest = _digest(text + helpers_digest())
    module = _load(f"ouzel_kernel_{digest}", _place(f"k{digest}.py", text.encode()))
    return module.kernel  # type: ignore[no-any-return]


@cache
def helpers_digest() -> str:
    """Stands for what kernels call and how they are compiled: Numba does not notice when that changes."""
    return _digest(f"{OPTIONS}" + inspect.getsource(arithmetic) + inspect.getsource(arrays))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


# ---- files -----------------------------------------------------------------------------------------------


def cache_directory() -> Path:
    """Where compiled kernels are kept: OUZEL_CACHE, or the user's cache."""
    chosen = os.environ.get("OUZEL_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(base) / "ouzel" / "kernels"


def usable_directory() -> Path:
    """The cache's directory; where there is no place for it, or anybody may write to it, one for this process."""
    directory = cache_directory()
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        foreign = os.name == "posix" and directory.stat().st_mode & stat.S_IWOTH
    except OSError:
        foreign = True
    return _temporary() if foreign else directory


@cache
def _temporary() -> Path:
    path = Path(tempfile.mkdtemp(prefix="ouzel-kernels-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def put(path: Path, content: bytes) -> None:
    """Write a file such that nobody sees half of it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    Path(temporary).chmod(0o644)
    Path(temporary).replace(path)


def _place(name: str, content: bytes) -> Path:
    """Put the source in its place in the cache, unless it is there."""
    path = usable_directory() / name
    try:
        if not path.exists() or path.read_bytes() != content:
            put(path, content)
    except OSError:  # one cannot write there
        path = _temporary() / name
        path.write_bytes(content)
    return path


def _load(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
