"""Dictionaries with room for few values, as categories of pandas are: all batches and pieces have more of them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz

SMALL = pa.dictionary(pa.int8(), pa.string())
SCHEMA = pa.schema({"ts": pa.int64(), "type": SMALL, "k": SMALL})
KEYED = "PATTERN SEQ(A a, B b) WHERE a.k = b.k WITHIN 1000 RETURN a.ts AS a, b.k AS k"
PIECES = [
    pa.table(
        {"ts": range(first, first + 50), "type": ["A"] * 50, "k": [f"k{n}" for n in range(first, first + 50)]}
    )
    for first in range(0, 200, 50)
]
ENDS = pa.table({"ts": [500, 501], "type": ["B", "B"], "k": ["k3", "k199"]})
TABLES = [table.cast(SCHEMA) for table in (*PIECES, ENDS)]
FOUND = [{"a": 3, "k": "k3"}, {"a": 199, "k": "k199"}]


@pytest.mark.parametrize("engine", ["auto", "scan", "automaton", "tree", "reference"])
def test_in_pieces(engine: str) -> None:
    assert oz.match(pa.concat_tables(TABLES), KEYED, engine=engine).to_pylist() == FOUND


@pytest.mark.parametrize("options", [{}, {"watermark": 100}, {"speculation": "inf"}], ids=str)
@pytest.mark.parametrize("kept", [False, True], ids=["running", "restored"])
def test_in_batches(options: dict[str, Any], kept: bool) -> None:
    matcher, found = oz.matcher(KEYED, SCHEMA, **options), []
    for table in TABLES:
        found += matcher.push(table).to_pylist()
        matcher = oz.restore(matcher.snapshot()) if kept else matcher
    found += matcher.finish().to_pylist()
    assert [{"a": row["a"], "k": row["k"]} for row in found] == FOUND
