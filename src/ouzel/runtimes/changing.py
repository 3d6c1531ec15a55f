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
from ouzel.runtimes.arcs import AutomatonProgram, Swap
from ouzel.runtimes.chain import Chain
from ouzel.runtimes.fixed import FixedProgram, SingleProgram
from ouzel.runtimes.members import MembersMatching
from ouzel.runtimes.replacing import Entry, How, mentioned, new_values, new_version, one_entry
from ouzel.runtimes.roster import ListRoster, Said, SetRoster, said_of


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

    def replace(self, id_: Any, query: Any, now: int) -> Counters | Swap:
        """Let another take the place of one; what that did, or which arcs are to come and go."""

    def set_params(self, id_: Any, values: Mapping[str, Any], now: int) -> Counters | Swap:
        """Let parameters of one have other values; what it did before, or which arcs are to come and go."""

    def said(self) -> Said:
        """It in words, and the values beside."""


def program_of(
    text: str, params: Mapping[str, Any], names: tuple[str, ...], chain: Chain, schema: Schema, how: How
) -> Program:
    """The program of a matcher; one of several queries of a text cannot change."""
    if is_list(text):
        return ListProgram(text, params, names, chain, schema, how)
    (written, *others) = parse(text)
    if isinstance(written, QuerySet):
        return SetProgram(text, params, names, chain, written)
    if isinstance(written, Query) and not others:
        return AutomatonProgram(written, params, names, chain, schema, how)
    if not others:
        return SingleProgram(text, params, names[0], chain, schema, how)
    return FixedProgram(text, params, names)


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

    def replace(self, id_: Any, query: Any, now: int) -> Counters:
        """Let a query have other values of all parameters."""
        return self._become(self.roster.other_row(id_, query, "replace"), now, "replace")

    def set_params(self, id_: Any, values: Mapping[str, Any], now: int) -> Counters:
        """Let a query have other values of some parameters."""
        return self._become(self.roster.other_row(id_, values, "set_params"), now, "set_params")

    def _become(self, row: dict[str, Any], now: int, verb: str) -> Counters:
        id_ = row[self.roster.id]
        try:
            self._matching.replace(row, now)
        except UnsuitableError as why:
            raise OuzelError(f"{verb}: the query {id_!r} cannot share the plan of the others: {why}") from None
        self.roster.remove(id_)
        self.roster.add(row)
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
        text, brought = said_of(query, "add")
        params = {**self.roster.params, **brought}
        self._check_values(brought, "add", self.roster.params)
        entry = {**one_entry(text, "add"), "name": id_}
        alone = document([entry], "list")
        own = {name: params[name] for name in names_in(parse(alone)) if name in params}
        plans = compile_query(alone, self._known_types(), own, *self._how).plans
        self._refuse_late_makers(id_, {plan.query.into for plan in plans}, "add")
        self._chain.add(plans, now)
        self.roster.params = params
        self.roster.entries[id_] = entry

    def _check_values(self, brought: Mapping[str, Any], verb: str, known: Mapping[str, Any]) -> None:
        """Refuse values of parameters that others have otherwise."""
        for name, value in brought.items():
            if name in known and repr(known[name]) != repr(value):
                raise OuzelError(f"{verb}: the parameter '{name}' has another value in the matcher")

    def _known_types(self, without: str | None = None) -> Schema:
        """The types of events, with those that queries make."""
        schema = self._schema
        for plan in self._plans:
            into = plan.query.into
            if into is not None and into not in schema.types and plan.query.name != without:
                schema = schema.with_type(composite_type(plan.query))
        return schema

    def _refuse_late_makers(self, name: str, made: set[str | None], verb: str) -> None:
        """Refuse a query that makes what another has been waiting for: that one would see it from now on only."""
        for plan in self._plans:
            mentioned = {one for component in plan.query.components for one in component.type_names}
            if mentioned & made:
                into = next(iter(mentioned & made))
                raise OuzelError(
                    f"{verb}: '{name}' makes events of type '{into}', which '{plan.query.name}' reads as input\n"
                    "  hint: choose another type, or add both anew, the one that makes it first"
                )

    def remove(self, id_: Any) -> Counters:
        """End a query, and what serves it alone."""
        self.roster.check_known(id_, "remove")
        counters = self._chain.remove({plan.query.name for plan in self._own(id_, "remove")})
        del self.roster.entries[id_]
        return counters

    def _own(self, id_: str, verb: str) -> list[Plan]:
        """The plans of a query; an error if others read what it makes."""
        own = [plan for plan in self._plans if _owner(plan, self.roster.entries) == id_]
        made = {plan.query.into for plan in own if plan.query.into is not None}
        for plan in self._plans:
            if plan not in own and (read := made.intersection(plan.query.composites)):
                raise OuzelError(
                    f"{verb}: '{id_}' makes events of type '{next(iter(read))}', which "
                    f"'{_owner(plan, self.roster.entries)}' reads\n  hint: remove that one first"
                )
        return own

    def replace(self, id_: Any, query: Any, now: int) -> Counters:
        """Let a text or an expression take the place of the one of its name."""
        self.roster.check_known(id_, "replace")
        text, brought = said_of(query, "replace")
        others = {name: self.roster.params[name] for name in self._mentioned_beside(id_) & {*self.roster.params}}
        self._check_values(brought, "replace", others)
        entry = {**one_entry(text, "replace"), "name": id_}
        return self._become(entry, {**self.roster.params, **brought}, now, "replace")

    def set_params(self, id_: Any, values: Mapping[str, Any], now: int) -> Counters:
        """Let parameters of a query have other values; others must not mention them."""
        self.roster.check_known(id_, "set_params")
        entry = self.roster.entries[id_]
        params = new_values(entry, self.roster.params, values)
        if shared := self._mentioned_beside(id_) & set(values):
            raise OuzelError(
                f"set_params: other queries of the list have the parameter '{min(shared)}', too\n"
                "  hint: give each query parameters of its own"
            )
        return self._become(entry, params, now, "set_params")

    def _mentioned_beside(self, id_: str) -> set[str]:
        """The parameters of all queries but one."""
        others = [entry for name, entry in self.roster.entries.items() if name != id_]
        return {name for entry in others for name in mentioned(entry)}

    def _become(self, entry: Entry, params: dict[str, Any], now: int, verb: str) -> Counters:
        name = entry["name"]
        own = self._own(name, verb)
        entry, plan = new_version(entry, self._known_types(name), params, self._how, own, now)
        self._refuse_late_makers(name, {plan.query.into} - {own[0].query.into}, verb)
        counters = self._chain.replace(plan, now)
        self.roster.params = params
        self.roster.entries[name] = entry
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
