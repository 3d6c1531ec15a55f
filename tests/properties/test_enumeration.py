"""skip_till_any_match is all tuples: runs, enumeration in the tests, and combinations agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

import ouzel as oz
from ouzel.physical.reference import matcher
from ouzel.physical.reference.combinations import CombinationMatcher
from ouzel.testing.strategies import RandomQuery, queries, streams

Event = dict[str, Any]
Chain = tuple[Event, ...]

TYPES = {name: {"eid": "string", "k": "int64", "x": "int64", "y": "int64"} for name in "ABCD"}


@dataclass(frozen=True)
class Part:
    """A component in text and the number of events it may bind."""

    text: str
    type: str
    least: int
    most: int


@dataclass(frozen=True)
class Condition:
    """A condition in text and as a test of what the components bound."""

    text: str
    test: Callable[[list[Chain]], bool]


PARTS = (("A a{}", "A", 1, 1), ("B b{}", "B", 1, 1), ("A+ c{}[]", "A", 1, 99), ("B{{0,2}} d{}[]", "B", 0, 2))


def parts() -> st.SearchStrategy[list[Part]]:
    return st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map(
        lambda drawn: [
            Part(text.format(n), kind, least, most) for n, (text, kind, least, most) in enumerate(drawn)
        ]
    )


def _less(left: Any, right: Any) -> bool:
    return left is not None and right is not None and left < right


def _rising(n: int) -> Callable[[list[Chain]], bool]:
    return lambda bound: all(_less(p["x"], q["x"]) for p, q in pairwise(bound[n]))


def _short(n: int) -> Callable[[list[Chain]], bool]:
    return lambda bound: len(bound[n]) < 3


def _small(n: int) -> Callable[[list[Chain]], bool]:
    return lambda bound: _less(bound[n][0]["x"], 3)


def _above_all_before(n: int) -> Callable[[list[Chain]], bool]:
    return lambda bound: all(_less(event["x"], bound[n][0]["y"]) for event in bound[n - 1])


def conditions(drawn: list[Part]) -> list[Condition]:
    """Some conditions that make sense for the components, with their meaning spelled out."""
    result: list[Condition] = []
    names = [part.text.split()[1].removesuffix("[]") for part in drawn]
    for n, (part, name) in enumerate(zip(drawn, names, strict=True)):
        if part.text.endswith("[]"):
            result.append(Condition(f"{name}[i-1].x < {name}[i].x", _rising(n)))
            result.append(Condition(f"{name}.LEN < 3", _short(n)))
        else:
            result.append(Condition(f"{name}.x < 3", _small(n)))
            if n > 0:
                result.append(Condition(f"{names[n - 1]}.x < {name}.y", _above_all_before(n)))
    return result


def enumerate_all(drawn: list[Part], tests: list[Condition], length: int, events: list[Event]) -> list[str]:
    """All tuples that satisfy everything."""
    result = []
    choices = [list(_chains(part, events)) for part in drawn]
    for bound in product(*choices):
        row = [event for chain in bound for event in chain]
        times = [event["ts"] for event in row]
        rising = all(a < b for a, b in pairwise(times))
        if row and rising and times[-1] - times[0] < length and all(one.test(list(bound)) for one in tests):
            result.append(repr([[event["eid"] for event in chain] for chain in bound]))
    return sorted(result)


def _chains(part: Part, events: list[Event]) -> Iterator[Chain]:
    own = sorted((event for event in events if event["type"] == part.type), key=lambda event: event["ts"])
    for size in range(part.least, min(part.most, len(own)) + 1):
        yield from combinations(own, size)


@given(st.data(), parts(), streams(max_events=8), st.integers(1, 9))
def test_skip_till_any_match_finds_every_tuple(
    data: st.DataObject, drawn: list[Part], events: list[Event], length: int
) -> None:
    tests = data.draw(st.lists(st.sampled_from(conditions(drawn)), max_size=2))
    names = [part.text.split()[1] for part in drawn]
    text = f"PATTERN SEQ({', '.join(part.text for part in drawn)})"
    if tests:
        text += " WHERE " + " AND ".join(one.text for one in tests)
    text += f" WITHIN {length} RETURN " + ", ".join(f"{name}.eid" for name in names)
    rows = oz.match(events, text, types=TYPES, engine="reference")
    got = [repr([value if isinstance(value, list) else [value] for value in row.values()]) for row in rows]
    assert sorted(got) == enumerate_all(drawn, tests, length, events)


@given(queries(strategies=("skip_till_any_match",)), streams())
def test_runs_and_combinations_agree(query: RandomQuery, events: list[Event]) -> None:
    by_runs = oz.match(events, query.text, types=TYPES, engine="reference")
    with patch.object(matcher, "RunMatcher", CombinationMatcher):
        by_combination = oz.match(events, query.text, types=TYPES, engine="reference")
    assert by_combination == by_runs
