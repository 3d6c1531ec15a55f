"""A query that takes the place of another under its name: the plan of the new version, and what it may not be.

The new version is planned twice: as it is written, to find out what stays the same, and then with the times from
which on its components hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ouzel.compile import compile_query
from ouzel.errors import OuzelError
from ouzel.language import parse
from ouzel.language.document import document, text_entries
from ouzel.logical.parameters import names_in
from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import Schema
from ouzel.logical.versions import since_when
from ouzel.optimizer.plan import Plan
from ouzel.runtimes.kept_parameters import kept
from ouzel.runtimes.roster import check_parameters

Entry = dict[str, Any]
How = tuple[str, Mapping[str, str]]
"""The engine that was asked for, and the switches that are set."""


def one_entry(text: str, verb: str) -> Entry:
    """The one query of a text, as an entry of a document."""
    entries = text_entries(text)
    if len(entries) != 1 or len(parse(text)) != 1:
        raise OuzelError(f"{verb}: required one query; got {max(len(entries), len(parse(text)))}")
    return entries[0]


def mentioned(entry: Entry) -> set[str]:
    """The parameters of a query."""
    return set(names_in(parse(document([entry], "list"))))


def new_version(
    entry: Entry, schema: Schema, params: Mapping[str, Any], how: How, before: Sequence[Plan], now: int
) -> tuple[Entry, Plan]:
    """A query in the place of another, of which there were plans, from a time on: its entry, and its plan."""
    if len(before) > 1:
        raise _refused(entry["name"], "is made of several queries, one of which reads what another makes")
    (old,) = before
    entry = {key: value for key, value in entry.items() if key != "since"}
    plan = _planned(entry, schema, params, how)
    check_replaceable(old.query)
    check_replaceable(plan.query)
    if plan.query.attributes is None and old.query.attributes is None:
        since = since_when(old.query, plan.query, now)
        if since and len(since) < len(plan.query.components):
            entry = {**entry, "since": since}
            plan = _planned(entry, schema, params, how)
    return entry, plan


def _planned(entry: Entry, schema: Schema, params: Mapping[str, Any], how: How) -> Plan:
    alone = document([entry], "list")
    own = {name: params[name] for name in names_in(parse(alone)) if name in params}
    plans = compile_query(alone, schema, own, *how).plans
    if len(plans) > 1:
        raise _refused(entry["name"], "is made of several queries, one of which reads what another makes")
    return plans[0]


def check_replaceable(query: BoundQuery) -> None:
    """Refuse queries of which it is not said what would stay."""
    if query.members is not None:
        raise _refused(query.name, "is a set of queries in a list")
    if query.composites:
        raise _refused(query.name, f"reads events that others make, of type '{query.composites[0]}'")
    if query.automaton is not None:
        raise _refused(query.name, "is a register automaton in a list; in a matcher of its own it can")


def _refused(name: str, why: str) -> OuzelError:
    return OuzelError(
        f"replace: '{name}' {why}\n  hint: remove it, and add the new version: its partial matches go"
    )


def new_values(entry: Entry, params: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of parameters, some of which are others now."""
    known = mentioned(entry)
    check_parameters(values, known, "query")
    return {**params, **{name: kept(value) for name, value in values.items()}}
