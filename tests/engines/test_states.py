"""The automaton as an object: what SASE+ constructs, and what runs must remember."""

from __future__ import annotations

from ouzel.compile import compile_query
from ouzel.logical.schema import open_schema
from ouzel.physical.automaton import AutomatonPlan
from ouzel.physical.automaton.register_words import register_words
from ouzel.physical.automaton.states import Automaton, Stay


def automaton(query: str) -> Automaton:
    plan = compile_query(query, open_schema(), {}, "automaton").plans[0].physical
    assert isinstance(plan, AutomatonPlan)
    return plan.automaton


def live(query: str) -> dict[str, set[str]]:
    built = automaton(query)
    return {
        state.name: {register_words(one) for one in registers}
        for state, registers in zip(built.states, built.live, strict=True)
    }


def test_begin_and_take_are_moves_and_proceed_is_composed_into_them() -> None:
    built = automaton("PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match { [k] AND sum(a[].x) > 3 } WITHIN 5")
    (start,) = built.starts
    closure, last = built.states
    begin, take = closure.moves
    assert [(move.action, move.target) for move in (start, begin, take)] == [
        ("begin", 0),
        ("begin", 1),
        ("take", 0),
    ]
    assert [condition.conjunct.text for condition in begin.guard.conditions] == ["sum(a[].x) > 3"]
    assert closure.stay == Stay((take.guard,))
    assert closure.accepts is None
    assert (last.moves, last.accepts) == ((), ())
    assert built.window is not None
    assert [test.attribute for test in built.partition] == ["k"]


def test_an_automaton_is_a_value() -> None:
    query = "PATTERN SEQ(A a, B+ b[]) WHERE b[i].x > a.x"
    assert automaton(query).states == automaton(query).states
    assert automaton(query).registers == automaton(query).registers


def test_a_register_is_live_from_its_assignment_to_its_last_reader() -> None:
    found = live("PATTERN SEQ(A a, B b, C+ c[], D d) WHERE a.x < b.x AND b.x < c[1].x AND sum(c[].x) > d.x")
    assert found == {"a": {"a.x"}, "b": {"b.x"}, "c": {"running sum of c[].x"}, "d": set()}


def test_what_every_move_replaces_is_not_live_before_it() -> None:
    found = live("PATTERN SEQ(A a, B+ b[]) WHERE skip_till_next_match { b[i].x > b[i-1].x }")
    assert found == {"a": set(), "b": {"b[b.LEN].x"}}
