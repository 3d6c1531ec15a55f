"""Queries that come and go in a running matcher: what is there now, and how it changes without touching others.

A query that comes sees the events that end at the matcher's time or later; of one that goes nothing is reported
any more.  `program_of` tells which kind of matcher it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ouzel.compile import compile_query
from ouzel.errors import OuzelError
from ouzel.language import parse
from ouzel.language.automaton_tree import Query
from ouzel.language.document import document, is_list, text_entries
from ouzel.language.set_tree import QuerySet
from ouzel.logical.parameters import ROWS, names_in
from ouzel.logical.program import composite_type
from ouzel.logical.schema import Schema
from ouzel.optimizer.plan import Plan
from ouzel.physical.contract import Counters, UnsuitableError
from ouzel.physical.shared.matching import SharedMatching
from ouzel.runtimes.arcs import AutomatonProgram
from ouzel.runtimes.chain import Chain
from ouzel.runtimes.members import MembersMatching
from ouzel.runtimes.roster import ListRoster, Said, SetRoster

How = tuple[str, Mapping[str, str]]
"""The engine that was asked for, and the switches that are set."""


class Program(Protocol):
    """What a matcher runs, as it is now."""

    @property
    def names(self) -> tuple[str, ...]:
        """The queries that are reported."""

    def has(self, id_: Any) -> bool:
        """Whether one is there that can be ended."""

    def add(self, id_: Any, query: Any, now: int) -> None:
        """Take one more."""

    def remove(self, id_: Any) -> Counters:
        """End one; what it did."""

    def said(self) -> Said:
        """It in words, and the values beside."""


def program_of(
    text: str, params: Mapping[str, Any], names: tuple[str, ...], chain: Chain, schema: Schema, how: How
) -> Program:
    """The program of a matcher; one of a single query cannot change."""
    if is_list(text):
        return ListProgram(text, params, names, chain, schema, how)
    (written, *others) = parse(text)
    if isinstance(written, QuerySet):
        return SetProgram(text, params, names, chain, written)
    if isinstance(written, Query) and not others:
        return AutomatonProgram(written, params, names, chain, schema, how)
    return FixedProgram(text, params, names)


class FixedProgram:
    """Queries of one text."""

    def __init__(self, text: str, params: Mapping[str, Any], names: tuple[str, ...]) -> None:
        """Begin."""
        self.names, self._said = names, (text, dict(params))

    def has(self, id_: Any) -> bool:  # noqa: ARG002
        """None can."""
        return False

    def add(self, id_: Any, query: Any, now: int) -> None:  # noqa: ARG002
        """Refuse."""
        raise OuzelError(
            "add: required a matcher of a list of queries, or of oz.queries(…)\n"
            "  hint: give its query as a list: oz.matcher([query], …)"
        )

    def remove(self, id_: Any) -> Counters:  # noqa: ARG002
        """Refuse."""
        raise OuzelError(
            "remove: required a matcher of a list of queries, or of oz.queries(…)\n"
            "  hint: give its query as a list: oz.matcher([query], …)"
        )

    def said(self) -> Said:
        """The text as it was given."""
        return self._said


class SetProgram:
    """A set of queries, by id."""

    def __init__(
        self, text: str, params: Mapping[str, Any], names: tuple[str, ...], chain: Chain, written: QuerySet
    ) -> None:
        """Begin."""
        self.names, self._chain = names, chain
        (entry,) = text_entries(text)
        others = {name: value for name, value in params.items() if not name.startswith(ROWS)}
        self.roster = SetRoster(entry, params[written.rows], others)

    @property
    def _matching(self) -> MembersMatching | SharedMatching:
        found = self._chain.links[-1].matching
        assert isinstance(found, MembersMatching | SharedMatching)
        return found

    def has(self, id_: Any) -> bool:
        """Whether there is such a row."""
        return self.roster.has(id_)

    def add(self, id_: Any, query: Any, now: int) -> None:
        """Take a row of values more."""
        row = self.roster.row(id_, query)
        try:
            self._matching.add(row, now)
        except UnsuitableError as why:
            raise OuzelError(f"add: the query {id_!r} cannot share the plan of the others: {why}") from None
        self.roster.add(row)

    def remove(self, id_: Any) -> Counters:
        """End the query of a row."""
        self._matching.remove(self.roster.remove(id_))
        return Counters()

    def said(self) -> Said:
        """The set with its rows as they are now."""
        return self.roster.said()


class ListProgram:
    """A list of queries, by name."""

    def __init__(
        self,
        text: str,
        params: Mapping[str, Any],
        names: tuple[str, ...],
        chain: Chain,
        schema: Schema,
        how: How,
    ) -> None:
        """Begin."""
        self._chain, self._schema, self._how = chain, schema, how
        self.roster = ListRoster(text, names, params)

    @property
    def names(self) -> tuple[str, ...]:
        """The queries that are there."""
        return self.roster.names

    @property
    def _plans(self) -> Sequence[Plan]:
        return self._chain.all_plans

    def has(self, id_: Any) -> bool:
        """Whether there is a query of that name."""
        return self.roster.has(id_)

    def add(self, id_: Any, query: Any, now: int) -> None:
        """Take a text or an expression more; it may read what others make."""
        self.roster.check_new(id_)
        text, brought = _said(query)
        params = {**self.roster.params, **brought}
        for name, value in brought.items():
            if name in self.roster.params and repr(self.roster.params[name]) != repr(value):
                raise OuzelError(f"add: the parameter '{name}' has another value in the matcher")
        entries = text_entries(text)
        if len(entries) != 1 or len(parse(text)) != 1:
            raise OuzelError(f"add: required one query; got {max(len(entries), len(parse(text)))}")
        entry = {**entries[0], "name": id_}
        alone = document([entry], "list")
        own = {name: params[name] for name in names_in(parse(alone)) if name in params}
        schema = self._schema
        for plan in self._plans:
            if plan.query.into is not None and plan.query.into not in schema.types:
                schema = schema.with_type(composite_type(plan.query))
        plans = compile_query(alone, schema, own, *self._how).plans
        made = {plan.query.into for plan in plans}
        self._refuse_late_makers(id_, made)
        self._chain.add(plans, now)
        self.roster.params = params
        self.roster.entries[id_] = entry

    def _refuse_late_makers(self, name: str, made: set[str | None]) -> None:
        """Refuse a query that makes what another has been waiting for: that one would see it from now on only."""
        for plan in self._plans:
            mentioned = {one for component in plan.query.components for one in component.type_names}
            if mentioned & made:
                into = next(iter(mentioned & made))
                raise OuzelError(
                    f"add: '{name}' makes events of type '{into}', which '{plan.query.name}' reads as input\n"
                    "  hint: choose another type, or add both anew, the one that makes it first"
                )

    def remove(self, id_: Any) -> Counters:
        """End a query, and what serves it alone."""
        self.roster.check_known(id_)
        own = [plan for plan in self._plans if _owner(plan, self.roster.entries) == id_]
        made = {plan.query.into for plan in own if plan.query.into is not None}
        for plan in self._plans:
            if plan not in own and (read := made.intersection(plan.query.composites)):
                raise OuzelError(
                    f"remove: '{id_}' makes events of type '{next(iter(read))}', which "
                    f"'{_owner(plan, self.roster.entries)}' reads\n  hint: remove that one first"
                )
        counters = self._chain.remove({plan.query.name for plan in own})
        del self.roster.entries[id_]
        return counters

    def said(self) -> Said:
        """The list as it is now."""
        return self.roster.said()


def _owner(plan: Plan, names: Mapping[str, Any]) -> str:
    """The query that a plan serves: its own, or the one whose operand it makes."""
    name = plan.query.name
    if not plan.query.hidden or name in names:
        return name
    return max((one for one in names if name.startswith(f"{one}, operand ")), key=len)


def _said(query: Any) -> Said:
    """A query in words, and the values that it brings with it."""
    text = query if isinstance(query, str) else getattr(query, "text", None)
    if not isinstance(text, str):
        raise OuzelError(f"add: required a text or an expression of the algebra; got {query!r}")
    brought = getattr(query, "params", None)
    return text, dict(brought) if isinstance(brought, Mapping) else {}
