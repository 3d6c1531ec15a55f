"""Random queries of ZStream's operators for Hypothesis: conjunctions and grouping closures in any nesting."""

from __future__ import annotations

from hypothesis import strategies as st

from ouzel.testing.strategies import Component, RandomQuery

TYPES = ("A", "B", "C", "ANY(A, B)", "ANY(B, C)")
KINDS = (*5 * ("one",), *2 * ("group",), "closure", "optional", "negative")
MOST = 5


@st.composite
def combinations(draw: st.DrawFn, *, negation: bool = True) -> RandomQuery:
    """A query of sequences, conjunctions, alternatives, closures of both kinds and negation, in any nesting."""
    components: list[Component] = []
    pattern = _pattern(draw, components, 2, [kind for kind in KINDS if negation or kind != "negative"])
    positive = [one for one in components if one.kind != "negative"]
    if not positive:
        positive.append(_component(draw, components, "one"))
        pattern = f"({pattern}; {positive[0].text})"
    query = RandomQuery(components, pattern)
    if draw(st.booleans()):
        query.conditions.append(draw(st.sampled_from(("[k]", "[k]", "[k = 1]"))))
    query.conditions += [draw(_conditions(components, positive)) for _ in range(draw(st.integers(0, 2)))]
    if len(positive) < len(components) or draw(st.booleans()):
        length, unit = draw(st.integers(1, 8)), draw(st.sampled_from(("", "INCLUSIVE", "EVENTS")))
        query.window = f"WITHIN {length} {unit}"
    query.output = draw(st.sampled_from(("", "", "", "OUTPUT NON_OVERLAP")))
    return query


@st.composite
def negated_sequences(draw: st.DrawFn) -> RandomQuery:
    """A sequence with negative components, whose conditions may read both sides, and equalities between events."""
    components: list[Component] = []
    count = draw(st.integers(2, 4))
    for number in range(count):
        _component(draw, components, draw(st.sampled_from(("one", "one", "one", "closure"))))
        if number < count - 1 and draw(st.booleans()):
            _component(draw, components, "negative")
    query = RandomQuery(components, f"({' ; '.join(one.text for one in components)})")
    positive = [one for one in components if one.kind != "negative"]
    if draw(st.booleans()):
        query.conditions.append(draw(st.sampled_from(("[k]", "[y]"))))
    for one in components:
        if one.kind != "closure" and draw(st.booleans()):
            other = draw(st.sampled_from(positive))
            sign = draw(st.sampled_from(("=", "=", "<", "!=")))
            query.conditions.append(f"{one.variable}.x {sign} {draw(_references(other))}")
    query.window = f"WITHIN {draw(st.integers(2, 8))} {draw(st.sampled_from(('', 'INCLUSIVE', 'EVENTS')))}"
    return query


def _pattern(draw: st.DrawFn, components: list[Component], depth: int, kinds: list[str]) -> str:
    operator = draw(st.sampled_from((";", ";", ";", "&", "&", "|", "")))
    if not depth or not operator or len(components) >= MOST - 1:
        return _component(draw, components, draw(st.sampled_from(kinds))).text
    items = [_pattern(draw, components, depth - 1, kinds) for _ in range(draw(st.integers(2, 3)))]
    return f"({f' {operator} '.join(items)})"


def _component(draw: st.DrawFn, components: list[Component], kind: str) -> Component:
    types, variable = draw(st.sampled_from(TYPES)), f"v{len(components)}"
    match kind:
        case "group":
            text = f"{types}{draw(st.sampled_from(('+', '*', '^1', '^2')))} {variable}"
        case "closure":
            text = f"{types}{draw(st.sampled_from(('+', '*', '{1,2}', '{2}')))} {variable}[]"
        case "optional":
            text = f"{types}? {variable}"
        case "negative":
            text = f"!({types} {variable})"
        case _:
            text = f"{types} {variable}"
    components.append(Component(variable, text, kind))
    return components[-1]


@st.composite
def _conditions(draw: st.DrawFn, components: list[Component], positive: list[Component]) -> str:
    """A condition on one component, on two, or on one of two; only one of them negative."""
    one, other = draw(st.sampled_from(components)), draw(st.sampled_from(positive))
    sign, number = draw(st.sampled_from(("<", ">=", "=", "!="))), draw(st.integers(0, 3))
    left, right = draw(_references(one)), draw(_references(other))
    own = f"{left} {sign} {number}"
    return draw(st.sampled_from((own, f"{left} {sign} {right}", f"({own} OR {right} > 1)")))


def _references(component: Component) -> st.SearchStrategy[str]:
    v = component.variable
    forms: tuple[str, ...] = (f"{v}.x", f"{v}.y")
    if component.kind == "closure":
        forms = (f"{v}.x", f"{v}[1].y", f"{v}[{v}.LEN].x", f"sum({v}[].x)", f"count({v}[].y)", f"{v}[i].x")
    elif component.kind == "group":
        forms = (f"{v}.x", f"sum({v}.x)", f"count({v})", f"max({v}.y)", f"first({v}.x)")
    return st.sampled_from(forms)
