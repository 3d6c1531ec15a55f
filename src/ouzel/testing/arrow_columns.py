"""A column of every Arrow type: two equal values, a third that differs, and a null."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_DAY = datetime(2026, 3, 2, 12, 30, 15)
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_UNITS = ("s", "ms", "us", "ns")


def _three(first: Any, other: Any, arrow: pa.DataType) -> pa.Array:
    return pa.array([first, first, other, None], arrow)


def _columns() -> dict[str, pa.Array]:
    found = {name: _three(7, 9, pa.type_for_alias(name)) for name in _INTEGERS}
    found["uint64 from 2**63 on"] = _three(2**63, 2**64 - 1, pa.uint64())
    found["int64 from 2**53 on"] = _three(2**53, 2**53 + 1, pa.int64())
    found |= {name: _three(1.5, 2.5, pa.type_for_alias(name)) for name in ("float16", "float32", "float64")}
    found["not numbers"] = _three(float("nan"), 1.0, pa.float64())
    decimals = (pa.decimal32(5, 2), pa.decimal64(12, 2), pa.decimal128(12, 2), pa.decimal128(38, 18))
    for arrow in (*decimals, pa.decimal256(60, 2), pa.decimal128(5, -1)):
        step = Decimal(1).scaleb(-arrow.scale)
        found[str(arrow)] = _three(71 * step, 72 * step, arrow)
    texts = (pa.string(), pa.large_string(), pa.string_view())
    found |= {str(arrow): _three("A", "B", arrow) for arrow in texts}
    octets = (pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(2))
    found |= {str(arrow): _three(b"AA", b"BB", arrow) for arrow in octets}
    found["bool"] = _three(False, True, pa.bool_())
    found["null"] = pa.nulls(4)
    found |= {f"timestamp {u}": _three(_DAY, _DAY + timedelta(hours=1), pa.timestamp(u)) for u in _UNITS}
    found["timestamp with a zone"] = _three(_DAY, _DAY + timedelta(hours=1), pa.timestamp("us", "Europe/Madrid"))
    found |= {f"duration {u}": _three(timedelta(1), timedelta(2), pa.duration(u)) for u in _UNITS}
    found["date32"] = _three(date(2026, 3, 2), date(2026, 3, 3), pa.date32())
    found["date64"] = _three(date(2026, 3, 2), date(2026, 3, 3), pa.date64())
    for arrow in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")):
        found[str(arrow)] = _three(time(9, 30), time(10), arrow)
    found["interval"] = _three((1, 2, 3), (1, 2, 4), pa.month_day_nano_interval())
    found |= _nested() | _encoded()
    found["uuid"] = _three(b"0" * 16, b"1" * 16, pa.uuid())
    return found


def _nested() -> dict[str, pa.Array]:
    first, other = [1, 2], [3, 4]
    lists = (pa.list_(pa.int64()), pa.large_list(pa.int64()), pa.list_(pa.int64(), 2), pa.list_view(pa.int64()))
    found = {str(arrow): _three(first, other, arrow) for arrow in lists}
    found["struct"] = _three({"x": 1}, {"x": 2}, pa.struct({"x": pa.int64()}))
    found["map"] = _three([("k", 1)], [("k", 2)], pa.map_(pa.string(), pa.int64()))
    numbers, places = pa.array([0, 0, 1, 0], pa.int8()), pa.array([0, 0, 0, 1], pa.int32())
    values = [pa.array([1, None]), pa.array(["B"])]
    found["dense union"] = pa.UnionArray.from_dense(numbers, places, values)
    return found


def _encoded() -> dict[str, pa.Array]:
    """Dictionaries with a value twice and with null, and runs."""
    found: dict[str, pa.Array] = {}
    for index in (pa.int8(), pa.uint32()):
        places = pa.array([0, 2, 1, 3], index)
        texts, numbers = pa.array(["A", "B", "A", None]), pa.array([7, 9, 7, None])
        found[f"dictionary of strings, {index}"] = pa.DictionaryArray.from_arrays(places, texts)
        found[f"dictionary of integers, {index}"] = pa.DictionaryArray.from_arrays(places, numbers)
    moments = pa.array([_DAY, _DAY + timedelta(1), _DAY], pa.timestamp("ms"))
    found["dictionary of times"] = pa.DictionaryArray.from_arrays(pa.array([0, 2, 1, None], pa.int8()), moments)
    found["runs of integers"] = pc.run_end_encode(_three(7, 9, pa.int64()))
    found["runs of strings"] = pc.run_end_encode(_three("A", "B", pa.string()))
    return found


ARROW_COLUMNS: dict[str, pa.Array] = _columns()
"""By name: four values, the first two equal, the last null."""
