"""Queries that take the place of others in a running matcher: what stays the same keeps its partial matches."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable
from decimal import Decimal
from typing import Any, cast

import pyarrow as pa
import pytest

import ouzel as oz
from engines.corrections import Consumer

SCHEMA = pa.schema({"ts": "int64", "type": "string", "x": "int64", "y": "int64"})
A, B, C = (oz.stream(one).select("x").rename(**{one.lower(): "x"}) for one in "ABC")
ENGINES = ("auto", "scan", "automaton", "tree", "reference")
PAIRS = "PATTERN SEQ(A a, B b, C c) WHERE b.x > $least WITHIN 20 RETURN a.ts AS a, b.ts AS b, c.ts AS c"


def events(*given: str) -> pa.Table:
    """Events in words: "A3" is of type A, at 3; "B4=7" has 7 in x."""
    rows = []
    for one in given:
        said, _equals, value = one.partition("=")
        rows.append({"ts": int(said[1:]), "type": said[0], "x": int(value or 0), "y": int(said[1:])})
    return pa.Table.from_pylist(rows, SCHEMA)


def rows(*found: pa.Table) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for table in found for row in table.to_pylist()]


def going_on(matcher: oz.Matcher, kept: bool) -> oz.Matcher:
    return oz.restore(matcher.snapshot()) if kept else matcher


# ---- partial matches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kept", [False, True], ids=["running", "restored"])
def test_a_threshold_changes_while_partial_matches_wait(engine: str, kept: bool) -> None:
    matcher = oz.matcher(PAIRS, SCHEMA, params={"least": 5}, engine=engine)
    assert rows(matcher.push(events("A1", "B2=7", "C3", "A4"))) == [(1, 2, 3)]
    matcher.set_params(None, least=10)  # time is 4: a1 stays, the pair of a1 and b2 goes
    matcher = going_on(matcher, kept)
    assert rows(matcher.push(events("C5", "B6=7", "B7=12", "C8")), matcher.finish()) == [(1, 7, 8), (4, 7, 8)]


def test_events_of_no_partition_are_not_in_partial_matches() -> None:
    text = "PATTERN SEQ(A a, B b) WHERE strict_contiguity {[y] AND b.x > $least} RETURN a.ts AS a, b.ts AS b"
    matcher = oz.matcher(text, SCHEMA, params={"least": 0}, engine="automaton")
    nobody = pa.Table.from_pylist([{"ts": 0, "type": "A", "x": 0, "y": None}], SCHEMA)
    matcher.push(pa.concat_tables([nobody, events("A1")]))
    matcher.set_params(None, least=1)
    found = matcher.push(pa.Table.from_pylist([{"ts": 2, "type": "B", "x": 2, "y": 1}], SCHEMA))
    assert rows(found, matcher.finish()) == [(1, 2)]


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_of_the_old_version_is_taken_over_by_the_new_one(engine: str) -> None:
    matcher = oz.matcher(PAIRS, SCHEMA, params={"least": 10}, engine=engine)
    matcher.push(events("A1", "B2=7", "A3"))
    matcher.set_params("query1", {"least": 5})
    # b2 would do now, but the version of its time did not take it
    assert rows(matcher.push(events("C4", "B5=7", "C6")), matcher.finish()) == [(1, 5, 6), (3, 5, 6)]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_first_component_that_changes_begins_anew(engine: str) -> None:
    matcher = oz.matcher("PATTERN SEQ(A a, B b) WHERE a.x >= 0 WITHIN 20 RETURN a.ts", SCHEMA, engine=engine)
    matcher.push(events("A1", "A2"))
    matcher.replace(None, "PATTERN SEQ(A a, B b) WHERE a.x >= -1 WITHIN 20 RETURN a.ts")
    assert rows(matcher.push(events("B3")), matcher.finish()) == [(2,)]


def test_what_is_returned_may_change_and_nothing_is_lost() -> None:
    matcher = oz.matcher("PATTERN SEQ(A a, B b, C c) RETURN a.ts AS a, b.ts AS b", SCHEMA)
    matcher.push(events("A1", "B2", "A3"))
    matcher.replace(None, "PATTERN SEQ(A a, B b, C c) RETURN b.ts + a.ts AS sum")
    found = matcher.finish()
    assert found.column_names == ["sum"]
    matcher = oz.matcher("PATTERN SEQ(A a, B b, C c) RETURN a.ts AS a, b.ts AS b", SCHEMA)
    matcher.push(events("A1", "B2", "A3"))
    matcher.replace(None, "PATTERN SEQ(A a, B b, C c) RETURN b.ts + a.ts AS sum")
    assert rows(matcher.push(events("C4")), matcher.finish()) == [(3,)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("before", "after", "expected"), [(5, 20, [(3, 9)]), (20, 5, [(7, 9)])])
def test_the_window_is_the_new_one(engine: str, before: int, after: int, expected: list[Any]) -> None:
    text = "PATTERN SEQ(A a, B b) WITHIN {} RETURN a.ts AS a, b.ts AS b"
    matcher = oz.matcher(text.format(before), SCHEMA, engine=engine)
    matcher.push(events("A1", "A3", "C6", "C7") if before == 5 else events("A3", "A7", "C8"))
    matcher.replace(None, text.format(after))  # of a window of 5, a1 is over by then
    assert rows(matcher.push(events("B9")), matcher.finish()) == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_a_negation_judges_events_from_when_it_came(engine: str) -> None:
    plain = "PATTERN SEQ(A a, B b) WITHIN 20 RETURN a.ts AS a, b.ts AS b"
    without = "PATTERN SEQ(A a, !(C c), B b) WITHIN 20 RETURN a.ts AS a, b.ts AS b"
    matcher = oz.matcher(plain, SCHEMA, engine=engine)
    matcher.push(events("A1", "C2", "A3"))
    matcher.replace(None, without)
    assert rows(matcher.push(events("B4", "C5", "B6")), matcher.finish()) == [(1, 4), (3, 4)]
    matcher = oz.matcher(without, SCHEMA, engine=engine)
    matcher.push(events("A1", "C2", "A3"))
    matcher.replace(None, without.replace("WITHIN 20", "WITHIN 30"))  # it stays, and so do the events that refute
    assert rows(matcher.push(events("B4", "C5", "B6")), matcher.finish()) == [(3, 4)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kept", [False, True], ids=["running", "restored"])
def test_matches_that_wait_are_of_their_version(engine: str, kept: bool) -> None:
    text = "PATTERN SEQ(A a, !(C c)) WHERE c.x >= {} WITHIN 5 RETURN a.ts AS {}"
    matcher = oz.matcher(text.format(0, "a"), SCHEMA, engine=engine)
    matcher.push(events("A1", "A2"))
    matcher.replace(None, text.format(0, "other"))  # the same but for a name: a1 waits on
    matcher = going_on(matcher, kept)
    assert rows(matcher.push(events("A3", "A7")), matcher.push(events("B8"))) == [(1,), (2,), (3,)]
    matcher.replace(None, text.format(1, "a"))  # a7 has ended under the other version: it is over
    matcher = going_on(matcher, kept)
    assert rows(matcher.push(events("A9", "B20")), matcher.finish()) == [(9,)]


def test_a_match_is_over_where_the_new_version_goes_on() -> None:
    for strategy in ("skip_till_any_match", "skip_till_next_match"):
        text = f"PATTERN SEQ(A a, B b{{}}) WHERE {strategy} {{{{ a.x = 0 }}}} RETURN a.ts AS a, b.ts AS b"
        matcher = oz.matcher(text.format(""), SCHEMA)
        assert rows(matcher.push(events("A1", "B2", "A3"))) == [(1, 2)]
        matcher.replace(None, text.format(", C c"))
        expected = [(1, 4), (3, 4)] if strategy == "skip_till_any_match" else [(3, 4)]
        assert rows(matcher.push(events("B4", "C5")), matcher.finish()) == expected


# ---- runs of automata ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [False, True], ids=["running", "restored"])
def test_runs_that_have_moved_on_are_gone(kept: bool) -> None:
    text = PAIRS.replace("b.x > $least", "skip_till_next_match { b.x > $least }")
    matcher = oz.matcher(text, SCHEMA, params={"least": 5})
    matcher.push(events("A1", "B2=7", "A3", "B4=1", "A5"))
    matcher.set_params(None, least=10)  # a1 is bound with b2, which was to change; a3 has ignored b4
    matcher = going_on(matcher, kept)
    assert rows(matcher.push(events("B6=12", "C7")), matcher.finish()) == [(3, 6, 7), (5, 6, 7)]


def test_contiguity_and_windows_that_count_events() -> None:
    text = "PATTERN SEQ(A+ a[], B b, C c) WHERE strict_contiguity {{ b.x >= {} }} RETURN a[1].ts AS a, c.ts AS c"
    matcher = oz.matcher(text.format(0), SCHEMA)
    matcher.push(events("A1", "A2", "C3"))
    matcher.push(events("A4", "A5", "A6"))
    matcher.replace(None, text.format(1))
    assert rows(matcher.push(events("B7=1", "C8")), matcher.finish()) == [(4, 8), (5, 8), (6, 8)]
    text = "PATTERN SEQ(A a, B b) WHERE b.x >= {} WITHIN 4 EVENTS RETURN a.ts AS a, b.ts AS b"
    matcher = oz.matcher(text.format(0), SCHEMA, engine="automaton")
    matcher.push(events("A1", "A2", "C3", "C4"))
    matcher.replace(None, text.format(1))
    assert rows(matcher.push(events("B5=1")), matcher.finish()) == [(2, 5)]


@pytest.mark.parametrize("kept", [False, True], ids=["running", "restored"])
@pytest.mark.parametrize("as_set", [False, True], ids=["alone", "set"])
def test_an_expression(kept: bool, as_set: bool) -> None:
    expression = A.next(B, where="b > $least").next(C)
    rules = [{"id": 1, "least": 5}, {"id": 2, "least": 5}]
    given = oz.queries(expression, rules) if as_set else oz.query(expression, {"least": 5})
    matcher = oz.matcher(given, SCHEMA)
    matcher.push(events("A1=1", "B2=7", "A3=3", "B4=1", "A5=5"))
    matcher.set_params(1 if as_set else None, least=10)
    matcher = going_on(matcher, kept)
    found = rows(matcher.push(events("B6=12", "C7")), matcher.finish())
    if as_set:
        assert found == [(2, 1, 7, 0, 1, 7), *((id_, x, 12, 0, x, 7) for x in (3, 5) for id_ in (2, 1))]
    else:
        assert found == [(3, 12, 0, 3, 7), (5, 12, 0, 5, 7)]


def test_an_expression_by_another() -> None:
    matcher = oz.matcher([A.next(B, where="b > a").named("rises")], SCHEMA)
    matcher.push(events("A1=5", "B2=1", "A3=2"))
    matcher.replace("rises", A.next(B, where="b < a"))
    assert rows(matcher.push(events("B4=1"))["rises"], matcher.finish()["rises"]) == [(5, 1, 1, 4), (2, 1, 3, 4)]


# ---- lists and sets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [False, True], ids=["running", "restored"])
@pytest.mark.parametrize("count", [1, 70], ids=["alone", "shared"])
def test_a_query_of_a_list(kept: bool, count: int) -> None:
    texts = [
        f"QUERY q{n} PATTERN SEQ(A a, B b) WHERE b.x > {n} WITHIN 20 RETURN a.ts AS a, b.ts AS b"
        for n in range(count)
    ]
    matcher = oz.matcher(texts, SCHEMA)
    matcher.push(events("A1", "A2"))
    matcher.replace("q0", "PATTERN SEQ(A a, B b) WHERE b.x > 3 WITHIN 20 RETURN a.ts AS a, b.ts AS b, b.x")
    matcher = going_on(matcher, kept)
    found = matcher.push(events("B3=2", "B4=4", "C5"))
    assert rows(found["q0"]) == [(1, 4, 4), (2, 4, 4)]
    assert list(found) == [f"q{n}" for n in range(count)]
    if count > 1:
        assert rows(found["q1"]) == [(1, 3), (2, 3), (1, 4), (2, 4)]


@pytest.mark.parametrize("engine", ["auto", "automaton", "reference"])
@pytest.mark.parametrize("kept", [False, True], ids=["running", "restored"])
def test_rows_of_a_set(engine: str, kept: bool) -> None:
    rules = [{"id": name, "least": 5} for name in ("y", "x", "z")]
    matcher = oz.matcher(oz.queries(PAIRS, rules), SCHEMA, engine=engine)
    matcher.push(events("A1", "B2=7", "A3"))
    matcher.set_params("y", least=10)
    matcher.replace("z", {"least": 6})
    matcher = going_on(matcher, kept)
    found = rows(matcher.push(events("B4=12", "C5")), matcher.finish())
    # who has changed comes last, as one that comes anew does
    assert found == [("x", 1, 2, 5), *((name, a, 4, 5) for a in (1, 3) for name in "xyz")]
    matcher = oz.matcher(oz.queries(PAIRS, rules), SCHEMA, engine=engine)
    matcher.set_params("x", least=1)
    matcher.remove("x")
    assert not matcher.has("x")


def test_many_changes_of_one_plan() -> None:
    rules = [{"id": number, "least": number} for number in range(50)]
    matcher = oz.matcher(oz.queries(PAIRS, rules), SCHEMA)
    matcher.push(events("A1", "A2"))
    for _ in range(50):
        for number in range(50):
            matcher.set_params(number, least=number + 1)
    found = rows(matcher.push(events("B3=50", "C4")), matcher.finish())
    assert len(found) == 2 * 49


# ---- register automata -----------------------------------------------------------------------------------

ARCS = [
    {"id": "first", "source": "q0", "target": "q1", "when": "e.x > 0", "set": {"n": "e.x"}},
    {"id": "last", "source": "q1", "target": "q2", "when": "e.x > $least", "set": {"n": "n + e.x"}},
]
AUTOMATON = oz.automaton(start="q0", final=["q2"], register={"n": 0}, arcs=ARCS)


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


# ---- where matches may be withdrawn ----------------------------------------------------------------------

KEYED = PAIRS.replace("WHERE", "WHERE [y] AND")


def told(table: pa.Table) -> list[tuple[Any, ...]]:
    return [(*row[:-2], "+" if row[-2] == 1 else "-") for row in rows(table)]


@pytest.mark.parametrize("text", [PAIRS, KEYED], ids=["rewinds", "regions"])
@pytest.mark.parametrize("kept", [False, True], ids=["running", "restored"])
def test_what_came_after_the_punctuation_is_judged_anew(text: str, kept: bool) -> None:
    matcher = oz.matcher(text, SCHEMA, params={"least": 5}, speculation="inf")
    one_key = ["A1", "B2=7", "C3", "A4", "C5", "B6=7", "B7=12", "C8"]
    came = events(*one_key).set_column(3, "y", pa.array([0] * len(one_key)))
    assert told(matcher.push(came[:3])) == [(1, 2, 3, "+")]
    assert not told(matcher.advance(4))
    assert len(told(matcher.push(came[3:]))) == 6
    matcher.set_params(None, least=10)
    matcher = going_on(matcher, kept)
    # a1 stays; what ended before is final; b6, and b2, which the old version took, are in nothing any more
    gone = [(1, 2, 5, "-"), (1, 2, 8, "-"), (1, 6, 8, "-"), (4, 6, 8, "-")]
    assert told(matcher.push(came[:0])) == gone
    late = events("A5", "C9").set_column(3, "y", pa.array([0, 0]))
    assert sorted(told(going_on(matcher, kept).push(late))) == [
        (1, 7, 9, "+"),
        (4, 7, 9, "+"),
        (5, 7, 8, "+"),
        (5, 7, 9, "+"),
    ]


def test_what_is_refused_changes_nothing_of_how_it_is_corrected() -> None:
    matcher = oz.matcher(KEYED, SCHEMA, params={"least": 5}, speculation="inf")
    matcher.push(events("A1", "B2=7", "C3"))
    matcher.advance(2)
    how = matcher.explain()
    assert "their partitions, a window around them, are matched again" in how
    for text in ("PATTERN SEQ(A a, B b) RETURN a.y AS y", "PATTERN SEQ(A a", "PATTERN A a WHERE a.z > 1"):
        with pytest.raises(oz.OuzelError):
            matcher.replace(None, text)
    assert matcher.explain() == how
    matcher.replace(None, KEYED.replace("20", "30").replace("$least", "4"))
    assert "back to a checkpoint before them" in matcher.explain()


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


# ---- what is refused -------------------------------------------------------------------------------------


def one(text: str = PAIRS.replace("$least", "5"), **options: Any) -> oz.Matcher:
    return oz.matcher(text, SCHEMA, **options)


def with_events(matcher: oz.Matcher) -> oz.Matcher:
    matcher.push(events("A1", "B2=9", "A3"))
    return matcher


def listed() -> oz.Matcher:
    return oz.matcher(
        ["PATTERN A; B RETURN A.x INTO T", "PATTERN T", "PATTERN A a WHERE a.x > $p"], SCHEMA, params={"p": 1}
    )


def automaton(**options: Any) -> oz.Matcher:
    return oz.matcher(oz.query(AUTOMATON, {"least": 1}), SCHEMA, **options)


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


def test_parameters_are_called_what_they_are_in_messages() -> None:
    matcher = automaton()
    with pytest.raises(oz.QueryError) as error:
        matcher.set_params(None, least="x")
    assert "    e.x > $least\n" in str(error.value)
    assert "ᵛ" not in str(error.value)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_matcher_goes_on_after_what_was_refused(engine: str) -> None:
    matcher = oz.matcher("PATTERN SEQ(A a, B b) RETURN a.ts", SCHEMA, engine=engine)
    matcher.push(events("A1", "A2"))
    for text in ("PATTERN SEQ(A a, B b) RETURN a.y", "PATTERN SEQ(A a", "PATTERN A a WHERE a.z > 1"):
        with pytest.raises(oz.OuzelError):
            matcher.replace(None, text)
    assert rows(matcher.push(events("B3")), matcher.finish()) == [(1,), (2,)]


# ---- register automata, again and again ------------------------------------------------------------------

EQUAL = oz.automaton(start="q0", final=["q1"], register={"n": 0}).arc(
    "q0", "q1", "e.x = $x", {"n": "e.x"}, id="on"
)


def at(*times: int) -> pa.Table:
    return pa.Table.from_pylist([{"ts": ts, "type": "A", "x": ts, "y": 0} for ts in times], SCHEMA)


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


FINAL = {"source": "q5", "target": "q5", "final": True}


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
