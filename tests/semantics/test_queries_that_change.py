"""Queries that take the place of others in a running matcher: what stays the same keeps its partial matches."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from query_changes import ENGINES, PAIRS, SCHEMA, events, going_on, rows

A, B, C = (oz.stream(one).select("x").rename(**{one.lower(): "x"}) for one in "ABC")


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


@pytest.mark.parametrize("changed", ["here", "there"])
def test_a_snapshot_of_another_way_to_correct_is_taken_up(changed: str) -> None:
    def made() -> oz.Matcher:
        return oz.matcher(KEYED, SCHEMA, params={"least": 5}, speculation="inf")

    there, here = made(), made()
    one_key = events("A1", "B2=7", "C3").set_column(3, "y", pa.array([0] * 3))
    (here if changed == "here" else there).set_params(None, least=5)
    there.push(one_key[:2])
    here.restore(there.snapshot())
    assert told(here.push(one_key[2:])) == [(1, 2, 3, "+")]
    assert oz.restore(here.snapshot()).explain() == here.explain() == there.explain()
