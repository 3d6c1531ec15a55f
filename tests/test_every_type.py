"""Every Arrow type in every role of a column: what the reference matcher finds, or an error that names both.

At once, in batches with a snapshot between any two events, and where there are no events at all.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.logical.values import from_arrow
from ouzel.testing.arrow_columns import ARROW_COLUMNS
from semantics.everywhere import pushed

ROLES: dict[str, tuple[str, dict[str, Any]]] = {
    "time": ("PATTERN SEQ(A a, B b) RETURN a.id AS a, b.id AS b", {"time": "c"}),
    "type": ("PATTERN SEQ(A a, B b) RETURN a.id AS a, b.id AS b", {"type": "c"}),
    "key": ("PATTERN SEQ(A a, B b) WHERE [c] WITHIN 9 RETURN a.id AS a, b.id AS b", {}),
    "key of a closure": ("PATTERN SEQ(A a, B+ b[]) WHERE [c] WITHIN 9 RETURN a.id AS a, b[].id AS b", {}),
    "key of partitions": ("PATTERN SEQ(A a, B b) WHERE partition_contiguity {[c]} RETURN b.id AS b", {}),
    "key and more": ("PATTERN SEQ(A a, B b) WHERE [c, k] RETURN a.id AS a, b.id AS b", {}),
    "order": ("PATTERN SEQ(A a, B b) RETURN a.id AS a, b.id AS b", {"time": "same", "order": ["same", "c"]}),
    "equal": ("PATTERN SEQ(A a, B b, !(A n)) WHERE a.c = b.c AND n.c != b.c WITHIN 9 RETURN b.id AS b", {}),
    "less": ("PATTERN SEQ(A a, B+ b[]) WHERE a.c <= b[i].c WITHIN 9 RETURN a.id AS a, b[].id AS b", {}),
    "there": ("PATTERN SEQ(A a, B b) WHERE a.c IS NOT NULL AND b.c IS NULL RETURN a.id AS a", {}),
    "counted": ("PATTERN SEQ(A a, B+ b[]) WHERE count(b[].c) > 0 RETURN a.id AS a, count(b[].c) AS n", {}),
    "least": ("PATTERN SEQ(A a, B+ b[]) RETURN a.id AS a, min(b[].c) AS least, last(b[].c) AS c", {}),
    "added": ("PATTERN SEQ(A a, B+ b[]) RETURN sum(b[].c) AS total, avg(b[].c) AS mean", {}),
    "returned": ("PATTERN SEQ(A a, B+ b[], C? c) RETURN a.c AS one, b[].c AS many, c.c AS none, b AS whole", {}),
    "unused": ("PATTERN SEQ(A a, B b) WHERE [k] RETURN a.id AS a, b.id AS b", {}),
}


# What only a matcher refuses, in one role or (None) in all: Arrow cannot join such columns, kernels do not add up
# such numbers, and that floats are times, as pandas has it where one is missing, only a whole table tells.
REFUSED = {("dense union", None), ("not numbers", "time")}
REFUSED |= {("uint64 from 2**63 on", "least"), ("uint64 from 2**63 on", "added")}


def events(name: str) -> pa.Table:
    column = ARROW_COLUMNS[name]
    return pa.table(
        {
            "id": [1, 2, 3, 4],
            "ts": [1, 2, 3, 4],
            "same": [1, 1, 1, 1],
            "type": ["A", "B", "B", "B"],
            "k": ["x", "x", "x", "x"],
            "c": column,
        }
    )


def outcome(call: Callable[[], Any], arrow: pa.DataType) -> list[str] | str:
    """The rows, in no order, or the kind of error, which must name the column and its type."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oz.OuzelWarning)
        try:
            return sorted(map(repr, call()))
        except oz.OuzelError as error:
            refusal = error
    assert re.search(r"\bc\b", str(refusal)), refusal
    assert any(name in str(refusal) for name in names(arrow)), refusal
    return type(refusal).__name__


def names(arrow: pa.DataType) -> list[str]:
    """What a type may be called: by its own name, by ours, or by the one it has when its values are laid out."""
    inner = arrow.value_type if pa.types.is_dictionary(arrow) or pa.types.is_run_end_encoded(arrow) else arrow
    return [str(arrow), str(from_arrow(arrow)), str(inner).removesuffix("_view"), "null"]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", ARROW_COLUMNS)
def test_every_type_in_every_role(name: str, role: str) -> None:
    table, (query, options) = events(name), ROLES[role]
    options = {"on_bad": "quarantine", **options}
    arrow = table.schema.field("c").type
    expected = outcome(lambda: oz.match(table, query, engine="reference", **options).to_pylist(), arrow)
    assert outcome(lambda: oz.match(table, query, **options).to_pylist(), arrow) == expected
    batches = outcome(lambda: pushed(query, table, watermark=100, **options), arrow)
    refused = isinstance(batches, str) and REFUSED & {(name, role), (name, None)}
    assert refused or batches == expected
    empty = outcome(lambda: oz.match(table[:0], query, **options).to_pylist(), arrow)
    assert empty in ([], expected)
