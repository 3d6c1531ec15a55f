"""ZStream's operators against their definitions, by enumeration of events in the tests."""

from __future__ import annotations

from itertools import product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import ouzel as oz
from ouzel.testing.strategies import streams

Event = dict[str, Any]
TYPES = {name: {"eid": "string", "k": "int64", "x": "int64", "y": "int64"} for name in "ABCD"}
LENGTH = st.integers(1, 9)


def of(events: list[Event], kind: str) -> list[Event]:
    return sorted((e for e in events if e["type"] == kind), key=lambda e: (e["ts"], e["x"] is None, e["x"] or 0))


def found(events: list[Event], text: str) -> list[str]:
    return sorted(repr(list(row.values())) for row in oz.match(events, text, types=TYPES))


def span(row: list[Event]) -> int:
    times: list[int] = [event["ts"] for event in row]
    return max(times) - min(times)


@given(streams(), LENGTH)
def test_conjunction_is_every_pair_in_any_order(events: list[Event], length: int) -> None:
    expected = [
        [a["eid"], b["eid"]] for a, b in product(of(events, "A"), of(events, "B")) if span([a, b]) < length
    ]
    assert found(events, f"PATTERN A & B WITHIN {length} RETURN A.eid, B.eid") == sorted(map(repr, expected))


@given(streams(), LENGTH)
def test_conjunction_of_one_type_takes_distinct_events(events: list[Event], length: int) -> None:
    own = of(events, "A")
    expected = [[p["eid"], q["eid"]] for p, q in product(own, own) if p is not q and span([p, q]) < length]
    assert found(events, f"PATTERN A p & A q WITHIN {length} RETURN p.eid, q.eid") == sorted(map(repr, expected))


@given(streams(), LENGTH)
def test_conjunction_inside_a_sequence(events: list[Event], length: int) -> None:
    expected = [
        [a["eid"], b["eid"], c["eid"]]
        for a, b, c in product(of(events, "A"), of(events, "B"), of(events, "C"))
        if a["ts"] < min(b["ts"], c["ts"]) and span([a, b, c]) < length
    ]
    query = f"PATTERN A; (B & C) WITHIN {length} RETURN A.eid, B.eid, C.eid"
    assert found(events, query) == sorted(map(repr, expected))


@given(streams(), LENGTH)
def test_conjunction_with_a_negative_component_looks_around_the_match(events: list[Event], length: int) -> None:
    expected = [
        [a["eid"], c["eid"]]
        for a, c in product(of(events, "A"), of(events, "C"))
        if span([a, c]) < length
        and not any(
            max(a["ts"], c["ts"]) - length < b["ts"] < min(a["ts"], c["ts"]) + length for b in of(events, "B")
        )
    ]
    query = f"PATTERN A & !B & C WITHIN {length} RETURN A.eid, C.eid"
    assert found(events, query) == sorted(map(repr, expected))


@given(streams(), st.sampled_from("+*"), LENGTH)
def test_a_group_is_all_events_between_its_neighbours(events: list[Event], sign: str, length: int) -> None:
    expected = []
    for a, c in product(of(events, "A"), of(events, "C")):
        between = [b for b in of(events, "B") if a["ts"] < b["ts"] < c["ts"] and b["x"] is not None and b["x"] < 4]
        if a["ts"] < c["ts"] and c["ts"] - a["ts"] < length and (between or sign == "*"):
            total = sum(b["x"] for b in between) if between else None
            expected.append([a["eid"], len(between), total, c["eid"]])
    query = (
        f"PATTERN A; B{sign}; C WHERE B.x < 4 WITHIN {length} "
        "RETURN A.eid AS a, count(B) AS n, sum(B.x) AS s, C.eid AS c"
    )
    assert found(events, query) == sorted(map(repr, expected))


@given(streams(), st.integers(1, 3), LENGTH)
def test_a_counted_group_slides_over_successive_events(events: list[Event], count: int, length: int) -> None:
    expected = []
    for a, c in product(of(events, "A"), of(events, "C")):
        between = [b["ts"] for b in of(events, "B") if a["ts"] < b["ts"] < c["ts"]]
        if c["ts"] - a["ts"] < length:
            windows = [between[k : k + count] for k in range(len(between) - count + 1)]
            expected += [[a["eid"], window, c["eid"]] for window in windows]
    query = f"PATTERN A; B^{count}; C WITHIN {length} RETURN A.eid AS a, B[].ts AS b, C.eid AS c"
    assert found(events, query) == sorted(map(repr, expected))


@given(streams(), LENGTH)
def test_groups_at_the_edges_are_bounded_by_the_window(events: list[Event], length: int) -> None:
    leading = []
    for c in of(events, "C"):
        before = [b["ts"] for b in of(events, "B") if b["ts"] < c["ts"] and c["ts"] - b["ts"] < length]
        leading += [[before, c["eid"]]] if before else []
    query = f"PATTERN B+; C WITHIN {length} RETURN B[].ts AS b, C.eid AS c"
    assert found(events, query) == sorted(map(repr, leading))
    trailing = []
    for a in of(events, "A"):
        after = [b["ts"] for b in of(events, "B") if a["ts"] < b["ts"] < a["ts"] + length]
        trailing += [[a["eid"], [b for b in after if b <= stop]] for stop in sorted(set(after))]
    query = f"PATTERN A; B+ WITHIN {length} RETURN A.eid AS a, B[].ts AS b"
    assert found(events, query) == sorted(map(repr, trailing))
