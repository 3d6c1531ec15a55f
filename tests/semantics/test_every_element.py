"""Conditions on every element of a closure that is complete: [i] where another component comes, or the end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ouzel as oz
from engines.splits import EVERY_PUSH, in_batches, ingested, long_stream, whole
from ouzel.compile import compile_query
from ouzel.physical.automaton import AutomatonPlan
from ouzel.physical.automaton import memory as automaton_memory

QUERIES = {
    "an order": "PATTERN SEQ(A+ a[], B b) WHERE b.x >= a[i].x WITHIN 8",
    "unequal": "PATTERN SEQ(A+ a[], B b) WHERE b.eid != a[i].eid AND b.s != a[i].s WITHIN 6",
    "arithmetic": "PATTERN SEQ(A+ a[], B b, C c) WHERE c.x + b.x > a[i].x * 2 WITHIN 6",
    "literals": "PATTERN SEQ(A+ a[], B b) WHERE b.x > a[i].x OR a[i].k = b.k WITHIN 8",
    "itself": "PATTERN SEQ(A+ a[]) WHERE a[i].x <= a[a.LEN].x WITHIN 6",
    "its own aggregate": "PATTERN SEQ(A{2,} a[], B b) WHERE a[i].x <= avg(a[].x) WITHIN 6",
    "from the second": "PATTERN SEQ(A+ a[], B b) WHERE b.x >= a[i].x - a[1].x WITHIN 6",
    "two closures": "PATTERN SEQ(A+ a[], B+ b[], C c) WHERE a[i].x <= b[i].x + c.x WITHIN 6",
    "taking": "PATTERN SEQ(A+ a[], B+ b[]) WHERE skip_till_next_match { b[i].x >= a[i].x } WITHIN 9",
    "maybe empty": "PATTERN SEQ(C c, A* a[], B b) WHERE a[i].x < b.x + c.x WITHIN 6",
    "optional": "PATTERN SEQ(A+ a[], C? c, B b) WHERE a[i].x <= c.x AND a[i].k = b.k WITHIN 6",
    "partitions": "PATTERN SEQ(A+ a[], B b, C c) WHERE skip_till_next_match { [k] AND c.x >= a[i].x } WITHIN 15",
    "times": "PATTERN SEQ(A+ a[], B b) WHERE start(b) - end(a[i]) < 3 WITHIN 9",
    "contiguity": "PATTERN SEQ(A+ a[], B b) WHERE partition_contiguity { [k] AND b.x >= a[i].x } WITHIN 20",
    "strict": "PATTERN SEQ(A+ a[], B b) WHERE strict_contiguity { b.x >= a[i].x }",
}
every_query = pytest.mark.parametrize("name", QUERIES)


def stream(seed: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(seed)
    rows = [row for row in long_stream(seed) if random.random() < 0.4]
    return [{**row, "x": None if random.random() < 0.05 else int(random.integers(0, 4))} for row in rows]


@every_query
@pytest.mark.parametrize("evaluation", ["merging", "basic", "backtracking"])
def test_all_at_once(name: str, evaluation: str) -> None:
    events = stream(3)
    expected = oz.match(events, QUERIES[name], engine="reference")
    found = oz.match(events, QUERIES[name], engine="automaton", tuning={"evaluation": evaluation})
    assert found == expected
    assert expected


@every_query
@pytest.mark.parametrize("resumed", [False, True])
def test_in_batches(name: str, *, resumed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automaton_memory, "SPARE", EVERY_PUSH)
    table = ingested(stream(4))
    (chosen,) = compile_query(QUERIES[name], table.schema, {}).plans
    assert isinstance(chosen.physical, AutomatonPlan)
    assert in_batches(chosen.physical, table, [5, 17, 30, 31, 60], resumed=resumed) == whole(
        chosen.physical, table
    )
