"""The reference matcher's plan: it follows the language's definition, and decides conditions where that does."""

from __future__ import annotations

from ouzel.explain.formulas import placed_first, within
from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.pattern import has_conjunction_or_group
from ouzel.logical.query import BoundQuery
from ouzel.physical.contract import Explained

_RUNS = "runs, event by event: each takes an event, begins a component with it, or ignores it"
_COMBINATIONS = "every combination of events that the operators allow; the conditions then decide"

_COMPUTATIONS = "all computations, moment by moment, straight from the definitions (AFA 2.2)"
_SETS = "sets of events, operator by operator, straight from the definitions (Cayuga 2)"


def explained(query: BoundQuery) -> Explained:
    """The sections of the plan; the conditions, each with the one place where it went."""
    if query.algebra is not None:
        return Explained([("interpreter", [_SETS])], [])
    if query.automaton is not None:
        return Explained([("interpreter", [_COMPUTATIONS])], placed_first(query, "partitions, each for itself"))
    combines = has_conjunction_or_group(query.pattern)
    negatives = [one.variable for one in query.components if one.negative]
    rows = [f"filters the matches: no event may be {' or '.join(negatives)}"] if negatives else []
    placed = placed_first(query, "partitions: matches are of one partition each")
    for conjunct in query.conjuncts:
        if conjunct.component is not None:
            placed.append((conjunct.text, _place(conjunct, conjunct.component.variable, combines=combines)))
    span = "first and last event of a match" + (", and negation" if negatives else "")
    placed += [(text, span) for text in within(query)]
    return Explained([("matcher", [_COMBINATIONS if combines else _RUNS]), ("negation", rows)], placed)


def _place(conjunct: Conjunct, variable: str, *, combines: bool) -> str:
    if conjunct.place is Place.NEGATIVE:
        return f"negation of {variable}, on matches"
    if not combines:
        return f"{conjunct.place.value} of {variable}"
    return f"each event of {variable}, before combining" if conjunct.is_single else "each combination"
