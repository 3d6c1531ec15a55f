"""The errors of limits: what went beyond which, and what can be done about it that suits the query."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ouzel.errors import OuzelError
from ouzel.language.tree import Strategy
from ouzel.logical.pattern import Binds, Conjunction, Pattern, Step
from ouzel.logical.query import BoundQuery

FEWER = "a narrower window, more conditions, or skip_till_next_match"
COUNTING = "OUTPUT AGGREGATE or mode='compressed' where the number of matches is enough"

AUTOMATON = "a narrower window, or more conditions on the arcs that leave the start"


class LimitError(OuzelError):
    """Something went beyond a limit; `hints` are what can be done about it."""

    def __init__(self, message: str, *hints: str) -> None:
        """Say it, and keep its parts."""
        self.message, self.hints = message, hints
        super().__init__(f"{message}\n  hint: {'; '.join(hints)}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel from a worker."""
        return LimitError, (self.message, *self.hints)

    def about(self, query: BoundQuery) -> LimitError:
        """The same with the hints that suit a query."""
        return LimitError(self.message, *filter(None, (_suiting(hint, query) for hint in self.hints)))


@contextmanager
def advising(query: BoundQuery) -> Iterator[None]:
    """Let errors of limits in here suit a query."""
    try:
        yield
    except LimitError as error:
        raise error.about(query) from None


def _suiting(hint: str, query: BoundQuery) -> str:
    """What of a hint suits a query."""
    if query.automaton is not None and hint in (FEWER, COUNTING):
        return AUTOMATON if hint == FEWER else ""
    is_plain = not _is_of_sets(query.pattern)
    if hint == FEWER and (not is_plain or query.strategy is not Strategy.SKIP_TILL_ANY_MATCH):
        return "a narrower window, or more conditions"
    if hint == COUNTING and query.aggregates:
        return ""
    if hint == COUNTING and not (is_plain and _has_graph(query)):
        return COUNTING.replace(" or mode='compressed'", "")
    return hint


def _is_of_sets(pattern: Pattern) -> bool:
    """Whether there is & in a pattern or a grouping closure: other strategies have no meaning for them."""
    if isinstance(pattern, Step):
        return pattern.component.binds is Binds.GROUP
    return isinstance(pattern, Conjunction) or any(map(_is_of_sets, pattern.items))


def _has_graph(query: BoundQuery) -> bool:
    """Whether matches can be left unexpanded: nothing filters them, or uses them up."""
    is_filtered = query.non_overlap or any(component.negative for component in query.components)
    return not (is_filtered or query.into or query.numbers_matches)
