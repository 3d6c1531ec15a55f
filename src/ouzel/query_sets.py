"""Sets of queries: one template, a table of values for its parameters (Cayuga 4: very many at once)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ouzel.algebra import Stream
from ouzel.automata import Automaton
from ouzel.errors import OuzelError, QueryError, did_you_mean, listed
from ouzel.language import parse
from ouzel.language.document import document, set_entry, text_entries
from ouzel.logical.members import check_numbers, rows_name
from ouzel.logical.parameters import names_in
from ouzel.runtimes.kinds import to_arrow


@dataclass(frozen=True, repr=False)
class Queries:
    """A set of queries, which is a query like any other; see `oz.queries`."""

    template: str
    rows: pa.Table
    id: str
    valid: tuple[str | None, str | None] = (None, None)
    given: tuple[str, ...] = field(default=(), compare=False)
    """The columns that there were; those that are no parameters are left behind."""

    def check_values(self, params: Mapping[str, Any]) -> None:
        """Refuse to go on without values of some parameters: a column's name may be misspelt."""
        for name in names_in(parse(self.template)):
            if name not in params and name not in self.rows.column_names:
                columns = f"a column '{name}' of the parameters, or params={{'{name}': …}} for all queries"
                raise QueryError(
                    f"the parameter ${name} of the set has no value",
                    required=f"{columns}; got the columns {listed(self.given)}",
                    hint=did_you_mean(name, set(self.given) - set(self.rows.column_names)),
                )

    @property
    def entry(self) -> dict[str, Any]:
        """The set as an entry of a document."""
        (template,) = text_entries(self.template)
        return set_entry(template, self.id, self._key, self.valid)

    @property
    def text(self) -> str:
        """The set as one text; the values of parameters travel beside it."""
        return document([self.entry], "set")

    @property
    def params(self) -> dict[str, Any]:
        """What travels beside the text."""
        return {self._key: self.rows}

    @property
    def _key(self) -> str:
        return rows_name(self.rows)

    def __len__(self) -> int:
        """How many queries there are."""
        count: int = self.rows.num_rows
        return count

    def __repr__(self) -> str:
        """How many queries there are of which template."""
        (template,) = parse(self.template)
        return f"oz.queries({template.source!r}, {len(self):,} rows, id={self.id!r})"


def queries(
    template: str | Stream | Automaton,
    parameters: Any,
    id: str = "id",
    *,
    valid_from: str | None = None,
    valid_to: str | None = None,
) -> Queries:
    """A query for every row of a table: a template with `$parameters`, and their values.

    `template` is a text of one query or an expression of the algebra; `parameters` a pyarrow, pandas or Polars
    table, or a list of dicts, with a column `id` that names the queries, and a column for each parameter.  The
    matches of all of them are one table, with the id in front.  Columns `valid_from` and `valid_to`, if they are
    named, say from when on a query sees events, and until when.

    >>> import ouzel as oz
    >>> rules = [{"id": "low", "most": 2}, {"id": "high", "most": 9}]
    >>> alarms = oz.queries("PATTERN A; B WHERE B.x <= $most RETURN B.x AS x", rules)
    >>> oz.match([{"ts": 1, "type": "A", "x": 0}, {"ts": 2, "type": "B", "x": 5}], alarms)
    [{'id': 'high', 'x': 5}]
    """
    if isinstance(template, Stream | Automaton):
        text = template.text
    elif isinstance(template, str):
        text = template
    else:
        raise OuzelError(f"template: required a text or an expression of the algebra; got {template!r}")
    written = parse(text)
    if len(written) != 1:
        raise OuzelError(f"template: required one query; got {len(written)}\n  hint: give them as a list of sets")
    if not _is_name(id):
        raise OuzelError(f"id: required the name of a column; got {id!r}")
    incoming = to_arrow(parameters)
    if incoming.problems:
        raise OuzelError(f"parameters: {incoming.problems[0]}")
    rows = _plain(incoming.table)
    if len(set(rows.column_names)) < rows.num_columns:
        raise OuzelError("parameters: required columns of different names")
    valid = (valid_from, valid_to)
    for what, name in (("id", id), ("valid_from", valid_from), ("valid_to", valid_to)):
        if name is not None and not _is_name(name):
            raise OuzelError(f"{what}: required the name of a column; got {name!r}")
        if name is not None and name not in rows.column_names:
            raise OuzelError(
                f"{what}: required a column of the parameters, which are {listed(rows.column_names)}; got '{name}'"
                + (f"\n  hint: {hint}" if (hint := did_you_mean(name, rows.column_names)) else "")
            )
    _check_ids(rows.column(id), id)
    mentioned = set(names_in(written))
    _check_parameters(mentioned, {"id": id, "valid_from": valid_from, "valid_to": valid_to})
    own = [name for name in rows.column_names if name in mentioned]
    check_numbers(rows, own)
    kept = [name for name in rows.column_names if name in own or name in (id, *valid)]
    return Queries(text, rows.select(kept), id, valid, tuple(rows.column_names))


def _check_parameters(mentioned: set[str], columns: Mapping[str, str | None]) -> None:
    """Refuse parameters that are called as columns with another task."""
    for what, name in columns.items():
        if name is not None and name in mentioned:
            raise OuzelError(
                f"{what}: '{name}' is what the parameter ${name} is called, too; "
                "required a column of its own for it\n"
                "  hint: call the parameter otherwise, and have a column of that name with the same values"
            )


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and bool(name)


def _plain(rows: pa.Table) -> pa.Table:
    """The same without metadata and dictionaries, each column in one piece."""
    columns = {}
    for name in rows.column_names:
        column = rows.column(name)
        columns[name] = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    return pa.table(columns).combine_chunks() if columns else rows


def _check_ids(ids: pa.ChunkedArray, name: str) -> None:
    if pa.types.is_nested(ids.type):
        raise OuzelError(f"id: required values that tell queries apart, such as texts or integers; got {ids.type}")
    if ids.null_count:
        raise OuzelError(f"id: required a value of '{name}' in every row; got {ids.null_count:,} nulls")
    if len(pc.unique(ids)) != len(ids):
        counted = pc.value_counts(ids)
        twice = counted.filter(pc.greater(counted.field("counts"), 1))[0]["values"].as_py()
        raise OuzelError(f"id: required a value of its own for every query; got {twice!r} twice")
