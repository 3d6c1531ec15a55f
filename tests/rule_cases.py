"""Rules for tests: at random, and what each version of them finds alone on its own lifetime."""

from __future__ import annotations

import json
import random
from typing import Any

import ouzel as oz

Rows = list[dict[str, Any]]
TEMPLATE = (
    "PATTERN SEQ(A a, B b, !(C c)) WHERE [k] AND a.x >= $least AND c.x = 1 WITHIN 30 RETURN a.eid AS a, b.eid AS b"
)
FIRST: Rows = [
    {"id": "one", "least": 0, "valid_from": None, "valid_to": None},
    {"id": "two", "least": 1, "valid_from": 40, "valid_to": 150},
]
SET = oz.queries(TEMPLATE, FIRST, valid_from="valid_from", valid_to="valid_to")
A, B = (oz.stream(name).select("eid", "k", "x") for name in "AB")
EXPRESSION = A.prefixed("a").next(B.prefixed("b"), where="a.k = b.k AND b.x >= $least").select("a.eid", "b.eid")
TEXTS = [
    "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 25 RETURN a.eid AS a, b.eid AS b",
    "PATTERN SEQ(A a, B b, !(C c)) WHERE [k] AND c.x = 1 WITHIN 30 RETURN a.eid AS first",
    "PATTERN SEQ(B+ b[], C c) WHERE skip_till_next_match { [k] } WITHIN 40 RETURN c.eid AS c, b.LEN AS n",
]


def changes(seed: int, count: int, span: int, *, texts: bool = False) -> Rows:
    """Rows of rules in the order of their times, each id beginning at times of its own."""
    chance = random.Random(seed)
    times = sorted(chance.sample(range(1, span), count))
    found = []
    for time in times:
        until = chance.choice((None, None, time, time + chance.randint(1, span // 2)))
        row = {"id": chance.choice(("one", "two", "three", "four")), "valid_from": time, "valid_to": until}
        said = chance.choice((None, *TEXTS)) if texts else chance.choice((None, 0, 1, 2))
        found.append({**row, ("query" if texts else "least"): said})
    return found


def lifetimes(rules: Rows) -> list[tuple[dict[str, Any], Any, Any]]:
    """Each row that says something, from when until when: its own end, or that another row of its id begins."""
    found = []
    for place, row in enumerate(rules):
        own = [(number, one) for number, one in enumerate(rules) if one["id"] == row["id"]]
        later = [one for number, one in own if (one["valid_from"] or 0, number) > (row["valid_from"] or 0, place)]
        ends = [row["valid_to"], *(one["valid_from"] for one in later)]
        until = min((end for end in ends if end is not None), default=None)
        said = row.get("query", row.get("least"))
        if said is not None and (until is None or until > (row["valid_from"] or 0)):
            found.append((row, row["valid_from"], until))
    return found


def alone(events: Rows, rules: Rows, template: Any = TEMPLATE, **options: Any) -> list[str]:
    """What each version of each rule finds by itself, in batch, with the id of its rule."""
    found = []
    for row, since, until in lifetimes(rules):
        text = row.get("query", template)
        values = {"least": row["least"]} if "least" in row else {}
        valid = {"id": row["id"], "valid_from": since, "valid_to": until}
        one = oz.queries(text, [{**valid, **values}], valid_from="valid_from", valid_to="valid_to")
        for match in oz.match(events, one, **options):
            text = json.dumps({name: value for name, value in match.items() if name != "id"})
            found.append(json.dumps({"query": row["id"], "match": text} if "query" in row else match))
    return sorted(found)
