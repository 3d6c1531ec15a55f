"""An explanation from top to bottom: what the query means, which engine runs it, why, and by what plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ouzel.explain.layout import Sections, columns, section
from ouzel.explain.words import (
    component_words,
    conjunct_words,
    equivalence_words,
    infix,
    matches_words,
    output_words,
    type_words,
)
from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import INFERRED
from ouzel.optimizer.plan import Plan
from ouzel.optimizer.share import Groups, alone, shared
from ouzel.physical.contract import PhysicalPlan
from ouzel.physical.event_table import EventTable
from ouzel.physical.statistics import Statistics

_FEW = 5
"""Of so many queries that share a plan it is said what they mean."""


@dataclass(frozen=True)
class Count:
    """How many queries of a set there are, how many of them are to come, and how many over."""

    there: int
    to_come: int = 0
    over: int = 0
    is_bounded: bool = False

    @property
    def words(self) -> list[str]:
        """What is said of a set whose queries are valid for some time."""
        now = self.there - self.to_come - self.over
        return [f"valid now: {now:,}; to come: {self.to_come:,}; over: {self.over:,}"] if self.is_bounded else []


def _nothing_more(_plan: Plan) -> Sections:
    return []


def explain(
    plans: Sequence[Plan], events: EventTable | None, more: Callable[[Plan], Sections] = _nothing_more
) -> str:
    """Explain every query of a file; `more` has sections on what runs the engine, to stand before the engine's.

    Of queries that share a plan it is said what they share, and what the first of them mean.
    """
    # on Spark each query is run by itself
    groups = shared(plans) if more is _nothing_more else alone(plans)
    return explain_groups(groups, {}, events, more)


def explain_groups(
    groups: Groups,
    sizes: Mapping[str, Count],
    events: EventTable | None = None,
    more: Callable[[Plan], Sections] = _nothing_more,
) -> str:
    """Explain plans, some of which go together; of some sets it is known how many queries they have now."""
    texts = []
    every = [plan for plans, _physical in groups for plan in plans]
    for together, physical in groups:
        if len(together) > 1:
            texts.append(_together(together, physical, every))
            for one in together[:_FEW]:
                texts.append("\n".join([f"query {one.query.name}", *_logical(one.query, events, sizes)]))
            continue
        for plan in together:
            lines = [f"query {plan.query.name}", *_logical(plan.query, events, sizes)]
            lines += _choices(plan)
            lines += [line for title, rows in more(plan) for line in section(title, rows)]
            lines += _physical(plan)
            texts.append("\n".join(lines))
    return "\n\n".join(texts)


def _together(together: Sequence[Plan], physical: PhysicalPlan, plans: Sequence[Plan]) -> str:
    """What queries share that run as one plan, and which of a list run beside it."""
    lines = [f"shared plan of {len(together):,} of {len(plans):,} queries and sets"]
    lines += [line for title, rows in physical.explain().sections for line in section(title, rows)]
    names = {plan.query.name for plan in together}
    beside = [f"{plan.query.name}: {plan.engine}" for plan in plans if plan.query.name not in names]
    lines += section(
        "beside it", beside[:_FEW] + ([f"and {len(beside) - _FEW:,} more"] if len(beside) > _FEW else [])
    )
    if len(together) > _FEW:
        lines += section("shown", [f"the first {_FEW} of those that share it, and all others"])
    return "\n".join(lines)


def _logical(query: BoundQuery, events: EventTable | None, sizes: Mapping[str, Count]) -> list[str]:
    """What the query means; of a set, what its template does."""
    if query.members is not None:
        members = query.members
        count = sizes.get(query.name, Count(len(members)))
        said = f"{count.there:,} queries by '{members.id}', each with its own {_listed(members.parameters)}"
        of = section("set", [said, *count.words])
        return [*of, *_logical(members.template, events, sizes)]
    if query.attributes is not None:
        return _rows(query, events)
    lines = section("pattern", [infix(query.pattern)])
    lines += section("components", [component_words(component, query) for component in query.components])
    lines += section("equivalence", equivalence_words(query))
    lines += section("conditions", [conjunct_words(conjunct) for conjunct in query.conjuncts])
    lines += section("strategy", [query.strategy.value])
    lines += section("window", [query.window.text if query.window else "none: every run stays open"])
    output = [output_words(query)]
    if query.into:
        output.append(f"as events of type {query.into}")
    output.append(matches_words(query))
    lines += section("output", output)
    return lines + (section("input", [_input_words(query, events)]) if events is not None else [])


def _listed(parameters: Sequence[str]) -> str:
    return ", ".join(f"${name}" for name in parameters) or "lifetime"


def _rows(query: BoundQuery, events: EventTable | None) -> list[str]:
    """What an expression of the algebra means, or a register automaton."""
    assert query.attributes is not None
    lines = section("expression" if query.automaton is None else "arcs", query.source.splitlines())
    lines += section("streams", [f"{one.variable}: {type_words(one)}" for one in query.components])
    if query.automaton is not None:
        lines += section("equivalence", equivalence_words(query))
        lines += section("window", [query.window.text if query.window else "none: every run stays open"])
    columns = [*(one.name for one in query.attributes), *query.row_times]
    is_known = all(one.attributes is not None for component in query.components for one in component.types)
    output = [f"{', '.join(columns)}{'' if is_known else ', and what else events have'}"]
    if query.into:
        output.append(
            f"as events of type {query.into}" + (", for the query that reads them" if query.hidden else "")
        )
    lines += section("output", output)
    return lines + (section("input", [_input_words(query, events)]) if events is not None else [])


def _choices(plan: Plan) -> list[str]:
    """What the optimizer chose, and why."""
    by = f"by {', '.join(plan.partition_by)}" if plan.partition_by else "the stream as a whole"
    engine = [f"{plan.engine}: {plan.engine_reason}"]
    engine += [f"not {name}: {why}" for name, why in plan.passed_over]
    lines = section("partitions", [f"{by}: {plan.partition_reason}"])
    if plan.statistics is not None:
        lines += section("statistics", _statistics_words(plan.statistics))
        times = ", ".join(f"{name} {_time(one)}" for name, one in plan.estimates)
        engine += [f"estimated: {times}"] if times else []
    return lines + section("engine", engine)


def _statistics_words(statistics: Statistics) -> list[str]:
    """What a sample of events told."""
    cards = ", ".join(f"{_number(card)} {name}" for name, card in statistics.cards.items())
    parts = f", of {_number(statistics.partitions)} partitions" if statistics.partitions > 1 else ""
    shares = [(text, [f"holds for {_number(100 * share)}%"]) for text, share in statistics.selectivities.items()]
    return [f"in a window, by a sample: {cards}{parts}", *columns(shares)]


def _number(value: float) -> str:
    """A number with as many digits as a sample can tell.

    >>> _number(0.0123), _number(4.56), _number(12_345.6)
    ('0.012', '4.6', '12,346')
    """
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _time(nanoseconds: float) -> str:
    """A time in the unit in which one can read it.

    >>> _time(1234), _time(56_700_000), _time(8.9e9)
    ('< 1 ms', '57 ms', '8.9 s')
    """
    if nanoseconds < 1e6:
        return "< 1 ms"
    return f"{_number(nanoseconds / 1e6)} ms" if nanoseconds < 1e9 else f"{_number(nanoseconds / 1e9)} s"


def _physical(plan: Plan) -> list[str]:
    """How the engine runs the query, and where each condition went."""
    explained = plan.physical.explain(plan.statistics)
    lines = [line for title, rows in explained.sections for line in section(title, rows)]
    return lines + section("placed", columns([(text, [place]) for text, place in explained.placed]))


def _input_words(query: BoundQuery, events: EventTable) -> str:
    """How many events there are, and how many the query can use."""
    wanted = tuple(sorted({name for component in query.components for name in component.type_names}))
    if INFERRED in wanted:
        return f"{len(events):,} events, all of them wanted"
    relevant = int(np.count_nonzero(events.types.among(wanted) >= 0))
    return f"{len(events):,} events, {relevant:,} of the types that the pattern mentions"
