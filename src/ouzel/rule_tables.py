"""Tables of rules: in a batch each version of each rule is a query of its own, for the events of its time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from ouzel.errors import OuzelError, QueryError, SchemaError
from ouzel.language import parse
from ouzel.language.document import document, is_list, set_entry, text_entries
from ouzel.language.set_tree import QuerySet
from ouzel.logical.members import parameters_of, rows_name
from ouzel.logical.program import names_of
from ouzel.runtimes.kinds import is_spark, to_arrow
from ouzel.runtimes.roster import ListRoster
from ouzel.runtimes.ruled import FOUND, in_json
from ouzel.runtimes.rules import ID, QUERY, VALID, columns_of, required_program

NO_QUERIES = document([], "list")
# What the id of a text is called on its way: no column of a result is called so.
RULE = "__rule"
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Version:
    """A rule for some time, as its row has it."""

    id: Any
    said: Any
    since: Any
    until: Any

    @property
    def is_bounded(self) -> bool:
        """Whether it does not hold for ever."""
        return self.since is not None or self.until is not None


@dataclass(frozen=True)
class Batched:
    """Rules as one program; `ids` has the rule of each of its queries, if results come in JSON."""

    text: str
    params: Mapping[str, Any]
    ids: Mapping[str, str] | None = None
    names: Sequence[str] = field(default=())

    def joined(self, results: Mapping[str, pa.Table]) -> pa.Table:
        """The results of all queries as one table."""
        if self.ids is None:
            return pa.concat_tables(results[name] for name in self.names)
        parts = (in_json(self.ids[name], _without_rule(table)) for name, table in results.items())
        return pa.concat_tables([FOUND.empty_table(), *parts])

    def united(self, results: Mapping[str, Any]) -> Any:
        """The same of Spark's tables."""
        from ouzel.runtimes.spark.rule_rows import united

        return united([(None if self.ids is None else self.ids[name], one) for name, one in results.items()], RULE)


@dataclass(frozen=True)
class Prepared:
    """A program with rules: all in one, or on a stream what is left of them to come."""

    text: str
    params: Mapping[str, Any]
    batched: Batched | None = None
    table: pa.Table | None = None
    stream: Any = None

    @property
    def is_there(self) -> bool:
        """Whether there are rules to come."""
        return self.table is not None or self.stream is not None


def prepared(text: str, params: Mapping[str, Any], rules: Any, on_stream: bool) -> Prepared:
    """A program and its rules, if there are any."""
    if rules is None:
        return Prepared(text, params)
    required_program(text)
    table, stream = split(rules)
    if stream is not None and not on_stream:
        raise OuzelError("rules: required a table, as the events are no stream; got a stream")
    if table is None:
        return Prepared(text, params, None, None, stream)
    batched = folded(text, params, table) if on_stream else in_batch(text, params, table)
    if batched is None:
        return Prepared(text, params, None, table, stream)
    return Prepared(batched.text, batched.params, None if on_stream else batched, None, stream)


def split(rules: Any) -> tuple[pa.Table | None, Any]:
    """The rows of rules that are there, and the stream of those that come, if there is one."""
    tables, streams = [], []
    for one in rules if isinstance(rules, tuple) else (rules,):
        if is_spark(one) and one.isStreaming:
            streams.append(one)
        else:
            tables.append(one.toArrow() if is_spark(one) else to_arrow(one).table)
    if len(streams) > 1:
        raise OuzelError("rules: required one stream; got several\n  hint: unite them")
    table = pa.concat_tables(tables, promote_options="permissive") if tables else None
    return table, streams[0] if streams else None


def in_batch(text: str, params: Mapping[str, Any], table: pa.Table) -> Batched:
    """A program and a table of rules as one program, in which nothing changes any more."""
    columns_of(text, params).check(table.schema, None)
    return _of_list(text, params, table) if is_list(text) else _of_set(text, params, table)


def folded(text: str, params: Mapping[str, Any], table: pa.Table) -> Batched | None:
    """A set with the rows of rules as its own, if each of them is a query that is there once; else None."""
    if is_list(text):
        return None
    found = in_batch(text, params, table)
    (entry,) = text_entries(text)
    ends = any(said is None for said in _said_of_set(text, params, table))
    ids = [*params[entry["rows"]].column(entry["id"]).to_pylist(), *table.column(entry["id"]).to_pylist()]
    return found if len(found.names) == 1 and not ends and len(set(ids)) == len(ids) else None


def rules_words(text: str, params: Mapping[str, Any], rules: Any) -> list[str]:
    """What `explain` says of rules: how many queries there are with them, and how many are to come."""
    table, stream = split(rules)
    said = []
    if table is not None:
        columns_of(text, params).check(table.schema, None)
        untouched: Mapping[str, Any] = {}
        if is_list(text):
            untouched, versions = _versions_of_list(text, table)
        else:
            versions = _versions_of_set(text, params, table)
        later = sum(one.since is not None for one in versions)
        first = len(untouched) + len(versions) - later
        said.append(f"{table.num_rows:,} rows; queries from the beginning: {first:,}; that begin later: {later:,}")
    return said + ([] if stream is None else ["a stream of rows, each of which takes effect at its time"])


def versions_of(rows: Sequence[Version]) -> Iterator[Version]:
    """By rule, each version until its own end, or until the next begins; what ends a rule is none.

    >>> rows = [Version("r", 1, None, None), Version("r", None, 5, None), Version("r", 2, 7, 7)]
    >>> list(versions_of(rows))
    [Version(id='r', said=1, since=None, until=5)]
    """
    by_id: dict[Any, list[Version]] = {}
    for row in rows:
        by_id.setdefault(row.id, []).append(row)
    for own in by_id.values():
        ordered = sorted(own, key=lambda row: (row.since is not None, row.since))
        for row, later in zip(ordered, [*ordered[1:], None], strict=True):
            if row.said is None or (later is not None and later.since is None):
                continue
            ends = [row.until, *([] if later is None else [later.since])]
            until = min((one for one in ends if one is not None), default=None)
            if until is None or row.since is None or until > row.since:
                yield Version(row.id, row.said, row.since, until)


def _of_set(text: str, params: Mapping[str, Any], table: pa.Table) -> Batched:
    (entry,) = text_entries(text)
    columns, rows = columns_of(text, params), params[entry["rows"]]
    since, until = columns.valid
    types = {name: _type_of(name, (rows, table)) for name in columns.valid}
    schema = pa.schema([*columns.said, *(pa.field(name, arrow) for name, arrow in types.items())])
    entries, values = [], {name: value for name, value in params.items() if name != entry["rows"]}
    names = names_of(parse(text))
    for number, layer in enumerate(_layers(_versions_of_set(text, params, table))):
        held = [{columns.id: one.id, **one.said, since: one.since, until: one.until} for one in layer]
        rows_then = _table(held, schema)
        values[rows_name(rows_then)] = rows_then
        named = {"name": f"{names[0]} {number + 1}"} if number else {}
        entries.append({**entry, "rows": rows_name(rows_then), "valid": [since, until], **named})
    whole = document(entries, "set" if len(entries) == 1 else "list")
    return Batched(whole, values, names=names_of(parse(whole)))


def _versions_of_set(text: str, params: Mapping[str, Any], table: pa.Table) -> list[Version]:
    (entry,) = text_entries(text)
    columns, rows = columns_of(text, params), params[entry["rows"]]
    since, until = columns.valid
    said = [*_said_of_set(text, params, rows, may_end=False), *_said_of_set(text, params, table)]
    both = [*rows.to_pylist(), *table.to_pylist()]
    return _ordered(
        [
            Version(row[columns.id], own, row.get(since), row.get(until))
            for row, own in zip(both, said, strict=True)
        ]
    )


def _layers(versions: Sequence[Version]) -> list[list[Version]]:
    """Versions in sets in which each rule is there once."""
    layers: list[list[Version]] = [[]]
    count: dict[Any, int] = {}
    for one in versions:
        place = count[one.id] = count.get(one.id, -1) + 1
        layers += [[]] if place == len(layers) else []
        layers[place].append(one)
    return layers


def _of_list(text: str, params: Mapping[str, Any], table: pa.Table) -> Batched:
    untouched, versions = _versions_of_list(text, table)
    entries, ids, values = list(untouched.values()), {name: name for name in untouched}, dict(params)
    for one in versions:
        name = _free(one.id, ids)
        ids[name] = one.id
        entry = {**(one.said if isinstance(one.said, dict) else _checked(one)), "name": name}
        if one.is_bounded:
            alone = _table([{RULE: one.id, VALID[0]: one.since, VALID[1]: one.until}], None)
            values[rows_name(alone)] = alone
            entry = {**set_entry(entry, RULE, rows_name(alone), VALID), "name": name}
        entries.append(entry)
    return Batched(document(entries, "list"), values, ids, tuple(ids))


def _versions_of_list(text: str, table: pa.Table) -> tuple[dict[str, dict[str, Any]], list[Version]]:
    """The queries of a list that no rule changes, and the versions of all others."""
    first = ListRoster(text, names_of(parse(text)), {}).entries
    rows = [_version(row) for row in table.to_pylist()]
    changed = {row.id for row in rows}
    for name, entry in first.items():
        if name in changed and "set" in entry:
            raise OuzelError(f"rules: '{name}' is a set of queries, which the text of a query cannot replace")
    given = [Version(name, entry, None, None) for name, entry in first.items() if name in changed]
    untouched = {name: entry for name, entry in first.items() if name not in changed}
    return untouched, _ordered([*given, *rows])


def _version(row: Row) -> Version:
    if row[ID] is None or not str(row[ID]):
        raise OuzelError("rules: a rule without an id")
    return Version(str(row[ID]), row[QUERY], row.get(VALID[0]), row.get(VALID[1]))


def _checked(one: Version) -> dict[str, Any]:
    """The text of a rule as an entry; an error says which rule it is."""
    try:
        written = parse(one.said)
    except QueryError as error:
        error.add_note(f"in the rule '{one.id}'")
        raise
    if len(written) != 1 or isinstance(written[0], QuerySet):
        raise OuzelError(f"the rule '{one.id}': required the text of one query; got {len(written)}")
    if written[0].into is not None:
        raise OuzelError(f"the rule '{one.id}': INTO: required a query whose matches are no events for others")
    (entry,) = text_entries(one.said)
    return entry


def _free(id_: str, taken: Mapping[str, Any]) -> str:
    """A name for a version of a rule: its id, or with a number."""
    names = (id_, *(f"{id_} {number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


def _said_of_set(
    text: str, params: Mapping[str, Any], table: pa.Table, *, may_end: bool = True
) -> Iterator[dict[str, Any] | None]:
    """The values of parameters of each row; none if they are null, and that ends a rule."""
    (written,) = parse(text)
    assert isinstance(written, QuerySet)
    names = parameters_of(written, params[written.rows].schema)
    for row in table.select([written.id, *names]).to_pylist():
        if row[written.id] is None:
            raise OuzelError("rules: a rule without an id")
        values = {name: row[name] for name in names}
        is_end = may_end and bool(values) and all(value is None for value in values.values())
        yield None if is_end else values


def _ordered(rows: Sequence[Version]) -> list[Version]:
    try:
        return list(versions_of(rows))
    except TypeError:
        raise SchemaError(
            "rules: required times of one kind in 'valid_from' and 'valid_to'; got several"
        ) from None


def _type_of(name: str, tables: Sequence[pa.Table]) -> pa.DataType:
    found = [table.schema.field(name).type for table in tables if name in table.column_names]
    return next((one for one in found if not pa.types.is_null(one)), pa.null())


def _table(rows: list[dict[str, Any]], schema: pa.Schema | None) -> pa.Table:
    try:
        return pa.Table.from_pylist(rows, schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise SchemaError(f"rules: required values of the types of the set; {error}") from None


def _without_rule(table: pa.Table) -> pa.Table:
    return table.drop_columns([RULE]) if RULE in table.column_names else table
