"""Tables of rules in a batch: what each version finds on its own lifetime, in one table."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import ouzel as oz
from rule_cases import FIRST, SET, TEXTS, Rows, alone, changes
from spark_events import EVENT_TYPES, stream


def sorted_rows(found: Rows) -> list[str]:
    return sorted(map(json.dumps, found))


@pytest.mark.parametrize("seed", range(4))
def test_versions_of_a_set(seed: int) -> None:
    events, rules = stream(seed, 150, 200), changes(seed, 9, 200)
    found = oz.match(events, SET, rules=rules, types=EVENT_TYPES)
    assert sorted_rows(found) == alone(events, [*FIRST, *rules], types=EVENT_TYPES)


@pytest.mark.parametrize("seed", range(4))
def test_texts(seed: int) -> None:
    events, rules = stream(seed, 150, 200), changes(seed, 9, 200, texts=True)
    first = {"id": "one", "query": TEXTS[0], "valid_from": None, "valid_to": None}
    found = oz.match(events, [f"QUERY one {TEXTS[0]}"], rules=rules, types=EVENT_TYPES)
    assert sorted_rows(found) == alone(events, [first, *rules], types=EVENT_TYPES)


def test_no_queries_but_rules_and_any_kind_of_table() -> None:
    events = pd.DataFrame({"ts": [1, 2, 3], "type": ["A", "B", "A"], "x": [1, 2, 3]})
    rules = pa.table(
        {"id": [7, 8], "query": ["PATTERN A RETURN A.x AS id", "PATTERN B RETURN B.x"], "valid_from": [2, None]}
    )
    found = oz.match(events, [], rules=rules)
    assert isinstance(found, pd.DataFrame)
    assert sorted(found.itertuples(index=False, name=None)) == [("7", '{"id": 3}'), ("8", '{"x": 2}')]
    assert oz.match(events, [], rules=rules.slice(0, 0)).empty
    assert oz.match([], [], rules=rules) == []


WRONG: dict[str, tuple[Any, Any, str]] = {
    "no set": ("PATTERN A", [{"id": 1, "query": "PATTERN B"}], "rules: required a set of queries"),
    "no text": ([], [{"id": 1, "qeury": "PATTERN B"}], "required a column 'query'; got id, qeury"),
    "no id": ([], [{"id": None, "query": "PATTERN B"}], "a rule without an id"),
    "no query": ([], [{"id": "r", "query": "PATTERN"}], "in the rule 'r'"),
    "two": (
        [],
        [{"id": "r", "query": "PATTERN A PATTERN B"}],
        "the rule 'r': required the text of one query; got 2",
    ),
    "into": ([], [{"id": "r", "query": "PATTERN A RETURN A.x INTO T"}], "the rule 'r': INTO"),
    "no parameter": (SET, [{"id": "r"}], "required a column 'least'; got id"),
    "another type": (SET, [{"id": "r", "least": "x"}], "column 'least': required int64; got string"),
    "times": ([], [{"id": "r", "query": "PATTERN A", "valid_from": "soon"}], "'valid_from': required"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said(case: str) -> None:
    query, rules, message = WRONG[case]
    with pytest.raises(oz.OuzelError) as caught:
        oz.match(stream(1, 9, 9), query, rules=rules, types=EVENT_TYPES)
    assert message in "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
