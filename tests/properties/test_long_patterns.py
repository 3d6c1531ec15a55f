"""Patterns of more components than a word has bits: all engines, in all splits, give what the reference finds."""

from __future__ import annotations

from hypothesis import given, settings

from engines.pushes import Events, Pushes, matched, pushed, pushes
from ouzel.testing.programs import long_patterns
from ouzel.testing.strategies import RandomQuery


@settings(max_examples=12)
@given(long_patterns(), pushes())
def test_random_events(case: tuple[RandomQuery, Events], cut: Pushes) -> None:
    query, events = case
    events = [{**event, "seq": 0} for event in events]
    wanted = matched(query.text, events)
    assert matched(query.text, events, engine="auto") == wanted
    assert pushed(query.text, events, cut) == wanted
