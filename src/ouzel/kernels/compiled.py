"""What compiled kernels import: Numba's compiler with our options, and the plain functions compiled with it."""

from __future__ import annotations

from dis import get_instructions
from pathlib import Path
from types import FunctionType
from typing import Any

from numba import njit

from ouzel.kernels.jit import BORROWING, BORROWS, OPTIONS, PLAIN, plain_digest, usable_directory
from ouzel.kernels.store import Store

_compiler: Any = njit(**OPTIONS)
_borrowing: Any = njit(**BORROWS)


def jit(function: FunctionType) -> Any:
    """The function of a generated source, compiled or loaded when it is called with arguments of other types."""
    return _stored(function, Path(function.__code__.co_filename).with_suffix(f".{function.__name__}"))


def _stored(function: FunctionType, home: Path) -> Any:
    compiled = (_borrowing if function.__module__ in BORROWING else _compiler)(function)
    compiled._cache = Store(home)
    return compiled


def __getattr__(name: str) -> Any:
    """A plain function, compiled when it is asked for, and so are those that it calls."""
    if name not in PLAIN:
        raise AttributeError(name)
    function = PLAIN[name]
    read = {one.argval for one in get_instructions(function) if one.opname == "LOAD_GLOBAL"}
    called = {other: globals().get(other) or __getattr__(other) for other in sorted(read & PLAIN.keys())}
    calling = FunctionType(function.__code__, {**function.__globals__, **called}, name)
    globals()[name] = _stored(calling, usable_directory() / f"p{plain_digest()}.{name}")
    return globals()[name]
