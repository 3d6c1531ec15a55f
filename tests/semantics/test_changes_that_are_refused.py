"""Changes of queries that are refused, meet a limit, or fail: what a matcher is like behind them."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, cast

import pytest

import ouzel as oz
from query_changes import AUTOMATON, ENGINES, EQUAL, PAIRS, SCHEMA, at, automaton, events, rows


def one(text: str = PAIRS.replace("$least", "5"), **options: Any) -> oz.Matcher:
    return oz.matcher(text, SCHEMA, **options)


def with_events(matcher: oz.Matcher) -> oz.Matcher:
    matcher.push(events("A1", "B2=9", "A3"))
    return matcher


def listed() -> oz.Matcher:
    return oz.matcher(
        ["PATTERN A; B RETURN A.x INTO T", "PATTERN T", "PATTERN A a WHERE a.x > $p"], SCHEMA, params={"p": 1}
    )


def of_a_set() -> oz.Matcher:
    return oz.matcher(oz.queries(PAIRS, [{"id": 1, "least": 5}]), SCHEMA)


NEXT = "PATTERN SEQ(A a, B b) WHERE skip_till_next_match { b.x > 1 }"
WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "unknown name": (lambda: listed().replace("query7", "PATTERN A"), "replace: there is no query 'query7'"),
    "unknown name, one query": (lambda: one().replace("other", "PATTERN A"), "replace: there is no query 'other'"),
    "unknown id": (lambda: of_a_set().set_params(7, least=1), "set_params: there is no query 7"),
    "no id": (lambda: of_a_set().set_params(2.5, least=1), "set_params: required an id of type int64; got 2.5"),
    "broken": (lambda: one().replace(None, "PATTERN SEQ(A a"), "the query ends too early"),
    "unknown attribute": (lambda: one().replace(None, "PATTERN A a WHERE a.z > 1"), "'z'"),
    "a specification": (
        lambda: automaton().replace(None, cast(Any, AUTOMATON.spec)),
        "hint: oz.automaton(…) makes one of a specification",
    ),
    "arcs as a text": (
        lambda: automaton().change(add='[{"id": "z"}]'),
        'change(add=…): required a list; got \'[{"id": "z"}]\'\n  hint: json.loads',
    ),
    "at the end of time": (
        lambda: automaton().change(remove=["on"], at=2**63 - 1),
        "change: at 9223372036854775807, at which no event can be",
    ),
    "no query": (lambda: one().replace(None, 7), "replace: required a text, an expression or an automaton"),
    "several queries": (lambda: one().replace(None, "PATTERN A PATTERN B"), "replace: required one query; got 2"),
    "no parameters": (lambda: one().set_params(None, z=1), "the query has no parameters"),
    "another parameter": (
        lambda: listed().set_params("query3", q=1),
        "'q' is no parameter of the query; required p",
    ),
    "another parameter of a set": (
        lambda: of_a_set().set_params(1, z=1),
        "set_params: 'z' is no parameter of the set",
    ),
    "another type": (lambda: of_a_set().set_params(1, least="x"), "set_params: 'least': required int64"),
    "a decimal in the place of an integer": (
        lambda: of_a_set().set_params(1, least=Decimal("3.5")),
        "set_params: 'least': required int64",
    ),
    "no dict": (lambda: of_a_set().set_params(1, cast(Any, 7)), "set_params: required a dict"),
    "no value": (lambda: of_a_set().replace(1, {}), "replace: the parameter 'least' of the query 1 has no value"),
    "read by others": (lambda: listed().replace("query1", "PATTERN A"), "which 'query2' reads"),
    "reads others": (lambda: listed().replace("query2", "PATTERN T t"), "reads events that others make"),
    "aggregates": (
        lambda: with_events(one("PATTERN A; B RETURN count(*) OUTPUT AGGREGATE")).replace(
            None, "PATTERN A; B RETURN count(*) AS n OUTPUT AGGREGATE"
        ),
        "adds up the matches of one version",
    ),
    "events kept without a column": (
        lambda: with_events(one("PATTERN SEQ(A a, B b) RETURN a.ts")).replace(
            None, "PATTERN SEQ(A a, B b) RETURN a.y"
        ),
        "reads 'y' of events that were kept without it",
    ),
    "another engine": (
        lambda: with_events(one(NEXT, engine="reference")).replace(None, NEXT.replace("1", "2")),
        "in automata only\n  hint: name the engine when the matcher is made: engine='automaton'",
    ),
    "several texts": (lambda: one("PATTERN A PATTERN B").replace("query1", "PATTERN C"), "a matcher of a list"),
    "other columns, where matches may be withdrawn": (
        lambda: with_events(one(speculation="inf")).replace(None, "PATTERN A RETURN A.ts AS a"),
        "replace: 'query1' has other columns: required a int64, b int64, c int64, as matches were reported",
    ),
    "another register, where matches may be withdrawn": (
        lambda: automaton(speculation="inf").replace(
            None, oz.automaton({**AUTOMATON.spec, "register": {"n": 0, "m": 0}})
        ),
        "replace: required the same register, window, partition, start and final states, as matches were reported",
    ),
    "no automaton": (
        lambda: automaton().replace(None, "PATTERN A"),
        "a register automaton",
    ),
    "a parameter of no arc": (
        lambda: automaton().set_params(None, most=1),
        "'most' is no parameter of the automaton; required least",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said(case: str) -> None:
    act, message = WRONG[case]
    with pytest.raises(oz.OuzelError) as error:
        act()
    assert message in str(error.value)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_matcher_goes_on_after_what_was_refused(engine: str) -> None:
    matcher = oz.matcher("PATTERN SEQ(A a, B b) RETURN a.ts", SCHEMA, engine=engine)
    matcher.push(events("A1", "A2"))
    for text in ("PATTERN SEQ(A a, B b) RETURN a.y", "PATTERN SEQ(A a", "PATTERN A a WHERE a.z > 1"):
        with pytest.raises(oz.OuzelError):
            matcher.replace(None, text)
    assert rows(matcher.push(events("B3")), matcher.finish()) == [(1,), (2,)]


@pytest.mark.parametrize("policy", ["error", "shed"])
@pytest.mark.parametrize("engine", ENGINES)
def test_what_was_found_before_counts_against_no_limit(engine: str, policy: str) -> None:
    limits = oz.Limits(max_matches=1, on_limit=policy)
    matcher = oz.matcher(PAIRS, SCHEMA, params={"least": 5}, engine=engine, limits=limits)
    found = [matcher.push(events("A1", "B2=7", "C3", "A4")), matcher.push(events("C5", "A6"))]
    matcher.replace(None, PAIRS.replace("c.ts AS c", "c.ts + 0 AS c").replace("$least", "5"))
    assert rows(*found) == [(1, 2, 3), (1, 2, 5)]
    assert matcher.report.counters.shed_matches == 0


def test_memory_is_bounded_as_the_limits_say(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked() -> int:
        raise AssertionError("the limit is given")

    matcher = oz.matcher(PAIRS, SCHEMA, params={"least": 5}, limits=oz.Limits(max_memory="1GB"))
    matcher.push(events("A1", "B2=7", "A4"))
    monkeypatch.setattr("ouzel.physical.limits.available_memory", asked)
    matcher.set_params(None, least=10)
    assert rows(matcher.push(events("B5=12", "C6")), matcher.finish()) == [(1, 5, 6), (4, 5, 6)]


def test_what_fails_half_way_goes_on_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_given: Any) -> None:
        raise MemoryError

    matcher = oz.matcher(EQUAL, SCHEMA, params={"x": 0})
    matcher.push(at(1))
    monkeypatch.setattr("ouzel.runtimes.chain.Chain.become", failing)
    with pytest.raises(oz.OuzelError):
        matcher.set_params(None, x=5)
    with pytest.raises(oz.OuzelError, match="the matcher has failed"):
        matcher.push(at(2))
