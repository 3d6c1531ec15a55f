"""Explanations: golden pairs of a query and its explanation, and what must hold for every query.

The pairs are in tests/golden/explain: `name.txt` explains `name.ozl`, or the paper's query of that name.  After
a change that is meant, write them again with `.venv/bin/python tests/test_explain.py`, and read the difference.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given

import ouzel as oz
from ouzel.compile import compile_query
from ouzel.explain.layout import WIDTH, columns
from ouzel.logical.conjuncts import Place
from ouzel.logical.schema import open_schema
from ouzel.physical.automaton import AutomatonPlan
from ouzel.physical.reference.plan import ReferencePlan
from ouzel.testing.strategies import RandomQuery, queries
from valid_queries import QUERIES

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden" / "explain"
PAPERS = ROOT / "examples" / "papers"
FROM_PAPERS = ("sase_q1", "sase_q3", "sase_plus_q1", "sase_plus_q3", "sase_plus_template_p3_star", "zstream_q3")

CASES = sorted([*GOLDEN.glob("*.ozl"), *(PAPERS / f"{name}.ozl" for name in FROM_PAPERS)])
every_case = pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
TEXTS = [*QUERIES, *(path.read_text(encoding="utf-8") for path in sorted({*CASES, *PAPERS.glob("*.ozl")}))]
every_text = pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))


def explained(path: Path) -> str:
    # what is compiled is explained as the reference runs it only if one asks for it
    engine = "reference" if path.stem == "reference_runs" else "auto"
    return oz.query(path.read_text(encoding="utf-8")).explain(engine=engine) + "\n"


def golden(path: Path) -> Path:
    return GOLDEN / f"{path.stem}.txt"


@every_case
def test_an_explanation_is_as_it_was(path: Path) -> None:
    assert explained(path) == golden(path).read_text(encoding="utf-8")


def test_every_golden_explanation_has_a_query() -> None:
    assert sorted(GOLDEN.glob("*.txt")) == sorted(map(golden, CASES))


def test_the_page_on_plans_shows_the_plan_of_the_papers_query_3() -> None:
    page = (ROOT / "docs" / "explain.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    _meaning, plan = explained(PAPERS / "sase_plus_q3.ozl").split("  engine ")
    assert shown == f"  engine {plan}"


# ---- every condition has its place -----------------------------------------------------------------------


def words(text: str) -> str:
    return " ".join(text.split())


def check_places(text: str) -> None:
    """Every condition is placed once, and compiled engines show it in some formula; all of it is in the text."""
    shown = words(oz.query(text).explain())
    for plan in compile_query(text, open_schema()).plans:
        query = plan.query
        explained = plan.physical.explain()
        sections, placed = explained.sections, explained.placed
        conditions = [*{test.text for test in query.equivalences}, *(one.text for one in query.conjuncts)]
        conditions += [query.window.text] if query.window else []
        assert sorted(condition for condition, _place in placed) == sorted(conditions)
        assert all(words(f"{condition} {place}") in shown for condition, place in placed)
        formulas = words(" ".join(row for _title, rows in sections for row in rows))
        for conjunct in () if isinstance(plan.physical, ReferencePlan) else query.conjuncts:
            nowhere = any(one == conjunct.text and place.startswith("nowhere: ") for one, place in placed)
            assert conjunct.place is Place.ALWAYS or (conjunct.text in formulas) != nowhere


@every_text
def test_every_condition_has_one_place(text: str) -> None:
    check_places(text)


@given(queries(totals=True))
def test_every_condition_of_a_random_query_has_one_place(query: RandomQuery) -> None:
    check_places(query.text)


# ---- states of the automaton -----------------------------------------------------------------------------


States = dict[str, dict[str, str]]


def states(query: str) -> States:
    """What is printed of each state: its edges with their formulas, and what a run remembers there."""
    plan = compile_query(query, open_schema()).plans[0]
    assert isinstance(plan.physical, AutomatonPlan)
    (title, rows), *_others = plan.physical.explain().sections
    assert title == "automaton"
    found: States = {}
    edge = ""
    for row in rows:
        if not row.startswith(" "):
            found[row] = {}
        elif row[2] != " ":
            edge, text = re.split(r"  +", row.strip(), maxsplit=1)
            found[list(found)[-1]][edge] = text
        else:
            found[list(found)[-1]][edge] += " " + row.strip()
    return found


STAYS = {
    "strict_contiguity { }": "False and WITHIN 5",
    "partition_contiguity { [k] }": "not [k] and WITHIN 5",
    "partition_contiguity { [k, x] }": "not ([k] and [x]) and WITHIN 5",
    "skip_till_next_match { [k] }": "not take a and WITHIN 5",
    "skip_till_any_match { }": "True and WITHIN 5",
}


@pytest.mark.parametrize("strategy", STAYS)
def test_when_a_run_stays_depends_on_the_strategy(strategy: str) -> None:
    found = states(f"PATTERN SEQ(A+ a[], B b) WHERE {strategy} WITHIN 5")
    assert found["a: 1 or more events"]["stay"] == STAYS[strategy]
    assert "stay" not in found["before any event"]
    assert found["b: a match"] == {}


BOUNDS = {
    "+": ("1 or more events", "", "", ""),
    "*": ("any number of events", "", "", ""),
    "{2,}": ("2 or more events", "", " and at least 2 taken", "a.LEN, up to 2"),
    "{3}": ("3 events", " and fewer than 3 taken", " and at least 3 taken", "a.LEN"),
    "{0,2}": ("0 to 2 events", " and fewer than 2 taken", "", "a.LEN"),
}


@pytest.mark.parametrize("quantifier", BOUNDS)
def test_how_many_events_a_closure_takes(quantifier: str) -> None:
    about, fewer, enough, remembers = BOUNDS[quantifier]
    found = states(f"PATTERN SEQ(A{quantifier} a[], B b)")
    closure = found[f"a: {about}"]
    assert closure["take -> a"] == f"mask: A{fewer}"
    assert closure["begin -> b"] == f"mask: B{enough}"
    assert ("begin -> b" in found["before any event"]) == (quantifier in ("*", "{0,2}"))
    assert closure.get("remembers", "") == remembers


def test_a_closure_of_one_event_takes_no_more() -> None:
    assert states("PATTERN SEQ(A{1} a[], B b)")["a: 1 event"] == {"begin -> b": "mask: B", "stay": "True"}


def test_a_condition_on_a_second_event_that_never_comes_is_nowhere() -> None:
    text = oz.query("PATTERN SEQ(A{1} a[], B b) WHERE a[i].x > a[i-1].x").explain()
    assert "placed      a[i].x > a[i-1].x  nowhere: a binds no second event\n" in text + "\n"


def test_a_full_closure_waits_for_what_comes_next() -> None:
    query = "PATTERN SEQ(A{2,3} a[], (B b | C c)) WHERE skip_till_next_match { }"
    stay = "not take a and not (begin b and at least 3 taken) and not (begin c and at least 3 taken)"
    assert states(query)["a: 2 to 3 events"]["stay"] == stay


def test_optional_components_are_passed_over() -> None:
    found = states("PATTERN SEQ(A a, B? b, C* c[], D? d) WHERE skip_till_next_match { count(c[]) != 1 }")
    assert list(found) == ["before any event", "a", "b", "c: any number of events", "d: a match"]
    assert found["before any event"] == {"begin -> a": "mask: A"}
    assert found["b"] == {
        "begin -> c": "mask: C",
        "begin -> d": "mask: D and count(c[]) != 1",
        "stay": "not begin c and not begin d",
        "match": "count(c[]) != 1",
    }
    assert found["c: any number of events"] == {
        "begin -> d": "mask: D and count(c[]) != 1",
        "take -> c": "mask: C",
        "stay": "not take c",
        "match": "count(c[]) != 1",
        "remembers": "c.LEN",
    }


def test_a_condition_on_what_may_not_be_there_says_so() -> None:
    found = states("PATTERN SEQ(A? a, B b, (C c | D d)) WHERE a.x < b.x AND b.x < c.x AND c.x < 3")
    assert found["before any event"]["begin -> b"] == "mask: B and a.x < b.x, if there is a"
    assert found["a"]["begin -> b"] == "mask: B and a.x < b.x, if there is a"
    assert found["a"]["remembers"] == "a.x, whether there is a"
    assert found["b"]["begin -> c"] == "mask: C and c.x < 3 and b.x < c.x"
    assert found["b"]["remembers"] == "b.x"


NEEDED = {
    "b.x > a[1].x": "a[1].x",
    "b.x > a[a.LEN].x": "a[a.LEN].x",
    "b.x > a.LEN": "a.LEN",
    "b.x > count(a[])": "a.LEN",
    "b.x > avg(a[].x)": "running sum and count of a[].x",
    "b.x > count(a[].x)": "running count of a[].x",
    "b.x > first(a[].y)": "a[1].y",
    "start(b) - end(a[1]) < 3": "end(a[1])",
    "a[i].x > a[i-1].x": "a[a.LEN].x",
    "a[i].x > a[1].y": "a[1].y",
    "a[i].x > max(a[..i-1].x)": "running max of a[..i-1].x",
    "a[a.LEN].x > sum(a[].y) + a[1].x": "a[a.LEN].x, running sum of a[].y, a[1].x",
    "a[1].x > 3": "",
    "a[i].x > 3 AND b.x > 4": "",
}


@pytest.mark.parametrize("condition", NEEDED)
def test_what_a_run_remembers(condition: str) -> None:
    found = states(f"PATTERN SEQ(A+ a[], B b) WHERE {condition}")
    assert found["a: 1 or more events"].get("remembers", "") == NEEDED[condition]
    assert all("remembers" not in found[name] for name in ("before any event", "b: a match"))


# ---- the choice of engine --------------------------------------------------------------------------------


def test_why_this_engine_and_not_one_that_is_preferred() -> None:
    text = oz.query("PATTERN SEQ(A+ a[], B b)").explain()
    assert "engine      automaton: events and closures in sequence" in text
    assert "\n              not scan: a scan takes single events in sequence\n" in text
    assert "not " not in oz.query("PATTERN SEQ(A a, B b)").explain()


@pytest.mark.parametrize("engine", ["scan", "automaton", "reference"])
def test_an_engine_that_was_asked_for(engine: str) -> None:
    text = oz.query("PATTERN SEQ(A a, B b)").explain(engine=engine)
    assert f"engine      {engine}: it was asked for; " in text
    assert "not scan" not in text


# ---- layout ----------------------------------------------------------------------------------------------


@every_text
def test_explanations_fit_on_a_terminal(text: str) -> None:
    assert max(map(len, oz.query(text).explain().splitlines())) <= WIDTH


def test_long_conditions_are_cut_between_words() -> None:
    condition = " OR ".join(f"a.x = {number}" for number in range(40))
    text = oz.query(f"PATTERN SEQ(A a, B b) WHERE {condition}").explain()
    assert max(map(len, text.splitlines())) <= WIDTH
    assert words(text).count(condition) == 3  # as a condition, in the mask, and placed


def test_a_word_that_is_too_long_stays_whole() -> None:
    assert columns([("a", ["x" * 200, "b"])]) == ["a  " + "x" * 200, "   b"]


def test_an_order_of_joins_says_what_it_was_chosen_by() -> None:
    query = oz.query("PATTERN A a & B b & C c WITHIN 5")
    events = [{"ts": n, "type": "ABC"[n % 3]} for n in range(30)]
    unseen = "order of joins: chosen before any event was seen: the first events decide"
    assert f"{unseen}, and those after CON" in words(query.explain())
    assert f"{unseen} CON" in words(query.explain(tuning={"adapt": "off"}))
    assert "order of joins: the cheapest, which may change as events come\n" in query.explain(events)
    assert "order of joins: the cheapest, which is kept\n" in query.explain(events, tuning={"adapt": "off"})


if __name__ == "__main__":
    for case in CASES:
        golden(case).write_text(explained(case), encoding="utf-8")


def test_queries_that_share_a_plan() -> None:
    texts = [f"PATTERN SEQ(A a, B b) WHERE a.x >= {n} WITHIN 9" for n in range(70)]
    events = [{"ts": n, "type": "AB"[n % 2], "x": n} for n in range(4)]
    said = oz.query([*texts, "PATTERN SEQ(A a, B+ b[])"]).explain(events)
    assert "shared plan of 70 of 71 queries and sets" in said
    assert "70 queries, whose 140 states are" in said
    assert "beside it   query71: automaton" in said
    assert said.count("query query") == 6


def test_a_set_of_queries() -> None:
    events = [{"ts": n, "type": "AB"[n % 2], "x": n} for n in range(4)]
    some = oz.queries("PATTERN A a; B b WHERE a.x >= $least WITHIN 9", [{"id": n, "least": n} for n in range(3)])
    said = oz.query(some).explain(events)
    assert "set         3 queries by 'id', each with its own $least" in said
    assert "window      WITHIN 9" in said
    assert "a.x >= $least" in said
    assert "3 queries, whose 6 states are 6 after merging" in said
