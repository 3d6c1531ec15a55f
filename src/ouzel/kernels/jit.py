"""Source becomes a kernel: run as it is, or compiled by Numba and cached on disk.

The source is text, generated for a plan, or a plain function of one of the modules here, where nothing depends on
the plan.  The cache is keyed by the source, which depends on the shape of a plan only: constants and columns are
arguments.  It holds machine code only (`store.py`), which is loaded where `trust.py` says so; source is never read
from it.
"""

from __future__ import annotations

import atexit
import hashlib
import inspect
import linecache
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from ouzel.kernels import (
    arithmetic,
    arrays,
    numbering,
    ordering,
    paths,
    records,
    shared,
    shared_growing,
    shared_links,
    shared_moments,
    shared_ranges,
    shared_rows,
    shared_tests,
    windows,
)
from ouzel.kernels.interpret import defined, viewing
from ouzel.kernels.trust import is_own_directory, key_of, make_own_directory
from ouzel.kernels.unbroken import unbroken

Kernel = Callable[..., Any]

_MODULES = (
    *(arithmetic, arrays, numbering, ordering, paths, records, windows),
    *(shared, shared_growing, shared_links, shared_moments, shared_ranges, shared_rows, shared_tests),
)

PLAIN: dict[str, FunctionType] = {
    name: value
    for module in _MODULES
    for name, value in vars(module).items()
    if isinstance(value, FunctionType) and value.__module__ == module.__name__
}
"""The plain functions: kernels by themselves, or what kernels call; no two have one name."""

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
"""How Numba compiles.  nogil: kernels run in several threads at once; numpy: our own code checks divisors."""

BORROWING = tuple(
    one.__name__ for one in (shared, shared_growing, shared_links, shared_moments, shared_ranges, shared_tests)
)
"""Modules whose plain functions only borrow arrays, and make none."""

BORROWS: dict[str, Any] = {**OPTIONS, "_nrt": False, "forceinline": True}
"""How Numba compiles these.  Who has an array need not be counted, which takes longer than what they do; and to
pass on records of many arrays takes longer than that, too: so all that a kernel calls becomes part of it."""

_HEADER = '''"""Written by Ouzel; safe to delete."""
import numpy as np
from ouzel.kernels.compiled import {names}

'''


@cache
def is_enabled() -> bool:
    """Whether kernels may be compiled in this process; OUZEL_JIT=0 says no."""
    return os.environ.get("OUZEL_JIT", "1") != "0"


@cache
def interpreted(source: str | Kernel) -> Kernel:
    """A plain function, or the function `kernel` of generated source, uncompiled."""
    return defined(source, PLAIN) if isinstance(source, str) else viewing(_plain(source))


@cache
def compiled(source: str | Kernel) -> Kernel:
    """A plain function, or the function `kernel` of generated source, compiled; from the cache if it is there."""
    compiler = _compiler()
    if not isinstance(source, str):
        return getattr(compiler, _plain(source).__name__)  # type: ignore[no-any-return]
    called = set(re.findall(r"\w+(?=\()", source))
    text = _HEADER.format(names=", ".join(["jit", *sorted(called & PLAIN.keys())])) + source
    digest = _digest(text + plain_digest())
    return _load(f"ouzel_kernel_{digest}", usable_directory() / f"k{digest}.py", text).kernel  # type: ignore[no-any-return]


@cache
def _compiler() -> ModuleType:
    """Numba's compiler, with which Numba is imported."""
    return unbroken(lambda: import_module("ouzel.kernels.compiled"))


@cache
def plain_digest() -> str:
    """Stands for the plain functions and how they are compiled: Numba does not notice when that changes."""
    return _digest(f"{OPTIONS} {BORROWS}" + "".join(map(inspect.getsource, _MODULES)))


def _plain(function: Kernel) -> FunctionType:
    assert isinstance(function, FunctionType)
    assert PLAIN.get(function.__name__) is function, f"{function.__qualname__} is not in a module of kernels"
    return function


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


# ---- files -----------------------------------------------------------------------------------------------


def cache_directory() -> Path:
    """Where compiled kernels are kept: OUZEL_CACHE, or the user's cache."""
    chosen = os.environ.get("OUZEL_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(base) / "ouzel" / "kernels"


def usable_directory() -> Path:
    """The cache's directory; where there is no place for it, or others may write to it, one for this process."""
    try:
        make_own_directory(cache_directory().absolute())
        directory = cache_directory().resolve()
        if is_own_directory(directory) and key_of(directory):
            return directory
    except (OSError, RuntimeError):  # one cannot write there, or there is no home
        pass
    return _temporary()


@cache
def _temporary() -> Path:
    path = Path(tempfile.mkdtemp(prefix="ouzel-kernels-")).resolve()
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def _load(name: str, path: Path, text: str) -> ModuleType:
    """Run source as a module; `path`, where its machine code is kept, is only a name: nothing is read there."""
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    linecache.cache[str(path)] = (len(text), None, text.splitlines(keepends=True), str(path))
    exec(compile(text, str(path), "exec"), vars(module))  # noqa: S102 - our own source; no user text is in it
    return module
