"""Queries and random events for Spark, and what the reference finds in them."""

from __future__ import annotations

import json
import random
from typing import Any

from pyspark.sql import DataFrame

import ouzel as oz

Events = list[dict[str, Any]]
EVENT_TYPES = {name: {"eid": "string", "k": "int64", "x": "int64", "y": "int64"} for name in "ABCD"}
SCHEMA = "eid string, ts long, type string, k long, x long, y long"


def stream(seed: int, count: int, span: int) -> Events:
    """Events with ties and nulls, in any order."""
    chance = random.Random(seed)
    return [
        {
            "eid": f"e{n}",
            "ts": chance.randrange(span),
            "type": chance.choice("ABCD"),
            "k": chance.choice((1, 2, 3, 4, None)),
            "x": chance.choice((None, 0, 1, 2, 3)),
            "y": chance.choice((None, 0, 1, 2)),
        }
        for n in range(count)
    ]


def rows(table: DataFrame) -> list[str]:
    return rows_of([row.asDict(recursive=True) for row in table.collect()])


def rows_of(table: Events) -> list[str]:
    """Rows in an order that does not depend on how they came."""
    return sorted(map(json.dumps, table))


def expected(events: Events, query: str, order: list[str] | None = None) -> list[str]:
    return rows_of(oz.match(events, query, engine="reference", types=EVENT_TYPES, order=order))


PAIR = "RETURN a.eid AS a, b.eid AS b"
QUERIES = {
    "keyed": "PATTERN SEQ(A a, B b, C c) WHERE [k] AND a.x <= b.x WITHIN 20 "
    "RETURN a.eid AS a, b.eid AS b, c.eid AS c",
    "two keys": f"PATTERN SEQ(A a, B b) WHERE [k, x] WITHIN 30 {PAIR}",
    "closure": "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match { [k] AND a[i].x >= a[i-1].x } WITHIN 40 "
    "RETURN a[].eid AS a, b.eid AS b, count(a[]) AS n",
    "contiguous": f"PATTERN SEQ(A a, ANY(B, C) b) WHERE partition_contiguity {{ [k] }} {PAIR}",
    "counted": f"PATTERN SEQ(A a, B b) WHERE [k] WITHIN 3 EVENTS {PAIR}",
    "refuted at the end": f"PATTERN SEQ(A a, B b, !(C c)) WHERE [k] AND c.x = 1 WITHIN 15 {PAIR}",
    "apart": f"PATTERN SEQ(A a, B b) WHERE [k] WITHIN 25 {PAIR} OUTPUT NON_OVERLAP",
    "pushed down": f"PATTERN SEQ(A a, B b) WHERE [k] AND a.x = 1 AND b.y < 2 WITHIN 25 {PAIR}",
    "slices": f"PATTERN SEQ(A a, B b) WHERE a.x = b.y WITHIN 6 {PAIR}",
    "slices refuted before": f"PATTERN SEQ(!(C c), A a, B b) WHERE a.x = b.y AND c.x = 2 WITHIN 8 {PAIR}",
    "slices refuted after": f"PATTERN SEQ(A a, B b, !(C c)) WHERE a.x = b.y AND c.x = 2 WITHIN 8 {PAIR}",
    "both": f"PATTERN A a & B b WHERE a.k = b.k AND a.x = 1 AND b.x = 2 WITHIN 9 {PAIR}",
    "one task": f"PATTERN SEQ(A a, B b) WHERE a.x = 1 AND b.y = 2 {PAIR} OUTPUT NON_OVERLAP",
    "totals": "PATTERN SEQ(A+ a[], B b) WHERE [k] WITHIN 9 RETURN count(*) AS n, max(b.x) AS x OUTPUT AGGREGATE",
}
