"""Worked examples of the papers: query, events and the rows that RETURN gives, in no order."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import ouzel as oz

Case = dict[str, Any]
Rows = list[list[Any]]

CASES: list[Case] = json.loads((Path(__file__).parent / "cases" / "paper_cases.json").read_text("utf-8"))

every_case = pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])


def run(case: Case, query: str, events: list[dict[str, Any]]) -> Rows:
    """The values of every row in the order of RETURN."""
    # a case declares the attributes that its conditions tell apart; eid is there to name events in RETURN
    schemas = case.get("schemas")
    types = schemas and {name: ["eid", *attributes] for name, attributes in schemas.items()}
    return in_order([list(row.values()) for row in oz.match(events, query, types=types)])


def in_order(rows: Rows) -> Rows:
    return sorted(rows, key=json.dumps)


def test_no_two_cases_have_one_id() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES)


@every_case
def test_expected_rows(case: Case) -> None:
    assert run(case, case["query"], case["events"]) == in_order(case["expected"])


@pytest.mark.parametrize("case", [case for case in CASES if "same_as" in case], ids=lambda case: case["id"])
def test_two_ways_to_say_the_same(case: Case) -> None:
    assert run(case, case["same_as"], case["events"]) == in_order(case["expected"])


@every_case
@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_arrival_does_not_matter(case: Case, seed: int) -> None:
    events = list(case["events"])
    random.Random(seed).shuffle(events)
    assert run(case, case["query"], events) == in_order(case["expected"])
