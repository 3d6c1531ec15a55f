"""The queries of AFA's experiments (6.1): V-patterns behind a drop of the price, and eight ticks in a row."""

from __future__ import annotations

import numpy as np

import ouzel as oz

DOWN, UP, NEITHER = "e.change < 0", "e.change > 0", "e.change = 0"
DELTA = 0.25
LENGTH = 8


def query_1(k: int, window: int, delta: float = DELTA, *, ignores: bool = False) -> oz.Automaton:
    """Q1, Figure 3: a drop, and k V-patterns with as many upticks as downticks; it may ignore other events.

    >>> len(query_1(2, 2_000).tree.arcs), len(query_1(2, 2_000, ignores=True).tree.arcs)
    (6, 8)
    """
    found = (
        oz.automaton(start="q0", final=["q3"], register={"more": 0, "v": 0}, window=window)
        .arc("q0", "q1", f"e.change < {-delta}")
        .arc("q1", "q1", DOWN, {"more": "more + 1"})
        .arc("q1", "q2", DOWN, {"more": "more + 1"})
        .arc("q2", "q2", f"{UP} AND v < {k}", {"more": "more - 1"})
        .arc("q2", "q1", f"{UP} AND v + 1 < {k}", {"more": "more - 1", "v": "v + 1"})
        .arc("q2", "q3", f"{UP} AND v + 1 = {k} AND more = 1", {"more": "more - 1", "v": "v + 1"})
    )
    return found.arc("q1", "q1", NEITHER).arc("q2", "q2", NEITHER) if ignores else found


def embedded_query_1(k: int, window: int, delta: float = DELTA) -> oz.Automaton:
    """Q1 embedded in one loop, the state of the automaton in its register (section 3, Figure 4).

    `at` is 0 behind the drop, 1 among downticks, 2 among upticks.

    >>> embedded_query_1(2, 2_000).tree.arcs[1].id
    'loop'
    """
    may_fall = f"{DOWN} AND (at < 2 OR v + 1 < {k})"
    step = {
        "more": f"CASE WHEN {DOWN} THEN more + 1 ELSE more - 1 END",
        "v": f"CASE WHEN {DOWN} AND at = 2 THEN v + 1 ELSE v END",
        "at": f"CASE WHEN {DOWN} THEN 1 ELSE 2 END",
    }
    matched = f"{UP} AND at > 0 AND v + 1 = {k} AND more = 1"
    return (
        oz.automaton(start="before", final=["found"], register={"more": 0, "v": 0, "at": 0}, window=window)
        .arc("before", "in", f"e.change < {-delta}")
        .arc("in", "in", f"({may_fall}) OR ({UP} AND at > 0)", step, id="loop")
        .arc("in", "found", matched, {"more": "more - 1", "v": "v + 1"})
    )


def recursive_query_1(k: int, window: int, delta: float = DELTA) -> str:
    """Q1 as a recursive query: runs joined with the event that comes next, and with the arcs (6.2, IPM)."""
    arcs = (
        "(1, 1, false, 1, 0), (1, 2, false, 1, 0), (2, 2, true, -1, 0), (2, 1, true, -1, 1), (2, 3, true, -1, 1)"
    )
    fence = f"""CASE a.target WHEN 3 THEN r.v + 1 = {k} AND r.more = 1
        WHEN 1 THEN a.source = 1 OR r.v + 1 < {k} ELSE r.v < {k} END"""
    return f"""WITH RECURSIVE arcs(source, target, up, step, turn) AS (VALUES {arcs}),
        runs(ts, first, state, more, v) AS (
            SELECT ts, ts, 1, 0, 0 FROM events WHERE change < {-delta}
            UNION ALL
            SELECT e.ts, r.first, a.target, r.more + a.step, r.v + a.turn
            FROM runs r JOIN events e ON e.ts = r.ts + 1
            JOIN arcs a ON a.source = r.state AND a.up = (e.change > 0)
            WHERE e.change <> 0 AND e.ts < r.first + {window} AND {fence})
        SELECT more, v, ts AS valid_from, first + {window} AS valid_to FROM runs WHERE state = 3"""  # noqa: S608


def query_2(window: int, delta: float = DELTA) -> oz.Automaton:
    """Q2: how many V-patterns follow a drop until the price is back.

    >>> query_2(500).tree.final
    ('q3',)
    """
    return (
        oz.automaton(start="q0", final=["q3"], register={"before": 0.0, "v": 0}, window=window)
        .arc("q0", "q1", f"e.change < {-delta}", {"before": "e.price - e.change"})
        .arc("q1", "q1", DOWN)
        .arc("q1", "q2", DOWN)
        .arc("q2", "q2", f"{UP} AND e.price < before")
        .arc("q2", "q1", f"{UP} AND e.price < before", {"v": "v + 1"})
        .arc("q2", "q3", f"{UP} AND e.price >= before", {"v": "v + 1"})
    )


def tick_arc(place: int, *, up: bool) -> dict[str, str]:
    """An arc of Q3.

    >>> tick_arc(0, up=True)["when"]
    'e.change > 0'
    """
    name = f"{'up' if up else 'down'} {place}"
    return {"id": name, "source": f"q{place}", "target": f"q{place + 1}", "when": UP if up else DOWN}


def query_3(window: int, *, seed: int = 1) -> tuple[oz.Automaton, list[bool]]:
    """Q3, eight ticks in a row, each up or down at random; and which of them are up.

    >>> len(query_3(500)[1])
    8
    """
    ups = [bool(one) for one in np.random.default_rng(seed).integers(0, 2, LENGTH)]
    arcs = [tick_arc(place, up=up) for place, up in enumerate(ups)]
    return oz.automaton(start="q0", final=[f"q{LENGTH}"], window=window, arcs=arcs), ups
