"""What a query may be given as: a text, an expression, an automaton, a set of queries, or a list: one text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ouzel.algebra import Stream
from ouzel.automata import Automaton
from ouzel.errors import OuzelError
from ouzel.language.document import document, text_entries
from ouzel.logical.parameters import ROWS
from ouzel.query_sets import Queries

REQUIRED = "a text, an expression of the algebra, an automaton, a set of queries, or a list of these"
OF_LIST = "a text, an expression of the algebra, an automaton, or a set of queries"


def text_of(given: Any) -> str:
    """The one text that says what was given.

    >>> text_of("PATTERN A; B")
    'PATTERN A; B'
    """
    if isinstance(given, str):
        return given
    if isinstance(given, Stream | Automaton | Queries):
        return given.text
    if not isinstance(given, list | tuple):
        hint = "\n  hint: oz.automaton(…) makes one of a specification" if isinstance(given, Mapping) else ""
        raise OuzelError(f"query: required {REQUIRED}; got {type(given).__name__}{hint}")
    if not given:
        raise OuzelError(
            "query: required at least one query in the list; got an empty list\n"
            "  hint: a list may be empty where rules=… say which queries there are"
        )
    return document([entry for place, one in enumerate(given) for entry in _entries(one, place)], "list")


def _entries(given: Any, place: int) -> list[dict[str, Any]]:
    if isinstance(given, Stream | Automaton | Queries):
        return [given.entry]
    text = given if isinstance(given, str) else getattr(given, "text", None)
    if not isinstance(text, str):
        raise OuzelError(f"query {place + 1} of the list: required {OF_LIST}; got {type(given).__name__}")
    return text_entries(text)


def sets_in(given: Any) -> list[Queries]:
    """The sets of queries among what was given."""
    return [one for one in (given if isinstance(given, list | tuple) else (given,)) if isinstance(one, Queries)]


def parameters_of(given: Any) -> dict[str, Any]:
    """The values that the queries of a list bring with them; an error if two of them differ."""
    found: dict[str, Any] = {}
    for one in given if isinstance(given, list | tuple) else (given,):
        brought = getattr(one, "params", None)
        for name, value in (brought if isinstance(brought, Mapping) else {}).items():
            if name in found and not name.startswith(ROWS) and repr(found[name]) != repr(value):
                raise OuzelError(
                    f"params: '{name}' is {found[name]!r} in one query of the list and {value!r} in another\n"
                    "  hint: give the parameters different names"
                )
            found[name] = value
    return found
