"""Automata forget texts that no run needs any more, and what they find does not change by that."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.physical.automaton import memory

SCHEMA = pa.schema({"ts": pa.int64(), "type": pa.string(), "k": pa.int64(), "name": pa.string()})

QUERIES = {
    "a value of an event": "skip_till_next_match { [k] AND b[i].name > a.name }",
    "an aggregate": "skip_till_next_match { [k] AND max(b[..i-1].name) < b[i].name AND c.name != 'n3' }",
    "every element": "skip_till_any_match { [k] AND c.name > b[i].name }",
    "a set": "skip_till_any_match { [k] AND count(distinct b[].name) > 1 AND c.name > a.name }",
}


def batch(number: int, size: int = 12) -> list[dict[str, Any]]:
    """Events whose names come in no order, each but once."""
    events = []
    for at in range(number * size, (number + 1) * size):
        name = f"n{at * 7919 % 100_003}, {at}"
        events.append({"ts": at, "type": "ABBBC"[at % 5], "k": at // 5 % 2, "name": name})
    return events


@pytest.mark.parametrize("condition", QUERIES.values(), ids=list(QUERIES))
def test_texts_do_not_grow_with_the_stream(condition: str) -> None:
    query = (
        f"PATTERN SEQ(A a, B+ b[], C c) WHERE {condition} WITHIN 20 RETURN a.ts AS t1, b[].ts AS t2, c.ts AS t3"
    )
    found: list[Any] = []
    numbers = []
    with patch.object(memory, "SPARE", 8):
        matcher = oz.matcher(query, SCHEMA, engine="automaton")
        for number in range(60):
            found += matcher.push(pa.Table.from_pylist(batch(number), SCHEMA)).to_pylist()
            numbers.append(len(matcher._chain.links[0].matching.memory.texts))  # type: ignore[attr-defined]
            if number % 7 == 0:
                matcher = oz.restore(matcher.snapshot())
        found += matcher.finish().to_pylist()
    events = [event for number in range(60) for event in batch(number)]
    assert found == oz.match(pa.Table.from_pylist(events, SCHEMA), query, engine="reference").to_pylist()
    assert found
    assert max(numbers) < 300
