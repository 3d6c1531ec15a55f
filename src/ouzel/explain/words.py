"""Patterns, components, conditions and outputs of the logical query, in words."""

from __future__ import annotations

from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.match_aggregates import EDGES
from ouzel.logical.pattern import Binds, Component, Conjunction, Disjunction, Pattern, Step
from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import INFERRED, UNTYPED


def infix(pattern: Pattern, *, inner: bool = False) -> str:
    """The pattern in infix form, which shows how its operators bind."""
    if isinstance(pattern, Step):
        component = pattern.component
        return f"!{component.variable}" if component.negative else component.variable + _quantifier(component)
    sign = {Conjunction: " & ", Disjunction: " | "}.get(type(pattern), "; ")
    text = sign.join(infix(item, inner=True) for item in pattern.items)
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


def component_words(component: Component, query: BoundQuery) -> str:
    """A component's types, what it binds, and how many conditions it has."""
    kind = component.binds.value if not component.optional else "one event or none"
    own = [c for c in query.conjuncts if c.component is component]
    count = f", {len(own)} condition{'s' if len(own) > 1 else ''}" if own else ""
    return f"{component.variable}: {type_words(component)}, binds {kind}{count}"


def type_words(component: Component) -> str:
    """The types of event that a component binds."""
    return " or ".join(
        sorted("any event" if name in (UNTYPED, INFERRED) else name for name in component.type_names)
    )


def conjunct_words(conjunct: Conjunct) -> str:
    """A conjunct, and when it is decided."""
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


def equivalence_words(query: BoundQuery) -> list[str]:
    """The equivalence tests as they were written: one `[x, y]` makes two of them."""
    return list(dict.fromkeys(test.text for test in query.equivalences))


def output_words(query: BoundQuery) -> str:
    """The columns of the result."""
    columns = [column.name for column in query.output] + [one.name for one in query.aggregates]
    columns = [*EDGES, *columns] if query.every else columns
    return ", ".join(columns) or "start, end and every variable"


def matches_words(query: BoundQuery) -> str:
    """Which matches are reported, and how."""
    if query.aggregates:
        by = f"{' of each partition' if query.equivalences else ''}{_windows(query)}"
        return f"aggregates over all matches{by}"
    return "non-overlapping matches" if query.non_overlap else "all matches"


def _windows(query: BoundQuery) -> str:
    if query.every is None:
        return ""
    length = query.every.text.partition(" ")[2]
    return f"{' and' if query.equivalences else ' of each'} window of {length}, by where they end"
