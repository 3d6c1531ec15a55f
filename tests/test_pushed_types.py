"""The types of pushed columns: other encodings are taken, other meanings refused."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import ouzel as oz
from semantics import everywhere

RUNS, WORDS = pa.run_end_encoded(pa.int32(), pa.int64()), pa.dictionary(pa.int8(), pa.string())
SECONDS, ZONED = pa.timestamp("s"), pa.timestamp("us", "Europe/Berlin")


def runs(values: list[int], kind: pa.DataType) -> pa.Array:
    return pc.run_end_encode(pa.array(values, kind))


def pushed(agreed: pa.DataType, column: pa.Array) -> list[Any]:
    """What a matcher for one type makes of a column of another."""
    schema = pa.schema({"ts": pa.int64(), "type": pa.string(), "x": agreed})
    matcher = oz.matcher("PATTERN A a RETURN a.x", schema)
    found = matcher.push(pa.table({"ts": range(len(column)), "type": ["A"] * len(column), "x": column}), 100)
    return [row["x"] for row in found.to_pylist()]


@pytest.mark.parametrize(
    ("agreed", "column", "values"),
    [
        (pa.int64(), pa.array([1, None], pa.int8()), [1, None]),
        (pa.int64(), pa.array([1], pa.uint64()), [1]),
        (pa.int32(), pa.array([1], pa.int64()), [1]),
        (pa.int64(), pa.array([1.0]), [1]),
        (pa.float64(), pa.array([1]), [1.0]),
        (pa.decimal128(9, 2), pa.array([Decimal(1)]), [Decimal("1.00")]),
        (pa.string(), pa.array(["a"]).dictionary_encode(), ["a"]),
        (pa.large_string(), pa.array(["a"]), ["a"]),
        (pa.string(), pa.array(["a"], pa.string_view()), ["a"]),
        (pa.string(), pa.nulls(1), [None]),
        (pa.int64(), runs([9, 1, 1, 2], pa.int32()).slice(1), [1, 1, 2]),
        (RUNS, pa.array([1, 1, None], pa.int8()), [1, 1, None]),
        (RUNS, runs([9, 1, 1, 2], pa.int8()).slice(1), [1, 1, 2]),
        (WORDS, pa.array(["b", "a", None]).dictionary_encode(), ["b", "a", None]),
        (pa.timestamp("ms"), pa.array([datetime(2000, 1, 1)], SECONDS), [datetime(2000, 1, 1)]),
        (SECONDS, pa.array([datetime(2000, 1, 1)], pa.timestamp("ns")), [datetime(2000, 1, 1)]),
        (SECONDS, pa.array([date(2000, 1, 1)]), [datetime(2000, 1, 1)]),
        (pa.duration("ms"), pa.array([timedelta(1)], pa.duration("us")), [timedelta(1)]),
        (pa.time64("us"), pa.array([time(1)], pa.time32("s")), [time(1)]),
        (pa.list_(pa.int64()), pa.array([[1]], pa.large_list(pa.int8())), [[1]]),
        (pa.struct({"a": pa.int64()}), pa.array([{"a": 1}], pa.struct({"a": pa.int8()})), [{"a": 1}]),
    ],
    ids=lambda one: str(one) if isinstance(one, pa.DataType) else None,
)
def test_values_that_are_encoded_otherwise(agreed: pa.DataType, column: pa.Array, values: list[Any]) -> None:
    assert pushed(agreed, column) == values


def halves(*values: float | None) -> pa.Array:
    """A dictionary of half floats in which each value has its place."""
    return pa.DictionaryArray.from_arrays(pa.array(range(len(values)), pa.int8()), pa.array(values, pa.float16()))


# Arrow takes the bits of half floats for numbers where it makes one of several dictionaries.
@pytest.mark.parametrize("restored", [False, True])
def test_every_batch_has_its_own_dictionary_of_half_floats(restored: bool) -> None:
    chunks = [halves(1.5, None, 1.5, None), halves(2.5, 1.5)]
    events = pa.table({"ts": range(6), "type": ["A"] * 6, "x": pa.chunked_array(chunks)})
    for query, expected in (
        ("PATTERN A a RETURN a.x AS x, a.ts AS n", [(1.5, 0), (None, 1), (1.5, 2), (None, 3), (2.5, 4), (1.5, 5)]),
        ("PATTERN A a WHERE [x] RETURN count(*) AS n OUTPUT AGGREGATE", [(1.5, 3.0), (2.5, 1.0)]),
        ("PATTERN A a RETURN sum(a.x) AS x, count(a.x) AS n OUTPUT AGGREGATE", [(7.0, 4.0)]),
    ):
        wanted = [{"x": x, "n": n} for x, n in expected]
        assert oz.match(events, query).to_pylist() == wanted
        for size in (1, 4):
            assert everywhere.pushed(query, events, size=size, restored=restored) == wanted


@pytest.mark.parametrize(
    ("agreed", "given"),
    [
        (pa.int64(), SECONDS),
        (pa.int64(), pa.date64()),
        (pa.int64(), pa.duration("s")),
        (pa.int64(), pa.bool_()),
        (pa.int64(), pa.string()),
        (pa.bool_(), pa.int64()),
        (pa.string(), pa.int64()),
        (pa.string(), pa.binary()),
        (pa.timestamp("ms"), pa.int64()),
        (SECONDS, pa.string()),
        (SECONDS, ZONED),
        (ZONED, SECONDS),
        (ZONED, pa.date32()),
        (pa.date32(), SECONDS),
        (pa.date32(), pa.int32()),
        (pa.duration("s"), pa.int64()),
        (pa.list_(pa.int64()), pa.list_(SECONDS)),
        (pa.struct({"a": pa.int64()}), pa.struct({"a": SECONDS})),
    ],
    ids=lambda one: str(one) if isinstance(one, pa.DataType) else None,
)
def test_values_that_mean_something_else(agreed: pa.DataType, given: pa.DataType) -> None:
    with pytest.raises(oz.SchemaError) as error:
        pushed(agreed, pa.nulls(1, given))
    assert str(error.value) == (
        f"push: column 'x': required {agreed}, as in the matcher's schema; got {given}\n"
        "  hint: cast the column as it is meant, or make the matcher for the type it has"
    )


@pytest.mark.parametrize(("agreed", "given"), [(pa.int64(), SECONDS), (pa.timestamp("ms"), pa.int64())])
def test_times_of_another_kind(agreed: pa.DataType, given: pa.DataType) -> None:
    matcher = oz.matcher("PATTERN A a", pa.schema({"ts": agreed, "type": pa.string()}))
    with pytest.raises(oz.SchemaError, match="push: column 'ts': required"):
        matcher.push(pa.table({"ts": pa.array([1], pa.int64()).cast(given), "type": ["A"]}))


def test_values_that_do_not_fit() -> None:
    with pytest.raises(oz.SchemaError, match="push: required the types of the matcher's schema"):
        pushed(pa.int8(), pa.array([1000]))


def test_columns_of_one_name() -> None:
    matcher = oz.matcher("PATTERN A a", pa.schema({"ts": pa.int64(), "type": pa.string()}))
    events = pa.table([[1], ["A"], ["B"]], names=["ts", "type", "type"])
    with pytest.raises(oz.SchemaError, match="push: required one column 'type'; got 2"):
        matcher.push(events)
