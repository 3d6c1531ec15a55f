"""`--rules` and `--rules-stream`: queries that come from files, or come and go while a stream runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc
import typer

import ouzel as oz
from ouzel.cli.options import query_text
from ouzel.rule_tables import NO_QUERIES
from ouzel.runtimes.files import read_files
from ouzel.runtimes.rules import ID, QUERY, VALID
from ouzel.runtimes.spark.columns import arrow_schema, result_schemas
from ouzel.runtimes.spark.sources import read_stream

PANEL = "Rules"
# What the one result of rules is called that are texts.
RESULT = "rules"

RulesOption = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        rich_help_panel=PANEL,
        help="A file of rules, one in each row: Parquet, CSV or JSON lines. Its columns are id; query, a text, "
        "or else the $parameters of QUERY, which is then a template; valid_from and valid_to, if rules change. "
        "A row holds until another of its id begins; one that says nothing ends it.",
        show_default=False,
    ),
]
RulesStreamOption = Annotated[
    str | None,
    typer.Option(
        metavar="SOURCE",
        rich_help_panel=PANEL,
        help="Of a stream, rules that come while it runs: as --stream, with the same columns as --rules. Rules "
        "that make no sense change nothing, and are counted.",
        show_default=False,
    ),
]
RulesSchemaOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMNS",
        rich_help_panel=PANEL,
        help="The columns of --rules-stream in JSON or CSV: 'id string, least long, valid_from timestamp'.",
        show_default="those of --rules; of texts, id, query, valid_from, valid_to",
    ),
]
KeysOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN,…",
        rich_help_panel=PANEL,
        help="Of a stream with rules that are texts, the columns whose values go into buckets: each rule must "
        "have an equivalence test on them.",
        show_default="those that QUERY has; without, there is one bucket",
    ),
]


@dataclass(frozen=True)
class Asked:
    """What a command asks for: a query, or a template, and rules."""

    given: str | None
    params: Mapping[str, Any]
    table: pa.Table | None = None
    source: str | None = None
    schema: str | None = None

    @classmethod
    def of(
        cls,
        given: str | None,
        params: Mapping[str, Any],
        rules: str | None,
        source: str | None,
        schema: str | None,
    ) -> Asked:
        """By the options of a command."""
        if given is None and rules is None and source is None:
            raise typer.BadParameter("Missing argument 'QUERY'.")
        if schema is not None and source is None:
            raise typer.BadParameter("is for --rules-stream", param_hint="--rules-schema")
        return cls(given, params, None if rules is None else read_rules(rules), source, schema)

    @property
    def has_rules(self) -> bool:
        """Whether there are rules, or will be."""
        return self.table is not None or self.source is not None

    def query(self, columns: pa.Schema | None = None) -> oz.Query:
        """What is to be matched; with rules, `columns` are theirs."""
        text = None if self.given is None else query_text(self.given)
        if columns is None:
            assert text is not None
            return oz.query(text, self.params)
        if QUERY in columns.names:
            return oz.query(NO_QUERIES if text is None else [text], self.params)
        if text is None:
            raise typer.BadParameter(
                "Missing argument 'QUERY': the template of the rules, as they have no column 'query'."
            )
        since, until = (name if name in columns.names else None for name in VALID)
        return oz.query(oz.queries(text, columns.empty_table(), ID, valid_from=since, valid_to=until), self.params)

    def in_batch(self) -> tuple[oz.Query, dict[str, Any]]:
        """What is to be matched in files, and the arguments for its rules."""
        if self.table is None:
            return self.query(), {}
        return self.query(self.table.schema), {"rules": self.table}

    def on_stream(self, session: Any, events: Any, time: str) -> tuple[oz.Query, dict[str, Any]]:
        """What is to be matched on a stream, and the arguments for its rules."""
        if self.source is None:
            return self.in_batch()
        stream = read_stream(self.source, self._schema(events, time), session=session)
        columns = arrow_schema(stream) if self.table is None else self.table.schema
        return self.query(columns), {"rules": stream if self.table is None else (self.table, stream)}

    def _schema(self, events: Any, time: str) -> str | None:
        """The columns of the stream of rules, if they have to be said."""
        if self.schema is not None or _is_parquet(str(self.source)):
            return self.schema
        kind = dict(events.dtypes).get(time, "timestamp")
        if self.table is not None:
            return _ddl(self.table.schema, kind)
        if self.given is not None:
            raise typer.BadParameter(
                "is required with a template, QUERY, unless --rules has the columns", param_hint="--rules-schema"
            )
        return f"{ID} string, {QUERY} string, {VALID[0]} {kind}, {VALID[1]} {kind}"

    def names(self, query: oz.Query) -> tuple[str, ...]:
        """What results are called: of rules there is one."""
        return (result_name(query),) if self.has_rules else query.names


def result_name(query: oz.Query) -> str:
    """What the only result is called."""
    return query.names[0] if query.names else RESULT


def read_rules(path: str) -> pa.Table:
    """The rules of a file; an empty text in CSV is none."""
    read = read_files([path], VALID)
    table = read.table
    for problem in read.problems:
        raise oz.SchemaError(f"'{path}': {problem}")
    if QUERY in table.column_names and pa.types.is_string(table.schema.field(QUERY).type):
        texts = table.column(QUERY)
        table = table.set_column(
            table.column_names.index(QUERY),
            QUERY,
            pc.if_else(pc.equal(pc.utf8_trim_whitespace(texts), ""), None, texts),
        )
    if ID not in table.column_names:
        raise oz.SchemaError(f"'{path}': required a column '{ID}'; got {', '.join(table.column_names)}")
    return table


def _is_parquet(source: str) -> bool:
    return any(source.rstrip("/").endswith(end) for end in (".parquet", ".pq"))


def _ddl(schema: pa.Schema, time: str) -> str:
    """The columns of a table of rules, for Spark."""
    kinds = {
        field.name: time if field.name in VALID else field.dataType.simpleString()
        for field in result_schemas(schema)[0].fields
    }
    return ", ".join(f"`{name.replace('`', '``')}` {kind}" for name, kind in kinds.items())
