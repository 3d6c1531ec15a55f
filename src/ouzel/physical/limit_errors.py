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
COMPRESSED = " or mode='compressed'"
COUNTING = f"OUTPUT AGGREGATE{COMPRESSED} where the number of matches is enough"
LASTING = "more conditions, such as duration() <= … in every next and fold"

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

    def about(self, query: BoundQuery, called: str = "") -> LimitError:
        """The same with the hints that suit a query, and what it is called, if that is said."""
        message = f"{called}: {self.message}" if called else self.message
        return LimitError(message, *filter(None, (_suiting(hint, query) for hint in self.hints)))


@contextmanager
def advising(query: BoundQuery, called: str = "", *, in_matcher: bool = False) -> Iterator[None]:
    """Let errors of limits in here suit a query, and say what it is called, where there are several."""
    try:
        yield
    except LimitError as error:
        told = error.about(query, called)
        # which has no modes
        hints = (hint.replace(COMPRESSED, "") if in_matcher else hint for hint in told.hints)
        raise LimitError(told.message, *hints) from None


def of_list(query: BoundQuery) -> str:
    """What a query of several is called in errors."""
    return f"query '{query.name}'"


def of_set(id_: Any) -> str:
    """What a query of a set is called in errors."""
    return f"the query {id_!r} of the set"


def _suiting(hint: str, query: BoundQuery) -> str:
    """What of a hint suits a query."""
    if query.members is not None:
        return "" if hint == COUNTING else _suiting(hint, query.members.template)
    if query.attributes is not None and hint in (FEWER, COUNTING):
        fewer = LASTING if query.automaton is None else AUTOMATON
        return fewer if hint == FEWER else ""
    is_plain = not _is_of_sets(query.pattern)
    if hint == FEWER and (not is_plain or query.strategy is not Strategy.SKIP_TILL_ANY_MATCH):
        return "a narrower window, or more conditions"
    if hint == COUNTING and query.aggregates:
        return ""
    if hint == COUNTING and not (is_plain and _has_graph(query)):
        return COUNTING.replace(COMPRESSED, "")
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
