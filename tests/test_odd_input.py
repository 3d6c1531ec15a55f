"""Input that is odd but usual: mixed columns, integers that became floats, nothing at all."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.logical.times import too_far_off

QUERY = "PATTERN SEQ(A a, B b) RETURN a.ts AS first, b.ts AS last"
USING_X = "PATTERN SEQ(A a, B b) WHERE a.x >= 0 RETURN a.ts AS first, b.ts AS last"
HINT = "\n  hint: mend the data, or set such events aside with on_bad='quarantine'"
FRAME = pd.DataFrame({"ts": [1, 2, 3], "type": ["A", "B", "B"], "x": [1, 2, 3]})


def message(events: Any, error: type[oz.OuzelError], query: str = QUERY, **options: Any) -> str:
    with pytest.raises(error) as raised:
        oz.match(events, query, **options)
    assert type(raised.value) is error
    return str(raised.value)


@pytest.mark.parametrize(
    ("column", "value", "required"), [("x", "two", "int64"), ("ts", "now", "int64"), ("type", 3, "string")]
)
def test_a_pandas_column_of_mixed_objects(column: str, value: Any, required: str) -> None:
    frame = FRAME.astype(object)
    frame.loc[1, column] = value
    expected = f"column '{column}': required {required}; got {value!r}"
    assert message(frame, oz.DataError, USING_X) == f"row 1, {expected}{HINT}"
    report = oz.Report()
    found = oz.match(frame, USING_X, on_bad="quarantine", report=report)
    assert found.to_dict("records") == [{"first": 1, "last": 3}]
    kept = frame.iloc[[1]].to_dict("records")[0]
    assert report.quarantined.to_dict("records") == [kept | {"row": 1, "problem": expected}]


def test_integers_that_pandas_made_floats() -> None:
    frame = pd.DataFrame({"ts": [1, None, 3], "type": ["A", "B", "B"]})
    assert message(frame, oz.DataError) == "row 1, column 'ts': the event has no time" + HINT
    found = oz.match(frame, QUERY, on_bad="quarantine")
    assert found.to_dict("records") == [{"first": 1, "last": 3}]


@pytest.mark.parametrize("kind", ["pyarrow", "pandas", "Polars"])
def test_values_of_another_type_than_declared_are_kept(kind: str) -> None:
    columns = {"ts": [1, 2, 3], "type": ["A", "B", "B"], "x": ["1", "two", "3"]}
    make = {"pyarrow": pa.table, "pandas": pd.DataFrame, "Polars": pl.DataFrame}
    events, report = make[kind](columns), oz.Report()
    oz.match(events, QUERY, types={"A": {"x": "int64"}, "B": {"x": "int64"}}, on_bad="quarantine", report=report)
    assert type(report.quarantined) is type(events)
    assert list(report.quarantined["x"]) in (["two"], [pa.scalar("two")])


@pytest.mark.parametrize("column", ["ts", "x"])
def test_an_integer_beyond_64_bits(column: str) -> None:
    rows = [{"ts": 1, "type": "A", "x": 1}, {"ts": 2, "type": "B", "x": 2}]
    rows[0][column] = 2**70
    assert message(rows, oz.DataError, USING_X) == f"row 0, column '{column}': required int64; got {2**70}" + HINT


def test_unsigned_times_beyond_64_bits() -> None:
    table = pa.table({"ts": pa.array([1, 2**63], pa.uint64()), "type": ["A", "B"]})
    assert message(table, oz.DataError) == f"row 1, column 'ts': {too_far_off(2**63)}" + HINT


def test_a_pandas_frame_with_columns_of_one_name() -> None:
    frame = pd.DataFrame([[1, "A", 1, 2]], columns=["ts", "type", "x", "x"])
    assert message(frame, oz.SchemaError) == "columns of one name: x\n  hint: rename them"


@pytest.mark.parametrize("events", [pl.Series([1, 2]), pa.chunked_array([[1, 2]])], ids=["Polars", "pyarrow"])
def test_a_single_column(events: Any) -> None:
    assert message(events, oz.SchemaError).endswith(f"; got {type(events).__name__}")


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["A"], "types: required a dict of types and their attributes; got ['A']"),
        ({"A": None}, "types: 'A': required a list of attributes, or a dict with their types; got None"),
        ({"A": "x"}, "types: 'A': required a list of attributes, or a dict with their types; got 'x'"),
        (
            {"A": {"x": "integer"}},
            "types: 'x' of 'A': required an Arrow type such as pa.int64() or 'int64'; got 'integer'",
        ),
        (
            {"A": {"x": int}},
            "types: 'x' of 'A': required an Arrow type such as pa.int64() or 'int64'; got <class 'int'>",
        ),
    ],
    ids=["a list", "None", "a string", "an unknown type", "a Python type"],
)
def test_types_that_are_none(types: Any, expected: str) -> None:
    assert message(FRAME, oz.SchemaError, types=types) == expected


def test_types_of_one_table_per_type() -> None:
    expected = "types: required one table; in a dict of tables each is a type with its attributes"
    assert message({"A": FRAME, "B": FRAME}, oz.SchemaError, types={"A": ["x"]}) == expected


def test_tie_breakers() -> None:
    text = "order: required a list of columns, the time first, or 'arrival'; got 'ts'"
    assert message(FRAME, oz.OuzelError, order="ts") == text
    lists = pa.table({"ts": [1, 1], "type": ["A", "B"], "seq": [[1], [2]]})
    text = "order column 'seq': required numbers, strings or times; got list<item: int64>"
    assert message(lists, oz.SchemaError, order=["ts", "seq"]) == text
    tables = {
        "A": pa.table({"ts": [1], "seq": pa.array([1], pa.int64())}),
        "B": pa.table({"ts": [1], "seq": pa.array([2], pa.int32())}),
    }
    text = "order column 'seq': required one type in all tables; got int64 and int32"
    assert message(tables, oz.SchemaError, order=["ts", "seq"]) == text


def test_categories_break_ties() -> None:
    frame = pd.DataFrame({"ts": [1, 1], "type": ["A", "B"], "seq": pd.Categorical(["a", "b"])})
    assert len(oz.match(frame, QUERY, order=["ts", "seq"])) == 1


def test_options_of_the_wrong_type() -> None:
    assert message(FRAME, oz.OuzelError, time=None) == (
        "time: required the name of a column, or of two: ('start', 'end'); got None"
    )
    assert message(FRAME, oz.OuzelError, params=[1]) == "params: required a dict of names and values; got [1]"


def test_times_that_do_not_fit_in_a_finer_unit() -> None:
    tables = {
        "A": pa.table({"ts": pa.array([2**62], pa.timestamp("s"))}),
        "B": pa.table({"ts": pa.array([2], pa.timestamp("ns"))}),
    }
    assert message(tables, oz.SchemaError) == (
        "time column 'ts' of 'A': times that do not fit in ns, the unit of another table\n"
        "  hint: cast the tables to one unit"
    )


def test_nothing_of_several_kinds() -> None:
    assert oz.match({"A": [], "B": []}, QUERY) == []
    assert oz.match({"A": [], "B": [{"ts": 1}]}, QUERY) == []
    for order in (None, ["ts", "seq"]):
        frame = pd.DataFrame({"ts": [], "type": [], "seq": []})
        assert len(oz.match(frame, QUERY, order=order)) == 0
        assert len(oz.match(pd.DataFrame(columns=["ts", "type", "seq"]), QUERY, order=order)) == 0


def test_half_a_character() -> None:
    with pytest.raises(oz.QueryError, match=r"^U\+D800, half of a character\n"):
        oz.query("PATTERN A a WHERE a.x = '\ud800'")


def test_lengths_of_time() -> None:
    table = pa.table({"ts": [0, 3_600_000], "type": ["A", "B"]})
    for condition in ("1 hour <= b.ts - a.ts", "b.ts - a.ts >= 1 hour", "a.ts - b.ts = -(1 hour)"):
        assert oz.match(table, f"PATTERN SEQ(A a, B b) WHERE {condition}").num_rows == 1
    found = oz.match(table, "PATTERN A a RETURN 3 hours AS length")
    assert found.schema.field("length").type == pa.duration("ns")


def test_columns_called_row_and_problem_are_kept_in_the_quarantine() -> None:
    report = oz.Report()
    events = [
        {"ts": None, "type": "A", "row": 7, "problem": "none"},
        {"ts": 1, "type": "A", "row": 8, "problem": ""},
    ]
    oz.match(events, "PATTERN A", on_bad="quarantine", report=report)
    (bad,) = report.quarantined
    assert (bad["row"], bad["problem"], bad["row_"]) == (7, "none", 0)
    assert "no time" in bad["problem_"]


def test_a_value_is_checked_only_where_the_type_has_the_attribute() -> None:
    events = [{"ts": 1, "type": "A", "x": "1"}, {"ts": 2, "type": "B", "x": "free text"}]
    types = {"A": {"x": "int64"}, "B": {}}
    assert oz.match(events, "PATTERN SEQ(A a, B b) RETURN a.x", types=types) == [{"x": 1}]
