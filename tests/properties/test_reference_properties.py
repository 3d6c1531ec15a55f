"""Properties of the reference matcher that need no second implementation."""

from __future__ import annotations

import random
import re
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

import ouzel as oz
from ouzel.testing.strategies import STRATEGIES, RandomQuery, queries, streams

Events = list[dict[str, Any]]


def found(query: RandomQuery | str, events: Events, **options: Any) -> list[str]:
    """The matches of a query, in an order of their own."""
    text = query if isinstance(query, str) else query.text
    return sorted(repr(row) for row in oz.match(events, text, types=_TYPES, engine="reference", **options))


_TYPES = {name: {"eid": "string", "k": "int64", "x": "int64", "y": "int64"} for name in "ABCD"}


@given(queries(), streams(), st.randoms(use_true_random=False))
def test_arrival_order_changes_nothing(query: RandomQuery, events: Events, rng: random.Random) -> None:
    shuffled = list(events)
    rng.shuffle(shuffled)
    assert found(query, shuffled) == found(query, events)


@given(queries(strategies=("skip_till_any_match",)), streams())
def test_each_strategy_finds_what_the_stricter_one_finds(query: RandomQuery, events: Events) -> None:
    query.conditions.append("[k]")
    previous: set[str] = set()
    for strategy in STRATEGIES:
        query.strategy = strategy
        matches = set(found(query, events))
        assert previous <= matches, strategy
        previous = matches


@given(queries(strategies=STRATEGIES[1:]), streams())
def test_partitions_do_not_see_each_other(query: RandomQuery, events: Events) -> None:
    query.conditions.append("[k]")
    apart = [
        match
        for key in (1, 2)
        for match in found(query, [event for event in events if event["k"] == key] or events[:0])
    ]
    assert found(query, events) == sorted(apart)


@given(queries(strategies=STRATEGIES[2:]), streams(), st.integers(1, 6), st.sampled_from(("", "INCLUSIVE")))
def test_time_slices_that_overlap_by_the_window_find_everything(
    query: RandomQuery, events: Events, length: int, inclusive: str
) -> None:
    query.window = f"WITHIN {length} {inclusive}"
    whole = found(query, events)
    times = {event["eid"]: event["ts"] for event in events}
    owned: list[str] = []
    for begin in range(0, 10, 3):
        near = [event for event in events if begin - length - 1 < event["ts"] < begin + 3 + 2 * length]
        for match in found(query, near) if near else ():
            first = min(times[eid] for eid in re.findall(r"e\d+", match))
            if begin <= first < begin + 3:
                owned.append(match)
    assert sorted(owned) == whole


@given(queries(strategies=("skip_till_any_match",), negation=False), streams(), st.integers(1, 8))
def test_a_window_keeps_the_matches_that_fit_into_it(query: RandomQuery, events: Events, length: int) -> None:
    query.window = f"WITHIN {length}"
    inside = found(query, events)
    query.window = ""
    times = {event["eid"]: event["ts"] for event in events}
    fitting = []
    for match in found(query, events):
        bound = [times[eid] for eid in re.findall(r"e\d+", match)]
        if max(bound) - min(bound) < length:
            fitting.append(match)
    assert inside == fitting


@given(queries(), streams())
def test_negation_only_takes_away_and_only_where_its_events_are(query: RandomQuery, events: Events) -> None:
    negative = [one for one in query.components if one.kind == "negative"]
    assume(negative)
    with_negation = set(found(query, events))
    text = negative[0].text
    plain = RandomQuery(
        [one for one in query.components if one.kind != "negative"],
        query.pattern.replace(f"{text}, ", "").replace(f", {text}", ""),
        [condition for condition in query.conditions if not condition.startswith("n.")],
        query.strategy,
        query.window,
    )
    assume(plain.components)
    assert with_negation <= set(found(plain, events))


TYPE = st.sampled_from(("A", "B", "C", "ANY(A, C)"))


@given(TYPE, TYPE, TYPE, st.sampled_from(("", "WITHIN 4", "WITHIN 3 EVENTS")), streams())
def test_alternatives_are_the_union_of_their_choices(a: str, b: str, c: str, window: str, events: Events) -> None:
    head, tail = f"PATTERN {a} a; ", f"; {c} c {window} RETURN a.eid AS a, "
    either = f"{head}({b} p | (C r; B q)){tail} p.eid AS p, q.eid AS q, r.eid AS r, c.eid AS c"
    first = f"{head}{b} p{tail} p.eid AS p, NULL AS q, NULL AS r, c.eid AS c"
    second = f"{head}C r; B q{tail} NULL AS p, q.eid AS q, r.eid AS r, c.eid AS c"
    assert found(either, events) == sorted(found(first, events) + found(second, events))
