"""The automaton's plan: its states, what negation does to its matches, and where each condition went."""

from __future__ import annotations

from ouzel.explain.formulas import (
    formula,
    mask,
    masked,
    meets_other_partitions,
    placed_first,
    same_partition,
    term,
    within,
)
from ouzel.explain.layout import Entry, Placed, columns
from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.pattern import Component
from ouzel.logical.query import BoundQuery
from ouzel.physical.automaton.shape import Shape
from ouzel.physical.automaton.states import State, States
from ouzel.physical.contract import Explained
from ouzel.physical.reference.steps import Crossing


def explained(query: BoundQuery, shape: Shape) -> Explained:
    """The sections of the plan; the conditions, each with the one place where it went."""
    states = States(query, shape)
    rows = _state_rows(states.all())
    sections = [("automaton", rows), ("negation", _negation(query, shape))]
    return Explained(sections, _placed(query, shape, states))


def _state_rows(states: list[State]) -> list[str]:
    """A row for every state, and below it its edges, aligned with those of the other states."""
    entries: list[Entry] = []
    for state in states:
        entries.append((f"{state.name}: {state.about}" if state.about else state.name, []))
        entries += [(f"  {edge.action} -> {edge.target}", formula(edge.terms)) for edge in state.edges]
        entries += [("  needs", [", ".join(state.needs)])] if state.needs else []
    return columns(entries)


def _negation(query: BoundQuery, shape: Shape) -> list[str]:
    """Negative components filter the matches of the positive ones (SASE+ 3.1)."""
    entries: list[Entry] = []
    for before, crossing, after in shape.crossings():
        for component in crossing.negatives:
            entries.append(_refutation(query, shape, (before, after), component, crossing))
    return ["filters the matches of the automaton:", *columns(entries)] if entries else []


def _refutation(
    query: BoundQuery, shape: Shape, ends: tuple[int, int], component: Component, crossing: Crossing
) -> Entry:
    """Which events refute a match as a negative component between two states; -1 is the pattern's edge."""
    before, after = (shape.states[end].variable if end >= 0 else "" for end in ends)
    own = [c for c in shape.conjuncts if c.component is component and c.place is Place.NEGATIVE]
    terms = [mask(component, masked(query, shape.conjuncts)), *same_partition(query)]
    terms += [term(conjunct, shape.optional) for conjunct in own]
    where = f"between {before} and {after}"
    if not before:
        where = f"before {after}"
        terms += within(query, " up to the last event")
    elif not after:
        where = f"after {before}"
        terms += within(query, " from the first event")
    empty = [one.variable for one in crossing.skipped]
    where += f", {' and '.join(empty)} being empty" if empty else ""
    return f"no {component.variable} {where}", formula(terms)


def _placed(query: BoundQuery, shape: Shape, states: States) -> Placed:
    once = {id(conjunct) for conjunct in masked(query, shape.conjuncts)}
    apart = "partitions: a run meets only events of its own"
    placed = placed_first(query, "every begin and take" if meets_other_partitions(query) else apart)
    for conjunct in query.conjuncts:
        if conjunct.component is not None:
            place = f"mask of {conjunct.component.variable}, once per event" if id(conjunct) in once else ""
            placed.append((conjunct.text, place or _edge(conjunct, conjunct.component, states)))
    edges = any(-1 in (before, after) for before, _crossing, after in shape.crossings())
    everywhere = "every edge of a run that has begun" + (", and negation" if edges else "")
    return placed + [(text, everywhere) for text in within(query)]


def _edge(conjunct: Conjunct, component: Component, states: States) -> str:
    """The edge, or edges, whose formula a conjunct is part of (SASE+ 3.2, step 2)."""
    entry, inner = states.entry(component), states.inner(component)
    match conjunct.place:
        case Place.BEGIN:
            return f"begin at {entry}"
        case Place.TAKE:
            begin = "" if component.variable in conjunct.from_second else f"begin at {entry}, "
            return f"{begin}take at {inner}"
        case Place.PROCEED:
            return f"proceed at {inner}" + (f", and at {entry}" if component.least == 0 else "")
    return f"negation of {component.variable}, on matches"
