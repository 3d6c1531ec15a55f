"""Arcs of an automaton that change, and what is found with them."""

from __future__ import annotations

import json
from typing import Any

import ouzel as oz
from spark_events import EVENT_TYPES, rows_of
from spark_feeds import END

Spec = dict[str, Any]
ARC: Spec = {"id": "a", "source": "q0", "target": "q1", "when": "e.type = 'A'", "set": {"n": "1", "who": "e.eid"}}
NEXT: Spec = {"id": "b", "source": "q1", "target": "q1", "when": "e.x >= 1", "set": {"n": "n + 1"}}
OTHER: Spec = {**NEXT, "id": "c", "when": "e.y = 0 AND n < 4"}
SKIP: Spec = {**NEXT, "id": "d", "when": "e.x IS NULL", "set": {}}
SPEC: Spec = {
    "start": "q0",
    "final": ["q1"],
    "register": {"n": 0, "who": "-"},
    "window": 30,
    "partition": ["k"],
    "arcs": [ARC, NEXT],
}
ROWS = "at long, add string, remove array<string>"
CHANGES: list[Spec] = [
    {"at": 40, "add": json.dumps([OTHER]), "remove": ["b"]},
    {"at": 90, "add": json.dumps([NEXT, SKIP]), "remove": ["c"]},
    {"at": 90, "add": None, "remove": ["d"]},
    {"at": 130, "add": json.dumps([{**ARC, "when": "e.type = 'B'"}]), "remove": ["a"]},
]


def living() -> oz.Automaton:
    """The automaton with all arcs, and when they live."""
    arcs = [
        {**ARC, "lives": [[None, 130]]},
        {**NEXT, "lives": [[None, 40], [90, None]]},
        {**OTHER, "lives": [[40, 90]]},
        {**ARC, "id": "later", "when": "e.type = 'B'", "lives": [[130, None]]},
    ]
    return oz.automaton({**SPEC, "arcs": arcs})


def expected(events: list[Spec]) -> list[str]:
    found = oz.match([*events, END], living(), engine="reference", types=EVENT_TYPES)
    assert found
    return rows_of([row for row in found if row["valid_from"] < END["ts"]])
