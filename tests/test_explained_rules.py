"""What `explain` says of rules: how many hold from the beginning, now, and how many are to come."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from rule_cases import SET, TEXTS, Rows
from spark_bench import SCHEMA
from test_ruled import LIST, rows_of, ruled

A = oz.stream("A")
EVENTS = pa.table({"ts": range(10), "type": ["A"] * 10, "x": range(10)})
LIMITS = oz.queries(A.where("x >= $least"), [{"id": "one", "least": 3}])
VERSIONS = [
    {"id": "one", "least": 4, "valid_from": 5, "valid_to": None},
    {"id": "two", "least": 5, "valid_from": None, "valid_to": 3},
    {"id": "two", "least": None, "valid_from": 2, "valid_to": None},
    {"id": "three", "least": 1, "valid_from": 4, "valid_to": 4},
]


def rows_then(time: int) -> pa.Table:
    """One event at a time."""
    values = {
        field.name: [time if field.name == "ts" else "A" if field.name == "type" else None] for field in SCHEMA
    }
    return pa.table(values, SCHEMA)


def of_section(text: str, title: str) -> str:
    """The rows beside a title, as one line."""
    lines = text.splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith(f"  {title:<12}"))
    after = (line for line in lines[first + 1 :])
    rows = [lines[first][14:]]
    for line in after:
        if not line.startswith(" " * 14):
            break
        rows.append(line[14:])
    return " ".join(" ".join(rows).split())


def test_a_table_of_rules_for_a_set() -> None:
    said = oz.query(LIMITS).explain(EVENTS, rules=pa.Table.from_pylist(VERSIONS))
    assert of_section(said, "rules") == "4 rows; queries from the beginning: 2; that begin later: 1"


def test_a_table_of_texts() -> None:
    rows = [{"id": "a", "query": "PATTERN A"}, {"id": "b", "query": "PATTERN A WITHIN 3", "valid_from": 4}]
    for events in (EVENTS, None):
        said = oz.query(["PATTERN A"]).explain(events, rules=rows)
        assert of_section(said, "rules") == "2 rows; queries from the beginning: 2; that begin later: 1"
        assert "query query1" in said
        assert "query b" in said


def test_rules_need_a_set_or_a_list() -> None:
    with pytest.raises(oz.OuzelError, match="rules: required a set of queries"):
        oz.query("PATTERN A").explain(EVENTS, rules=[{"id": "a", "query": "PATTERN A"}])


@pytest.mark.parametrize("engine", ["auto", "automaton"])
def test_a_matcher_of_queries_that_are_valid_for_some_time(engine: str) -> None:
    rows = [{"id": n, "v": 1, "since": n, "until": n + 2} for n in range(5)]
    queries = oz.queries(A.where("x > $v"), rows, valid_from="since", valid_to="until")
    matcher = oz.matcher(queries, EVENTS.schema, engine=engine)
    assert of_section(matcher.explain(), "set").endswith(" $v valid now: 0; to come: 5; over: 0")
    matcher.push(EVENTS.slice(0, 4))
    assert of_section(matcher.explain(), "set").endswith(" $v valid now: 2; to come: 1; over: 2")
    matcher.remove(2)
    matcher.add(9, {"v": 1, "since": None, "until": 100})
    said = of_section(oz.restore(matcher.snapshot()).explain(), "set")
    assert said == "5 queries by 'id', each with its own $v valid now: 2; to come: 1; over: 2"


def test_for_ever_needs_no_words() -> None:
    matcher = oz.matcher(LIMITS, EVENTS.schema)
    assert of_section(matcher.explain(), "set") == "1 queries by 'id', each with its own $least"


@pytest.mark.parametrize("kind", ["set", "list"])
def test_a_matcher_with_rules(kind: str) -> None:
    query: Any = oz.query(SET) if kind == "set" else LIST
    said, value = ("least", 1) if kind == "set" else ("query", TEXTS[0])
    matcher = ruled(query.text, query.params)
    rows: Rows = [
        {"id": "new", said: value, "valid_from": 10, "valid_to": 20},
        {"id": "new", said: None, "valid_from": 15, "valid_to": None},
        {"id": "later", said: value, "valid_from": 30, "valid_to": None},
    ]
    matcher.take(rows_of(rows, said))
    given = 2 if kind == "set" else 1
    first = ", the next at 10"
    assert of_section(matcher.explain(), "rules") == f"queries there: {given}; rows to come: 3{first}"
    matcher.push(rows_then(5), 12)
    assert of_section(matcher.explain(), "rules") == f"queries there: {given + 1}; rows to come: 2, the next at 15"
    matcher.push(None, 40)
    assert of_section(matcher.explain(), "rules") == f"queries there: {given + 1}; rows to come: 0"
