"""Worked examples of the papers: query, events and the rows that RETURN gives, in no order."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import automaton_cases
import ouzel as oz
from automaton_cases import EVERY_CASE, Case

Rows = list[list[Any]]

CASES = [case for case in EVERY_CASE if "automaton" not in case]

every_case = pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])

S = oz.stream()
LARGE = S.where("vol > 10000").select("name", "price").rename(company="name", maxP="price").extend(minP="maxP")
FALLS = LARGE.fold(
    S.select("name", "price").rename(company="name", minP="price"),
    where="company = company.last",
    step="minP < minP.last",
)
QUERY_7 = (
    FALLS.where("duration() >= 10")
    .next(S.select("name", "price").rename(firm="name", finalP="price"), where="firm = company")
    .where("finalP > 1.05 * minP")
    .select("company", "maxP", "minP", "finalP")
)
BOTH = {"S1.name": "name", "S1.price": "price", "S2.name": "name", "S2.price": "price"}
RISES = (
    S.extend(**BOTH)
    .select(*BOTH)
    .fold(S.prefixed("S2"), where="S1.name = S2.name", step="S2.price > S2.price.last")
)
NESTED = S.prefixed("S1").next(S.prefixed("S2").next(S.prefixed("S3")), where="S3.price > S1.price")
ALGEBRA = {
    "cayuga-mu": RISES,
    "cayuga-query7": QUERY_7,
    "cayuga-query7-simultaneous-forward": QUERY_7,
    "cayuga-query7-simultaneous-filter": QUERY_7,
    "cayuga-resubscription": NESTED,
    "cayuga-resubscription-simultaneous": NESTED,
    "cayuga-intervals": oz.stream("S1").prefixed("S1").next(oz.stream("S2").prefixed("S2")),
}
READING: dict[str, dict[str, Any]] = {"cayuga-intervals": {"time": ("start", "end"), "type": "stream"}}


def query_of(case: Case) -> oz.Stream | str:
    """The query of a case; of those in the algebra, the paper's words for it are in the file."""
    return ALGEBRA[case["id"]] if "algebra" in case else str(case["query"])


def run(case: Case, query: oz.Stream | str, events: list[dict[str, Any]], engine: str = "auto") -> Rows:
    """The values of every row in the order of RETURN."""
    # a case declares the attributes that its conditions tell apart; eid is there to name events in RETURN
    schemas = case.get("schemas")
    types = schemas and {name: ["eid", *attributes] for name, attributes in schemas.items()}
    found = oz.match(events, query, types=types, engine=engine, **READING.get(case["id"], {}))
    return in_order([list(row.values()) for row in found])


def in_order(rows: Rows) -> Rows:
    return sorted(rows, key=json.dumps)


def test_no_two_cases_have_one_id() -> None:
    assert len({case["id"] for case in EVERY_CASE}) == len(EVERY_CASE)


@every_case
def test_expected_rows(case: Case) -> None:
    assert run(case, query_of(case), case["events"]) == in_order(case["expected"])


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["id"].startswith("zstream")], ids=lambda case: case["id"]
)
def test_trees_give_the_cases_of_their_paper(case: Case) -> None:
    assert run(case, query_of(case), case["events"], "tree") == in_order(case["expected"])


@pytest.mark.parametrize("case", [case for case in CASES if "same_as" in case], ids=lambda case: case["id"])
def test_two_ways_to_say_the_same(case: Case) -> None:
    assert run(case, case["same_as"], case["events"]) == in_order(case["expected"])


@every_case
@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_arrival_does_not_matter(case: Case, seed: int) -> None:
    events = list(case["events"])
    random.Random(seed).shuffle(events)
    assert run(case, query_of(case), events) == in_order(case["expected"])


# ---- AFA: events that come late and are withdrawn, arcs that come and go --------------------------------

every_automaton = pytest.mark.parametrize("case", automaton_cases.CASES.values(), ids=automaton_cases.CASES)


@every_automaton
@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_an_automaton_over_what_is_left(case: Case, engine: str) -> None:
    found = oz.match(automaton_cases.survivors(case), automaton_cases.with_lives(case), engine=engine)
    assert found == automaton_cases.expected(case)


@every_automaton
@pytest.mark.parametrize("speculation", ["inf", 0])
def test_an_automaton_event_by_event(case: Case, speculation: Any) -> None:
    told = automaton_cases.pushed(case, speculation)
    assert automaton_cases.net(told) == automaton_cases.expected(case)
    signs = [sign for table in told for sign in table["op"].to_pylist()]
    assert -1 not in signs or speculation == "inf"


def test_a_match_is_told_and_withdrawn_with_its_event() -> None:
    told = automaton_cases.pushed(automaton_cases.CASES["afa-v-pattern-retraction"], "inf")
    assert [table["op"].to_pylist() for table in told] == [[], [], [], [], [], [], [1], [-1], []]


def test_without_the_change_of_arcs_there_is_a_match() -> None:
    case = {**automaton_cases.CASES["afa-dynamic"], "arc_changes": []}
    assert len(automaton_cases.net(automaton_cases.pushed(case, "inf"))) == 1
