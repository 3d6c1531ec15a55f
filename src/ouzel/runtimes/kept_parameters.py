"""Parameters as a matcher keeps them: plain values that a snapshot brings back as they were, as texts in JSON."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.errors import Span, StateError
from ouzel.logical.parameters import constant

Written = list[Any]
"""The kind of a value, and its text; for a list, what its values are written as."""


def kept(value: Any) -> Any:
    """The plain value that means the same in a query; what no query takes is left as it is, for it to refuse.

    >>> kept((np.int64(1), Decimal("2.50"))), kept(date(2026, 1, 2))
    ([1, Decimal('2.50')], '2026-01-02')
    """
    match value:
        case None | bool() | Decimal() | Fraction() | pa.Table():
            return value
        case int():
            return int.__int__(value)
        case float():
            return float.__float__(value)
        case str():
            return str.__str__(value)
        case timedelta():
            return _length(value)
        case np.timedelta64():
            return value
        case date() | np.datetime64():  # a datetime is a date
            return constant(value, Span(0, 0)).value
        case list() | tuple():
            return [kept(one) for one in value]
        case set() | frozenset():
            return sorted((kept(one) for one in value), key=lambda one: (type(one).__name__, repr(one)))
    if isinstance(value, np.generic) and type(value.item()) is not type(value):
        return kept(value.item())
    return value


def _length(value: timedelta) -> timedelta | np.timedelta64:
    """A length of time without pandas, which counts nanoseconds beside."""
    plain = timedelta(value.days, value.seconds, value.microseconds)
    nanoseconds = getattr(value, "nanoseconds", 0)
    if not nanoseconds:
        return plain
    return np.timedelta64(plain // timedelta(microseconds=1) * 1_000 + nanoseconds, "ns")


def _numpy_text(value: np.timedelta64) -> str:
    unit, count = np.datetime_data(value.dtype)
    return f"{int(value.astype(np.int64)) * count} {unit}"


def _numpy_length(text: str) -> np.timedelta64:
    number, unit = text.split(" ")
    length: np.timedelta64 = np.timedelta64(int(number), unit)  # type: ignore[call-overload]
    return length


def _plain_text(value: timedelta) -> str:
    return f"{value.days} {value.seconds} {value.microseconds}"


def _rows_text(value: pa.Table) -> str:
    """The rows of a set of queries, as Arrow writes them."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, value.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(value)
    return b64encode(sink.getvalue()).decode()


def _rows(text: str) -> pa.Table:
    with pa.ipc.open_stream(b64decode(text)) as reader:
        return reader.read_all()


_KINDS: dict[str, tuple[type, Callable[[Any], str], Callable[[str], Any]]] = {
    "nothing": (type(None), lambda _value: "", lambda _text: None),
    "boolean": (bool, str, lambda text: text == "True"),
    "integer": (int, str, int),
    "float": (float, repr, float),
    "text": (str, str, str),
    "decimal": (Decimal, str, Decimal),
    "fraction": (Fraction, str, Fraction),
    "length": (timedelta, _plain_text, lambda text: timedelta(*map(int, text.split(" ")))),
    "numpy length": (np.timedelta64, _numpy_text, _numpy_length),
    "rows": (pa.Table, _rows_text, _rows),
}
_LIST = "list"


def written(value: Any) -> Written:
    """A kept value for JSON.

    >>> written([1, Fraction(1, 3)])
    ['list', [['integer', '1'], ['fraction', '1/3']]]
    """
    if isinstance(value, list):
        return [_LIST, [written(one) for one in value]]
    for kind, (held, text, _read) in _KINDS.items():
        if type(value) is held:
            return [kind, text(value)]
    raise StateError(f"snapshot: required parameters that are plain values; got {type(value).__name__}")


def read(value: Written) -> Any:
    """The value that was written so."""
    kind, text = value
    return [read(one) for one in text] if kind == _LIST else _KINDS[kind][2](text)
