"""A matcher that failed within a push goes on no more; one that refused a push whole goes on as before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.physical.memory.growing import Growing

SCHEMA = pa.schema({"ts": pa.int64(), "type": pa.string(), "x": pa.int64()})
QUERY = "PATTERN SEQ(A a, B b) WITHIN 100 RETURN a.x AS a, b.x AS b"


def events(*rows: tuple[int, str, int]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


MANY = events(*((n, "A", n) for n in range(5)), *((n, "B", n) for n in range(5, 10)), (11, "C", 0))

CALLS: list[Callable[[oz.Matcher], Any]] = [
    lambda matcher: matcher.push(events((20, "A", 1))),
    lambda matcher: matcher.advance(30),
    lambda matcher: matcher.finish(),
    lambda matcher: matcher.snapshot(),
]


def check_broken(matcher: oz.Matcher, why: str) -> None:
    for call in CALLS:
        with pytest.raises(oz.OuzelError, match=f"the matcher has failed: {why}") as caught:
            call(matcher)
        assert "required a new one, or a snapshot from before" in str(caught.value)


@pytest.mark.parametrize("query", [QUERY, QUERY.replace("A a,", "A+ a[],").replace("a.x", "a[].x")])
def test_a_limit_breaks_a_matcher(query: str) -> None:
    matcher = oz.matcher(query, SCHEMA, limits=oz.Limits(max_matches=3))
    with pytest.raises(oz.OuzelError, match="more than 3 matches"):
        matcher.push(MANY)
    check_broken(matcher, "more than 3 matches")


def test_a_limit_at_the_end_breaks_a_matcher() -> None:
    matcher = oz.matcher(QUERY, SCHEMA, limits=oz.Limits(max_matches=3), watermark=50)
    matcher.push(MANY)
    with pytest.raises(oz.OuzelError, match="more than 3 matches"):
        matcher.finish()
    check_broken(matcher, "more than 3 matches")


@pytest.mark.parametrize("where", ["WHERE broken_at(a.x)", ""])
def test_a_function_that_fails_breaks_a_matcher(where: str) -> None:
    oz.register_function("broken_at", lambda x: 1 // x == 1, returns="boolean")
    returned = "a.x AS x" if where else "broken_at(a.x) AS x"
    matcher = oz.matcher(f"PATTERN SEQ(A a, B b) {where} WITHIN 9 RETURN {returned}", SCHEMA)
    with pytest.raises(oz.FunctionError):
        matcher.push(MANY)
    check_broken(matcher, "function 'broken_at'")


def test_what_nobody_foresaw_breaks_a_matcher(monkeypatch: pytest.MonkeyPatch) -> None:
    matcher = oz.matcher(QUERY, SCHEMA)

    def fail(*_arguments: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(matcher._chain, "step", fail)
    with pytest.raises(oz.OuzelError):
        matcher.push(MANY)
    monkeypatch.undo()
    check_broken(matcher, ".*memory")


def test_a_snapshot_that_fails_half_way_breaks_a_matcher_whose_runs_are_kept_by_event() -> None:
    chain = oz.automaton(start="q0", final=["q1"], register={"n": 0}).arc("q0", "q1").arc("q1", "q1")
    matcher = oz.matcher(chain, SCHEMA, speculation="inf")
    matcher.push(MANY, watermark=8)
    with patch.object(Growing, "pick", side_effect=MemoryError), pytest.raises(oz.OuzelError):
        matcher.snapshot()
    check_broken(matcher, ".*memory")


def test_arcs_that_fail_half_way_break_a_matcher_that_judges_events_anew() -> None:
    oz.register_function("fails_from", lambda x, least: 1 // (0 if x >= least else 1) == 1, returns="boolean")
    one = oz.automaton(start="q0", final=["q1"], register={"n": 0}).arc("q0", "q1", "fails_from(e.x, $least)")
    matcher = oz.matcher(one, SCHEMA, params={"least": 9}, speculation="inf")
    assert matcher.push(events((1, "A", 1), (2, "A", 3))).num_rows == 2
    with pytest.raises(oz.OuzelError):  # it is refused before anything has changed
        matcher.set_params(None, most=3)
    assert matcher.push(events((3, "A", 1))).num_rows == 1
    matcher.set_params(None, least=8)
    assert "$least" in matcher.explain()
    assert "ᵛ" not in matcher.explain()
    with pytest.raises(oz.FunctionError, match=r"fails_from\(e.x, \$least\)"):
        matcher.set_params(None, least=2)
    check_broken(matcher, ".*")


def test_a_push_that_is_refused_whole_breaks_nothing() -> None:
    matcher = oz.matcher(QUERY, SCHEMA)
    matcher.push(events((1, "A", 1), (5, "C", 0)))
    refused: list[Callable[[], Any]] = [
        lambda: matcher.push(events((2, "B", 9), (6, "B", 9))),  # late
        lambda: matcher.push(events((6, "B", 9)).set_column(0, "ts", pa.array([None], pa.int64()))),
        lambda: matcher.push(events((6, "B", 9)).drop_columns(["x"])),
        lambda: matcher.push(events((6, "B", 9)).set_column(2, "x", pa.array(["no number"]))),
        lambda: matcher.push(events((6, "B", 9)), watermark="never"),
        lambda: matcher.advance("never"),
    ]
    for push in refused:
        with pytest.raises(oz.OuzelError):
            push()
    assert matcher.report.events == 2
    again = oz.restore(matcher.snapshot())
    for one in (matcher, again):
        assert one.push(events((6, "B", 2), (7, "C", 0))).to_pylist() == [{"a": 1, "b": 2}]
        assert one.finish().num_rows == 0
