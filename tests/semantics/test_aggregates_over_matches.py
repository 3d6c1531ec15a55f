"""OUTPUT AGGREGATE: count, sum, avg, min and max over all matches of a partition."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ouzel as oz
from semantics.harness import rows, tables

CLOSURE = "PATTERN SEQ(A+ a[], B b)"
PAIR = "PATTERN SEQ(A a, B b)"


def totals(query: str, items: str, events: Any, **options: Any) -> list[tuple[Any, ...]]:
    """The rows of a result as tuples; the items need no names."""
    named = ", ".join(f"{item} AS c{number}" for number, item in enumerate(items.split(", ")))
    found = rows(f"{query} RETURN {named} OUTPUT AGGREGATE", events, **options)
    return [tuple(row.values()) for row in found]


def test_a_closure_under_skip_till_any_match() -> None:
    # seven matches: every choice of a1, a2, a3 but none of them; each event is in four
    events = "a1:x=1 a2:x=2 a3:x=4 b4:x=8"
    items = "count(*), count(a[]), sum(a[].x), avg(a[].x), min(a[].x), max(a[].x), count(b), sum(b.x), avg(b.x)"
    assert totals(CLOSURE, items, events) == [(7, 12, 28, 28 / 12, 1, 4, 7, 56, 8)]


def test_a_sequence_of_single_events() -> None:
    # a1 b2, a1 b4, a3 b4
    events = "a1:x=1 b2:x=10 a3:x=2 b4:x=20"
    items = "count(*), sum(a.x), avg(a.x), sum(b.x), min(a.x), max(b.x), max(b.ts)"
    assert totals(PAIR, items, events) == [(3, 4, 4 / 3, 50, 1, 20, 4)]


def test_strategies_decide_what_is_counted() -> None:
    query = f"{CLOSURE} WHERE {{}} {{{{ }}}}"
    events = "a1 a2 c3 a4 b5"
    counts = {
        strategy: totals(query.format(strategy), "count(*), count(a[])", events)
        for strategy in ("strict_contiguity", "skip_till_next_match", "skip_till_any_match")
    }
    assert counts == {
        "strict_contiguity": [(1, 1)],  # [a4] b5
        "skip_till_next_match": [(3, 6)],  # [a1 a2 a4] b5, [a2 a4] b5, [a4] b5
        "skip_till_any_match": [(7, 12)],
    }


def test_nulls_are_left_out() -> None:
    # [a1] [a2] [a1 a2]
    events = "a1:x=null a2:x=3 b3:x=null"
    items = "count(*), count(a[]), count(a[].x), sum(a[].x), avg(a[].x), min(a[].x), count(b.x)"
    assert totals(CLOSURE, items, events) == [(3, 4, 2, 6, 3, 3, 0)]


@pytest.mark.parametrize("function", ["sum", "avg", "min", "max"])
def test_of_nulls_only_there_is_no_value(function: str) -> None:
    assert totals(PAIR, f"count(*), {function}(a.x)", "a1:x=null b2:x=1") == [(1, None)]


def test_without_partitions_there_is_a_row_even_of_no_match() -> None:
    items = "count(*), count(a[]), count(a[].x), sum(a[].x), avg(a[].x), min(a[].x), max(b.ts)"
    assert totals(CLOSURE, items, "b1:x=1 a2:x=1") == [(0, 0, 0, None, None, None, None)]
    assert totals(CLOSURE, items, "c1:x=1") == [(0, 0, 0, None, None, None, None)]


def test_no_events_at_all() -> None:
    table = pa.table({"ts": pa.nulls(0), "type": pa.nulls(0), "x": pa.nulls(0)})
    assert oz.match(table, f"{PAIR} RETURN count(*), min(a.x) OUTPUT AGGREGATE").to_pylist() == [
        {"count(*)": 0, "min(a.x)": None}
    ]
    assert oz.match([], f"{PAIR} RETURN count(*) AS n, sum(a.x) AS x OUTPUT AGGREGATE") == [{"n": 0, "x": None}]
    assert oz.match([], f"{PAIR} WHERE [id] RETURN count(*) OUTPUT AGGREGATE") == []
    text = f"QUERY p {PAIR} RETURN count(*) OUTPUT AGGREGATE QUERY q {PAIR}"
    assert oz.match([], text) == {"p": [{"count(*)": 0}], "q": []}


# ---- partitions ------------------------------------------------------------------------------------------


def test_a_row_for_every_partition_with_a_match_in_the_order_of_their_values() -> None:
    events = "a1:id=20,x=1 a2:id=3,x=2 a3:id=20,x=4 b4:id=20 b5:id=3 a6:id=1 b7:id=5"
    query = f"{CLOSURE} WHERE [id]"
    assert totals(query, "count(*), sum(a[].x)", events) == [(3, 1, 2), (20, 3, 10)]
    assert totals(query, "count(*)", "a1:id=1 b2:id=2") == []


def test_the_columns_of_the_partitions_come_first() -> None:
    query = f"{PAIR} WHERE [id] RETURN count(*), sum(a.x) AS total OUTPUT AGGREGATE"
    found = rows(query, "a1:id=1,x=2 b2:id=1,x=0")
    assert [list(row.items()) for row in found] == [[("id", 1), ("count(*)", 1.0), ("total", 2.0)]]


@pytest.mark.parametrize("test", ["[id, name]", "[id] AND [name]", "a.id = b.id AND a.name = b.name"])
def test_partitions_by_two_attributes(test: str) -> None:
    events = "a1:id=2,name=u a2:id=1,name=v a3:id=2,name=u a4:id=1,name=u "
    events += "b5:id=2,name=u b6:id=1,name=v b7:id=1,name=u"
    assert totals(f"{PAIR} WHERE {test}", "count(*), max(a.ts)", events) == [
        (1, "u", 1, 4),
        (1, "v", 1, 2),
        (2, "u", 2, 3),
    ]


def test_an_attribute_that_is_tested_twice_is_one_column() -> None:
    assert totals(f"{PAIR} WHERE [id] AND [id, id]", "count(*)", "a1:id=2 b2:id=2") == [(2, 1)]
    assert totals(f"{PAIR} WHERE [id] AND [id = 2]", "count(*)", "a1:id=2 b2:id=2 a3:id=1 b4:id=1") == [(2, 1)]


def test_a_constant_is_the_one_partition() -> None:
    events = "a1:name=John,x=1 a2:name=Mary,x=2 a3:name=John,x=3 b4:name=John b5:name=Mary"
    assert totals(f"{PAIR} WHERE [name = 'John']", "count(*), sum(a.x)", events) == [("John", 2, 4)]
    assert totals(f"{PAIR} WHERE [name = 'Zoe']", "count(*)", events) == []


def test_an_event_without_the_attribute_is_in_every_partition() -> None:
    # B has no id: a1 b4, a2 b4, a3 b4
    events = tables("a1:id=1,x=1 a2:id=2,x=2 a3:id=1,x=4 b4:y=7")
    assert totals(f"{PAIR} WHERE [id]", "count(*), sum(a.x), sum(b.y)", events) == [(1, 2, 5, 14), (2, 1, 2, 7)]
    assert totals("PATTERN SEQ(B b, A a) WHERE [id]", "count(*)", events) == []
    either = "PATTERN SEQ(ANY(A, B)+ v[]) WHERE strict_contiguity { [id] }"
    assert totals(either, "count(*), count(v[])", tables("a1:id=1 b2:y=7 a3:id=1")) == [(1, 5, 9), (None, 1, 1)]


def test_a_match_no_event_of_which_has_the_attribute() -> None:
    # the alternative B b has no id: it is found once, and its partition is not known
    events = tables("a1:id=2 b2:y=7 b3:y=8 c4:y=9")
    query = "PATTERN SEQ((A a | B b), C c) WHERE [id]"
    assert totals(query, "count(*), sum(b.y), sum(c.y)", events) == [(2, 1, None, 9), (None, 2, 15, 18)]
    query = "PATTERN SEQ((A a | B b), C c) WHERE [id = 2]"
    assert totals(query, "count(*), sum(b.y), sum(c.y)", events) == [(2, 3, 15, 27)]


def test_values_of_one_partition_in_columns_of_two_types() -> None:
    events = tables("a1:id=1 a2:id=2 b3:id=2.0 b4:id=1.0 b5:id=2.0")
    assert totals(f"{PAIR} WHERE [id]", "count(*)", events) == [(1.0, 1), (2.0, 2)]


@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_zero_and_minus_zero_are_one_partition(engine: str) -> None:
    table = pa.table({"ts": [1, 2, 3, 4], "type": [*"AAAA"], "x": [0.0, -0.0, 1.0, 0.0]})
    found = oz.match(table, "PATTERN A a WHERE [x] RETURN count(*) OUTPUT AGGREGATE", engine=engine)
    assert found.to_pydict() == {"x": [0.0, 1.0], "count(*)": [3, 1]}


# ---- patterns --------------------------------------------------------------------------------------------


def test_an_alternative_that_was_not_chosen_adds_nothing() -> None:
    # a1 c4, b2 c4, b3 c4
    events = "a1:x=1 b2:x=2 b3:x=3 c4:x=0"
    items = "count(*), count(a), sum(a.x), sum(b.x), avg(b.x), min(b.x)"
    assert totals("PATTERN SEQ((A a | B b), C c)", items, events) == [(3, 1, 1, 5, 2.5, 2)]


def test_components_that_may_be_empty() -> None:
    events = "a1:x=1 c2:x=5"
    assert totals("PATTERN SEQ(A? a, B* b[], C c)", "count(*), sum(a.x), count(b[]), sum(b[].x)", events) == [
        (2, 1, 0, None)
    ]


def test_negation_takes_matches_away() -> None:
    # a1 b3 is refuted by n2; left are a3 b5 and, at the end, a3 without a later N
    events = "a1:x=1 n2:x=0 a3:x=4 b3:x=0 b5:x=0"
    assert totals("PATTERN SEQ(A a, !(N n), B b)", "count(*), sum(a.x)", events) == [(1, 4)]
    assert totals("PATTERN SEQ(A a, !(N n)) WITHIN 5", "count(*), sum(a.x)", events) == [(1, 4)]


def test_time_windows_and_count_windows() -> None:
    events = "a1:x=1 a2:x=2 a4:x=4 b5:x=0"
    assert totals(f"{PAIR} WITHIN 4", "count(*), sum(a.x)", events) == [(2, 6)]
    assert totals(f"{PAIR} WITHIN 3 EVENTS", "count(*), sum(a.x)", events) == [(2, 6)]
    events = "a1:x=1,id=1 a2:x=2,id=2 a4:x=4,id=1 b5:x=0,id=1 b6:x=0,id=2"
    assert totals(f"{PAIR} WHERE [id] WITHIN 2 EVENTS", "count(*), sum(a.x)", events) == [(1, 1, 4), (2, 1, 2)]


def test_conjunctions_and_grouping_closures() -> None:
    events = "b1:x=1 a2:x=2 b3:x=4 b4:x=8 c5:x=0"
    assert totals("PATTERN A & B", "count(*), sum(A.x), sum(B.x)", events) == [(3, 6, 13)]
    assert totals("PATTERN A; B+; C", "count(*), count(B), sum(B.x)", events) == [(1, 2, 12)]


def test_composite_events() -> None:
    text = f"QUERY p {PAIR} RETURN b.x - a.x AS gain, a.id AS id INTO T QUERY q PATTERN T t WHERE [id] RETURN "
    found = rows(f"{text} count(*) AS n, sum(t.gain) AS gain OUTPUT AGGREGATE", "a1:x=1,id=7 b2:x=5,id=0", of="q")
    assert found == [{"id": 7, "n": 1, "gain": 4}]


def test_simultaneous_events_do_not_precede_each_other() -> None:
    assert totals(CLOSURE, "count(*), count(a[])", "a1 a1' b2 b2'") == [(4, 4)]


# ---- types and numbers -----------------------------------------------------------------------------------

TYPED = pa.table(
    {
        "ts": pa.array([1, 2, 3, 4], pa.timestamp("us", "UTC")),
        "type": pa.array([*"AAAB"]),
        "small": pa.array([3, -1, 2, 0], pa.int8()),
        "big": pa.array([2**63 - 1, None, 2**63 - 2, 0], pa.int64()),
        "half": pa.array([0.5, 1.5, None, 0], pa.float32()),
        "money": pa.array(map(Decimal, ("1.10", "2.20", "3.30", "0.00")), pa.decimal128(9, 2)),
        "day": pa.array([date(2024, 5, n) for n in (3, 1, 2, 4)], pa.date32()),
        "took": pa.array([30, 10, 20, 0], pa.duration("s")),
        "code": pa.array([30, 10, 20, 0]).dictionary_encode(),
        "name": pa.array(["x", "y", None, "x"]).dictionary_encode(),
        "nan": pa.array([float("nan"), 2.0, 1.0, float("nan")]),
        "none": pa.nulls(4),
    }
)


def aggregated(items: str, pattern: str = "A a", events: pa.Table = TYPED) -> pa.Table:
    return oz.match(events, f"PATTERN {pattern} RETURN {items} OUTPUT AGGREGATE")


@pytest.mark.parametrize(
    ("attribute", "least", "greatest"),
    [
        ("small", -1, 3),
        ("big", 2**63 - 2, 2**63 - 1),
        ("half", 0.5, 1.5),
        ("money", Decimal("1.10"), Decimal("3.30")),
        ("day", date(2024, 5, 1), date(2024, 5, 3)),
        ("ts", datetime(1970, 1, 1, 0, 0, 0, 1, UTC), datetime(1970, 1, 1, 0, 0, 0, 3, UTC)),
        ("code", 10, 30),
        ("nan", 1.0, 2.0),
        ("none", None, None),
    ],
)
def test_least_and_greatest_have_the_type_of_the_attribute(attribute: str, least: Any, greatest: Any) -> None:
    found = aggregated(f"min(a.{attribute}) AS low, max(a.{attribute}) AS high")
    assert found.to_pylist() == [{"low": least, "high": greatest}]
    assert found.schema.types == [TYPED.schema.field(attribute).type] * 2


def test_floats_of_16_bits() -> None:
    table = pa.table({"ts": [1, 2], "x": pa.array(np.array([2.5, 1.5], np.float16))})
    found = aggregated("min(a.x) AS low, max(a.x) AS high, sum(a.x) AS total", events=table)
    assert found.to_pylist() == [{"low": 1.5, "high": 2.5, "total": 4.0}]


def test_lengths_of_time_have_an_order_too() -> None:
    found = aggregated("min(a.took) AS low, max(a.took) AS high")
    assert [column.cast(pa.int64()).to_pylist() for column in found.columns] == [[10], [30]]


def test_counts_and_sums_are_floats() -> None:
    found = aggregated("count(*), count(a), count(a.name), count(a.none), sum(a.small), sum(a.money), avg(a.half)")
    assert found.schema.types == [pa.float64()] * 7
    assert [column[0].as_py() for column in found.columns] == [3, 3, 2, 0, 4, pytest.approx(6.6), 1]
    assert aggregated("sum(a.none), avg(a.none)").to_pylist() == [{"sum(a.none)": None, "avg(a.none)": None}]


def test_a_sum_may_lie_beyond_64_bits() -> None:
    assert aggregated("sum(a.big)").to_pylist() == [{"sum(a.big)": 2.0**64}]


def test_nan_is_the_least_only_of_nan() -> None:
    only = aggregated("min(b.nan) AS low, max(b.nan) AS high, sum(b.nan) AS total", "B b")
    assert all(np.isnan(value) for value in only.to_pylist()[0].values())


KEYS = {
    "small": "3",
    "money": "1.10",
    "day": "'2024-05-03'",
    "took": "30 s",
    "ts": "'1970-01-01T00:00:00.000001'",
    "name": "'x'",
    "code": "30",
    "half": "0.5",
    "type": "'A'",
}


@pytest.mark.parametrize("key", KEYS)
def test_partitions_have_the_type_of_the_attribute(key: str) -> None:
    apart = aggregated("count(*)", f"A a WHERE [{key}]")
    values = [value for value in TYPED.column(key).slice(0, 3).to_pylist() if value is not None]
    assert apart.column(0).to_pylist() == sorted(set(values))
    one = aggregated("count(*)", f"A a WHERE [{key} = {KEYS[key]}]")
    assert one.column(0).to_pylist() == values[:1]
    assert one.schema.types == apart.schema.types == [TYPED.schema.field(key).type, pa.float64()]


@pytest.mark.parametrize("key", KEYS)
def test_a_constant_that_no_event_of_a_match_has(key: str) -> None:
    events = {"A": TYPED.filter(pa.array([True, True, True, False])), "B": TYPED.slice(3).select(["ts"])}
    if key == "ts":
        events = {"A": events["A"].append_column("at", TYPED["ts"].slice(0, 3)), "B": events["B"]}
    name = {"ts": "at"}.get(key, key)
    test = f"[{name} = {KEYS[key]}]"
    found = oz.match(events, f"PATTERN A a | B b WHERE {test} RETURN count(b) AS n OUTPUT AGGREGATE")
    assert found.to_pylist() == [{name: TYPED[key][0].as_py(), "n": 1}]
    assert found.schema.field(name).type == TYPED.schema.field(key).type


def test_no_matches_and_no_events_give_the_same_types() -> None:
    items = "count(*), sum(a.small), min(a.ts), max(a.code)"
    for pattern in ("SEQ(A a, B b) WHERE [name]", "SEQ(A a, B b)"):
        some = aggregated(items, pattern)
        none = aggregated(items, pattern, TYPED.slice(0, 0))
        assert none.schema == some.schema
        assert none.num_rows == ("[name]" not in pattern)


def test_aggregate_is_still_a_name() -> None:
    events = [{"ts": 1, "type": "Aggregate", "aggregate": 3}]
    query = "QUERY aggregate PATTERN Aggregate aggregate WHERE [aggregate] RETURN"
    assert oz.match(events, f"{query} aggregate.aggregate AS aggregate OUTPUT ALL") == [{"aggregate": 3}]
    found = oz.match(events, f"{query} sum(aggregate.ts) AS `count(*)` OUTPUT aggregate")
    assert found == [{"aggregate": 3, "count(*)": 1}]


@pytest.mark.parametrize("arrow", [pa.decimal32(5, 2), pa.decimal128(9, 2), pa.string()])
def test_a_constant_key_in_a_dictionary_of_any_type(arrow: pa.DataType) -> None:
    key = "2" if arrow == pa.string() else Decimal("2.00")
    column = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array([key], arrow))
    table = pa.table({"ts": [1], "type": ["A"], "k": column})
    constant = "'2'" if arrow == pa.string() else "2"
    query = f"PATTERN A a; B b WHERE [k = {constant}] RETURN count(*) AS n OUTPUT AGGREGATE"
    found = oz.match(table, query, types={"A": ["k"], "B": ["k"]})
    assert found.num_rows == 0  # no partition, no row
    assert found.schema.field("k").type == column.type
