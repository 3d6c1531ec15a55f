"""Punctuations with a condition: of some events none before a time comes any more (AFA, Appendix F.2)."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.physical.automaton import event_lists
from ouzel.runtimes.revising import Revising

SCHEMA = pa.schema({"ts": pa.int64(), "symbol": pa.string(), "x": pa.int64()})
PAIRS = (
    oz.automaton(start="q0", final=["q2"], register={"a": 0, "b": 0}, window=20, partition=["symbol"])
    .arc("q0", "q1", None, {"a": "e.x"})
    .arc("q1", "q2", None, {"b": "e.x"})
)
Row = tuple[int, str | None, int]
WAYS: list[tuple[Any, dict[str, Any]]] = [
    (PAIRS, {"watermark": 50}),
    (PAIRS, {"speculation": "inf"}),
    (PAIRS, {"speculation": 5, "watermark": 50}),
    ("PATTERN e WHERE e.x > 0", {"watermark": 50}),
    ("PATTERN SEQ(e a, e b) WHERE [symbol] WITHIN 20", {"speculation": "inf"}),
]


def table(*rows: Row) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


@pytest.mark.parametrize(("query", "options"), WAYS)
def test_what_was_not_to_come_is_late(query: Any, options: dict[str, Any]) -> None:
    matcher = oz.matcher(query, SCHEMA, time_unit="ms", on_late="keep", **options)
    matcher.push(table((10, "IBM", 1), (12, "SUN", 2)))
    assert matcher.advance(30, where="symbol = 'IBM'").num_rows == 0
    matcher = oz.restore(matcher.snapshot())
    matcher.push(table((20, "IBM", 3), (20, "SUN", 4), (20, None, 5), (30, "IBM", 6)))
    assert matcher.take_late().column("x").to_pylist() == [3]
    assert matcher.report.late == 1
    matcher.advance(40)
    matcher.push(table((35, "SUN", 7), (41, "IBM", 8)))
    assert matcher.take_late().column("x").to_pylist() == [7]


@pytest.mark.parametrize("options", [{"watermark": 50}, {"speculation": "inf"}])
def test_it_is_an_error_where_late_events_are(options: dict[str, Any]) -> None:
    matcher = oz.matcher(PAIRS, SCHEMA, time_unit="ms", **options)
    matcher.advance(30, where="symbol = 'IBM' AND x > 0")
    with pytest.raises(oz.DataError, match="none before 30 was to come where symbol = 'IBM' AND x > 0"):
        matcher.push(table((20, "IBM", 3)))
    matcher.push(table((20, "IBM", 0)))


def test_nothing_is_final_by_it() -> None:
    matcher = oz.matcher(PAIRS, SCHEMA, time_unit="ms", watermark=50)
    matcher.push(table((10, "IBM", 1), (12, "IBM", 2)))
    assert matcher.advance(30, where="TRUE").num_rows == 0
    assert matcher.now < 12
    assert matcher.advance(30).num_rows == 1


def test_withdrawals_were_not_to_come_either() -> None:
    schema = SCHEMA.append(pa.field("op", pa.int8()))
    matcher = oz.matcher(PAIRS, schema, time_unit="ms", speculation="inf", op="op", on_late="keep")
    rows = [{"ts": 10, "symbol": one, "x": 1, "op": 1} for one in ("IBM", "SUN")]
    matcher.push(pa.Table.from_pylist(rows, schema))
    matcher.advance(20, where="symbol IN ('IBM', 'HP')")
    matcher.push(pa.Table.from_pylist([{**row, "op": -1} for row in rows], schema))
    assert matcher.take_late().to_pylist() == [{**rows[0], "op": -1}]
    assert matcher.report.withdrawn == 1


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("symbl = 'a'", "(?s)^where: unknown attribute 'symbl'.*did you mean 'symbol'"),
        ("symbol", "^where: 'symbol' is no condition"),
        ("sum(x) > 1", "^where: the aggregate 'sum'"),
        ("symbol = ", "^where: the text ends too early"),
        ("[symbol]", "^where: an equivalence test"),
        ("x = $p", "^where: the parameter \\$p"),
        ("x > 'a'", "^where: type clash in '>'"),
        (5, "^where: got 5"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"speculation": "inf"}])
def test_conditions_that_are_none(where: Any, message: str, options: dict[str, Any]) -> None:
    matcher = oz.matcher(PAIRS, SCHEMA, time_unit="ms", **options)
    with pytest.raises(oz.QueryError, match=message):
        matcher.advance(30, where=where)


def test_of_a_type_that_lacks_an_attribute_nothing_is_promised() -> None:
    schema = pa.schema({"ts": pa.int64(), "type": pa.string(), "x": pa.int64()})
    types = {"A": ["x"], "B": []}
    matcher = oz.matcher("PATTERN A; B", schema, types=types, watermark=50, on_late="keep", time_unit="ms")
    matcher.advance(30, where="x > 0")
    rows = [{"ts": 1, "type": "A", "x": 1}, {"ts": 1, "type": "B", "x": None}]
    matcher.push(pa.Table.from_pylist(rows, schema))
    assert matcher.take_late().column("type").to_pylist() == ["A"]


def test_partitions_forget_what_cannot_change_any_more() -> None:
    def kept(*, promised: bool) -> tuple[int, Counter[str]]:
        matcher = oz.matcher(PAIRS, SCHEMA, time_unit="ms", speculation="inf")
        found = []
        with patch.object(event_lists, "SPARE", 0):
            for begin in range(0, 2_000, 100):
                rows = [(ts, "IBM" if ts % 10 else "SUN", ts) for ts in range(begin, begin + 100)]
                found.append(matcher.push(table(*rows)))
                if promised:
                    found.append(matcher.advance(begin + 100, where="symbol = 'IBM'"))
            # what is kept, not what a snapshot would have of it
            assert isinstance(matcher, Revising)
            size = matcher._tail.size
            found.append(matcher.push(table((2, "SUN", -1), (2_001, "IBM", -2))))
        return size, applied(found)

    (small, rows), (large, same) = kept(promised=True), kept(promised=False)
    assert rows == same
    assert small < large / 3


def test_conditions_are_asked_only_of_what_they_speak_of() -> None:
    oz.register_function("not_seven", lambda x: 1 // (x - 7) < 9, returns="boolean")
    automaton = oz.automaton(start="q", final=["r"], register={"a": 0}, partition=["x"], window=99).arc("q", "r")
    matcher = oz.matcher(automaton, SCHEMA, time_unit="ms", speculation="inf")
    matcher.push(table((1, "IBM", 1)))
    matcher.advance(10, where="not_seven(x)")
    matcher.push(table((20, "IBM", 7)))
    matcher = oz.restore(matcher.snapshot())
    assert matcher.push(table((21, "IBM", 7))).num_rows == 1


def applied(found: list[pa.Table]) -> Counter[str]:
    """What is left when all changes are applied."""
    left: Counter[str] = Counter()
    for row in (row for one in found for row in one.to_pylist()):
        op, _number = row.pop("op"), row.pop("match_id")
        left[repr(row)] += op
    return +left


def test_a_change_does_not_reach_what_is_forgotten() -> None:
    matcher = oz.matcher(PAIRS, SCHEMA, time_unit="ms", speculation="inf")
    matcher.push(table((10, "IBM", 1), (20, "IBM", 2)))
    matcher.advance(15, where="symbol = 'IBM'")
    with pytest.raises(oz.OuzelError, match="required 15 or later"):
        matcher.change(remove=["a1"], at=12)
    assert [row["op"] for row in matcher.change(remove=["a1"], at=15).to_pylist()] == [-1]


@pytest.mark.parametrize("seed", range(40))
def test_any_order_that_keeps_the_promises(seed: int) -> None:
    random = Random(seed)
    rows: list[Row] = [(random.randint(0, 60), random.choice(("A", "B", "C", None)), n) for n in range(60)]
    script, waiting = list[Any](), rows[:]
    while waiting:
        batch = [
            waiting.pop(random.randrange(len(waiting))) for _ in range(min(len(waiting), random.randint(1, 6)))
        ]
        script.append(batch)
        symbol = random.choice(("A", "B", "C"))
        to_come = min((row[0] for row in waiting if row[1] == symbol), default=99)
        script.append((to_come, f"symbol = '{symbol}'"))
        if random.random() < 0.2:
            script.append((min((row[0] for row in waiting), default=99), None))
    speculation = random.choice(("inf", "inf", 10))
    matcher, found = oz.matcher(PAIRS, SCHEMA, time_unit="ms", speculation=speculation), []
    with patch.object(event_lists, "SPARE", random.choice((0, 20))):
        for step in script:
            found.append(matcher.push(table(*step)) if isinstance(step, list) else matcher.advance(*step))
            if random.random() < 0.1:
                matcher = oz.restore(matcher.snapshot())
        found.append(matcher.finish())
    expected = oz.match(table(*rows), PAIRS, time_unit="ms", engine="reference")
    assert applied(found) == Counter(map(repr, expected.to_pylist()))
