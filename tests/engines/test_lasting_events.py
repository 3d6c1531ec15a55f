"""Composite events in each compiled engine: what follows them, windows from their start, and what they refute."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ouzel as oz
from semantics.harness import found, stream

PAIRS = "QUERY pairs PATTERN SEQ(A a, B b) RETURN a.eid AS first, b.eid AS last INTO P"

CASES = {
    "what starts after its end": ("SEQ(P p, C c)", "a1 c2 b3 c3 c4", ["(a1 b3) c4"]),
    "what ends before its start": ("SEQ(C c, P p)", "c1 a2 c2 b3 c3", ["c1 (a2 b3)"]),
    "in the middle": ("SEQ(C c, P p, C d)", "c1 a2 c3 b4 c5", ["c1 (a2 b4) c5"]),
    "two that overlap": ("SEQ(P p, P q, D d)", "a1 a2 b3 b4 d5", []),
    "a window from its start": ("SEQ(P p, C c) WITHIN 7", "a1 a4 b5 c8", ["(a4 b5) c8"]),
    "a window up to its end": ("SEQ(C c, P p) WITHIN 3", "c1 a2 b3 b4", ["c1 (a2 b3)"]),
    "a window for it alone": ("P p WITHIN 3", "a1 b3 b4", ["(a1 b3)"]),
    "nothing like it between": ("SEQ(C c, !(P p), D d)", "a1 c2 b3 d4 a5 b6 d7", ["c2 d4"]),
    "nothing like it before": ("SEQ(!(P p), C c) WITHIN 4", "a1 b3 c5 a5 b6 c7 b8", ["c5"]),
    "nothing like it after": ("SEQ(C c, !(P p)) WITHIN 4", "a1 c2 b3 c4 a5 b7 c9 a10 b11", ["c2"]),
}


@pytest.mark.parametrize("engine", ["reference", "scan", "automaton"])
@pytest.mark.parametrize("case", CASES)
def test_composite_events(case: str, engine: str) -> None:
    pattern, events, expected = CASES[case]
    assert found(f"{PAIRS} QUERY q PATTERN {pattern}", events, of="q", engine=engine) == expected


@pytest.mark.parametrize("engine", ["reference", "scan", "automaton"])
def test_matches_that_end_together_come_by_their_start(engine: str) -> None:
    made = "QUERY pairs PATTERN SEQ(A a, B b) RETURN a.ts AS a, b.ts AS b INTO P OUTPUT NON_OVERLAP"
    other = "QUERY others PATTERN SEQ(D a, E b) RETURN a.ts AS a, b.ts AS b INTO Q"
    query = f"{made} {other} QUERY q PATTERN SEQ(ANY(P, Q) p, C c) RETURN start(p) AS s, end(p) AS e"
    result = oz.match(stream("d1 a4 b5 e6 c8"), query, engine=engine)["q"]
    assert result == [{"s": 1, "e": 6}, {"s": 4, "e": 5}]


def test_composite_events_wait_for_those_that_may_come_before_them() -> None:
    """While A1 B2 may be refuted, what follows is not given to the second query, whatever comes."""
    query = """QUERY pairs PATTERN SEQ(A a, B b, !(X x)) WITHIN 9 RETURN a.ts AS a INTO P
        QUERY q PATTERN SEQ(P p, C c) WHERE strict_contiguity { } RETURN p.a, c.ts AS c"""
    table = pa.Table.from_pylist(stream("a1 b2 c3 d4 d12"))
    matcher = oz.matcher(query, table.schema)
    steps = [matcher.push(table.slice(place, 1))["q"].num_rows for place in range(len(table))]
    assert [*steps, matcher.finish()["q"].to_pylist()] == [0, 0, 0, 0, 1, []]


@pytest.mark.parametrize("pattern", ["(A a & L b); B d", "(L b & A a); B d", "A a & L b & B d", "B d & L b & A a"])
@pytest.mark.parametrize("length", [3, 4, 6])
def test_windows_count_from_the_event_that_ends_first(pattern: str, length: int) -> None:
    kinds = ["A", "B", "B", "Y", "B"]
    rows = [{"ts": ts, "type": kind, "k": 1} for ts, kind in enumerate(kinds, 1)]
    program = f"""
        QUERY one PATTERN A p; Y r WITHIN 100 RETURN p.k AS k INTO L
        QUERY two PATTERN {pattern} WHERE d.ts = 5 WITHIN {length} EVENTS RETURN a.ts AS a, end(b) AS b, d.ts AS d
    """
    for engine in ("reference", "tree"):
        found = oz.match(rows, program, engine=engine)["two"]
        assert found == ([{"a": 1, "b": 4, "d": 5}] if length == 6 else []), engine
