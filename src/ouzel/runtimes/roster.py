"""Who is there: the queries of a matcher as they are now, after some have come and others have gone.

A list has queries by name; a set has rows by id.  Either is a text and values beside it again whenever a snapshot
has to say what the matcher runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ouzel.errors import OuzelError, did_you_mean, listed
from ouzel.language import parse
from ouzel.language.document import document, text_entries
from ouzel.logical.members import MOST, beyond, rows_name
from ouzel.logical.parameters import names_in

Said = tuple[str, dict[str, Any]]
"""The text of queries, and the values that travel beside it."""


class ListRoster:
    """The queries of a list, by name: each an entry of a document."""

    def __init__(self, text: str, names: Iterable[str], params: Mapping[str, Any]) -> None:
        """Begin with those of a document, each of one query."""
        self.params = dict(params)
        self._first = text, tuple(names)

    @property
    def names(self) -> tuple[str, ...]:
        """Those that are there, in order."""
        return tuple(self.entries) if "entries" in vars(self) else self._first[1]

    @cached_property
    def entries(self) -> dict[str, dict[str, Any]]:
        """Each as an entry: found out when queries come or go, or a snapshot is taken."""
        text, names = self._first
        pairs = zip(names, single_entries(text), strict=True)
        return {name: {**entry, "name": name} for name, entry in pairs}

    def has(self, name: Any) -> bool:
        """Whether a query is there."""
        return name in self.entries

    def check_new(self, name: Any) -> None:
        """Refuse a name that is taken, or none at all."""
        if not isinstance(name, str) or not name:
            raise OuzelError(f"add: required the name of a query; got {name!r}")
        if name in self.entries:
            raise OuzelError(f"add: '{name}' is there already\n  hint: remove it first, or choose another name")

    def check_known(self, name: Any, verb: str) -> None:
        """Refuse a name that nobody has."""
        if not isinstance(name, str) or name not in self.entries:
            raise unknown(name, self.entries, verb)

    def said(self) -> Said:
        """The list as a text, and the values that it still mentions."""
        text = document(self.entries.values(), "list")
        mentioned = set(names_in(parse(text)))
        return text, {name: value for name, value in self.params.items() if name in mentioned}


def single_entries(text: str) -> list[dict[str, Any]]:
    """The entries of a document, those of several queries taken apart."""
    found: list[dict[str, Any]] = []
    for entry in text_entries(text):
        written = parse(entry["text"]) if "text" in entry else ()
        if len(written) < 2:
            found.append(entry)
            continue
        for one in written:
            assert one.span is not None
            found.append({"text": one.source[one.span.start : one.span.end]})
    return found


@dataclass
class SetRoster:
    """The queries of a set, by id: rows of values of parameters."""

    entry: Mapping[str, Any]
    rows: pa.Table
    params: dict[str, Any]
    added: dict[Any, dict[str, Any]] = field(default_factory=dict)
    gone: set[Any] = field(default_factory=set)

    @property
    def id(self) -> str:
        """The column that names queries."""
        name: str = self.entry["id"]
        return name

    @cached_property
    def _first(self) -> set[Any]:
        """Who was there at first."""
        return set(self.rows.column(self.id).to_pylist())

    def has(self, id_: Any) -> bool:
        """Whether a query is there."""
        try:
            return id_ in self.added or (id_ in self._first and id_ not in self.gone)
        except TypeError:  # what cannot be hashed names nothing
            return False

    def _own(self, id_: Any, verb: str) -> Any:
        """An id as the column of ids has it."""
        arrow = self.rows.schema.field(self.id).type
        try:
            is_odd = isinstance(id_, bool) != pa.types.is_boolean(arrow) or id_ != id_  # noqa: PLR0124 - NaN is none
            found = None if is_odd else pa.scalar(id_, arrow).as_py()
        except (pa.ArrowException, OverflowError, ValueError, TypeError):
            found = None
        if found is None or (isinstance(id_, float) and isinstance(found, int) and found != id_):
            raise OuzelError(f"{verb}: required an id of type {arrow}; got {id_!r}")
        return found

    def row(self, id_: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        """The row of a new query; an error if it is there already, or has other parameters."""
        id_ = self._own(id_, "add")
        if self.has(id_):
            raise OuzelError(f"add: the query {id_!r} is there already\n  hint: remove it first")
        return self._row(id_, values, "add")

    def other_row(self, id_: Any, values: Mapping[str, Any], verb: str) -> dict[str, Any]:
        """The row of a query with other parameters, all of them or, but to `replace` it, some; valid as it was."""
        known = self.known(id_, verb)
        valid = [name for name in self.entry["valid"] if name is not None]
        if isinstance(values, Mapping):
            for name in valid:
                if name in values:
                    raise OuzelError(f"{verb}: '{name}' says when the query is valid, which cannot change")
            before = self._now(known)
            others = before if verb != "replace" else {name: before[name] for name in valid}
            values = {**{name: value for name, value in others.items() if name != self.id}, **values}
        return self._row(known, values, verb)

    def known(self, id_: Any, verb: str) -> Any:
        """An id as the column of ids has it; an error if no query has it."""
        id_ = self._own(id_, verb)
        if not self.has(id_):
            known = self.rows.column(self.id).slice(0, 1_000).to_pylist()
            raise unknown(id_, [one for one in (*known, *self.added) if isinstance(one, str)], verb)
        return id_

    def _now(self, id_: Any) -> dict[str, Any]:
        """The row of a query that is there."""
        if id_ in self.added:
            return self.added[id_]
        column = self.rows.column(self.id)
        (row,) = self.rows.filter(pc.equal(column, pa.scalar(id_, column.type))).to_pylist()
        found: dict[str, Any] = row
        return found

    def _row(self, id_: Any, values: Mapping[str, Any], verb: str) -> dict[str, Any]:
        """The row of a query; an error if it has other parameters."""
        if not isinstance(values, Mapping):
            raise OuzelError(f"{verb}: required a dict of parameters and values; got {values!r}")
        valid = [name for name in self.entry["valid"] if name is not None]
        wanted = [name for name in self.rows.column_names if name not in (self.id, *valid)]
        for name in values:
            if name not in (*wanted, *valid):
                hint = did_you_mean(name, wanted)
                raise OuzelError(
                    f"{verb}: '{name}' is no parameter of the set; required {listed(wanted)}"
                    + (f"\n  hint: {hint}" if hint else "")
                )
        for name in wanted:
            if name not in values:
                raise OuzelError(f"{verb}: the parameter '{name}' of the query {id_!r} has no value")
        row = {self.id: id_, **dict.fromkeys(valid), **values}
        for name, value in row.items():
            arrow = self.rows.schema.field(name).type
            if pa.types.is_null(arrow) and value is not None:
                raise OuzelError(
                    f"{verb}: '{name}': required null, as all values of the set are; got {value!r}\n"
                    f"  hint: give the column '{name}' of oz.queries(…) a type, such as pa.int64()"
                )
            try:
                row[name] = pa.scalar(value, arrow).as_py()
                if isinstance(value, float | Decimal) and isinstance(row[name], int) and row[name] != value:
                    raise ValueError(value)
            except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, ValueError, TypeError):
                raise OuzelError(f"{verb}: '{name}': required {arrow}, as in the set; got {value!r}") from None
            if pa.types.is_uint64(arrow) and name in wanted and (row[name] or 0) > MOST:
                raise OuzelError(f"{verb}: '{name}': {beyond(row[name])}")
        return row

    def add(self, row: dict[str, Any]) -> None:
        """Note a new query."""
        self.added[row[self.id]] = row

    def remove(self, id_: Any) -> Any:
        """Note that a query has gone; an error if it is not there.  Its id, as the column of ids has it."""
        id_ = self.known(id_, "remove")
        if id_ in self.added:
            del self.added[id_]
        else:
            self.gone.add(id_)
        return id_

    def said(self) -> Said:
        """The set as a text, and its rows."""
        rows = self.rows
        if self.gone:
            gone = pa.array(list(self.gone), rows.schema.field(self.id).type)
            rows = rows.filter(pc.invert(pc.is_in(rows.column(self.id), gone)))
        if self.added:
            rows = pa.concat_tables([rows, pa.Table.from_pylist(list(self.added.values()), rows.schema)])
        rows = rows.combine_chunks()
        name = rows_name(rows)
        return document([{**self.entry, "rows": name}], "set"), {**self.params, name: rows}


def unknown(name: Any, known: Iterable[str], verb: str) -> OuzelError:
    """The error for a name that nobody has."""
    hint = did_you_mean(str(name), list(known))
    return OuzelError(f"{verb}: there is no query {name!r}" + (f"\n  hint: {hint}" if hint else ""))


def check_id(id_: Any, names: tuple[str, ...], verb: str) -> None:
    """Refuse the id of a query that is not the only one; it may be left out."""
    if id_ is not None and id_ != names[0]:
        raise unknown(id_, names, verb)


def check_parameters(names: Iterable[Any], known: set[str], whose: str) -> None:
    """Refuse names that are no parameters of a query."""
    for name in names:
        if name not in known:
            hint = did_you_mean(str(name), known)
            required = listed(sorted(known)) if known else f"none: the {whose} has no parameters"
            raise OuzelError(
                f"set_params: '{name}' is no parameter of the {whose}; required {required}"
                + (f"\n  hint: {hint}" if hint else "")
            )


def said_of(query: Any, verb: str) -> Said:
    """A query in words, and the values that it brings with it."""
    text = query if isinstance(query, str) else getattr(query, "text", None)
    if not isinstance(text, str):
        hint = "\n  hint: oz.automaton(…) makes one of a specification" if isinstance(query, Mapping) else ""
        raise OuzelError(f"{verb}: required a text, an expression or an automaton; got {query!r}{hint}")
    brought = getattr(query, "params", None)
    return text, dict(brought) if isinstance(brought, Mapping) else {}
