"""Cayuga's technical benchmark: what is drawn is as Table 2 says, and templates mean what 5.1 describes."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import ouzel as oz
from ouzel.bench import many_queries
from ouzel.bench.technical import (
    CONTINUOUS,
    DURATION,
    RANGES,
    STEPS,
    TEMPLATES,
    Attributes,
    Workload,
    technical_stream,
)

SMALL = 3
"""A domain in which queries find something."""
Event = dict[str, Any]
EVENTS: list[Event] = technical_stream(400, domain=SMALL).to_pylist()


def test_values_are_drawn_by_zipf() -> None:
    ((_attributes, parameters),) = Workload(100_000).sets()
    for name, zipf in (("value", 1), ("other1", 1), ("other2", 1), ("other3", 0.8)):
        counts = np.bincount(np.array(parameters[name]), minlength=100)
        assert len(counts) == 100
        assert counts[0] / counts[9] == pytest.approx(10**zipf, rel=0.1)


@pytest.mark.parametrize("selectivity", [0.5, 0.7])
def test_a_range_holds_as_many_events_as_table_2_says(selectivity: float) -> None:
    ((_attributes, parameters),) = Workload(1_000, selectivity=selectivity).sets()
    values = np.array(technical_stream(10_000)["c1"])
    for step in STEPS:
        low, high = (np.array(parameters[f"first{step}_{end}"]) for end in ("low", "high"))
        assert len(np.unique(low)) == RANGES
        held = (values[:, None] >= low[None, :50]) & (values[:, None] < high[None, :50])
        assert held.mean(axis=0) == pytest.approx(selectivity, abs=0.02)


def test_queries_with_the_same_attributes_are_one_set() -> None:
    sets = dict(Workload(20_000, drawn=True).sets())
    assert len(sets) == 4 * 3 * 6
    assert all(one.primary != one.other and one.first < one.second for one in sets)
    numbers = np.concatenate([np.array(parameters["id"]) for parameters in sets.values()])
    assert sorted(numbers.tolist()) == list(range(20_000))
    most = max(sets, key=lambda one: sets[one].num_rows)
    assert {most.primary, most.other, most.first, most.second} == set(Attributes())


def test_queries_and_events_are_seeded() -> None:
    ((_attributes, one),) = Workload(100).sets()
    ((_attributes, same),) = Workload(100).sets()
    ((_attributes, other),) = Workload(100, seed=2).sets()
    assert one.equals(same)
    assert not one.equals(other)
    assert technical_stream(100).equals(technical_stream(100))
    assert not technical_stream(100)["d1"].equals(technical_stream(100, 100)["d1"])


@pytest.mark.parametrize("drawn", [False, True])
@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_finds_what_the_paper_describes(template: str, drawn: bool) -> None:
    stream, matches = technical_stream(400, domain=SMALL), 0
    for attributes, parameters in Workload(6, template, drawn=drawn, domain=SMALL).sets():
        for values in parameters.to_pylist():
            query = TEMPLATES[template](attributes)
            given = {name: value for name, value in values.items() if name != "id"}
            found = oz.match(stream, query, type=None, params=given)
            expected = described(template, attributes, values)
            matches += len(expected)
            names = ["start", "end", *(["total"] if template.endswith("Agg") else [])]
            rows = sorted(zip(*(found[name].to_pylist() for name in names), strict=True))
            assert len(rows) == len(expected)
            for row, (start, end, total) in zip(rows, expected, strict=True):
                assert row == (start, end, pytest.approx(total))[: len(row)]
    assert matches > 0 or template.startswith("Linear")


@pytest.mark.parametrize("drawn", [False, True])
def test_queries_at_once_find_what_each_finds(drawn: bool) -> None:
    stream, workload = technical_stream(400, domain=SMALL), Workload(20, drawn=drawn, domain=SMALL)
    contender, _planning = many_queries.pushed(workload.form(), [stream])
    figures = contender.look(contender.run())
    each = [
        len(described("Filter", attributes, values))
        for attributes, parameters in workload.sets()
        for values in parameters.to_pylist()
    ]
    assert figures["matches"] == sum(each) > 0


def described(template: str, attributes: Attributes, values: Event) -> list[tuple[int, int, float]]:
    """What a query finds, three events at a time: start, end, and the sum of the continuous attributes."""
    found = [
        match
        for place, first in enumerate(EVENTS)
        for match in combinations(EVENTS[place : place + DURATION], 3)
        if match[0] is first
        and all(_holds(step, event, attributes, values) for step, event in zip(STEPS, match, strict=True))
        and not _passed_over(template, match, attributes, values)
    ]
    if template == "LinearDyn":
        name = attributes.first
        found = [m for m in found if m[1][name] > 1.01 * m[0][name] and m[2][name] > 1.01 * m[1][name]]
    return sorted((m[0]["ts"], m[2]["ts"], sum(event[name] for event in m for name in CONTINUOUS)) for m in found)


def _holds(step: int, event: Event, attributes: Attributes, values: Event) -> bool:
    return (
        event[attributes.primary] == values["value"]
        and event[attributes.other] == values[f"other{step}"]
        and all(
            values[f"{place}{step}_low"] <= event[name] < values[f"{place}{step}_high"]
            for place, name in (("first", attributes.first), ("second", attributes.second))
        )
    )


def _passed_over(template: str, match: tuple[Event, ...], attributes: Attributes, values: Event) -> bool:
    """Whether there is an event between those of a match that should have been taken."""
    if template.startswith("NonDeterministic"):
        return False
    between = [event for event in EVENTS[match[0]["ts"] : match[2]["ts"]] if event not in match]
    return any(template != "Filter" or event[attributes.primary] == values["value"] for event in between)
