"""An explanation from top to bottom: what the query means, which engine runs it, why, and by what plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ouzel.explain.layout import Sections, columns, section
from ouzel.explain.words import (
    component_words,
    conjunct_words,
    equivalence_words,
    infix,
    matches_words,
    output_words,
)
from ouzel.logical.query import BoundQuery
from ouzel.optimizer.plan import Plan
from ouzel.physical.event_table import EventTable


def _nothing_more(_plan: Plan) -> Sections:
    return []


def explain(
    plans: Sequence[Plan], events: EventTable | None, more: Callable[[Plan], Sections] = _nothing_more
) -> str:
    """Explain every query of a file; `more` has sections on what runs the engine, to stand before the engine's."""
    texts = []
    for plan in plans:
        lines = [f"query {plan.query.name}", *_logical(plan.query, events)]
        lines += _choices(plan)
        lines += [line for title, rows in more(plan) for line in section(title, rows)]
        lines += _physical(plan)
        texts.append("\n".join(lines))
    return "\n\n".join(texts)


def _logical(query: BoundQuery, events: EventTable | None) -> list[str]:
    """What the query means."""
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


def _choices(plan: Plan) -> list[str]:
    """What the optimizer chose, and why."""
    by = f"by {', '.join(plan.partition_by)}" if plan.partition_by else "the stream as a whole"
    engine = [f"{plan.engine}: {plan.engine_reason}"]
    engine += [f"not {name}: {why}" for name, why in plan.passed_over]
    return section("partitions", [f"{by}: {plan.partition_reason}"]) + section("engine", engine)


def _physical(plan: Plan) -> list[str]:
    """How the engine runs the query, and where each condition went."""
    explained = plan.physical.explain()
    lines = [line for title, rows in explained.sections for line in section(title, rows)]
    return lines + section("placed", columns([(text, [place]) for text, place in explained.placed]))


def _input_words(query: BoundQuery, events: EventTable) -> str:
    """How many events there are, and how many the query can use."""
    wanted = tuple(sorted({name for component in query.components for name in component.type_names}))
    relevant = int(np.count_nonzero(events.types.among(wanted) >= 0))
    return f"{len(events):,} events, {relevant:,} of the types that the pattern mentions"
