"""Events that are withdrawn or come late, and matches that are reported before they are final."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ouzel as oz

SCHEMA = pa.schema({"ts": "int64", "type": "string", "k": "int64", "x": "float64", "op": "int8"})
PAIRS = "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 10 RETURN a.ts AS a, b.ts AS b"
Row = tuple[Any, ...]


def batch(*rows: Row, schema: pa.Schema = SCHEMA) -> pa.Table:
    """Rows of time, type, key, x and op; what is not said is 1, 0.0 and +1."""
    filled = [(*row, *(1, 0.0, 1)[len(row) - 2 :]) for row in rows]
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in filled], schema)


def matcher(query: Any = PAIRS, speculation: Any = "inf", **options: Any) -> oz.Matcher:
    options = {"op": "op", "time_unit": "ms", **options}
    return oz.matcher(query, SCHEMA, speculation=speculation, **options)


def told(table: pa.Table) -> list[Row]:
    """Changes as tuples: what the query returns, op, id."""
    return [tuple(row.values()) for row in table.to_pylist()]


def test_a_match_is_reported_at_once_and_withdrawn_with_its_event() -> None:
    one = matcher()
    first = one.push(batch((1, "A"), (5, "B")))
    assert first.schema == pa.schema({"a": "int64", "b": "int64", "op": "int8", "match_id": "int64"})
    assert told(first) == [(1, 5, 1, 0)]
    assert told(one.push(batch((3, "A")))) == [(3, 5, 1, 1)]
    assert told(one.push(batch((1, "A", 1, 0.0, -1)))) == [(1, 5, -1, 0)]
    assert told(one.push(batch((1, "A")))) == [(1, 5, 1, 2)]
    assert told(one.finish()) == []
    assert (one.report.withdrawn, one.report.matches, one.report.events) == (1, 2, 5)


def test_an_event_that_comes_late_refutes() -> None:
    one = matcher("PATTERN SEQ(A a, !(C c), B b) WITHIN 10 RETURN a.ts AS a, b.ts AS b")
    assert told(one.push(batch((1, "A"), (5, "B")))) == [(1, 5, 1, 0)]
    assert told(one.push(batch((3, "C")))) == [(1, 5, -1, 0)]
    assert told(one.push(batch((3, "C", 1, 0.0, -1)))) == [(1, 5, 1, 1)]


def test_negation_at_the_end_waits_for_its_window() -> None:
    one = matcher("PATTERN SEQ(A a, B b, !(C c)) WITHIN 10 RETURN a.ts AS a, b.ts AS b")
    assert told(one.push(batch((1, "A"), (5, "B")))) == []
    assert told(one.push(batch((12, "D")))) == [(1, 5, 1, 0)]
    assert told(one.push(batch((9, "C")))) == [(1, 5, -1, 0)]


def test_events_of_a_moment_come_in_several_batches() -> None:
    one = matcher("PATTERN SEQ(A a, B b) WHERE strict_contiguity {} RETURN a.x, b.x AS y")
    assert told(one.push(batch((1, "A", 1, 1.0), (2, "B", 1, 2.0)))) == [(1.0, 2.0, 1, 0)]
    assert told(one.push(batch((2, "B", 1, 3.0), (1, "A", 1, 4.0)))) == [
        (1.0, 3.0, 1, 1),
        (4.0, 2.0, 1, 2),
        (4.0, 3.0, 1, 3),
    ]


def test_two_equal_rows_are_two_events() -> None:
    one = matcher()
    assert told(one.push(batch((1, "A"), (1, "A"), (5, "B")))) == [(1, 5, 1, 0), (1, 5, 1, 1)]
    assert told(one.push(batch((1, "A", 1, 0.0, -1)))) == [(1, 5, -1, 1)]
    assert told(one.push(batch((1, "A", 1, 0.0, -1)))) == [(1, 5, -1, 0)]
    with pytest.raises(oz.DataError, match="row 0, column 'op': it withdraws an event that is not there"):
        one.push(batch((1, "A", 1, 0.0, -1)))


def test_a_withdrawal_comes_after_its_insertion() -> None:
    one = matcher()
    assert told(one.push(batch((1, "A"), (1, "A", 1, 0.0, -1), (1, "A"), (5, "B")))) == [(1, 5, 1, 0)]
    with pytest.raises(oz.DataError, match="row 1, column 'op'"):
        one.push(batch((6, "B"), (7, "B", 1, 0.0, -1), (7, "B")))
    # nothing of that batch was taken
    assert told(one.finish()) == []


def test_null_equals_null_and_nan_equals_nan() -> None:
    one = matcher("PATTERN A a RETURN a.ts AS a")
    rows = [(1, "A", None, float("nan")), (2, "A", None, None), (3, "A", 1, 0.0)]
    one.push(batch(*rows))
    gone = one.push(batch((1, "A", None, float("nan"), -1), (2, "A", None, None, -1), (3, "A", 1, -0.0, -1)))
    assert [row[:2] for row in told(gone)] == [(1, -1), (2, -1), (3, -1)]
    one.push(batch((2, "A", None, float("nan"))))
    with pytest.raises(oz.DataError, match="not there"):
        one.push(batch((2, "A", None, None, -1)))


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [x], lambda x: {"f": x}], ids=["plain", "list", "struct"])
@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.float16()], ids=str)
def test_there_is_one_nan(kind: pa.DataType, wrap: Any) -> None:
    inner = {"list": pa.list_(kind), "dict": pa.struct({"f": kind})}.get(type(wrap(0)).__name__, kind)
    schema = pa.schema({"ts": pa.int64(), "type": pa.string(), "v": inner, "op": pa.int8()})

    def row(value: Any, op: int) -> pa.Table:
        # what computes it, be it a sum of infinities, decides on its sign
        value = np.array(value, kind.to_pandas_dtype())[()]
        return pa.table([[1], ["A"], pa.array([wrap(value)], inner), pa.array([op], pa.int8())], schema=schema)

    for identity in (None, ["v"]):
        one = oz.matcher("PATTERN A a", schema, time_unit="s", op="op", speculation="inf", identity=identity)
        one.push(row(np.nan, 1))
        assert one.push(row(-np.nan, -1)).column("op").to_pylist() == [-1]


def test_values_are_compared_by_what_they_mean() -> None:
    texts = pa.dictionary(pa.int8(), pa.string())
    schema = pa.schema({"ts": pa.timestamp("s"), "type": texts, "d": pa.decimal128(5, 2), "op": pa.int64()})
    one = oz.matcher("PATTERN A a RETURN a.d", schema, speculation="inf", op="op")
    row = {"ts": 60, "type": "A", "d": "1.50", "op": 1}
    first = pa.table({name: pa.array([value]) for name, value in row.items()})
    first = first.set_column(0, "ts", pa.array([60], pa.timestamp("s")))
    first = first.set_column(2, "d", first.column("d").cast(pa.decimal128(5, 2)))
    one.push(first)
    other = first.set_column(0, "ts", first.column(0).cast(pa.timestamp("ms")))
    other = other.set_column(1, "type", pa.array(["B", "A"]).dictionary_encode().slice(1))
    other = other.set_column(2, "d", other.column(2).cast(pa.decimal128(9, 4)))
    other = other.set_column(3, "op", pa.array([-1], pa.int8()).dictionary_encode())
    assert one.push(other).column("op").to_pylist() == [-1]


def test_nested_values() -> None:
    value = pa.struct({"n": pa.list_(pa.float64()), "t": pa.string()})
    schema = pa.schema({"ts": pa.int64(), "v": value, "op": pa.int8()})
    one = oz.matcher("PATTERN a RETURN a.ts AS a", schema, speculation="inf", op="op", time_unit="ms")
    values: list[Any] = [
        *({"n": [1.0, float("nan")], "t": "a"}, {"n": [1.0], "t": None}, {"n": None, "t": None}, None),
        *({"n": [], "t": None}, {"n": [None], "t": None}),
    ]
    for number, gone in enumerate(values):
        one.push(pa.table({"ts": [number] * 6, "v": values, "op": [1] * 6}, schema))
        assert len(told(one.push(pa.table({"ts": [number], "v": [gone], "op": [-1]}, schema)))) == 1
        with pytest.raises(oz.DataError, match="not there"):
            one.push(pa.table({"ts": [number], "v": [gone], "op": [-1]}, schema))


def test_identity() -> None:
    one = matcher("PATTERN A a RETURN a.x", identity=["k"])
    one.push(batch((1, "A", 1, 5.0), (1, "A", 2, 6.0), (2, "A", 1, 7.0)))
    assert told(one.push(batch((1, "C", 1, None, -1)))) == [(5.0, -1, 0)]
    with pytest.raises(oz.DataError, match="not there"):
        one.push(batch((1, "A", 1, 5.0, -1)))


@pytest.mark.parametrize("op", [0, 2, -3, None])
def test_what_is_no_op(op: Any) -> None:
    one = matcher()
    with pytest.raises(oz.DataError, match=r"row 1, column 'op': required \+1, to insert the event, or -1"):
        one.push(batch((1, "A"), (2, "A", 1, 0.0, op)))
    assert one.report.events == 0


@pytest.mark.parametrize("kind", [pa.string(), pa.bool_(), pa.decimal128(3, 0)], ids=str)
def test_columns_that_are_no_op(kind: pa.DataType) -> None:
    schema = SCHEMA.set(4, pa.field("op", kind))
    with pytest.raises(oz.SchemaError, match=r"op column 'op': required integers, \+1 or -1; got"):
        oz.matcher(PAIRS, schema, op="op")


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.float16()], ids=str)
def test_integers_may_be_floats(kind: pa.DataType) -> None:
    schema = SCHEMA.set(4, pa.field("op", kind))
    one = oz.matcher(PAIRS, schema, op="op", speculation="inf", time_unit="ms", on_bad="quarantine")
    rows = [(1, "A"), (5, "B"), (6, "B"), (5, "B", 1, 0.0, -1), (7, "B", 1, 0.0, 0.5), (8, "B", 1, 0.0, None)]
    events = batch(*rows, schema=SCHEMA.set(4, pa.field("op", pa.float32())))
    assert told(one.push(events.set_column(4, "op", events.column("op").cast(kind)))) == [(1, 6, 1, 0)]
    problems = one.take_quarantined().column("problem").to_pylist()
    assert [text.rpartition("got ")[2] for text in problems] == ["0.5", "null"]


def test_a_table_of_pandas_in_which_an_op_is_missing() -> None:
    ops = [1, 1, -1, None, 1]
    frame = pd.DataFrame({"ts": [1, 5, 5, 6, 7], "type": list("ABBBB"), "k": 1, "op": ops})
    with pytest.raises(oz.DataError, match=r"row 3, column 'op': required \+1, .*; got null"):
        oz.match(frame, PAIRS, op="op", time_unit="ms")
    result = oz.match(frame, PAIRS, op="op", time_unit="ms", on_bad="quarantine")
    assert result.to_dict("records") == [{"a": 1, "b": 7}]


def test_malformed_rows_are_set_aside() -> None:
    one = matcher(on_bad="quarantine")
    rows = [(1, "A"), (2, "A", 1, 0.0, 0), (None, "A"), (3, "A", 1, 0.0, -1), (5, "B")]
    assert told(one.push(batch(*rows))) == [(1, 5, 1, 0)]
    bad = one.report.quarantined.select(["ts", "op", "row", "problem"]).to_pylist()
    assert [(row["ts"], row["op"], row["row"]) for row in bad] == [(2, 0, 1), (None, 1, 2), (3, -1, 3)]
    assert "not there" in bad[-1]["problem"]
    one = oz.restore(one.snapshot())
    assert one.take_quarantined().num_rows == 3
    assert one.report.quarantined_count == 3
    one.push(batch((9, "B", 1, 0.0, -1)))
    assert one.report.quarantined.column("row").to_pylist() == [5]


def test_late_rows_are_kept_with_their_op() -> None:
    one = matcher(on_late="keep")
    one.push(batch((1, "A"), (5, "B")), 4)
    assert told(one.push(batch((2, "A"), (1, "A", 1, 0.0, -1), (5, "B", 1, 0.0, -1)))) == [(1, 5, -1, 0)]
    assert one.late.select(["ts", "op"]).to_pylist() == [{"ts": 2, "op": 1}, {"ts": 1, "op": -1}]
    assert oz.restore(one.snapshot()).take_late().num_rows == one.report.late == 2
    other = matcher()
    other.advance(4)
    with pytest.raises(oz.DataError, match="come too late"):
        other.push(batch((1, "A", 1, 0.0, -1)))


# ---- speculation -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "length", [5, np.int64(5), "5 ms", timedelta(milliseconds=5), "4.5 ms", timedelta(microseconds=4_001)]
)
def test_events_a_while_after_the_punctuation_are_held(length: Any) -> None:
    one = matcher(speculation=length)
    assert told(one.push(batch((1, "A"), (4, "B"), (5, "B"), (6, "B")))) == []
    assert told(one.advance(0)) == [(1, 4, 1, 0)]
    assert told(one.push(batch((1, "A", 1, 0.0, -1), (2, "A")))) == [(1, 4, -1, 0), (2, 4, 1, 1)]
    assert told(one.advance(1)) == [(2, 5, 1, 2)]
    assert told(one.push(batch((5, "B", 1, 0.0, -1)), 2)) == [(2, 5, -1, 2), (2, 6, 1, 3)]


def test_before_any_punctuation_all_events_are_held() -> None:
    one = matcher(speculation=2**64)
    assert told(one.push(batch((1, "A"), (4, "B")))) == []
    assert told(one.advance(0)) == [(1, 4, 1, 0)]


def test_without_speculation_only_what_is_held_can_be_withdrawn() -> None:
    one = matcher(speculation=None, watermark=3)
    assert told(one.push(batch((1, "A"), (2, "A"), (5, "B")))) == []
    assert told(one.push(batch((2, "A", 1, 0.0, -1)))) == []
    assert told(one.push(batch((9, "B")))) == [(1, 5, 1, 0)]
    one = oz.restore(one.snapshot())
    assert told(one.finish()) == [(1, 9, 1, 1)]


def test_speculation_of_nothing_answers_with_ids() -> None:
    one = oz.matcher(PAIRS, SCHEMA, speculation=0, time_unit="ms")
    assert told(one.push(batch((1, "A"), (5, "B")))) == []
    assert told(one.push(batch((6, "B")))) == [(1, 5, 1, 0)]


def test_events_let_time_pass_only_if_a_watermark_is_given() -> None:
    one, other = matcher(), matcher(watermark=2)
    for each in (one, other):
        each.push(batch((1, "A"), (9, "B")))
    assert told(one.push(batch((2, "A")))) == [(2, 9, 1, 1)]
    with pytest.raises(oz.DataError, match="come too late: time has passed 7"):
        other.push(batch((2, "A")))


def test_totals_are_reported_as_they_are() -> None:
    query = "PATTERN SEQ(A a, B b) WHERE [k] RETURN count(*) AS n OUTPUT AGGREGATE"
    one = matcher(query)
    assert told(one.push(batch((1, "A"), (5, "B")))) == [(1, 1.0, 1, 0)]
    assert told(one.push(batch((3, "A"), (3, "A", 2), (6, "B", 2)))) == [
        (1, 1.0, -1, 0),
        (1, 2.0, 1, 1),
        (2, 1.0, 1, 2),
    ]
    one = oz.restore(one.snapshot())
    assert told(one.finish()) == []


def test_match_numbers_are_refused() -> None:
    with pytest.raises(oz.OuzelError, match="match_number"):
        matcher("PATTERN A a RETURN match_number() AS n")


# ---- several queries -------------------------------------------------------------------------------------


def test_several_queries() -> None:
    one = matcher([PAIRS, "PATTERN A a RETURN a.ts AS a"])
    first = one.push(batch((1, "A"), (5, "B")))
    assert [told(table) for table in first.values()] == [[(1, 5, 1, 0)], [(1, 1, 1)]]
    gone = one.push(batch((1, "A", 1, 0.0, -1)))
    assert [told(table) for table in gone.values()] == [[(1, 5, -1, 0)], [(1, -1, 1)]]


def test_queries_that_come_and_go() -> None:
    one = matcher([PAIRS])
    (name,) = one.names
    one.push(batch((1, "A"), (5, "B"), (6, "B")), 3)
    one.add("more", "PATTERN B b RETURN b.ts AS b")
    one = oz.restore(one.snapshot())
    found = one.push(batch((5, "B", 1, 0.0, -1)))
    # the new one sees what is at the punctuation or later
    assert told(found[name]) == [(1, 5, -1, 0)]
    assert told(found["more"]) == [(5, 1, 2), (6, 1, 3), (5, -1, 2)]
    one.remove(name)
    assert list(one.push(batch((6, "B", 1, 0.0, -1)))) == ["more"]
    with pytest.raises(oz.QueryError, match="called 'op'"):
        one.add("bad", "PATTERN B b RETURN b.ts AS op")
    assert one.names == ("more",)
    one = oz.restore(one.snapshot())
    assert told(one.push(batch((8, "B")))["more"]) == [(8, 1, 4)]


def test_a_set_of_queries() -> None:
    rows = pa.table({"id": ["one", "two"], "k": [1, 2]})
    one = matcher(oz.queries("PATTERN SEQ(A a, B b) WHERE a.k = $k RETURN a.ts AS a, b.ts AS b", rows, id="id"))
    assert told(one.push(batch((1, "A"), (2, "A", 2), (5, "B")))) == [("one", 1, 5, 1, 0), ("two", 2, 5, 1, 1)]
    one.remove("two")
    assert told(one.push(batch((5, "B", 1, 0.0, -1), (6, "B")))) == [("one", 1, 5, -1, 0), ("one", 1, 6, 1, 2)]
    one.add("three", {"k": 2})
    one = oz.restore(one.snapshot())
    assert told(one.push(batch((7, "B")))) == [("three", 2, 6, 1, 3), ("one", 1, 7, 1, 4), ("three", 2, 7, 1, 5)]


@pytest.mark.parametrize(("gone", "column"), [("one", "id"), ("plain", "id"), ("two", "number")])
def test_a_query_that_goes_takes_no_rows_of_a_set_beside_it(gone: str, column: str) -> None:
    keys = pa.table({column: ["one", "two"] if column == "id" else [1, 2], "k": [1, 2]})
    a_set = oz.queries(f"QUERY sets {PAIRS.replace('[k]', 'a.k = $k')}", keys, id=column)
    others = [f"QUERY {name} PATTERN B b RETURN b.ts AS id" for name in ("one", "two", "plain")]
    one = matcher([a_set, *others])
    first = one.push(batch((1, "A"), (2, "A", 2), (5, "B")))
    assert len(first["sets"]) == 2
    one.remove(gone)
    found = one.push(batch((5, "B", 1, 0.0, -1)))
    assert sorted(found) == sorted({"sets", "one", "two", "plain"} - {gone})
    assert found["sets"].column("match_id").to_pylist() == first["sets"].column("match_id").to_pylist()
    assert found["sets"].column("op").to_pylist() == [-1, -1]
    assert all(table.column("op").to_pylist() == [-1] for name, table in found.items() if name != "sets")


# ---- what is refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"op": "ops"}, "op: required a column of the schema; there is no 'ops'"),
        ({"op": "ts"}, "op: required a column of its own; 'ts' has another role"),
        ({"op": "type"}, "op: required a column of its own; 'type' has another role"),
        ({"op": 1}, "op: required the name of a column; got 1"),
        ({"identity": ["key"]}, "identity: required columns of the schema; there is no 'key'"),
        ({"identity": ["op"]}, "op: required a column of its own"),
        ({"identity": "k"}, "identity: required a list of columns; got 'k'"),
        ({"identity": ["k"], "op": None}, "identity: required op='…' beside it"),
        ({"speculation": "soon"}, "speculation: required 'inf', 0, or a length of time"),
        ({"speculation": -1}, "speculation: required 'inf', 0, or a length of time"),
    ],
)
def test_arguments_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(oz.OuzelError) as error:
        matcher(**options)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("PATTERN A a RETURN a.ts AS op", "op"),
        ("PATTERN A a RETURN a.ts AS match_id", "match_id"),
        ("PATTERN A op", "op"),
        (oz.stream("A").extend(match_id="k + 1"), "match_id"),
    ],
)
def test_columns_that_are_taken(query: Any, name: str) -> None:
    with pytest.raises(oz.QueryError, match=f"is called '{name}'"):
        matcher(query)


def test_op_is_no_attribute() -> None:
    with pytest.raises(oz.QueryError, match="op"):
        matcher("PATTERN A a WHERE a.op = 1 RETURN a.ts AS a")
    assert matcher(oz.stream("A")).push(batch((1, "A"))).column_names == [
        *("k", "x", "start", "end"),
        *("op", "match_id"),
    ]


def test_snapshots_of_other_options_are_refused() -> None:
    data = matcher().snapshot()
    with pytest.raises(oz.StateError, match="speculation: inf, now 5 ticks"):
        matcher(speculation=5).restore(data)
    with pytest.raises(oz.StateError, match="speculation: inf, now none"):
        oz.matcher(PAIRS, SCHEMA, time_unit="ms").restore(data)
    with pytest.raises(oz.StateError, match="identity: none, now k"):
        matcher(identity=["k"]).restore(data)
    with pytest.raises(oz.StateError, match="punctuation: by advance, now by events"):
        matcher(watermark=5).restore(data)


def test_a_restored_matcher_gives_the_same_ids() -> None:
    one = matcher()
    one.push(batch((1, "A"), (2, "A"), (5, "B")))
    other = oz.restore(one.snapshot())
    for each in (batch((2, "A", 1, 0.0, -1)), batch((3, "A"), (4, "B")), batch((9, "B"), (5, "B", 1, 0.0, -1))):
        assert told(one.push(each)) == told(other.push(each)) != []


def test_explain_says_how() -> None:
    assert "rows with -1 in 'op' withdraw events" in matcher().explain()
    assert "up to 5 ticks after" in matcher(speculation=5).explain()
    assert "when they are final, and none is withdrawn" in matcher(speculation=0).explain()


@pytest.mark.parametrize("speculation", [0, "inf"])
def test_matches_of_automata_are_shed(speculation: Any) -> None:
    pairs = oz.automaton(start="q0", final=["q2"]).arc("q0", "q1").arc("q1", "q2").arc("q1", "q1")
    schema = pa.schema({"ts": pa.int64(), "op": pa.int8()})
    limits = oz.Limits(max_matches=2, on_limit="shed")
    matcher = oz.matcher(pairs, schema, type=None, time_unit="s", op="op", speculation=speculation, limits=limits)
    events = pa.table({"ts": list(range(5)), "op": [1] * 5}, schema=schema)
    assert matcher.push(events, watermark=5).num_rows == 2
    assert matcher.report.counters.shed_matches == 8
    assert matcher.advance(9).num_rows == 0


def test_events_that_are_counted_are_not_shed() -> None:
    alone = oz.automaton(start="q0", final=["q1"]).arc("q0", "q1")
    schema = pa.schema({"ts": pa.int64(), "n": pa.int64()})
    with pytest.raises(oz.OuzelError, match="sequence: required limits that end in an error"):
        oz.matcher(alone, schema, type=None, sequence="n", limits=oz.Limits(on_limit="shed"))


def test_a_promise_is_about_what_withdrawals_have() -> None:
    schema = pa.schema({"ts": pa.int64(), "id": pa.int64(), "s": pa.string(), "op": pa.int8()})
    alone = oz.automaton(start="q0", final=["q1"], partition=["s"]).arc("q0", "q1")
    options: dict[str, Any] = {"type": None, "time_unit": "s", "op": "op", "speculation": "inf"}
    matcher = oz.matcher(alone, schema, identity=["id"], **options)
    with pytest.raises(oz.OuzelError, match="reads more than the columns of identity, id"):
        matcher.advance(5, where="s = 'a'")
    matcher.advance(5, where="id = 1")
    oz.matcher(alone, schema, identity=["id", "s"], **options).advance(5, where="s = 'a'")
