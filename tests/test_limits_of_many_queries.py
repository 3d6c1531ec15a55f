"""Limits of many queries: each of them has its own number of matches, however they are run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz

A, B = oz.stream("A"), oz.stream("B")
EVENTS = pa.table(
    {
        "ts": [0, 0, 1, 1, 2, 3, 3, 4, 5, 6, 6, 7],
        "type": list("ABAABBABBAAB"),
        "x": [1, 1, 0, 0, 2, 1, 2, 2, 0, 1, 1, 0],
    }
)
PAIRS = "PATTERN A a; B b WHERE a.x >= $v RETURN a.x, b.x AS y"
# rows that are equal are one: what is counted are those that are reported
STEPS = A.where("x >= $v").next(B.rename(y="x")).select("y")
ONCE = A.union(B).where("x >= $v")
TEMPLATES = {"text": PAIRS, "equal rows": STEPS, "union": ONCE}
LIMIT = 3


def filled(template: Any, value: int) -> Any:
    """A query with a value in the place of the parameter."""
    if isinstance(template, str):
        return template.replace("$v", str(value))
    return {
        "equal rows": lambda: A.where(f"x >= {value}").next(B.rename(y="x")).select("y"),
        "union": lambda: A.union(B).where(f"x >= {value}"),
    }["equal rows" if template is STEPS else "union"]()


Run = Callable[[Any, oz.Limits, oz.Report], dict[int, list[dict[str, Any]]]]
VALUES = (0, 1, 2, 9)


def by_id(table: pa.Table) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {value: [] for value in VALUES}
    for row in table.to_pylist():
        found[row.pop("id")].append(row)
    return found


def as_set(engine: str) -> Run:
    def run(template: Any, limits: oz.Limits, report: oz.Report) -> dict[int, list[dict[str, Any]]]:
        rows = [{"id": value, "v": value} for value in VALUES]
        return by_id(oz.match(EVENTS, oz.queries(template, rows), limits=limits, report=report, engine=engine))

    return run


def as_list(count: int) -> Run:
    def run(template: Any, limits: oz.Limits, report: oz.Report) -> dict[int, list[dict[str, Any]]]:
        queries = [filled(template, value) for value in VALUES]
        queries += [filled(template, 9)] * (count - len(queries))
        found = oz.match(EVENTS, queries, limits=limits, report=report)
        return {value: found[f"query{place + 1}"].to_pylist() for place, value in enumerate(VALUES)}

    return run


def in_a_matcher(engine: str) -> Run:
    """All events in one push."""

    def run(template: Any, limits: oz.Limits, report: oz.Report) -> dict[int, list[dict[str, Any]]]:
        rows = [{"id": value, "v": value} for value in VALUES]
        matcher = oz.matcher(oz.queries(template, rows), EVENTS.schema, limits=limits, engine=engine, watermark=9)
        matcher.push(EVENTS)
        found = matcher.finish()
        report.counters = matcher.report.counters
        return by_id(found)

    return run


WAYS: dict[str, Run] = {
    "shared": as_set("shared"),
    "one by one": as_set("automaton"),
    "by definition": as_set("reference"),
    "a short list": as_list(4),
    "a long list": as_list(70),
    "in a matcher": in_a_matcher("shared"),
    "one by one in a matcher": in_a_matcher("automaton"),
    "by definition in a matcher": in_a_matcher("reference"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TEMPLATES)
def test_each_query_may_have_so_many(name: str, way: str) -> None:
    run, template = WAYS[way], TEMPLATES[name]
    whole = run(template, oz.Limits(), oz.Report())
    sizes = {value: len(rows) for value, rows in whole.items()}
    assert sum(sizes.values()) > max(sizes.values()) > LIMIT
    assert run(template, oz.Limits(max_matches=max(sizes.values())), oz.Report()) == whole
    with pytest.raises(oz.OuzelError, match=f"more than {max(sizes.values()) - 1} matches\n"):
        run(template, oz.Limits(max_matches=max(sizes.values()) - 1), oz.Report())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TEMPLATES)
def test_of_each_query_the_first_are_kept(name: str, way: str) -> None:
    run, template, report = WAYS[way], TEMPLATES[name], oz.Report()
    whole = run(template, oz.Limits(), oz.Report())
    kept = run(template, oz.Limits(max_matches=LIMIT, on_limit="shed"), report)
    for value in VALUES:
        assert len(kept[value]) == min(LIMIT, len(whole[value]))
        if name != "text":
            assert kept[value] == whole[value][:LIMIT]
        else:
            assert not Counter(map(repr, kept[value])) - Counter(map(repr, whole[value]))
    beyond = sum(max(len(rows) - LIMIT, 0) for rows in whole.values())
    if name == "text" and way.startswith("one by one"):  # of merged runs, by their last events
        assert 0 < report.counters.shed_matches <= beyond
    else:
        assert report.counters.shed_matches == beyond


@pytest.mark.parametrize("engine", ["shared", "automaton", "reference"])
def test_the_query_is_named(engine: str) -> None:
    rows = [{"id": "few", "v": 9}, {"id": "many", "v": 0}]
    with pytest.raises(oz.OuzelError, match=r"^the query 'many' of the set: more than 4 matches\n"):
        oz.match(EVENTS, oz.queries(PAIRS, rows), engine=engine, limits=oz.Limits(max_matches=4))


@pytest.mark.parametrize("count", [2, 70])
def test_a_query_of_a_list_is_named(count: int) -> None:
    few = [PAIRS.replace("$v", "9")] * (count - 1)
    queries = [*few, "QUERY many " + PAIRS.replace("$v", "0")]
    limits = oz.Limits(max_matches=4)
    with pytest.raises(oz.OuzelError, match=r"^query 'many': more than 4 matches\n"):
        oz.match(EVENTS, queries, limits=limits)
    matcher = oz.matcher(queries, EVENTS.schema, limits=limits, watermark=9)
    matcher.push(EVENTS)
    with pytest.raises(oz.OuzelError, match=r"^query 'many': more than 4 matches\n"):
        matcher.finish()


TEXT_HINTS = "a narrower window, more conditions, or skip_till_next_match; "
LARGER = "a larger max_matches, or on_limit='shed'"
HINTS: dict[str, tuple[Any, str]] = {
    "a text": (
        PAIRS.replace("$v", "0"),
        f"{TEXT_HINTS}{LARGER}; OUTPUT AGGREGATE or mode='compressed' where the number of matches is enough",
    ),
    "a set of texts": (oz.queries(PAIRS, [{"id": 1, "v": 0}]), TEXT_HINTS + LARGER),
    "an expression": (
        filled(STEPS, 0),
        f"more conditions, such as duration() <= … in every next and fold; {LARGER}",
    ),
    "a set of expressions": (
        oz.queries(STEPS, [{"id": 1, "v": 0}]),
        f"more conditions, such as duration() <= … in every next and fold; {LARGER}",
    ),
}


@pytest.mark.parametrize("name", HINTS)
def test_hints_suit_what_was_asked(name: str) -> None:
    query, hint = HINTS[name]
    with pytest.raises(oz.OuzelError) as caught:
        oz.match(EVENTS, query, limits=oz.Limits(max_matches=2))
    assert str(caught.value).split("hint: ")[1] == hint
