"""Switches of engines: each is of one engine, and none is ignored."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.compile import compile_query
from ouzel.logical.schema import open_schema
from ouzel.physical import ENGINES

EVENTS = [{"ts": n, "type": "ABC"[n % 3], "k": 1, "x": n} for n in range(9)]
SEQUENCE = "PATTERN SEQ(A a, B b, C c) WHERE [k] WITHIN 5"
CONTIGUOUS = "PATTERN SEQ(A a, B b, C c) WHERE strict_contiguity { [k] } WITHIN 5"
PLAN = {"plan": "left-deep"}


@pytest.mark.parametrize("events", [EVENTS, []], ids=["events", "no events"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"tuning": {"speed": "high"}},
            "required some of equivalence, evaluation, ignorable, plan, negation, adapt, merging, index; "
            "got 'speed'",
        ),
        ({"tuning": {"plam": "bushy"}}, "got 'plam'\n  hint: did you mean 'plan'?"),
        ({"tuning": {"adapt": "of"}}, "adapt: required one of on, off; got 'of'"),
        ({"tuning": {"plan": 1}}, "plan: required a text; got 1"),
        (
            {"tuning": {"plan": "left"}},
            "plan 'left': required left-deep, right-deep, bushy, auto, or the variables",
        ),
        (
            {"tuning": PLAN, "engine": "scan"},
            "tuning 'plan': it is a switch of the tree, and the engine scan was asked for\n"
            '  hint: engine="tree", or leave out plan',
        ),
        (
            {"tuning": PLAN, "engine": "reference"},
            "tuning 'plan': it is a switch of the tree, and the engine reference was asked for",
        ),
        (
            {"tuning": {"evaluation": "basic", **PLAN}},
            "tuning: required switches of one engine; got evaluation of the automaton, plan of the tree",
        ),
    ],
)
def test_what_no_engine_has(events: Any, options: Any, message: str) -> None:
    with pytest.raises(oz.OuzelError) as error:
        oz.match(events, SEQUENCE, **options)
    assert message in str(error.value)


@pytest.mark.parametrize("events", [EVENTS, []], ids=["events", "no events"])
def test_a_switch_of_an_engine_that_cannot_run_the_query(events: Any) -> None:
    message = (
        "tuning 'plan': it is a switch of the tree, which cannot run this query: "
        "a tree finds all combinations, and the strategy is strict_contiguity\n"
        "  hint: leave out plan; the engine automaton can run it"
    )
    with pytest.raises(oz.OuzelError) as error:
        oz.match(events, CONTIGUOUS, tuning=PLAN)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("tuning", "engine"),
    [({}, "scan"), (PLAN, "tree"), ({"adapt": "off"}, "tree"), ({"evaluation": "basic"}, "automaton")],
)
def test_a_switch_takes_the_engine_that_has_it(tuning: dict[str, str], engine: str) -> None:
    plan = compile_query(SEQUENCE, open_schema(), tuning=tuning).plans[0]
    assert plan.engine == engine
    assert {one.name for one in plan.rivals.engines} == ({engine} if tuning else {one.name for one in ENGINES})
    assert plan.engine_reason.startswith(
        f"it has what is to be tuned, {next(iter(tuning))}; " if tuning else "single events"
    )
    assert oz.match(EVENTS, SEQUENCE, tuning=tuning) == oz.match(EVENTS, SEQUENCE)


def test_an_engine_that_there_is_not_is_refused_without_events() -> None:
    with pytest.raises(oz.OuzelError, match="unknown engine 'treee'"):
        oz.match([], SEQUENCE, engine="treee")


def test_explain_takes_what_match_does() -> None:
    query = "PATTERN SEQ(A a, B b, C c) WHERE a.x > $x WITHIN 5"
    for events in (None, EVENTS):
        text = oz.query(query).explain(events, params={"x": 3}, tuning={"plan": "right-deep"})
        assert "tree: it has what is to be tuned, plan; " in text
        assert "order of joins: as asked for" in text
        with pytest.raises(oz.OuzelError, match="tuning: required a dict of switches"):
            oz.query(query).explain(events, tuning="bushy")  # type: ignore[arg-type]
        with pytest.raises(oz.OuzelError, match=r"tunning: required some of params, .*\n.*did you mean 'tuning'?"):
            oz.query(query).explain(events, tunning={"plan": "bushy"})


def test_a_matcher_keeps_its_switches() -> None:
    table = pa.Table.from_pylist(EVENTS)
    matcher = oz.matcher(SEQUENCE, table.schema, tuning={"plan": "right-deep"})
    found = matcher.push(table.slice(0, 5)).num_rows
    other = oz.restore(matcher.snapshot())
    assert other.tuning == {"plan": "right-deep"}
    assert "order of joins: as asked for" in other.explain()
    assert found + other.push(table.slice(5)).num_rows + other.finish().num_rows == len(oz.match(EVENTS, SEQUENCE))
    for tuning, now in (({}, "none"), ({"plan": "bushy"}, "plan bushy")):
        with pytest.raises(oz.StateError, match=f"tuning: plan right-deep, now {now}"):
            oz.matcher(SEQUENCE, table.schema, engine="tree", tuning=tuning).restore(matcher.snapshot())
    with pytest.raises(oz.OuzelError, match="got 'speed'"):
        oz.matcher(SEQUENCE, table.schema, tuning={"speed": "high"})
