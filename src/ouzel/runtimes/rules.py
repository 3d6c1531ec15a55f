"""Rules: rows that say which queries there are and between which times, read and checked one by one.

A row has an id, what the rule says (values for the parameters of a set's template, or the text of a query), and
from when until when it holds.  A row that says nothing ends the rule of its id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import pyarrow as pa

from ouzel.compile import compile_query
from ouzel.errors import OuzelError, SchemaError, did_you_mean, listed
from ouzel.language import parse
from ouzel.language.document import document, is_list, text_entries
from ouzel.language.set_tree import QuerySet
from ouzel.logical.lifetimes import within_times
from ouzel.logical.members import parameters_of
from ouzel.logical.parameters import ROWS, names_in
from ouzel.logical.program import bind_program, composite_type
from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import Schema
from ouzel.logical.times import END
from ouzel.optimizer.plan import Plan
from ouzel.runtimes.replacing import How
from ouzel.runtimes.roster import SetRoster
from ouzel.runtimes.time_values import watermark_ticks

# What columns of rules are called, unless a set calls them otherwise.
ID, QUERY, VALID = "id", "query", ("valid_from", "valid_to")
Fits = Callable[[Sequence[Plan]], None]
"""Refuses plans that cannot run where they are to run."""


@dataclass(frozen=True)
class Rule:
    """What a row says: from a time on (None: from now on), until another, a query is this one; None ends it."""

    id: Any
    since: int | None
    until: int
    said: Any


@dataclass(frozen=True)
class Columns:
    """What the columns of rules are called, and of which types they are: of the id and of what rules say."""

    id: str
    valid: tuple[str, str]
    said: pa.Schema
    any_id: bool = False
    """Whether ids may be of any type, as they become texts."""

    def check(self, given: pa.Schema, time: pa.DataType | None) -> None:
        """Refuse a table that lacks columns, or whose columns can hold no such values."""
        for name in self.said.names:
            if name not in given.names:
                hint = did_you_mean(name, given.names)
                raise SchemaError(
                    f"rules: required a column '{name}'; got {listed(given.names)}"
                    + (f"\n  hint: {hint}" if hint else "")
                )
            if name != self.id or not self.any_id:
                _check_type(name, given.field(name).type, self.said.field(name).type)
        for name in self.valid:
            if name in given.names and time is not None:
                _check_type(name, given.field(name).type, time)

    def chosen(self, given: Sequence[str]) -> list[str]:
        """Those of a table's columns that matter."""
        return [name for name in (*self.said.names, *self.valid) if name in given]


class Rules(Protocol):
    """How the rows of rules are read for a program."""

    @property
    def columns(self) -> Columns:
        """What they are called."""

    def read(self, row: Mapping[str, Any]) -> Rule:
        """What a row says; an error if that cannot be."""


def rules_of(
    text: str, params: Mapping[str, Any], schema: Schema, how: How, fits: Fits = lambda _plans: None
) -> Rules:
    """How rules are read that change a program: a set of queries, or a list."""
    required_program(text)
    return ListRules(text, params, schema, how, fits) if is_list(text) else SetRules(text, params, schema, how)


def required_program(text: str) -> None:
    """Refuse what rules cannot change."""
    if not is_list(text) and not any(isinstance(one, QuerySet) for one in parse(text)):
        raise OuzelError(
            "rules: required a set of queries, oz.queries(…), or a list of queries, which they change\n"
            "  hint: give the query as a list: oz.match(events, [query], rules=…)"
        )


def columns_of(text: str, params: Mapping[str, Any]) -> Columns:
    """What the columns of rules are called: those of a set, or those for texts."""
    if is_list(text):
        return Columns(ID, VALID, pa.schema({ID: pa.string(), QUERY: pa.string()}), any_id=True)
    (written,) = parse(text)
    assert isinstance(written, QuerySet)
    since, until = (name or usual for name, usual in zip(written.valid, VALID, strict=True))
    said = pa.schema([one for one in params[written.rows].schema if one.name not in written.valid])
    return Columns(written.id, (since, until), said)


@dataclass(frozen=True)
class SetRules:
    """Rules that are rows of a set: an id, and values for the parameters of its template."""

    text: str
    params: Mapping[str, Any]
    schema: Schema
    how: How

    @cached_property
    def _written(self) -> QuerySet:
        (written,) = parse(self.text)
        assert isinstance(written, QuerySet)
        return written

    @cached_property
    def _none(self) -> SetRoster:
        """The set without its queries."""
        (entry,) = text_entries(self.text)
        others = {name: value for name, value in self.params.items() if not name.startswith(ROWS)}
        return SetRoster(entry, self.params[self._written.rows].slice(0, 0), others)

    @cached_property
    def columns(self) -> Columns:
        """The set's own columns, and by default those called `valid_from` and `valid_to`."""
        return columns_of(self.text, self.params)

    def read(self, row: Mapping[str, Any]) -> Rule:
        """The values of parameters; if all of them are null, the rule ends."""
        id_, since, until = _lifetime(row, self.columns, self.schema)
        values = {name: row[name] for name in parameters_of(self._written, self._none.rows.schema)}
        if values and all(value is None for value in values.values()):
            return Rule(id_, since, until, None)
        try:
            whole = self._none.row(id_, values)
        except OuzelError as error:
            raise OuzelError(str(error).removeprefix("add: ")) from None
        self._check(whole)
        return Rule(whole[self.columns.id], since, until, {name: whole[name] for name in values})

    @cached_property
    def _shape(self) -> list[tuple[str, str]]:
        (plan,) = compile_query(self.text, self.schema, self.params, *self.how).plans
        assert plan.query.members is not None
        return _shape(plan.query.members.template)

    def _check(self, row: dict[str, Any]) -> None:
        """Refuse values with which the template makes no sense, or has other columns."""
        template = self._written.template
        values = {
            **self._none.params,
            **{name: row[name] for name in parameters_of(self._written, self._none.rows.schema)},
        }
        *_operands, query = bind_program((template,), template.source, self.schema, values)
        for (column, own), (_column, wanted) in zip(_shape(query), self._shape, strict=True):
            if own != wanted:
                raise OuzelError(f"column '{column}' of the result: required {wanted}, as in the set; got {own}")


@dataclass(frozen=True)
class ListRules:
    """Rules that are texts of queries, beside those of a list."""

    text: str
    params: Mapping[str, Any]
    schema: Schema
    how: How
    fits: Fits

    @cached_property
    def columns(self) -> Columns:
        """An id, and the text of a query."""
        return columns_of(self.text, self.params)

    @cached_property
    def _plans(self) -> Sequence[Plan]:
        return compile_query(self.text, self.schema, self.params, *self.how).plans

    @cached_property
    def _with_composites(self) -> Schema:
        schema = self.schema
        for plan in self._plans:
            if plan.query.into is not None:
                schema = schema.with_type(composite_type(plan.query))
        return schema

    def read(self, row: Mapping[str, Any]) -> Rule:
        """The text of one query; none ends the rule."""
        id_, since, until = _lifetime(row, self.columns, self.schema)
        said = row[QUERY]
        if not str(id_):
            raise OuzelError("a rule without an id")
        if any(plan.query.name == str(id_) and plan.query.into is not None for plan in self._plans):
            raise OuzelError(f"'{id_}' makes events for other queries, and has to stay as it is")
        if said is not None:
            self._check(str(id_), said)
        return Rule(str(id_), since, until, said)

    def _check(self, id_: str, text: Any) -> None:
        if not isinstance(text, str):
            raise OuzelError(f"required the text of a query; got {text!r}")
        written = parse(text)
        if len(written) != 1 or isinstance(written[0], QuerySet):
            raise OuzelError(f"required the text of one query; got {len(written)}")
        if written[0].into is not None:
            raise OuzelError("INTO in a rule: required a query whose matches are no events for others")
        (entry,) = text_entries(text)
        alone = document([{**entry, "name": id_}], "list")
        own = {name: self.params[name] for name in names_in(written) if name in self.params}
        plans = compile_query(alone, self._with_composites, own, *self.how).plans
        if any(plan.query.numbers_matches for plan in plans):
            raise OuzelError("match_number() in a rule, whose matches come one by one")
        self.fits([*self._plans, *plans])


def _lifetime(row: Mapping[str, Any], columns: Columns, schema: Schema) -> tuple[Any, int | None, int]:
    """The id of a rule, and from when until when it holds."""
    if row[columns.id] is None:
        raise OuzelError("a rule without an id")
    since, until = (_ticks(row, name, schema) for name in columns.valid)
    return row[columns.id], since, END if until is None else until


def _ticks(row: Mapping[str, Any], name: str, schema: Schema) -> int | None:
    value = row.get(name)
    ticks = None if value is None else watermark_ticks(value, schema.time.arrow)
    if value is not None and ticks is None:
        required = f"a time as in the column '{schema.time.name}', {schema.time.arrow}"
        raise OuzelError(f"'{name}': required {required}; got {value!r}")
    return None if ticks is None else within_times(ticks)


def _shape(query: BoundQuery) -> list[tuple[str, str]]:
    """The columns of what a query of a set returns, and their types."""
    if query.attributes is not None:
        return [(one.name, str(one.arrow)) for one in query.attributes]
    return [(one.name, one.expression.type.kind.value) for one in query.output]


def _check_type(name: str, got: pa.DataType, wanted: pa.DataType) -> None:
    """Refuse a column whose values are none of a kind; numbers are one kind, and nothing may be anything."""
    kinds = (pa.types.is_boolean, _is_number, _is_text, pa.types.is_temporal)
    if pa.types.is_null(got) or pa.types.is_null(wanted) or got.equals(wanted):
        return
    if not any(kind(got) and kind(wanted) for kind in kinds):
        raise SchemaError(f"rules: column '{name}': required {wanted}; got {got}")


def _is_number(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_integer(arrow) or pa.types.is_floating(arrow) or pa.types.is_decimal(arrow))


def _is_text(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_string(arrow) or pa.types.is_large_string(arrow) or pa.types.is_string_view(arrow))
