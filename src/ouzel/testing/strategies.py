"""Random queries and streams for Hypothesis: every operator, with ties, nulls and disorder.

Engines are tested by comparing them with the reference matcher on these.  Needs the package hypothesis.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from ouzel.logical.functions import register_function

TYPES = ("A", "B", "C")
STRATEGIES = ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match")
TOTALS = ("count({}.x)", "sum({}.x)", "avg({}.y)", "min({}.y)", "max({}.x)", "count({}.eid)", "count({})")
TEXTS = ("", "A", "a", "ab", "B", "a%", "_", "é", None)
UNSIGNED = (0, 1, 3, 2**63, 2**64 - 1, None)
QUANTIFIERS = ("+", "*", "{1}", "{2}", "{1,2}", "{0,2}", "{2,}")


@st.composite
def streams(
    draw: st.DrawFn, max_events: int = 9, min_events: int = 1, *, kinds: bool = False
) -> list[dict[str, Any]]:
    """A stream of up to `max_events` events with ties and nulls, in any order of arrival.

    With `kinds` they have values of other kinds than integers, too: texts s, integers u without a sign, nulls z.
    """
    values = st.one_of(st.none(), st.integers(-1, 4))
    event = st.fixed_dictionaries(
        {
            "ts": st.integers(0, 9),
            "type": st.sampled_from((*TYPES, "D")),
            "k": st.sampled_from((1, 1, 1, 2, 2, None)),
            "x": values,
            "y": values,
        }
        | ({"s": st.sampled_from(TEXTS), "u": st.sampled_from(UNSIGNED), "z": st.none()} if kinds else {})
    )
    events = draw(st.lists(event, min_size=min_events, max_size=max_events))
    return [{"eid": f"e{number}", **one} for number, one in enumerate(events)]


@dataclass
class Component:
    """A component as it is drawn: its text and what may be said of its variable."""

    variable: str
    text: str
    kind: str  # one, closure, optional or negative


@dataclass
class RandomQuery:
    """A query in parts, so that a test can change one of them and keep the rest."""

    components: list[Component]
    pattern: str
    conditions: list[str] = field(default_factory=list)
    strategy: str = "skip_till_any_match"
    window: str = ""
    output: str = ""
    totals: list[str] = field(default_factory=list)
    into: str = ""

    @property
    def text(self) -> str:
        """The query as one would write it; the events of each match, or totals over matches."""
        body = " AND ".join(self.conditions)
        where = f"WHERE {self.strategy} {{ {body} }}" if body or self.strategy != STRATEGIES[-1] else ""
        positive = [one for one in self.components if one.kind != "negative"]
        returned = ", ".join([f"{item} AS c{n}" for n, item in enumerate(self.totals)] or map(_returned, positive))
        if self.into:
            # what primitive events have, so that conditions can be on both
            own = ", ".join(f"{_first(positive[0])}.{name} AS {name}" for name in ("eid", "k", "x", "y"))
            returned = f"{own} INTO {self.into}"
        parts = [f"PATTERN {self.pattern}", where, self.window, f"RETURN {returned}", self.output]
        return "\n".join(part for part in parts if part)


def _first(component: Component) -> str:
    return f"{component.variable}[1]" if component.kind == "closure" else component.variable


def _returned(component: Component) -> str:
    index = "[]" if component.kind in ("closure", "group") else ""
    return f"{component.variable}{index}.eid AS {component.variable}"


@st.composite
def queries(
    draw: st.DrawFn,
    *,
    strategies: tuple[str, ...] = STRATEGIES,
    closures: bool = True,
    negation: bool = True,
    alternatives: bool = True,
    count_windows: bool = True,
    non_overlap: bool = False,
    totals: bool = False,
    composites: tuple[str, ...] = (),
    kinds: bool = False,
    lacking: bool = False,
) -> RandomQuery:
    """A query of sequences, closures, alternatives and negation, under one of the strategies.

    What it returns are the events of each match, or, with `totals`, now and then aggregates over matches.
    `composites` are types that other queries make, of which some components may be.  With `kinds` its conditions
    are on values of all kinds, and call functions that `register_functions` registers.  With `lacking` some
    components may be of type D, which is meant to lack the attribute k.
    """
    more = [*composites, *composites, *["D"] * lacking]
    components = _components(draw, closures=closures, negation=negation, more=more)
    query = RandomQuery(components, _pattern(draw, components, alternatives=alternatives))
    query.strategy = draw(st.sampled_from(strategies))
    if query.strategy == "partition_contiguity" or draw(st.booleans()):
        tests = ("[k]", "[k]", "[k, x]", "[k = 1]") if any(map(_has_key, components)) else ("[x]",)
        query.conditions.append(draw(st.sampled_from(tests)))
    positive = [one for one in components if one.kind != "negative"]
    count = draw(st.integers(0, 2))
    query.conditions += [draw(conditions(positive)) for _ in range(count)]
    if composites and positive[0].kind == "one" and draw(st.integers(0, 3)) == 0:
        lasting = f"end({positive[0].variable}) - start({positive[0].variable})"
        query.conditions.append(f"{lasting} {draw(st.sampled_from(('=', '<', '>=')))} {draw(st.integers(0, 3))}")
    if kinds:
        query.conditions += [draw(conditions_on_kinds(positive)) for _ in range(draw(st.integers(1, 2)))]
    for one in components:
        if one.kind == "negative" and draw(st.booleans()):
            query.conditions.append(draw(_conditions_of_negatives(one, positive)))
    # a negative component that may come to stand at an edge needs a window
    if any(one.kind == "negative" for one in components) or draw(st.booleans()):
        query.window = draw(_windows(count_windows))
    if non_overlap:
        query.output = draw(st.sampled_from(("", "", "OUTPUT NON_OVERLAP")))
    if totals and draw(st.integers(0, 3)) == 0:
        query.totals = draw(_totals([one.variable for one in positive]))
        query.output = draw(windows_of_totals())
    return query


@st.composite
def _totals(draw: st.DrawFn, variables: list[str]) -> list[str]:
    forms = [form.format(variable) for variable in variables for form in TOTALS]
    return ["count(*)", *draw(st.lists(st.sampled_from(forms), max_size=4, unique=True))]


def windows_of_totals() -> st.SearchStrategy[str]:
    """OUTPUT AGGREGATE, mostly with windows."""
    every = st.builds("OUTPUT AGGREGATE EVERY {}".format, st.sampled_from((1, 2, 3, 3, 4, 5, 20)))
    return st.one_of(st.just("OUTPUT AGGREGATE"), every, every)


def _windows(count_windows: bool) -> st.SearchStrategy[str]:
    time = st.builds("WITHIN {} {}".format, st.integers(1, 8), st.sampled_from(("", "INCLUSIVE")))
    events = st.builds("WITHIN {} EVENTS {}".format, st.integers(1, 5), st.sampled_from(("", "INCLUSIVE")))
    return st.one_of(time, events) if count_windows else time


def _components(draw: st.DrawFn, *, closures: bool, negation: bool, more: list[str]) -> list[Component]:
    kinds = ["one", "one", "one"] + (["closure", "closure", "optional"] if closures else [])
    count = draw(st.integers(1, 3))
    types = [*TYPES, *TYPES, "ANY(A, B)", "ANY(B, C)"]
    types += [text for name in more for text in (*4 * (name,), f"ANY(A, {name})")]
    components = [_component(draw, f"v{number}", draw(st.sampled_from(kinds)), types) for number in range(count)]
    if negation and draw(st.booleans()):
        place = draw(st.integers(0, count))
        components.insert(place, _component(draw, "n", "negative", types))
    return components


def _has_key(component: Component) -> bool:
    return not component.text.removeprefix("!(").startswith("D")


def _component(draw: st.DrawFn, variable: str, kind: str, choices: list[str]) -> Component:
    types = draw(st.sampled_from(choices))
    match kind:
        case "negative":
            return Component(variable, f"!({types} {variable})", kind)
        case "optional":
            return Component(variable, f"{types}? {variable}", kind)
        case "closure":
            return Component(variable, f"{types}{draw(st.sampled_from(QUANTIFIERS))} {variable}[]", kind)
    return Component(variable, f"{types} {variable}", kind)


def _pattern(draw: st.DrawFn, components: list[Component], *, alternatives: bool) -> str:
    """A sequence; two neighbours may become alternatives, with a negative component beside one of them."""
    texts = [one.text for one in components]
    kinds = [one.kind for one in components]
    pairs = [place for place in range(len(kinds) - 1) if "negative" not in kinds[place : place + 2]]
    if alternatives and pairs and draw(st.booleans()):
        place = draw(st.sampled_from(pairs))
        first, second = place, place + 2
        if draw(st.integers(0, 2)) == 0:
            # a negative component next to them belongs to one of them
            first -= kinds[place - 1 : place] == ["negative"]
            second += kinds[place + 2 : place + 3] == ["negative"]
        left, right = (_sequence(texts[begin:end]) for begin, end in ((first, place + 1), (place + 1, second)))
        texts[first:second] = [f"({left} | {right})"]
    return f"SEQ({', '.join(texts)})"


def _sequence(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"SEQ({', '.join(texts)})"


@st.composite
def conditions(draw: st.DrawFn, components: list[Component]) -> str:
    """A condition over the variables of a pattern."""
    first, second = draw(st.sampled_from(components)), draw(st.sampled_from(components))
    sign = draw(st.sampled_from(("=", "!=", "<", ">=")))
    number = draw(st.integers(-1, 4))
    left, right = draw(_references(first)), draw(_references(second))
    own = f"{left} {sign} {number}"
    forms = [own, f"{left} {sign} {right}", f"NOT {own}", f"({own} OR {right} {sign} {number})"]
    forms += [f"{left} + {right} {sign} {number}", f"({left} IS NULL OR {own})"]
    if first.kind == "closure":
        v = first.variable
        forms += [
            f"{v}[i].x {sign} {v}[i-1].x",
            f"{v}[i].x {sign} sum({v}[..i-1].x)",
            f"{v}[i].x {sign} {v}[1].x",
            f"sum({v}[].x) {sign} {number}",
            f"{v}.LEN {sign} {number}",
            f"count({v}[..i-1].y) {sign} {number}",
        ]
    return draw(st.sampled_from(forms))


@st.composite
def _conditions_of_negatives(draw: st.DrawFn, negative: Component, positive: list[Component]) -> str:
    """A condition of a negative component on another: on one event, on each of a closure, or on all together."""
    other, third = (draw(st.sampled_from(positive)) for _ in range(2))
    v, sign = other.variable, draw(st.sampled_from(("=", "<", "!=")))
    right = draw(_references(other))
    if other.kind == "closure":
        aggregates = (f"sum({v}[].y)", f"count({v}[].x)", f"{v}.LEN", f"avg({v}[].x)", f"last({v}[].x)")
        right = draw(st.sampled_from((right, f"{v}[i].x", f"{v}[i].y", *aggregates)))
    forms = [
        f"{negative.variable}.x {sign} {right}",
        f"{negative.variable}.x + {draw(_references(third))} > {right}",
    ]
    return draw(st.sampled_from(forms))


@st.composite
def conditions_on_kinds(draw: st.DrawFn, components: list[Component]) -> str:
    """A condition on texts, nulls and unsigned integers, or with functions of the user's."""
    first, second = draw(st.sampled_from(components)), draw(st.sampled_from(components))
    sign = draw(st.sampled_from(("=", "!=", "<", ">=")))
    (s, t), (u, w) = ([draw(_references(one, name)) for one in (first, second)] for name in "su")
    x, y = draw(_references(first)), draw(_references(second))
    z = draw(_references(first, "z"))
    forms = [f"{s} {sign} {t}", f"{s} {sign} 'a'", f"{s} LIKE {t}", f"lower({s}) {sign} upper({t})"]
    forms += [f"least({s}, {t}, 'ab') {sign} 'B'", f"CASE WHEN {x} > 1 THEN {s} ELSE {t} END {sign} 'a'"]
    forms += [f"{u} {sign} {w}", f"{u} {sign} {x} + 0.5", f"coalesce({z}, {y}) {sign} {x}", f"{z} IS NULL"]
    forms += [f"is_near({x}, {y})", f"is_near({x}, 1)", f"NOT is_near({x}, {u})", f"glued({s}, {t}) {sign} 'aB'"]
    forms += [f"(is_near({x}, {z}) OR doubled({x}) {sign} {y})", f"doubled({x}) {sign} doubled({y})"]
    if first.kind == "closure":
        v = first.variable
        forms += [f"{v}[i].s {sign} {v}[i-1].s", f"{v}[i].s {sign} min({v}[..i-1].s)", f"max({v}[].u) {sign} {w}"]
        forms += [
            f"is_near({v}[i].x, {v}[i-1].x)",
            f"count(distinct {v}[].s) {sign} 2",
            f"sum({v}[].u) {sign} {w}",
        ]
    return draw(st.sampled_from(forms))


def register_functions() -> None:
    """Register the functions that random conditions call."""
    register_function("is_near", lambda x, y: abs(x - y) < 2, returns="boolean")
    register_function("glued", lambda s, t: s + t, returns="string")
    register_function("doubled", lambda x: x + x, returns="integer", vectorized=True)


def _references(component: Component, name: str | None = None) -> st.SearchStrategy[str]:
    v = component.variable
    if name is not None:
        forms = (f"{v}[i].{name}", f"{v}[1].{name}", f"{v}[{v}.LEN].{name}", f"max({v}[].{name})")
        return st.sampled_from(forms) if component.kind == "closure" else st.just(f"{v}.{name}")
    if component.kind == "closure":
        return st.sampled_from((f"{v}.x", f"{v}[i].y", f"{v}[1].x", f"{v}[{v}.LEN].y", f"max({v}[].x)"))
    return st.sampled_from((f"{v}.x", f"{v}.y"))
