"""What compiled kernels import: Numba's compiler with our options, and the helpers compiled with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numba import njit

from ouzel.kernels.jit import HELPERS, OPTIONS, helpers_digest, usable_directory
from ouzel.kernels.store import Store

_compiler: Any = njit(**OPTIONS)


def jit(function: Any) -> Any:
    """The function, compiled or loaded when it is called with arguments of other types than before."""
    name = function.__name__
    if HELPERS.get(name) is function:
        home = usable_directory() / f"h{helpers_digest()}.{name}"
    else:
        home = Path(function.__code__.co_filename).with_suffix(f".{name}")
    compiled = _compiler(function)
    compiled._cache = Store(home)
    return compiled


def __getattr__(name: str) -> Any:
    """A helper, compiled; it is made when a kernel that calls it is loaded."""
    if name not in HELPERS:
        raise AttributeError(name)
    globals()[name] = jit(HELPERS[name])
    return globals()[name]
