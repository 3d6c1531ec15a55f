"""What is said of tables that cannot hold events, and of options that make no sense."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import ouzel as oz

QUERY = "PATTERN SEQ(A a, B b)"
ROWS = [{"ts": 1, "type": "A", "x": 1, "seq": 1}, {"ts": 2, "type": "B", "x": 2, "seq": 2}]
NO_TABLE = (
    "events: required a pyarrow, pandas or Polars table, a list of dicts, the path of a file, "
    "or a dict of them by event type"
)
TABLE = pa.Table.from_pylist(ROWS)


def message(events: Any, error: type[oz.OuzelError] = oz.SchemaError, **options: Any) -> str:
    with pytest.raises(error) as raised:
        oz.match(events, QUERY, **options)
    assert type(raised.value) is error
    return str(raised.value)


def lines(text: str) -> str:
    return dedent(text).strip()


# ---- no table --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("events", "got"),
    [
        (None, "NoneType"),
        (3, "int"),
        (b"events", "bytes"),
        ((row for row in ROWS), "generator"),
        (pd.Series([1, 2]), "Series"),
        (pa.array([1, 2]), "Int64Array"),
    ],
    ids=["None", "int", "bytes", "generator", "pandas series", "array"],
)
def test_no_table(events: Any, got: str) -> None:
    assert message(events) == f"{NO_TABLE}; got {got}"
    assert message({"A": events}) == f"{NO_TABLE}; got {got}"


def test_a_list_of_something_else() -> None:
    assert message([ROWS[0], "B"]) == "events: required a list of dicts; row 1 is a str"


def test_names_that_are_no_strings() -> None:
    assert message([{"ts": 1, 3: 4}]) == "events: required column names that are strings; got 3"


def test_an_empty_dict() -> None:
    assert message({}) == "events: required at least one table; got an empty dict"


def test_columns_of_one_name() -> None:
    table = pa.table([[1], ["A"], [1], [2]], names=["ts", "type", "x", "x"])
    assert message(table) == "columns of one name: x\n  hint: rename them"


# ---- time ------------------------------------------------------------------------------------------------


def test_no_time_column() -> None:
    assert message(TABLE.rename_columns(["time", "type", "x", "seq"])) == lines("""
        time column 'ts' is not among the columns: seq, time, type, x
          hint: name the column with time='…'
    """)


def test_a_misspelt_time_column() -> None:
    assert message(TABLE, time="tss") == lines("""
        time column 'tss' is not among the columns: seq, ts, type, x
          hint: did you mean 'ts'?
    """)


def test_one_table_of_several_without_a_time_column() -> None:
    assert message({"A": TABLE, "B": TABLE.drop_columns(["ts"])}) == lines("""
        time column 'ts' is not among the columns of 'B': seq, type, x
          hint: name the column with time='…'
    """)


@pytest.mark.parametrize(
    ("column", "got"),
    [
        (pa.array([0.5, 1.5]), "double"),
        (pa.array(["2026-01-31", "2026-02-01"]), "string"),
        (pa.array([True, False]), "bool"),
        (pa.array([1, 2], pa.duration("s")), "duration[s]"),
        (pa.array([1, 2]).dictionary_encode(), "dictionary<values=int64, indices=int32, ordered=0>"),
    ],
    ids=["float", "string", "bool", "duration", "dictionary"],
)
def test_a_time_column_that_is_no_time(column: pa.Array, got: str) -> None:
    expected = f"""
        time column 'ts': required integers, timestamps or dates; got {got}
          hint: cast it, for example to timestamp
    """
    assert message(TABLE.set_column(0, "ts", column)) == lines(expected)
    frame = pd.DataFrame({"ts": [0.5, 1.5], "type": ["A", "B"]})
    assert "got double" in message(frame)


@pytest.mark.parametrize(
    ("column", "got"),
    [(pa.array([1, 2], pa.time32("s")), "time32[s]"), (pa.array([[1], [2]]), "list<item: int64>")],
    ids=["time of day", "list"],
)
def test_a_time_column_that_cannot_be_cast(column: pa.Array, got: str) -> None:
    expected = f"time column 'ts': required integers, timestamps or dates; got {got}"
    assert message(TABLE.set_column(0, "ts", column)) == expected


@pytest.mark.parametrize(
    ("one", "other", "got"),
    [
        (pa.int64(), pa.timestamp("s"), "int64 in 'A' and timestamp[s] in 'B'"),
        (pa.timestamp("s"), pa.timestamp("s", "UTC"), "timestamp[s] in 'A' and timestamp[s, tz=UTC] in 'B'"),
        (pa.timestamp("ms"), pa.date32(), "timestamp[ms] in 'A' and date32[day] in 'B'"),
    ],
    ids=["integers and timestamps", "with and without a zone", "timestamps and dates"],
)
def test_time_columns_that_differ(one: pa.DataType, other: pa.DataType, got: str) -> None:
    events = {"A": pa.table({"ts": pa.array([1], one)}), "B": pa.table({"ts": pa.array([2], other)})}
    assert message(events) == f"time column 'ts': required one type in all tables; got {got}"


def test_an_unknown_time_unit() -> None:
    assert message(ROWS, time_unit="h") == "time_unit 'h': required one of s, ms, us, ns"


# ---- order -----------------------------------------------------------------------------------------------


def test_a_tie_breaker_that_is_no_column() -> None:
    assert message(ROWS, order=["ts", "sqe"]) == lines("""
        order column 'sqe' is not among the columns: seq, ts, type, x
          hint: did you mean 'seq'?
    """)


@pytest.mark.parametrize("order", [["seq"], ["seq", "ts"]])
def test_an_order_that_does_not_begin_with_the_time(order: list[str]) -> None:
    assert message(ROWS, order=order) == "order: required the time column 'ts' first; got 'seq'"


# ---- types -----------------------------------------------------------------------------------------------


def test_a_type_column_that_does_not_exist() -> None:
    assert message(ROWS, type="kind") == lines("""
        type column 'kind' is not among the columns: seq, ts, type, x
          hint: name the column with type='…'
    """)


@pytest.mark.parametrize(
    ("column", "got"),
    [
        (pa.array([1, 2]), "int64"),
        (pa.array([True, False]), "bool"),
        (pa.array([["A"], ["B"]]), "list<item: string>"),
        (pa.array([1, 2]).dictionary_encode(), "dictionary<values=int64, indices=int32, ordered=0>"),
    ],
    ids=["int", "bool", "list", "dictionary"],
)
def test_a_type_column_that_holds_no_names(column: pa.Array, got: str) -> None:
    assert message(TABLE.set_column(1, "type", column)) == f"type column 'type': required strings; got {got}"


def test_types_without_a_type_column() -> None:
    expected = "types: required a type column; name it with type='…'"
    assert message(TABLE.drop_columns(["type"]), types={"A": ["x"]}) == expected


def test_a_declared_attribute_that_is_no_column() -> None:
    assert message(ROWS, types={"A": ["x"], "B": ["xx"]}) == lines("""
        types: 'B' has the attribute 'xx', which is no column; required one of seq, ts, type, x
          hint: did you mean 'x'?
    """)


def test_a_column_declared_twice() -> None:
    expected = "types: 'x' is declared int64 and string; required one type per column"
    assert message(ROWS, types={"A": {"x": "int64"}, "B": {"x": pa.string()}}) == expected


# ---- other options ---------------------------------------------------------------------------------------


def test_an_unknown_engine() -> None:
    text = message(ROWS, oz.OuzelError, engine="referense")
    assert text.startswith("unknown engine 'referense': required one of auto, ")
    assert text.endswith("reference\n  hint: did you mean 'reference'?")


def test_an_unknown_policy() -> None:
    assert message(ROWS, oz.OuzelError, on_bad="skip") == "on_bad='skip': required one of error, quarantine"


def test_no_query() -> None:
    with pytest.raises(
        oz.OuzelError,
        match=r"^query: required a text, an expression of the algebra, a set of queries, or a list of these; got NoneType$",
    ):
        oz.match(ROWS, None)  # type: ignore[arg-type]


def test_a_type_that_no_event_has() -> None:
    with pytest.warns(oz.OuzelWarning) as warned:
        oz.match(ROWS, "PATTERN SEQ(A a, BB b)")
    assert [str(one.message) for one in warned] == ["no event has the type 'BB'; did you mean 'B'?"]
    with pytest.warns(oz.OuzelWarning) as warned:
        oz.match(ROWS, "PATTERN SEQ(A a, Exit b)")
    assert [str(one.message) for one in warned] == ["no event has the type 'Exit'; the types are A, B"]


def test_into_a_type_that_events_have() -> None:
    with pytest.raises(oz.QueryError, match=r"^INTO 'B', which is a type of the input already"):
        oz.match(ROWS, "PATTERN A a RETURN a.x INTO B")
    table = pa.Table.from_pylist(ROWS)
    matcher = oz.matcher("PATTERN A a RETURN a.x INTO B", table.schema)
    with pytest.raises(oz.QueryError, match=r"^INTO 'B', which is a type of the input already"):
        matcher.push(table)
    found = [matcher.push(table.filter(pc.field("type") == "A")), matcher.finish()]  # it goes on without them
    assert sum(one.num_rows for one in found) == 1
