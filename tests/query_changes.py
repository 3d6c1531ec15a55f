"""Queries that change in a running matcher, for tests of it: texts, an automaton, and events in words."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

import ouzel as oz

SCHEMA = pa.schema({"ts": "int64", "type": "string", "x": "int64", "y": "int64"})
ENGINES = ("auto", "scan", "automaton", "tree", "reference")
PAIRS = "PATTERN SEQ(A a, B b, C c) WHERE b.x > $least WITHIN 20 RETURN a.ts AS a, b.ts AS b, c.ts AS c"


def events(*given: str) -> pa.Table:
    """Events in words: "A3" is of type A, at 3; "B4=7" has 7 in x."""
    rows = []
    for one in given:
        said, _equals, value = one.partition("=")
        rows.append({"ts": int(said[1:]), "type": said[0], "x": int(value or 0), "y": int(said[1:])})
    return pa.Table.from_pylist(rows, SCHEMA)


def rows(*found: pa.Table) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for table in found for row in table.to_pylist()]


def going_on(matcher: oz.Matcher, kept: bool) -> oz.Matcher:
    return oz.restore(matcher.snapshot()) if kept else matcher


# ---- register automata ----------------------------------------------------------------------------------

ARCS = [
    {"id": "first", "source": "q0", "target": "q1", "when": "e.x > 0", "set": {"n": "e.x"}},
    {"id": "last", "source": "q1", "target": "q2", "when": "e.x > $least", "set": {"n": "n + e.x"}},
]
AUTOMATON = oz.automaton(start="q0", final=["q2"], register={"n": 0}, arcs=ARCS)
EQUAL = oz.automaton(start="q0", final=["q1"], register={"n": 0}).arc(
    "q0", "q1", "e.x = $x", {"n": "e.x"}, id="on"
)
FINAL = {"source": "q5", "target": "q5", "final": True}


def at(*times: int) -> pa.Table:
    return pa.Table.from_pylist([{"ts": ts, "type": "A", "x": ts, "y": 0} for ts in times], SCHEMA)


def automaton(**options: Any) -> oz.Matcher:
    return oz.matcher(oz.query(AUTOMATON, {"least": 1}), SCHEMA, **options)
