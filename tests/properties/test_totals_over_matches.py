"""OUTPUT AGGREGATE says what one finds by adding up the matches, one by one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import ouzel as oz
from ouzel.testing.strategies import TOTALS, RandomQuery, queries, streams, windows_of_totals

Event = dict[str, Any]
Match = dict[str, list[Event]]

ATTRIBUTES = {"eid": "string", "k": "int64", "x": "int64", "y": "int64"}
WHOLE = dict.fromkeys("ABCD", ATTRIBUTES)
# Events of type C are in every partition by k.
LACKING = WHOLE | {"C": {name: arrow for name, arrow in ATTRIBUTES.items() if name != "k"}}


def matches_of(query: RandomQuery, events: list[Event], types: Any) -> list[Match]:
    """The verbose matches, each variable's events as a list."""
    by_eid = {event["eid"]: event for event in events}
    found = oz.match(events, query.text, types=types, engine="reference")
    return [{name: [by_eid[eid] for eid in eids(bound)] for name, bound in match.items()} for match in found]


def eids(bound: Any) -> list[str]:
    return bound if isinstance(bound, list) else [] if bound is None else [bound]


def key_of(match: Match, attribute: str, constants: dict[str, int], types: Any) -> Any:
    """The value of an attribute that the events of a match have, as far as their types have it."""
    bound = [event for events in match.values() for event in events if attribute in types[event["type"]]]
    return bound[0][attribute] if bound else constants.get(attribute)


def window_of(match: Match, length: int) -> dict[str, int]:
    """The window in which a match ends."""
    begin = max(event["ts"] for events in match.values() for event in events) // length * length
    return {"window_start": begin, "window_end": begin + length}


def value_of(item: str, matches: Iterable[Match]) -> Any:
    """The aggregate over some matches, in plain Python."""
    function, _sign, argument = item.rstrip(")").partition("(")
    if argument == "*":
        return len(list(matches))
    variable, _dot, attribute = argument.partition(".")
    bound = [event for match in matches for event in match[variable]]
    values: list[Any] = [event[attribute] for event in bound] if attribute else bound
    values = [value for value in values if value is not None]
    if function == "count":
        return len(values)
    if not values:
        return None
    if function in ("min", "max"):
        return min(values) if function == "min" else max(values)
    return sum(values) if function == "sum" else sum(values) / len(values)


@pytest.mark.parametrize("engine", ["reference", "auto"])
@given(
    query=queries(),
    events=streams(),
    types=st.sampled_from((WHOLE, LACKING)),
    output=windows_of_totals(),
    shift=st.integers(-12, 0),
)
def test_totals(engine: str, query: RandomQuery, events: list[Event], types: Any, output: str, shift: int) -> None:
    events = [{**event, "ts": event["ts"] + shift} for event in events]
    length = int(output.partition("EVERY")[2] or 0)
    variables = [one.variable for one in query.components if one.kind != "negative"]
    items = ["count(*)", *(form.format(variable) for variable in variables for form in TOTALS)]
    named = ", ".join(f"{item} AS c{number}" for number, item in enumerate(items))
    head, _return, _items = query.text.partition("RETURN")
    try:
        matches = matches_of(query, events, types)
    except oz.QueryError:
        assume(False)
    found = oz.match(events, f"{head} RETURN {named} {output}", types=types, engine=engine)

    # equalities that tie all components together are tests too, and the result knows which they are
    written = {"[k]": ["k"], "[k = 1]": ["k"], "[k, x]": ["k", "x"]}
    tested = [name for condition in query.conditions for name in written.get(condition, ())]
    attributes = [name for name in found[0] if name in ATTRIBUTES] if found else ["k"]
    assert attributes[: len(tested)] == tested[: len(attributes)]
    constants = {"k": 1} if "[k = 1]" in query.conditions else {}
    names = [*(("window_start", "window_end") if length else ()), *attributes]
    apart: dict[tuple[Any, ...], list[Match]] = {} if names else {(): []}
    for match in matches:
        key = tuple(key_of(match, name, constants, types) for name in attributes)
        window = tuple(window_of(match, length).values()) if length else ()
        apart.setdefault((*window, *key), []).append(match)
    expected = [
        dict(zip(names, key, strict=True)) | {f"c{n}": value_of(item, own) for n, item in enumerate(items)}
        for key, own in sorted(apart.items(), key=lambda pair: [math.inf if v is None else v for v in pair[0]])
    ]
    assert found == expected
