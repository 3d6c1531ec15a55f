"""Events that are corrected: rows that insert and withdraw them as they arrive, and what is left by changes."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

Rows = list[dict[str, Any]]
# what comes between is often late
BETWEEN = "PATTERN SEQ(A a, !(C c), B b) WHERE [k] WITHIN 15 RETURN a.eid AS a, b.eid AS b"


def corrected(events: Rows, seed: int, disorder: int, share: float = 0.3) -> tuple[Rows, Rows]:
    """Rows in the order of arrival, none more than `disorder` late, and the events that are left of them."""
    chance = random.Random(seed)
    arrivals, left = [], []
    for event in events:
        at = event["ts"] + chance.randint(0, disorder)
        arrivals.append((at, {**event, "op": 1}))
        lives = True
        while chance.random() < share:
            at, lives = chance.randint(at, event["ts"] + disorder), not lives
            arrivals.append((at, {**event, "op": 1 if lives else -1}))
        if lives:
            left.append(event)
    return [row for _at, row in sorted(arrivals, key=lambda one: one[0])], left


def standing(changes: Rows) -> list[str]:
    """The matches that changes leave, each id inserted once, and withdrawn once at the most."""
    inserted, withdrawn = {}, Counter[str]()
    for change in changes:
        row, op = dict(change), change["op"]
        del row["op"]
        if op == 1:
            assert row["match_id"] not in inserted, f"inserted twice: {row}"
            inserted[row["match_id"]] = json.dumps(row)
        else:
            assert op == -1
            withdrawn[json.dumps(row)] += 1
    assert not withdrawn - Counter(inserted.values()), "withdrawn, but not inserted as that"
    left = (Counter(inserted.values()) - withdrawn).elements()
    rows = [json.loads(text) for text in left]
    return sorted(json.dumps({name: row[name] for name in row if name != "match_id"}) for row in rows)
