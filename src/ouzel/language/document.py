"""Stage 1: queries of several kinds as one text, a JSON document: what is keyed by text is so by these, too.

It holds texts of the query language, expressions of the algebra, register automata and sets of queries, each on
its own or in a list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ouzel.errors import QueryError, Span
from ouzel.language import algebra_tree as algebra
from ouzel.language import automaton_tree, tree
from ouzel.language.automaton_spec import read_automaton
from ouzel.language.notation import automaton_notation, notation
from ouzel.language.parser import parse_alone, parse_text
from ouzel.language.set_tree import QuerySet
from ouzel.language.uncollected import uncollected

Written = tree.Query | algebra.Query | automaton_tree.Query | QuerySet
_START = re.compile(r"\s*\{\s*\"ouzel\"\s*:\s*\"(expression|automaton|set|list|text)\"")


def is_document(text: str) -> bool:
    """Whether a text is such a document: no text of the language begins like one."""
    return _START.match(text) is not None


def is_list(text: str) -> bool:
    """Whether a text is a list of queries, whose results go by their names also if it is but one."""
    found = _START.match(text)
    return found is not None and found[1] == "list"


def document(entries: Iterable[dict[str, Any]], kind: str) -> str:
    """The text of some entries: those of `expression_entry`, `set_entry` and `text_entries`."""
    content = {"ouzel": kind, "queries": list(entries)}
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def text_entries(text: str) -> list[dict[str, Any]]:
    """A text, perhaps a document itself, as entries of one."""
    found: list[dict[str, Any]] = json.loads(text)["queries"] if is_document(text) else [{"text": text}]
    return found


def expression_entry(stream: algebra.Stream, name: str | None, into: str | None) -> dict[str, Any]:
    """An expression as an entry."""
    named = {"name": name, "into": into}
    return {"algebra": _written(stream), **{key: value for key, value in named.items() if value is not None}}


def automaton_entry(spec: dict[str, Any], name: str | None, into: str | None) -> dict[str, Any]:
    """A register automaton as an entry."""
    named = {"name": name, "into": into}
    return {"automaton": spec, **{key: value for key, value in named.items() if value is not None}}


def set_entry(
    template: dict[str, Any], id: str, rows: str, valid: tuple[str | None, str | None]
) -> dict[str, Any]:
    """A set of queries as an entry: that of its template, and where the values of its parameters are."""
    return {"set": template, "id": id, "rows": rows, "valid": list(valid)}


def read_document(text: str) -> tuple[Written, ...]:
    """The queries of a document, in order."""
    try:
        with uncollected(text):
            entries = json.loads(text)["queries"]
            return tuple(query for place, one in enumerate(entries) for query in _entry(one, place, len(entries)))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError):
        raise QueryError(
            "a document of queries that cannot be read",
            required="one that Ouzel has written: the text of oz.query(…)",
        ) from None


def _entry(entry: dict[str, Any], place: int, count: int) -> tuple[Written, ...]:
    """The queries of an entry; what is wrong with it says which of several it is."""
    try:
        return _queries(entry)
    except QueryError as error:
        if count > 1:
            error.add_note(f"in query {place + 1} of the list")
        raise


def _queries(entry: dict[str, Any]) -> tuple[Written, ...]:
    if "set" in entry:
        (template,) = _queries(entry["set"])
        if isinstance(template, QuerySet):
            raise TypeError(template)
        template = replace(template, name=_name(entry["name"])) if "name" in entry else template
        since, until = entry["valid"]
        return (QuerySet(template, entry["id"], entry["rows"], (since, until)),)
    if "text" in entry:
        queries = _named(parse_text(entry["text"]), entry.get("name"))
        return queries if "since" not in entry else (_since(*queries, since=entry["since"]),)
    if "automaton" in entry:
        automaton = read_automaton(entry["automaton"])
        name, into = (_name(entry.get(key)) for key in ("name", "into"))
        return (automaton_tree.Query(name, automaton, into, automaton_notation(automaton)),)
    stream = _read(entry["algebra"])
    depth, size = algebra.extent(stream)
    if depth > algebra.MAX_DEPTH or size > algebra.MAX_SIZE:
        raise ValueError(depth, size)
    name, into = (_name(entry.get(key)) for key in ("name", "into"))
    return (algebra.Query(name, stream, into, notation(stream)),)


def _named(queries: tuple[tree.Query, ...], name: str | None) -> tuple[tree.Query, ...]:
    """The one query of an entry under the name that it has there, whatever it calls itself."""
    if name is None:
        return queries
    (query,) = queries
    return (replace(query, name=_name(name)),)


def _since(query: tree.Query, *, since: dict[str, int]) -> tree.Query:
    """The one query of an entry, some of whose variables stand for events from a time on only."""
    return replace(query, since=tuple((variable, int(time)) for variable, time in since.items()))


def _name(text: str | None) -> tree.Name | None:
    return None if text is None else tree.Name(text, Span(0, 0))


# ---- trees -----------------------------------------------------------------------------------------------


def _written(stream: algebra.Stream) -> list[Any]:
    match stream:
        case algebra.Events(name):
            return ["events", name]
        case algebra.Hole():
            return ["hole"]
        case algebra.Where(of, condition):
            return ["where", _written(of), condition.text]
        case algebra.Select(of, names):
            return ["select", _written(of), list(names)]
        case algebra.Rename(of, names):
            return ["rename", _written(of), dict(names)]
        case algebra.Prefixed(of, prefix):
            return ["prefixed", _written(of), prefix]
        case algebra.Extend(of, values):
            return ["extend", _written(of), {name: value.text for name, value in values}]
        case algebra.Union(left, right):
            return ["union", _written(left), _written(right)]
        case algebra.Next(left, right, where):
            return ["next", _written(left), _written(right), where and where.text]
        case algebra.Fold(left, right, where, step):
            return ["fold", _written(left), _written(right), where and where.text, step and _written(step)]


def _read(written: list[Any]) -> algebra.Stream:
    match written:
        case ["events", str() | None as name]:
            return algebra.Events(name)
        case ["hole"]:
            return algebra.Hole()
        case ["where", of, str(text)]:
            return algebra.Where(_read(of), formula(text))
        case ["select", of, list(names)]:
            return algebra.Select(_read(of), tuple(names))
        case ["rename", of, dict(names)]:
            return algebra.Rename(_read(of), tuple(names.items()))
        case ["prefixed", of, str(prefix)]:
            return algebra.Prefixed(_read(of), prefix)
        case ["extend", of, dict(values)]:
            return algebra.Extend(_read(of), tuple((name, formula(text)) for name, text in values.items()))
        case ["union", left, right]:
            return algebra.Union(_read(left), _read(right))
        case ["next", left, right, where]:
            return algebra.Next(_read(left), _read(right), where and formula(where))
        case ["fold", left, right, where, step]:
            return algebra.Fold(_read(left), _read(right), where and formula(where), step and _read(step))
    raise ValueError(written)


def formula(text: str) -> algebra.Formula:
    """A predicate or a value, read."""
    return algebra.Formula(text, parse_alone(text))
