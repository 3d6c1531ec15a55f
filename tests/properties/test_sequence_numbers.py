"""Events that are counted: those follow each other whose numbers do, and matches are told at once (AFA+O, 5.3)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ouzel as oz
from ouzel.testing.algebra import TYPES, events
from ouzel.testing.automata import automata

ONE = oz.automaton(start="q0", final=["q2"], register={"x": 0}, window=10)
PAIR = ONE.arc("q0", "q1", None, {"x": "e.x"}).arc("q1", "q2", None, {"x": "10 * x + e.x"})


def counting(automaton: oz.Automaton) -> oz.Automaton:
    """The same automaton, which looks itself whether numbers follow each other."""
    spec = automaton.spec
    arcs = []
    for arc in spec["arcs"]:
        follows = "(number IS NULL OR e.number = number + 1)"
        when = f"({arc['when']}) AND {follows}" if "when" in arc else follows
        own = {"when": when, "set": {**arc.get("set", {}), "number": "e.number"}}
        arcs.append(arc if arc.get("epsilon") else {**arc, **own})
    return oz.automaton({**spec, "register": {**spec["register"], "number": {"type": "integer"}}, "arcs": arcs})


def counted(table: pa.Table, automaton: oz.Automaton) -> pa.Table:
    """The events with their numbers, in the partition."""
    seen: Counter[Any] = Counter()
    numbers = []
    for row in table.to_pylist():
        key = row["k"] if "partition" in automaton.spec else None
        numbers.append(seen[key])
        seen[key] += 1
    return table.append_column("number", pa.array(numbers, pa.int64()))


@given(st.data(), automata(waiting=False, silent=False), events(9, least=4), st.randoms(use_true_random=False))
def test_any_order_of_arrival(data: st.DataObject, automaton: oz.Automaton, table: pa.Table, random: Any) -> None:
    table = counted(table, automaton)
    places = [place for place in range(table.num_rows) if random.random() < 0.85]
    random.shuffle(places)
    matcher = oz.matcher(automaton, table.schema, types=TYPES, sequence="number")
    found: Counter[str] = Counter()
    start = 0
    while start < len(places):
        size = data.draw(st.integers(1, 4))
        batch = table.take(pa.array(places[start : start + size], pa.int64()))
        start += size
        found += Counter(map(repr, matcher.push(batch).to_pylist()))
        there = table.take(pa.array(sorted(places[:start]), pa.int64()))
        rows = oz.match(there, counting(automaton), types=TYPES, engine="reference", order=["ts", "number"])
        assert found == Counter(map(repr, rows.drop_columns(["number"]).to_pylist()))
        if data.draw(st.booleans()):
            matcher = oz.restore(matcher.snapshot())
    assert matcher.finish().num_rows == 0


def push(matcher: oz.Matcher, *rows: tuple[int, int | None]) -> list[int]:
    table = pa.table({"ts": [10 * x for x, _ in rows], "x": [x for x, _ in rows], "n": [n for _, n in rows]})
    return [row["x"] for row in matcher.push(table.cast(SCHEMA)).to_pylist()]


SCHEMA = pa.schema({"ts": pa.int64(), "x": pa.int64(), "n": pa.int64()})


def test_a_gap_is_waited_for() -> None:
    matcher = oz.matcher(PAIR.arc("q2", "q2"), SCHEMA, sequence="n", time_unit="ms")
    assert push(matcher, (1, 1), (3, 3)) == []
    assert push(matcher, (2, 2)) == []  # the window is too short


def test_numbers_that_follow_each_other() -> None:
    wide = oz.automaton({**PAIR.spec, "window": 100})
    matcher = oz.matcher(wide, SCHEMA, sequence="n", time_unit="ms")
    assert push(matcher, (1, 1), (3, 3)) == []
    assert sorted(push(matcher, (2, 2))) == [12, 23]
    assert "counted by 'n'" in matcher.explain()


def test_what_is_not_counted_is_malformed() -> None:
    matcher = oz.matcher(PAIR, SCHEMA, sequence="n", time_unit="ms")
    with pytest.raises(oz.DataError, match="the number of the event"):
        push(matcher, (1, None))
    matcher = oz.matcher(PAIR, SCHEMA, sequence="n", time_unit="ms", on_bad="quarantine")
    assert push(matcher, (1, None), (2, 2)) == []
    assert matcher.take_quarantined().num_rows == 1


@pytest.mark.parametrize(
    ("query", "options", "message"),
    [
        (PAIR, {"sequence": "m"}, "there is no 'm'"),
        (
            PAIR,
            {"sequence": "ts"},
            "a column of its own of integers, which int64 can hold; got one that",
        ),
        (PAIR, {"sequence": 1}, "the name of a column"),
        (PAIR, {"sequence": "n", "speculation": "inf"}, "without speculation"),
        ("PATTERN A; B", {"sequence": "n"}, "required a register automaton"),
    ],
)
def test_refusals(query: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(oz.OuzelError, match=message):
        oz.matcher(query, SCHEMA, **options)


def test_withdrawals_of_what_is_counted() -> None:
    schema = SCHEMA.append(pa.field("op", pa.int8()))
    wide = oz.automaton({**PAIR.spec, "window": 100})
    matcher = oz.matcher(wide, schema, sequence="n", op="op", time_unit="ms")
    rows = [{"ts": 10 * x, "x": x, "n": x, "op": 1} for x in (1, 2)]
    assert [row["op"] for row in matcher.push(pa.Table.from_pylist(rows, schema)).to_pylist()] == [1]
    gone = pa.Table.from_pylist([{**rows[0], "op": -1}], schema)
    assert [(row["op"], row["match_id"]) for row in matcher.push(gone).to_pylist()] == [(-1, 0)]


WIDE = oz.automaton({**PAIR.spec, "window": 1_000})


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ([(1, 1), (2, 2)], [(3, 2)]),  # it came before, with another event
        ([], [(1, 1), (2, 1)]),
        ([(1, 1), (5, 5)], [(6, 4)]),  # 4 is after 5
        ([(3, 3)], [(1, 4)]),
        ([], [(1, 2), (2, 1)]),
    ],
)
def test_numbers_that_cannot_be(first: list[tuple[int, int]], then: list[tuple[int, int]]) -> None:
    matcher = oz.matcher(WIDE, SCHEMA, sequence="n", time_unit="ms")
    push(matcher, *first)
    before = matcher.snapshot()
    with pytest.raises(
        oz.DataError, match="column 'n': required a number that no other event of the partition has"
    ):
        push(matcher, (7, 7), *then)
    assert matcher.snapshot() == before
    matcher = oz.matcher(WIDE, SCHEMA, sequence="n", time_unit="ms", on_bad="quarantine")
    push(matcher, *first)
    push(matcher, *then, (8, 8))
    assert matcher.take_quarantined().column("n").to_pylist() == [then[-1][1]]
    assert push(matcher, (9, 9)) == [89]


def test_the_least_number_that_there_is() -> None:
    matcher = oz.matcher(WIDE, SCHEMA, sequence="n", time_unit="ms", on_bad="quarantine")
    push(matcher, (1, 5), (2, -(2**63)))
    assert matcher.take_quarantined().column("n").to_pylist() == [-(2**63)]


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=9), st.randoms(use_true_random=False))
def test_what_is_set_aside_does_not_depend_on_batches(rows: list[tuple[int, int]], random: Any) -> None:
    """One event after the other, beside those that came before it and were not set aside."""
    good: list[tuple[int, int]] = []
    aside: list[tuple[int, int]] = []
    for time, number in rows:
        is_bad = any(n == number or (n < number) != (t < time or (t == time and n < number)) for t, n in good)
        (aside if is_bad else good).append((time, number))
    matcher = oz.matcher(WIDE, SCHEMA, sequence="n", time_unit="ms", on_bad="quarantine")
    while rows:
        size = random.randint(1, len(rows))
        push(matcher, *rows[:size])
        rows = rows[size:]
    found = matcher.take_quarantined()
    told = zip(found.column("ts").to_pylist(), found.column("n").to_pylist(), strict=True)
    assert list(told) == [(10 * time, number) for time, number in aside]


def test_numbers_are_free_again_once_their_events_are_withdrawn() -> None:
    schema = SCHEMA.append(pa.field("op", pa.int8()))
    matcher = oz.matcher(WIDE, schema, sequence="n", op="op", time_unit="ms")
    rows = [{"ts": 10 * x, "x": x, "n": x, "op": 1} for x in (1, 2, 3)]
    assert matcher.push(pa.Table.from_pylist(rows, schema)).num_rows == 2
    other = [{**rows[1], "op": -1}, {**rows[1], "x": 5}]
    found = matcher.push(pa.Table.from_pylist(other, schema)).to_pylist()
    assert [(row["x"], row["op"]) for row in found if row["op"] == 1] == [(15, 1), (53, 1)]
    with pytest.raises(oz.DataError, match="no other event"):
        matcher.push(pa.Table.from_pylist([{**rows[1], "x": 6}], schema))


def test_a_number_is_taken_until_its_event_is_withdrawn() -> None:
    schema = SCHEMA.append(pa.field("op", pa.int8()))
    rows = [{"ts": 10 * x, "x": x, "n": x, "op": 1} for x in (1, 2, 3)]
    other, gone = {**rows[1], "x": 5}, {**rows[1], "op": -1}
    for way in ("error", "quarantine"):
        matcher = oz.matcher(WIDE, schema, sequence="n", op="op", time_unit="ms", on_bad=way)
        matcher.push(pa.Table.from_pylist(rows, schema))
        batch = pa.Table.from_pylist([other, gone, other], schema)
        if way == "error":
            with pytest.raises(oz.DataError, match=r"row 0, .*got 2"):
                matcher.push(batch)
        else:
            assert matcher.push(batch).column("x").to_pylist() == [12, 23, 15, 53]
            assert matcher.take_quarantined().column("x").to_pylist() == [5]


@pytest.mark.parametrize("kept", [False, True], ids=["running", "restored"])
def test_the_last_number_that_time_has_passed_is_known(kept: bool) -> None:
    only_ones = oz.automaton({**WIDE.spec, "arcs": [{"source": "q0", "target": "q2", "when": "e.x < 3"}]})
    matcher = oz.matcher(only_ones, SCHEMA, sequence="n", time_unit="ms", on_bad="quarantine")
    push(matcher, (3, 3))  # no run goes on from it
    matcher.advance(50)
    matcher = oz.restore(matcher.snapshot()) if kept else matcher
    push(matcher, (5, 2), (6, 3), (7, 4))
    assert matcher.take_quarantined().column("n").to_pylist() == [2, 3]


def test_events_of_no_partition_are_not_counted() -> None:
    schema = pa.schema({"ts": pa.int64(), "k": pa.string(), "n": pa.int64()})
    matcher = oz.matcher(
        oz.automaton({**PAIR.spec, "partition": ["k"], "arcs": [{"source": "q0", "target": "q2"}]}),
        schema,
        sequence="n",
        time_unit="ms",
        on_bad="quarantine",
    )
    rows = [(1, None, 1), (1, "a", 1), (2, "a", 1), (3, None, 1)]
    found = matcher.push(pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema))
    assert found.column("valid_from").to_pylist() == [1]
    assert matcher.take_quarantined().column("ts").to_pylist() == [2]


def test_a_withdrawal_by_identity_needs_no_number() -> None:
    schema = SCHEMA.append(pa.field("op", pa.int8()))
    matcher = oz.matcher(WIDE, schema, sequence="n", op="op", identity=["x"], time_unit="ms")
    rows = [{"ts": 10 * x, "x": x, "n": x, "op": 1} for x in (1, 2)]
    assert matcher.push(pa.Table.from_pylist(rows, schema)).num_rows == 1
    gone = matcher.push(pa.Table.from_pylist([{"ts": 20, "x": 2, "n": None, "op": -1}], schema))
    assert gone.column("op").to_pylist() == [-1]


def test_arcs_change_behind_what_was_told_for_good() -> None:
    matcher = oz.matcher(oz.query(WIDE.arc("q0", "q2", "e.x > $least"), {"least": 8}), SCHEMA, sequence="n")
    assert push(matcher, (1, 1), (2, 2)) == [12]
    with pytest.raises(oz.OuzelError, match="at 0, before which events were not to change any more: required 21"):
        matcher.change(remove=["a0"], at=0)
    matcher.set_params(None, least=2)
    matcher = oz.restore(matcher.snapshot())
    assert push(matcher, (3, 3)) == [23, 0]  # and nothing of what came before
    first, last = WIDE.spec["arcs"]
    matcher.replace(None, oz.automaton({**WIDE.spec, "arcs": [first, {**last, "set": {"x": "e.x - x"}}]}))
    assert push(matcher, (4, 4)) == [1]
    assert matcher.report.matches == 4


COUNTED_ROWS = st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(0, 1), st.sampled_from((1, 1, 1, -1)))


@settings(max_examples=200)
@given(st.lists(COUNTED_ROWS, max_size=14), st.booleans(), st.booleans(), st.randoms(use_true_random=False))
def test_what_is_set_aside_of_corrections_does_not_depend_on_batches(
    rows: list[tuple[int, int, int, int]], parted: bool, restored: bool, random: Any
) -> None:
    """One row after the other, as in a batch of its own."""
    there: list[tuple[int, int, int]] = []
    aside = []
    for time, number, x, op in rows:
        one = (time, number, x)
        if op == -1:
            is_bad = one not in there
            there = there if is_bad else [other for other in there if other != one]
        else:
            beside = [other for other in there if not parted or other[2] == x]
            is_bad = any(n == number or (n < number) != ((t, n) < (time, number)) for t, n, _x in beside)
            there = there if is_bad else [*there, one]
        if is_bad:
            aside.append((10 * time, number, x, op))
    schema = SCHEMA.append(pa.field("op", pa.int8()))
    query = oz.automaton({**WIDE.spec, "partition": ["x"] if parted else []})
    matcher = oz.matcher(query, schema, sequence="n", op="op", time_unit="ms", on_bad="quarantine")
    live = Counter[int]()
    while rows:
        size = random.randint(1, len(rows))
        batch = [{"ts": 10 * t, "x": x, "n": n, "op": op} for t, n, x, op in rows[:size]]
        rows = rows[size:]
        for row in matcher.push(pa.Table.from_pylist(batch, schema)).to_pylist():
            live[row["x"]] += row["op"]
        matcher = oz.restore(matcher.snapshot()) if restored else matcher
    found = matcher.take_quarantined().select(["ts", "n", "x", "op"]).to_pylist()
    assert [tuple(row.values()) for row in found] == aside
    by_number = sorted((n, x) for _t, n, x in there)
    pairs = [(a, b) for n, a in by_number for m, b in by_number if m == n + 1 and (not parted or a == b)]
    assert +live == Counter(10 * a + b for a, b in pairs)


def test_numbers_are_those_of_the_partition() -> None:
    automaton = oz.automaton({**WIDE.spec, "partition": ["x"]})
    matcher = oz.matcher(automaton, SCHEMA, sequence="n", time_unit="ms")
    assert push(matcher, (1, 1), (2, 1)) == []
    with pytest.raises(oz.DataError, match="no other event"):
        push(matcher, (2, 1))
