"""Generated source run as it is, by Python.

Taken one at a time, NumPy's numbers are several times slower than Python's.  So kernels see arrays as memoryviews:
what is read from one is a Python number, and what is written to one is in the array.  So do helpers: of an array
they may use its length, its shape and its elements.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from types import SimpleNamespace
from typing import Any

import numpy as np

Function = Callable[..., Any]


def function_of(source: str, helpers: dict[str, Function]) -> Function:
    """The function `kernel` of generated source, which may call helpers."""
    views = set(re.findall(r"\.([a-z_]\w*)", source)) <= _KNOWN
    names: dict[str, Any] = {**helpers, "np": np, "jit": lambda function: function}
    if views:
        names |= {"np": _NUMPY, "longer": _doubled, "taller": _doubled}
    exec(compile(source, "<kernel>", "exec"), names)  # noqa: S102 - our own source; no user text is in it
    kernel: Function = names["kernel"]
    if not views:
        return kernel

    @wraps(kernel)
    def run(*arguments: Any) -> Any:
        result = kernel(*map(_view, arguments))
        return tuple(map(_array, result)) if isinstance(result, tuple) else _array(result)

    return run


def _view(value: Any) -> Any:
    """An array as kernels see it; anything else as it is."""
    if isinstance(value, np.generic):
        return value.item()
    plain = isinstance(value, np.ndarray) and value.dtype.isnative and value.dtype.kind in "biuf"
    return value.data if plain else value


def _array(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, memoryview) else value


def _doubled(view: memoryview) -> memoryview:
    """A longer or taller array, as the helpers make it, only faster."""
    array = np.asarray(view)
    result = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    result[: len(array)] = array
    return result.data


def _viewed(function: Function) -> Function:
    return lambda *arguments: function(*arguments).data


_NUMPY = SimpleNamespace(
    **{name: _viewed(getattr(np, name)) for name in ("empty", "zeros", "ones", "full")},
    **{name: getattr(np, name) for name in ("int8", "int32", "int64", "uint8", "float64", "bool_", "inf", "nan")},
)
# A source with any other attribute gets arrays: memoryviews have no methods of theirs.
_KNOWN = {*vars(_NUMPY), "shape"}
