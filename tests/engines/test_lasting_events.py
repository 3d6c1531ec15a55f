"""Composite events in each compiled engine: what follows them, windows from their start, and what they refute."""

from __future__ import annotations

import pytest

from semantics.harness import found

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
