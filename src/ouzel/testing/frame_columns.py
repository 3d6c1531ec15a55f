"""A column of every dtype that pandas and Polars have, with sample values: for tests over all of them.

`PANDAS` and `POLARS` hold the columns that events may have, as functions that make one of three values, the last
null where the dtype has nulls; `PANDAS_UNREADABLE` and `POLARS_UNREADABLE` those that no query can use.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

LARGE = 2**53 + 1
"""An integer that no double holds."""

_DAY, _LATER = dt.date(2024, 2, 29), dt.date(2031, 12, 31)
_NOON, _NIGHT = dt.datetime(2024, 2, 29, 12, 30, 1, 250_000), dt.datetime(1969, 7, 20, 23, 59, 59)
_STEP, _BACK = dt.timedelta(seconds=1, microseconds=5), dt.timedelta(days=-400)
_HALF, _CENTS = Decimal("0.50"), Decimal("12345678901234567890.25")


def _series(values: list[Any], dtype: Any) -> Callable[[], pd.Series[Any]]:
    return lambda: pd.Series(values, dtype=dtype)


def _polars(values: list[Any], dtype: Any) -> Callable[[], pl.Series]:
    return lambda: pl.Series(values, dtype=dtype)


def _zoned(unit: str) -> Callable[[], pd.Series[Any]]:
    return lambda: pd.Series(_DAYS, dtype=f"datetime64[{unit}]").dt.tz_localize("Europe/Berlin")


_DAYS = ["2024-02-29 12:30:00", "1969-07-20", None]
_SIGNED, _UNSIGNED = (8, 16, 32, 64), (8, 16, 32, 64)
_UNITS = ("s", "ms", "us", "ns")

_NUMPY: dict[str, Callable[[], pd.Series[Any]]] = {
    **{f"int{bits}": _series([-(2 ** (bits - 1)), 1, 2], f"int{bits}") for bits in _SIGNED},
    **{f"uint{bits}": _series([2 ** (bits - 1) - 1, 1, 2], f"uint{bits}") for bits in _UNSIGNED},
    "int64 beyond doubles": _series([LARGE, -LARGE, 0], "int64"),
    **{f"float{bits}": _series([0.5, -2.0, None], f"float{bits}") for bits in (16, 32, 64)},
    "bool": _series([True, False, True], "bool"),
    **{f"datetime64[{unit}]": _series(_DAYS, f"datetime64[{unit}]") for unit in _UNITS},
    **{f"datetime64[{unit}, Europe/Berlin]": _zoned(unit) for unit in _UNITS},
    **{f"timedelta64[{unit}]": _series([90, -5, None], f"timedelta64[{unit}]") for unit in _UNITS},
}
_OBJECTS: dict[str, Callable[[], pd.Series[Any]]] = {
    "object of strings": _series(["é", "", None], object),
    "object of integers": _series([LARGE, 2, None], object),
    "object of booleans": _series([True, False, None], object),
    "object of bytes": _series([b"\x00\xff", b"", None], object),
    "object of dates": _series([_DAY, _LATER, None], object),
    "object of times of day": _series([dt.time(12, 30, 1), dt.time(0), None], object),
    "object of times": _series([*(pd.Timestamp(one, tz="Asia/Tokyo") for one in (_NOON, _NIGHT)), None], object),
    "object of lengths of time": _series([_STEP, _BACK, None], object),
    "object of decimals": _series([_HALF, Decimal("-1.25"), None], object),
    "object of lists": _series([[1, 2], [LARGE], None], object),
    "object of dicts": _series([{"n": LARGE, "s": "a"}, {"n": 2, "s": "b"}, None], object),
}
_NULLABLE: dict[str, Callable[[], pd.Series[Any]]] = {
    **{f"Int{bits}": _series([-(2 ** (bits - 1)), 1, None], f"Int{bits}") for bits in _SIGNED},
    **{f"UInt{bits}": _series([2 ** (bits - 1) - 1, 1, None], f"UInt{bits}") for bits in _UNSIGNED},
    "Int64 beyond doubles": _series([LARGE, -LARGE, None], "Int64"),
    "Float32": _series([0.5, -2.0, None], "Float32"),
    "Float64": _series([0.5, -2.0, None], "Float64"),
    "boolean": _series([True, False, None], "boolean"),
    "string[python]": _series(["é", "", None], "string[python]"),
    "string[pyarrow]": _series(["é", "", None], "string[pyarrow]"),
    "string with NaN": lambda: pd.Series(["é", "", None], dtype=pd.StringDtype("pyarrow", na_value=np.nan)),
}
_OTHERS: dict[str, Callable[[], pd.Series[Any]]] = {
    "category": lambda: pd.Series(pd.Categorical(["b", "a", None], categories=["b", "a", "c"])),
    "ordered category": lambda: pd.Series(pd.Categorical(["b", "a", None], categories=["b", "a"], ordered=True)),
    "category of integers": lambda: pd.Series(pd.Categorical([7, LARGE, None])),
    "category of intervals": lambda: pd.cut(pd.Series([1.0, 2.0, None]), [0, 1, 2]),
    "period[M]": _series(["2024-02", "1969-07", None], "period[M]"),
    "interval": lambda: pd.Series(pd.arrays.IntervalArray.from_tuples([(0.0, 1.0), (1.5, 2.0), None])),  # type: ignore[list-item]
    "interval of integers": lambda: pd.Series(pd.interval_range(0, 3)),
}
_ARROW: dict[str, tuple[pa.DataType, list[Any]]] = {
    "int64": (pa.int64(), [LARGE, -1, None]),
    "uint8": (pa.uint8(), [255, 1, None]),
    "float": (pa.float32(), [0.5, -2.0, None]),
    "double": (pa.float64(), [0.5, -2.0, None]),
    "bool": (pa.bool_(), [True, False, None]),
    "string": (pa.string(), ["é", "", None]),
    "large_string": (pa.large_string(), ["é", "", None]),
    "binary": (pa.binary(), [b"\x00\xff", b"", None]),
    "decimal": (pa.decimal128(38, 2), [_CENTS, _HALF, None]),
    "date32": (pa.date32(), [_DAY, _LATER, None]),
    "time64": (pa.time64("us"), [dt.time(12, 30, 1), dt.time(0), None]),
    **{f"timestamp[{unit}]": (pa.timestamp(unit), [_NIGHT, _NIGHT, None]) for unit in _UNITS},
    "timestamp[us, Europe/Berlin]": (pa.timestamp("us", "Europe/Berlin"), [_NOON, _NIGHT, None]),
    "duration[us]": (pa.duration("us"), [_STEP, _BACK, None]),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), ["a", "b", None]),
    "list": (pa.list_(pa.int64()), [[LARGE, None], [], None]),
    "struct": (pa.struct({"n": pa.int64()}), [{"n": LARGE}, {"n": None}, None]),
    "null": (pa.null(), [None, None, None]),
}


def _arrow_series(arrow: pa.DataType, values: list[Any]) -> Callable[[], pd.Series[Any]]:
    return lambda: pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, arrow)))


PANDAS: dict[str, Callable[[], pd.Series[Any]]] = {
    **_NUMPY,
    **_OBJECTS,
    **_NULLABLE,
    **_OTHERS,
    **{f"ArrowDtype {name}": _arrow_series(arrow, values) for name, (arrow, values) in _ARROW.items()},
}
PANDAS_UNREADABLE: dict[str, Callable[[], pd.Series[Any]]] = {
    "complex64": _series([1j, 2, 3], "complex64"),
    "complex128": _series([1j, 2, 3], "complex128"),
    "Sparse[int64, 0]": lambda: pd.Series(pd.arrays.SparseArray(np.array([0, 1, 0]))),
    "Sparse[float64, nan]": lambda: pd.Series(pd.arrays.SparseArray(np.array([0.5, np.nan, np.nan]))),
    "object of objects": lambda: pd.Series([object(), object(), None]),
    "object of complex numbers": _series([1j, 2j, None], object),
}

POLARS: dict[str, Callable[[], pl.Series]] = {
    **{f"Int{bits}": _polars([-(2 ** (bits - 1)), 1, None], getattr(pl, f"Int{bits}")) for bits in _SIGNED},
    **{f"UInt{bits}": _polars([2 ** (bits - 1) - 1, 1, None], getattr(pl, f"UInt{bits}")) for bits in _UNSIGNED},
    "Int64 beyond doubles": _polars([LARGE, -LARGE, None], pl.Int64),
    "Float32": _polars([0.5, -2.0, None], pl.Float32),
    "Float64": _polars([0.5, -2.0, None], pl.Float64),
    "Boolean": _polars([True, False, None], pl.Boolean),
    "String": _polars(["é", "", None], pl.String),
    "Binary": _polars([b"\x00\xff", b"", None], pl.Binary),
    "Decimal": _polars([_HALF, Decimal("-1.25"), None], pl.Decimal(10, 2)),
    "Date": _polars([_DAY, _LATER, None], pl.Date),
    "Time": _polars([dt.time(12, 30, 1), dt.time(0), None], pl.Time),
    **{f"Datetime[{unit}]": _polars([_NOON, _NIGHT, None], pl.Datetime(unit)) for unit in ("ms", "us", "ns")},
    "Datetime[us, Europe/Berlin]": lambda: pl.Series([_NOON, _NIGHT, None]).dt.replace_time_zone("Europe/Berlin"),
    **{f"Duration[{unit}]": _polars([_STEP, _BACK, None], pl.Duration(unit)) for unit in ("ms", "us", "ns")},
    "Categorical": _polars(["b", "a", None], pl.Categorical),
    "Enum": _polars(["b", "a", None], pl.Enum(["b", "a", "c"])),
    "List": _polars([[LARGE, None], [], None], pl.List(pl.Int64)),
    "List of Enum": _polars([["b"], [], None], pl.List(pl.Enum(["b", "a"]))),
    "Array": _polars([[1, 2], [LARGE, None], None], pl.Array(pl.Int64, 2)),
    "Struct": _polars([{"n": LARGE}, {"n": None}, None], pl.Struct({"n": pl.Int64})),
    "Null": _polars([None, None, None], pl.Null),
}
POLARS_UNREADABLE: dict[str, Callable[[], pl.Series]] = {
    "Object": _polars([object(), object(), None], pl.Object),
    "Int128": _polars([2**100, 1, None], pl.Int128),
}
