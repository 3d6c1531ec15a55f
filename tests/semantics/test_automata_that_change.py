"""Register automata whose arcs change by `replace` and `set_params`: all computations go on."""

from __future__ import annotations

import gc
import weakref
from ast import literal_eval
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from engines.corrections import Consumer
from ouzel.runtimes.arcs import AutomatonProgram
from query_changes import ARCS, AUTOMATON, EQUAL, FINAL, SCHEMA, at, automaton, events, going_on, rows


@pytest.mark.parametrize("kept", [False, True], ids=["running", "restored"])
@pytest.mark.parametrize("engine", ["auto", "reference"])
@pytest.mark.parametrize("seen", [(), (0,)], ids=["before all events", "after some"])
def test_a_parameter_of_an_arc_that_makes_its_target_final(engine: str, kept: bool, seen: tuple[int, ...]) -> None:
    one = oz.automaton(start="q0", final=["q1"]).arc("q0", "q1", "e.x = $p", final=True)
    matcher = oz.matcher(oz.query(one, {"p": 1}), pa.schema({"ts": "int64", "x": "int64"}), engine=engine)
    found = [matcher.push(pa.table({"ts": pa.array(seen, pa.int64()), "x": pa.array(seen, pa.int64())}))]
    matcher.set_params(None, p=2)
    matcher = going_on(matcher, kept)
    found += [matcher.push(pa.table({"ts": [1, 2, 3], "x": [1, 2, 2]})), matcher.finish()]
    assert [row["valid_from"] for table in found for row in table.to_pylist()] == [2, 3]


@pytest.mark.parametrize("kept", [False, True], ids=["running", "restored"])
@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_arcs_that_mention_a_parameter(engine: str, kept: bool) -> None:
    matcher = oz.matcher(oz.query(AUTOMATON, {"least": 5}), SCHEMA, engine=engine)
    found = [matcher.push(events("A1=1", "A2=7", "A3=2"))]
    matcher.set_params(None, least=1)
    found += [going_on(matcher, kept).push(events("A4=2"))]
    matcher = going_on(matcher, kept)
    assert rows(found[0])[0][:2] == (8, 2)
    assert rows(found[1])[0][:2] == (9, 3)


def test_parameters_that_change_again_and_again() -> None:
    matcher = oz.matcher(oz.query(AUTOMATON, {"least": 5}), SCHEMA)
    found = []
    for ts in range(1, 40):
        matcher.set_params("query1", {"least": ts % 2})
        found += rows(matcher.push(events(f"A{ts}=1")))
        matcher = going_on(matcher, ts % 7 == 0)
    # an event is held until the next one comes: the value of then is that of its time
    assert [row[1] for row in found] == list(range(3, 39, 2))


def test_arcs_that_are_not_the_same_come_and_go() -> None:
    matcher = oz.matcher(oz.query(AUTOMATON, {"least": 0}), SCHEMA)
    matcher.push(events("A1=1", "A2=2"))
    minus = {**ARCS[1], "set": {"n": "n - e.x"}}
    matcher.replace(None, oz.automaton({**AUTOMATON.spec, "arcs": [ARCS[0], minus]}))
    assert [row[0] for row in rows(matcher.push(events("A3=3")), matcher.finish())] == [-1, -1]


def test_arcs_that_were_to_change_later() -> None:
    """A new version is in force from now on, and so are its arcs; parameters wait for what is still to come."""
    first, second = ({"id": "b", "source": "q0", "target": "q1", "set": {"n": f"$p + {n}"}} for n in (0, 1_000))
    one = oz.automaton(start="q0", final=["q1"], register={"n": 0}, arcs=[first])
    matcher = oz.matcher(one, SCHEMA, params={"p": 1})
    matcher.push(at(5))
    matcher.change(remove=["b"], add=[second], at=100)
    with pytest.raises(oz.OuzelError, match="set_params: required arcs that stay; a change of the arc 'b'"):
        matcher.set_params(None, p=7)
    matcher.replace(None, oz.query(oz.automaton({**one.spec, "arcs": [second]}), {"p": 1}))
    matcher.set_params(None, p=7)
    found = rows(matcher.push(at(50, 150)), matcher.finish())
    assert [row[:2] for row in found] == [(1007, 5), (1007, 50), (1007, 150)]


def test_another_register_begins_anew() -> None:
    matcher = oz.matcher(oz.query(AUTOMATON, {"least": 0}), SCHEMA)
    matcher.push(events("A1=1", "A2=2"))
    register = {"n": 0, "more": 7}
    matcher.replace(None, oz.query(oz.automaton({**AUTOMATON.spec, "register": register}), {"least": 1}))
    matcher = oz.restore(matcher.snapshot())
    assert rows(matcher.push(events("A3=3")), matcher.finish()) == [(5, 7, 3, None)]


def test_arcs_of_another_automaton_judge_what_came_after_the_punctuation() -> None:
    matcher, minus = automaton(speculation="inf"), {**ARCS[1], "set": {"n": "n - e.x"}}
    found = [matcher.push(events("A1=1", "A2=2", "A3=3")), matcher.advance(3), matcher.push(events("A4=4"))]
    matcher.replace(None, oz.query(oz.automaton({**AUTOMATON.spec, "arcs": [ARCS[0], minus]}), {"least": 1}))
    matcher = oz.restore(matcher.snapshot())
    found.append(matcher.push(events("A5=5")))
    consumer = Consumer()
    for one in found:
        consumer.apply(one)
    said = [literal_eval(row) for row in consumer.live.values()]
    # the pair of a1 and a2 is final
    assert sorted((row["valid_from"], row["n"]) for row in said) == [(2, 3), (3, -1), (4, -1), (5, -1)]


def test_parameters_are_called_what_they_are_in_messages() -> None:
    matcher = automaton()
    with pytest.raises(oz.QueryError) as error:
        matcher.set_params(None, least="x")
    assert "    e.x > $least\n" in str(error.value)
    assert "ᵛ" not in str(error.value)


@pytest.mark.parametrize("kept", [False, True], ids=["running", "restored"])
def test_what_was_promised_not_to_change_does_not(kept: bool) -> None:
    rows = [(ts, key, x) for key in (1, 2) for ts, x in ((1, 2), (2, 3))]
    table = pa.Table.from_pylist([{"ts": ts, "type": "A", "x": x, "y": key} for ts, key, x in rows], SCHEMA)
    parted = oz.automaton({**AUTOMATON.spec, "partition": ["y"]})
    matcher = oz.matcher(parted, SCHEMA, params={"least": 1}, speculation="inf")
    assert matcher.push(table).num_rows == 2
    matcher.advance(10, where="y = 1")
    matcher = going_on(matcher, kept)
    # of that partition nothing is known any more, so neither changes: both are as they were told
    matcher.set_params(None, least=9)
    assert matcher.push(at(20)).num_rows == 0
    assert matcher.report.matches == 2


def test_a_matcher_is_freed_once_nobody_has_it() -> None:
    gc.disable()
    try:
        for options in ({}, {"speculation": "inf"}, {"speculation": "inf", "engine": "reference"}):
            matcher = automaton(**options)
            matcher.push(events("A1=1", "A2=2"))
            matcher.set_params(None, least=0)
            known = weakref.ref(matcher)
            del matcher
            assert known() is None
    finally:
        gc.enable()


# ---- again and again ------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_values_may_change_as_often_as_one_likes(engine: str) -> None:
    matcher = oz.matcher(EQUAL, SCHEMA, params={"x": 0}, engine=engine)
    found = []
    for time in range(1, 81):
        found.append(matcher.push(at(time)))
        matcher.set_params(None, x=time)  # time is that of the event, which is held
        matcher = going_on(matcher, time % 20 == 0)
    assert [row[0] for row in rows(*found, matcher.finish())] == list(range(1, 81))
    assert engine == "reference" or len(matcher._header()["params"]) < 70


@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_arcs_that_are_gone_are_forgotten_with_their_windows(engine: str) -> None:
    own = oz.automaton(start="q0", final=["q1"], register={"n": 0}, window=5).arc("q0", "q1", "e.x = 1")
    matcher = oz.matcher(own, SCHEMA, engine=engine)
    found = []
    for time in range(1, 91):
        matcher.change(add=[{"id": f"z{time}", "source": "q0", "target": "q1", "when": f"e.x = {time}"}])
        matcher.change(remove=[f"z{time - 1}"] if time > 1 else [])
        found.append(matcher.push(at(time)))
    assert len(rows(*found, matcher.finish())) == len(oz.match(at(*range(1, 91)), own)) + 90
    assert isinstance(matcher._program, AutomatonProgram)
    assert len(matcher._program.slots) < 70


def test_states_stay_final_however_many_arcs_come_and_go() -> None:
    own = oz.automaton(start="q0", final=["q9"], states=["q9"], register={"n": 0}).arc("q0", "q5", id="on")
    matcher = oz.matcher(own, SCHEMA)
    matcher.change(add=[{"id": "f", "source": "q5", "target": "q5", "final": True}], at=1)
    matcher.change(remove=["f"], at=2)
    for time in range(3, 80):
        matcher.push(at(time))
        matcher.change(add=[{"id": "z", "source": "q6", "target": "q6", "when": f"e.x = {time}"}])
        matcher.change(remove=["z"])
    assert rows(matcher.push(at(90, 91)))[-1][1] == 90


def test_an_automaton_with_other_final_states_begins_anew() -> None:
    plain = oz.automaton(start="q0", final=["q9"], states=["q9"], register={"n": 0})
    plain = plain.arc("q0", "q5", id="on").arc("q0", "q0", id="stay")
    ending = oz.automaton({**plain.spec, "arcs": [*plain.spec["arcs"], {"id": "f", **FINAL}]})
    matcher = oz.matcher(plain, SCHEMA)
    found = [matcher.push(at(1))]
    matcher.replace(None, ending)
    found.append(matcher.push(at(2, 3)))
    matcher.replace(None, plain)
    assert [row[1] for row in rows(*found, matcher.push(at(4, 5)), matcher.finish())] == [1, 2, 2, 2]


def test_a_parameter_may_have_any_name() -> None:
    two = EQUAL.arc("q0", "q1", "e.x = $x__v2", {"n": "e.x"}, id="other")
    matcher = oz.matcher(two, SCHEMA, params={"x": 1, "x__v2": 2})
    matcher.change(add=[{"id": "more", "source": "q0", "target": "q1", "when": "e.x = $x", "set": {"n": "100"}}])
    assert [row[0] for row in rows(matcher.push(at(1, 2)), matcher.finish())] == [1, 100, 2]


def test_an_arc_of_several_lives_is_removed_for_good() -> None:
    lives = [[0, 10], [20, 30]]
    own = oz.automaton(start="q0", final=["q1"], register={"n": 0}).arc("q0", "q1", id="on", lives=lives)
    matcher = oz.matcher(own, SCHEMA)
    matcher.change(remove=["on"], at=5)
    matcher = going_on(matcher, True)
    assert [row[1] for row in rows(matcher.push(at(4, 6, 25)), matcher.finish())] == [4]


# ---- arcs of one id --------------------------------------------------------------------------------------

AT_END = {"id": "a", "source": "q1", "target": "q2", "end_of_window": True}
AT_ONCE = {"id": "a", "source": "q0", "target": "q2"}
TIMES = pa.schema({"ts": "int64"})


@pytest.mark.parametrize("options", [{}, {"speculation": "inf"}, {"engine": "reference"}], ids=str)
def test_an_arc_takes_the_place_of_one_at_the_end_of_the_window(options: dict[str, Any]) -> None:
    begin = {"id": "b", "source": "q0", "target": "q1"}
    waiting = oz.automaton(start="q0", final=["q2"], register={"n": 0}, window=5, arcs=[begin, AT_END])
    matcher = oz.matcher(waiting, TIMES, time_unit="ms", **options)
    found = [matcher.push(pa.table({"ts": [5]})), matcher.advance(8)]
    matcher.change(remove=["a"], add=[AT_ONCE], at=8)
    matcher = oz.restore(matcher.snapshot())
    found += [matcher.push(pa.table({"ts": [9]})), matcher.advance(20)]
    matcher.change(remove=["a"], add=[AT_END], at=20)
    matcher = oz.restore(matcher.snapshot())
    found += [matcher.push(pa.table({"ts": [30]})), matcher.finish()]
    # what began at 5 has waited in vain: when its window is over, there is no such arc
    assert [row[1] for row in rows(*found)] == [9, 35]


def test_of_one_id_an_arc_comes_where_another_has_just_gone() -> None:
    waiting = oz.automaton(start="q0", final=["q2"], register={"n": 0}, window=5, states=["q0"], arcs=[AT_END])
    at_once = oz.automaton({**waiting.spec, "arcs": [AT_ONCE]})
    schema = TIMES.append(pa.field("op", pa.int8()))
    matcher = oz.matcher(waiting, schema, time_unit="ms", op="op", speculation="inf")
    matcher.push(pa.Table.from_pylist([{"ts": 5, "op": 1}], schema))
    matcher.advance(5)
    matcher.change(remove=["a"], at=5)
    matcher.change(add=[AT_ONCE], at=5)
    matcher.change(remove=["a"], at=5)
    matcher.replace(None, at_once)
    found = [matcher.push(pa.Table.from_pylist([{"ts": ts, "op": op}], schema)) for ts, op in ((6, 1), (6, -1))]
    found.append(matcher.push(pa.Table.from_pylist([{"ts": 5, "op": 1}], schema)))
    consumer = Consumer()
    for one in found:
        consumer.apply(one)
    assert [literal_eval(row)["valid_from"] for row in consumer.live.values()] == [5, 5]


@pytest.mark.parametrize("options", [{}, {"speculation": "inf"}], ids=str)
def test_a_state_that_is_still_to_be_final_is_not(options: dict[str, Any]) -> None:
    states: dict[str, Any] = {"states": ["q0", "q1", "q2"], "arcs": [{"id": "b", "source": "q0", "target": "q2"}]}
    before = oz.automaton(start="q0", final=["q1"], register={"n": 0}, **states)
    matcher = oz.matcher(before, TIMES, time_unit="ms", **options)
    matcher.advance(1)
    matcher.change(add=[{"id": "c", "source": "q1", "target": "q2", "final": True}], at=5)
    matcher.replace(None, before)  # it is taken back
    assert not rows(matcher.push(pa.table({"ts": [1, 3, 5, 7]})))
    matcher.change(add=[{"id": "c", "source": "q1", "target": "q2", "final": True}], at=15)
    after = oz.automaton({**before.spec, "final": ["q1", "q2"]})
    if options:
        with pytest.raises(oz.OuzelError, match="all begins anew"):
            matcher.replace(None, after)
    else:
        matcher.replace(None, after)
        assert [row[1] for row in rows(matcher.push(pa.table({"ts": [8, 20]})), matcher.finish())] == [7, 8, 20]
