"""Streams are sets: equal events are one, and results have an order that does not depend on arrival."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ouzel as oz
from semantics.algebra import A, B, S, given


def test_equal_events_are_one() -> None:
    assert given(A.select("x"), "a1:x=1 a1':x=1 a1'':x=2 a2:x=1") == ["1 [1, 1]", "2 [1, 1]", "1 [2, 2]"]


def test_null_equals_null() -> None:
    assert given(A.select("x"), "a1:x=null a1':x=null a2:x=1") == ["- [1, 1]", "1 [2, 2]"]


def test_what_is_no_number_equals_itself() -> None:
    events = [{"ts": 1, "type": "A", "x": float("nan")}, {"ts": 1, "type": "A", "x": float("nan")}]
    assert given(A.select("x"), [*events, {"ts": 1, "type": "A", "x": 0.5}]) == ["0.5 [1, 1]", "nan [1, 1]"]


def test_events_of_two_types_may_be_equal() -> None:
    assert given(S.select("x"), "a1:x=1 b1:x=1") == ["1 [1, 1]"]


def test_two_ways_to_one_event() -> None:
    assert given(A.select("x").next(B.select("y")).select("x"), "a1:x=1 b2:y=1 b2':y=2") == ["1 [1, 2]"]


def test_the_interval_tells_events_apart() -> None:
    assert given(A.next(B).extend(c="0").select("c"), "a1 a2 b3") == ["0 [1, 3]", "0 [2, 3]"]


def test_results_come_by_end_then_start_then_values() -> None:
    found = given(A.select("x").next(B.select("y")), "a1:x=2 a1':x=1 a2:x=9 b3:y=null b3':y=7")
    assert found == ["1 7 [1, 3]", "1 - [1, 3]", "2 7 [1, 3]", "2 - [1, 3]", "9 7 [2, 3]", "9 - [2, 3]"]


def zeros(*values: float, **others: float) -> list[dict[str, object]]:
    return [{"ts": 1, "type": "A", "x": value, "y": -value, **others} for value in values]


def test_of_the_two_zeros_there_is_one() -> None:
    """They are equal, so that nothing may depend on which of them comes first, or comes at all."""
    for values in ((0.0, -0.0), (-0.0, 0.0), (-0.0,)):
        assert given(A.select("x", "y"), zeros(*values)) == ["0.0 0.0 [1, 1]"]
        assert given(A.select("x").extend(z="-x", w="x * -1"), zeros(*values)) == ["0.0 0.0 0.0 [1, 1]"]


def test_of_the_two_zeros_there_is_one_in_what_follows_and_is_computed() -> None:
    events = [*zeros(0.0, -0.0), {"ts": 2, "type": "B", "x": -0.0, "y": 1.0}]
    both = A.select("x").extend(low="x").fold(B.select("x"), step=lambda s: s.extend(low="-low.last"))
    assert given(both, events) == ["0.0 0.0 [1, 2]"]
    assert given(A.select("x").next(B.select("y").next(S.select("x"))), events) == []
    assert given(A.select("y").next(B.select("x")), events) == ["0.0 0.0 [1, 2]"]


@pytest.mark.parametrize(
    "arrow", [pa.float16(), pa.float32(), pa.float64(), pa.dictionary(pa.int32(), pa.float64())], ids=str
)
def test_of_the_two_zeros_there_is_one_of_every_width(arrow: pa.DataType) -> None:
    value_type = arrow.value_type if pa.types.is_dictionary(arrow) else arrow
    column = pa.array([-0.0, 0.0, 1.5, None], pa.float64()).cast(value_type)
    column = column.dictionary_encode() if pa.types.is_dictionary(arrow) else column
    for events in (pa.table({"ts": [1] * 4, "x": column}), pa.table({"ts": [1] * 4, "x": column}).slice(0, 1)):
        for engine in ("reference", "automaton"):
            found = oz.match(events, S, engine=engine)
            assert found.schema.field("x").type == arrow
            assert repr(found["x"].to_pylist()) == ("[0.0, 1.5, None]" if len(events) > 1 else "[0.0]")
