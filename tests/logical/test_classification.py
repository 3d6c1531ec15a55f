"""What logical says of conditions and of keys, once for all engines and for Spark."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ouzel.compile import compile_query
from ouzel.logical.partition_stream import partition_stream
from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import Column, EventType, Schema, open_schema, time_column
from ouzel.logical.values import from_arrow


def bound(text: str, schema: Schema | None = None) -> BoundQuery:
    return compile_query(text, schema or open_schema()).plans[0].query


def columns(**attributes: dict[str, str]) -> Schema:
    """A schema of types, each with the columns that hold its attributes."""
    types = {
        name: EventType(name, {one: Column(held, pa.int64(), from_arrow(pa.int64())) for one, held in own.items()})
        for name, own in attributes.items()
    }
    return Schema(time_column("ts", pa.int64(), "ms"), types, None, declared=True)


# ---- conditions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "of"),
    [
        ("a.x > 5", "a"),
        ("a.x > a.y OR a.x IS NULL", "a"),
        ("b[i].x > 5", "b"),
        ("c.x > 5", "c"),
        ("end(a) > 5", "a"),
        ("a.x > d.x", None),
        ("b[i].x > a.x", None),
        ("b[1].x > 5", None),
        ("b[i].x > b[i-1].x", None),
        ("b[b.LEN].x > 5", None),
        ("b.LEN > 5", None),
        ("sum(b[].x) > 5", None),
        ("c.x > a.x", None),
    ],
)
def test_a_condition_is_on_one_event_or_relates_several(condition: str, of: str | None) -> None:
    query = bound(f"PATTERN SEQ(A a, B+ b[], !(C c), D d) WHERE {condition}")
    single = {one.variable: query.conditions_on(one) for one in query.components if query.conditions_on(one)}
    assert list(single) == ([] if of is None else [of])
    assert len(query.relations) == (1 if of is None else 0)


def test_a_condition_on_no_event_is_neither() -> None:
    query = bound("PATTERN SEQ(A a, B b) WHERE 1 < 2")
    assert query.conjuncts
    assert query.relations == ()
    assert all(query.conditions_on(one) == () for one in query.components)


# ---- keys ------------------------------------------------------------------------------------------------

SAME = columns(A={"id": "id"}, B={"id": "id"}, C={"id": "id"}, D={"x": "x"})
OTHER = columns(A={"id": "id"}, B={"id": "id"}, C={"id": "number"}, D={"x": "x"})


@pytest.mark.parametrize(
    ("pattern", "where", "schema", "column"),
    [
        ("A a, B b", "[id]", SAME, "id"),
        ("A a, C c", "[id]", OTHER, None),
        ("A a, D d", "[id]", SAME, None),
        # types that the pattern does not mention
        ("A a, B b", "[id]", OTHER, "id"),
        ("A a, B b", "strict_contiguity(a, b) {[id]}", SAME, "id"),
        ("A a, B b", "strict_contiguity(a, b) {[id]}", OTHER, None),
    ],
)
def test_a_key_is_one_column_of_all_events_that_matter(
    pattern: str, where: str, schema: Schema, column: str | None
) -> None:
    query = bound(f"PATTERN SEQ({pattern}) WHERE {where}", schema)
    assert query.key_column(query.equivalences[0]) == column


def test_types_are_known_by_the_column_that_holds_the_attribute() -> None:
    (test,) = bound("PATTERN SEQ(B b, A a, C c, D d) WHERE [id]", OTHER).equivalences
    assert test.types_by_column == {"id": ("A", "B"), "number": ("C",), None: ("D",)}
    assert test.only_column is None


@pytest.mark.parametrize(
    ("pattern", "where", "attributes", "reason"),
    [
        ("A a, C c", "[id]", ("id",), "equivalence tests keep the partitions apart"),
        ("A a, D d", "[id]", (), "events of type D have no 'id' and are in every partition"),
        ("A a, C c", "strict_contiguity(a, c) {[id]}", (), "strict contiguity looks at the whole stream"),
        ("A a, C c", "a.id < c.id", (), "there is no equivalence test"),
    ],
)
def test_partitions_are_apart(pattern: str, where: str, attributes: tuple[str, ...], reason: str) -> None:
    query = bound(f"PATTERN SEQ({pattern}) WHERE {where}", OTHER)
    assert partition_stream(query) == (attributes, reason)
