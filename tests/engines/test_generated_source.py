"""No text of a query gets into generated source: names, strings and numbers are data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ouzel.compile import compile_query
from ouzel.physical.automaton import AutomatonPlan
from ouzel.physical.scan import ScanPlan
from ouzel.runtimes.ingest import ingest
from ouzel.runtimes.quarantine import Report
from ouzel.runtimes.reading import Reading

EVENTS: list[dict[str, Any]] = [
    {"ts": 1, "type": "Zebra", "giraffe": 7654321, "lion": "roar", "okapi": 2.5},
    {"ts": 2, "type": "Mongoose", "giraffe": 7654322, "lion": "purr", "okapi": 3.5},
]
WORDS = ("Zebra", "Mongoose", "giraffe", "lion", "okapi", "hyena", "jackal", "ostrich", "roar", "7654321", "8.125")


@pytest.mark.parametrize(
    "query",
    [
        """PATTERN SEQ(Zebra hyena, !(Mongoose ostrich), Mongoose jackal)
           WHERE hyena.lion != 'roar' AND jackal.lion LIKE 'roar%' AND ostrich.okapi > hyena.okapi + 8.125
             AND hyena.giraffe < 7654321 + jackal.giraffe WITHIN 5""",
        """PATTERN SEQ(Zebra+ hyena[], Mongoose jackal)
           WHERE skip_till_next_match { hyena[i].giraffe > 7654321 * sum(hyena[..i-1].giraffe)
             AND jackal.okapi > 8.125 AND jackal.lion = hyena[1].lion } WITHIN 5""",
    ],
)
def test_generated_source_holds_no_text_of_the_query(query: str) -> None:
    table, _restore = ingest(EVENTS, Reading(), Report())
    (plan,) = compile_query(query, table.schema, {}).plans
    assert isinstance(plan.physical, ScanPlan | AutomatonPlan)
    sources = [plan.physical.source, plan.physical.filters.source]
    assert all("def kernel(" in source for source in sources)
    for word in WORDS:
        assert not any(word in source for source in sources), word


def test_another_constant_gives_the_same_source_and_so_the_same_kernel() -> None:
    table, _restore = ingest(EVENTS, Reading(), Report())
    text = "PATTERN SEQ(Zebra a, Mongoose b) WHERE a.giraffe + b.giraffe > {} AND a.lion = '{}'"
    sources = {
        ScanPlan.of(compile_query(text.format(*values), table.schema, {}).plans[0].query).source
        for values in ((1, "roar"), (2**40, "purr"))
    }
    assert len(sources) == 1


@pytest.mark.parametrize(
    ("first", "second", "how_often"),
    [
        ("okapi > 3.0", "okapi > 3.0", 1),
        ("okapi > 3.0", "okapi > 2.0", 2),
        ("okapi > 0.0", "okapi > -0.0", 2),
        ("okapi > 3.0", "giraffe > 3.0", 2),
        ("okapi > 3.0 AND lion = 'purr'", "okapi > 3.0", 3),
    ],
)
def test_what_several_components_ask_of_an_event_is_asked_once(first: str, second: str, how_often: int) -> None:
    table, _restore = ingest([*EVENTS, {**EVENTS[1], "ts": 3}], Reading(), Report())
    conditions = [f"{name}.{one}" for name, own in (("a", first), ("b", second)) for one in own.split(" AND ")]
    text = f"PATTERN SEQ(Mongoose a, Mongoose b, Mongoose c) WHERE {' AND '.join(conditions)}"
    filters = ScanPlan.of(compile_query(text, table.schema, {}).plans[0].query).filters
    assert filters.source.count("if m & ") == how_often
    rows = np.arange(3)
    masks = filters.apply(np.full(3, 7), table, rows, table.end_times)
    assert masks.tolist() == [
        4 + sum(1 << place for place, own in enumerate((first, second)) if _holds(own, event))
        for event in (EVENTS[0], EVENTS[1], EVENTS[1])
    ]


def _holds(condition: str, event: dict[str, Any]) -> bool:
    return bool(eval(condition.replace("AND", "and").replace(" = ", " == "), {}, dict(event)))  # noqa: S307 - of tests


def test_components_of_other_types_ask_for_themselves() -> None:
    table, _restore = ingest(EVENTS, Reading(), Report())
    text = "PATTERN SEQ(Zebra a, Mongoose b) WHERE a.okapi > 3.0 AND b.okapi > 3.0"
    filters = ScanPlan.of(compile_query(text, table.schema, {}).plans[0].query).filters
    assert filters.source.count("if m & ") == 2
