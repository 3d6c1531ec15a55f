"""Formulas, one term a line: what an event has to satisfy on an edge, in a stack, or to refute a match."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ouzel.explain.layout import Placed
from ouzel.explain.words import equivalence_words, type_words
from ouzel.language.tree import Strategy
from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.pattern import Component
from ouzel.logical.query import BoundQuery


def formula(terms: Iterable[str]) -> list[str]:
    """Terms that must all be true; without any, True.

    >>> formula(["Stock", "[symbol]"]), formula([])
    (['Stock', 'and [symbol]'], ['True'])
    """
    return [term if number == 0 else f"and {term}" for number, term in enumerate(terms)] or ["True"]


def term(conjunct: Conjunct, present: Collection[str] = ()) -> str:
    """A conjunct as a term; where one of the variables that must be `present` has no event, it is not applied."""
    text = f"({conjunct.text})" if len(conjunct.literals) > 1 else conjunct.text
    return f"{text}, if there is {' and '.join(sorted(present))}" if present else text


def mask(query: BoundQuery, component: Component) -> str:
    """What is known of an event before any run or stack sees it: its type, and conditions on it alone."""
    own = [term(conjunct) for conjunct in query.conditions_on(component)]
    types = type_words(component)
    types = f"({types})" if own and len(component.type_names) > 1 else types
    return f"mask: {' and '.join([types, *own])}"


def same_partition(query: BoundQuery) -> list[str]:
    """A term for each equivalence test; by attribute, as the test may be spelled out pair by pair."""
    return [f"[{test.attribute}]" for test in query.equivalences]


def meets_other_partitions(query: BoundQuery) -> bool:
    """Whether a run meets events of other partitions: strict contiguity minds the whole stream."""
    return query.strategy is Strategy.STRICT_CONTIGUITY and bool(query.equivalences)


def within(query: BoundQuery, more: str = "") -> list[str]:
    """The window as a term, if there is one."""
    return [query.window.text + more] if query.window else []


def placed_first(query: BoundQuery, partitions: str) -> Placed:
    """Where the conditions went that every engine treats alike: equivalence tests, and conditions on no event."""
    fixed = {test.text for test in query.equivalences if test.constant is not None}
    others = "; events with another value are left out"
    tests = [(text, partitions + (others if text in fixed else "")) for text in equivalence_words(query)]
    always = [c for c in query.conjuncts if c.place is Place.ALWAYS]
    return tests + [(c.text, "once, before any event") for c in always]
