"""Who matches many events on the reference matcher is told so, and why."""

from __future__ import annotations

import warnings

import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.physical.tree import shape
from ouzel.runtimes import embedded

EVENTS = pa.table({"ts": range(200), "type": ["A", "B"] * 100, "x": [1, 2] * 100})


def test_many_events_are_many_unless_combinations_are_tried() -> None:
    assert (embedded.SLOW_FROM, embedded.COMBINED_FROM) == (100_000, 100)


@pytest.mark.parametrize("pattern", ["A a & B b", "A a; B^2 b[]; A c"], ids=["conjunction", "group"])
def test_what_is_not_compiled_warns_over_many_events(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shape, "MOST_VARIANTS", 0)  # then no compiled engine takes it
    with pytest.warns(oz.OuzelWarning) as told:
        oz.match(EVENTS, f"PATTERN {pattern} WITHIN 3")
    [text] = [str(one.message) for one in told]
    assert text.startswith(
        "the reference matcher goes through 200 events one by one, which may take long (not scan: "
    )
    assert "; not automaton: " in text
    assert text.endswith("explain shows what runs where")


@pytest.mark.parametrize(
    ("query", "count", "engine"),
    [("A a & B b", 200, "auto"), ("A a & B b", 200, "reference"), ("SEQ(A a, B b)", 200, "auto")],
    ids=["a tree", "asked for", "a scan"],
)
def test_nothing_is_said_otherwise(query: str, count: int, engine: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert oz.match(EVENTS.slice(0, count), f"PATTERN {query} WITHIN 3", engine=engine).num_rows
