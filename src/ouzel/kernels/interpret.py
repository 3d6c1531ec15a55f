"""Kernels run as they are, by Python.

Taken one at a time, NumPy's numbers are several times slower than Python's.  So kernels see arrays as memoryviews:
what is read from one is a Python number, and what is written to one is in the array.  So do the plain
functions: of an array they may use its length, its shape and its elements.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

Function = Callable[..., Any]


def defined(source: str, plain: dict[str, FunctionType]) -> Function:
    """The function `kernel` of generated source, which may call plain functions."""
    names: dict[str, Any] = {**plain, "np": np, "jit": lambda function: function}
    exec(compile(source, "<kernel>", "exec"), names)  # noqa: S102 - our own source; no user text is in it
    views = set(re.findall(r"\.([a-z_]\w*)", source)) <= _KNOWN
    return viewing(names["kernel"]) if views else names["kernel"]


def viewing(function: FunctionType) -> Function:
    """The function on arrays, which it sees as memoryviews."""
    names = {**function.__globals__, "np": _NUMPY, "longer": _doubled, "taller": _doubled}
    kernel = FunctionType(function.__code__, names, function.__name__)

    @wraps(function)
    def run(*arguments: Any) -> Any:
        result = kernel(*map(_view, arguments))
        return tuple(map(_array, result)) if isinstance(result, tuple) else _array(result)

    return run


def _view(value: Any) -> Any:
    """An array as kernels see it, and so those of a record; anything else as it is."""
    if isinstance(value, tuple):
        return type(value)(*map(_view, value))
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
    uint64=int,
)
# A source with any other attribute gets arrays: memoryviews have no methods of theirs.
_KNOWN = {*vars(_NUMPY), "shape"}
