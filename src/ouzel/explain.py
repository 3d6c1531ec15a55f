"""What a query means and how it will be run, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.pattern import Binds, Component, Conjunction, Disjunction, Pattern, Step
from ouzel.logical.query import BoundQuery
from ouzel.optimizer.plan import Plan
from ouzel.physical.event_table import EventTable


def explain(plans: Sequence[Plan], events: EventTable | None) -> str:
    """Explain every query of a file."""
    texts = [_explain(plan, events) for plan in plans]
    return "\n\n".join(texts)


def _explain(plan: Plan, events: EventTable | None) -> str:
    query = plan.query
    lines = [f"query {query.name}"]
    lines += _section("pattern", [_pattern(query.pattern)])
    lines += _section("components", [_component(component, query) for component in query.components])
    lines += _section("equivalence", [test.text for test in query.equivalences])
    lines += _section("conditions", [_conjunct(conjunct) for conjunct in query.conjuncts])
    lines += _section("strategy", [query.strategy.value])
    lines += _section("window", [query.window.text if query.window else "none: every run stays open"])
    lines += _section("output", _output(query))
    if events is not None:
        lines += _section("input", [_input(query, events)])
    by = f"by {', '.join(plan.partition_by)}" if plan.partition_by else "the stream as a whole"
    lines += _section("partitions", [f"{by}: {plan.partition_reason}"])
    lines += _section("engine", [f"{plan.engine}: {plan.engine_reason}"])
    return "\n".join(lines)


def _section(title: str, rows: Sequence[str]) -> list[str]:
    return [f"  {title if number == 0 else '':<12}{row}" for number, row in enumerate(rows)]


def _pattern(pattern: Pattern, *, inner: bool = False) -> str:
    """The pattern in infix form, which shows how its operators bind."""
    if isinstance(pattern, Step):
        component = pattern.component
        return f"!{component.variable}" if component.negative else component.variable + _quantifier(component)
    sign = {Conjunction: " & ", Disjunction: " | "}.get(type(pattern), "; ")
    text = sign.join(_pattern(item, inner=True) for item in pattern.items)
    return f"({text})" if inner else text


def _quantifier(component: Component) -> str:
    if component.binds is Binds.ONE:
        return ""
    least, most = component.least, component.most
    if component.successive:
        return f"^{least}"
    short = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((least, most))
    sign = short or (f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}")
    return sign + ("[]" if component.is_array and component.binds is Binds.CLOSURE else "")


def _component(component: Component, query: BoundQuery) -> str:
    types = " or ".join(sorted(name or "any event" for name in component.type_names))
    kind = component.binds.value if not component.optional else "one event or none"
    own = [c for c in query.conjuncts if c.component is component]
    count = f", {len(own)} condition{'s' if len(own) > 1 else ''}" if own else ""
    return f"{component.variable}: {types}, binds {kind}{count}"


def _conjunct(conjunct: Conjunct) -> str:
    if conjunct.component is None:
        return f"{conjunct.text}  [{conjunct.place.value}]"
    where = {
        Place.BEGIN: f"when {conjunct.component.variable} begins",
        Place.TAKE: f"for every event of {conjunct.component.variable}"
        + (" from the second" if conjunct.from_second else ""),
        Place.PROCEED: f"when {conjunct.component.variable} is complete",
        Place.NEGATIVE: f"for events that would refute the match as {conjunct.component.variable}",
    }[conjunct.place]
    return f"{conjunct.text}  [{where}]"


def _output(query: BoundQuery) -> list[str]:
    rows = [", ".join(column.name for column in query.output) or "start, end and every variable"]
    if query.into:
        rows.append(f"as events of type {query.into}")
    rows.append("non-overlapping matches" if query.non_overlap else "all matches")
    return rows


def _input(query: BoundQuery, events: EventTable) -> str:
    wanted = tuple(sorted({name for component in query.components for name in component.type_names}))
    relevant = int(np.count_nonzero(events.types.among(wanted) >= 0))
    return f"{len(events):,} events, {relevant:,} of the types that the pattern mentions"
