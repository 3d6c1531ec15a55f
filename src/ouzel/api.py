"""The public verbs: say a pattern, match it, explain it."""

from __future__ import annotations

import builtins
import time as clock
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, TypeAlias

from ouzel.algebra import Stream
from ouzel.arguments import CALLABLE, DICT, check_names, optional, reading_of, refuse, threads_of, tuning_of
from ouzel.automata import Automaton
from ouzel.compile import Compiled, compile_query
from ouzel.errors import OuzelError, QueryError
from ouzel.explain.layout import section
from ouzel.explanation import explain
from ouzel.forms import parameters_of, sets_in, text_of
from ouzel.language import algebra_tree as algebra
from ouzel.language import parse
from ouzel.language.document import is_list
from ouzel.language.durations import length_in_ticks
from ouzel.logical import BoundQuery, bind_program
from ouzel.logical.columns import needed_columns
from ouzel.logical.functions import registered_in
from ouzel.logical.parameters import check_used
from ouzel.logical.program import names_of
from ouzel.logical.schema import INFERRED, Schema, open_schema
from ouzel.optimizer import fitted, known
from ouzel.physical.contract import KeepsGraph
from ouzel.physical.event_table import EventTable
from ouzel.physical.limits import Limits, memory_errors
from ouzel.query_sets import Queries
from ouzel.rule_tables import NO_QUERIES, Prepared, prepared, rules_words
from ouzel.runtimes.aggregates import of_no_events
from ouzel.runtimes.compressed import compress
from ouzel.runtimes.embedded import Progress, run_program
from ouzel.runtimes.files import Writing
from ouzel.runtimes.ingest import ingest
from ouzel.runtimes.kinds import is_spark, is_without_rows
from ouzel.runtimes.matcher import Matcher
from ouzel.runtimes.netting import netting
from ouzel.runtimes.origins import origins_of
from ouzel.runtimes.quarantine import Report
from ouzel.runtimes.reading import AUTO, Reading, settled
from ouzel.runtimes.revising import Revising, restored
from ouzel.runtimes.revision import Revision, revision_of, speculation_ticks
from ouzel.runtimes.spark.options import SparkOptions
from ouzel.runtimes.time_units import warn_of_times
from ouzel.runtimes.type_names import named_types, warn_of_types

MODES = ("verbose", "compressed")
Form: TypeAlias = str | Stream | Automaton | Queries | Sequence[Any]
"""What a query may be given as; in a list there may be queries, too."""
LIMITS, SPARK = "oz.Limits(…)", "oz.SparkOptions(…)"


class Query:
    """One or more queries, checked as far as that goes without data; `text` says them, whatever they came as."""

    def __init__(self, given: Form, params: Mapping[str, Any] | None = None) -> None:
        """Parse and check a text, an expression or a list of these; `params` are the values of `$x`."""
        optional("params", params, Mapping, DICT)
        self.text = text_of(given)
        self.params = {**parameters_of(given), **(params or {})}
        self._sets = sets_in(given)
        written = parse(self.text)
        if self.params:
            check_used(written, self.text, self.params)
        self.names = names_of(written)
        self._apart = len(self.names) > 1 or is_list(self.text)
        for _one in self._bound():
            pass  # what is wrong without data, is told now
        # what it was compiled for last, and what came of that: plans never change
        self._latest: dict[str, tuple[Any, Compiled]] = {}

    def with_params(self, **params: Any) -> Query:
        """The same query with other values for its parameters."""
        other = Query(self.text, {**self.params, **params})
        other._sets = self._sets
        return other

    def _given(self, results: Mapping[str, Any]) -> Any:
        """What is given back of results by name: the only one, or all of them in the order of the queries."""
        return {name: results[name] for name in self.names} if self._apart else results[self.names[0]]

    def _bound(self) -> Iterator[BoundQuery]:
        """What is known of the queries without data, one by one: of very many, none has to be kept."""
        return bind_program(parse(self.text), self.text, open_schema(), None)

    def _used(self, schema: Schema) -> Collection[str]:
        """The columns of events that the queries use; all of them if the queries are wrong, as the data may be."""
        try:
            return needed_columns(bind_program(parse(self.text), self.text, schema, self.params))
        except QueryError:
            return schema.columns

    def _with(self, params: Mapping[str, Any]) -> Query:
        """The same with other values, which are checked when the query meets events."""
        other = copy(self)
        other.params = {**self.params, **params}
        for one in self._sets:
            one.check_values(other.params)
        return other

    def explain(
        self,
        events: Any = None,
        *,
        params: Mapping[str, Any] | None = None,
        engine: str = "auto",
        tuning: Mapping[str, str] | None = None,
        spark: SparkOptions | None = None,
        speculation: int | timedelta | str | None = None,
        op: str | None = None,
        identity: Sequence[str] | None = None,
        rules: Any = None,
        **reading: Any,
    ) -> str:
        """Say what the query means and how it will be run; what is not said here is as in `match`."""
        check_names(reading, ("params", "engine", "tuning", "spark", "speculation", "op", "identity", "rules"))
        revision = revision_of(speculation, op, identity, is_punctuated=False)
        query = self._with(optional("params", params, Mapping, DICT) or {})
        if rules is not None:
            ruled = prepared(query.text, query.params, rules, is_spark(events) and events.isStreaming)
            said = "\n".join(section("rules", rules_words(query.text, query.params, rules)))
            query = Query(ruled.text, ruled.params)
            options: dict[str, Any] = {"engine": engine, "tuning": tuning, "spark": spark, **reading}
            options |= {"speculation": speculation, "op": op, "identity": identity}
            return f"{query.explain(events, **options)}\n\n{said}"
        tuning = tuning_of(tuning)
        if events is None:
            compiled = compile_query(query.text, open_schema(), query.params or None, engine, tuning)
            return explain(compiled.plans, None)
        if is_spark(events):
            from ouzel.runtimes.spark.words import explain_dataframe

            placing = optional("spark", spark, SparkOptions, SPARK) or SparkOptions()
            how = _of_spark(reading_of(**reading), events.columns)
            if not events.isStreaming:
                _check_speculation(revision, speculation)
            revised = revision, speculation or 0
            return explain_dataframe(events, query.text, query.params, how, engine, tuning, placing, *revised)
        _check_speculation(revision, speculation)
        table, _restore = ingest(events, reading_of(**reading), Report(), query._used, netting(revision))
        plans = [known(fitted(plan, table), table) for plan in query._compile(table, engine, tuning).plans]
        return explain(plans, table)

    def _compile(
        self,
        table: EventTable,
        engine: str,
        tuning: Mapping[str, str] | None = None,
        having: builtins.type = object,
    ) -> Compiled:
        wanted = (table.schema, engine, dict(tuning or {}), having)
        known = self._latest.get("compiled")
        if known is not None and known[0] == wanted and not self.params:
            compiled = known[1]
        else:
            compiled = compile_query(self.text, table.schema, self.params, engine, tuning, having)
            # parameters change from call to call, and registered functions may be others next time
            if not self.params and not registered_in(self.text):
                self._latest["compiled"] = wanted, compiled
        _check_types(self.text, compiled, table)
        return compiled

    def __repr__(self) -> str:
        """The text, as one would write it."""
        shown = [one.source if isinstance(one, algebra.Query) else repr(one.source) for one in parse(self.text)]
        both = ", ".join(dict.fromkeys(shown))
        return f"oz.query([{both}])" if is_list(self.text) else f"oz.query({both})"


def query(given: Form, params: Mapping[str, Any] | None = None) -> Query:
    """Make a query of its text, of an expression of the algebra, of a set of queries, or of a list of these.

    >>> query("PATTERN SEQ(Shelf a, Exit b) WHERE [tag_id] WITHIN 12 hours").names
    ('query1',)
    """
    return Query(given, params)


@memory_errors()
def match(  # noqa: PLR0913 - what is not needed is not said
    events: Any,
    query: Query | Form,
    *,
    time: str | tuple[str, str] = "ts",
    type: str | None = AUTO,
    order: Sequence[str] | str | None = None,
    types: Mapping[str, Any] | None = None,
    time_unit: str | None = None,
    params: Mapping[str, Any] | None = None,
    engine: str = "auto",
    mode: str = "verbose",
    tuning: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    watermark: int | timedelta | str = 0,
    speculation: int | timedelta | str | None = None,
    op: str | None = None,
    identity: Sequence[str] | None = None,
    threads: int | None = None,
    on_bad: str = "error",
    encoding: str | None = None,
    delimiter: str | None = None,
    report: Report | None = None,
    progress: Progress | None = None,
    spark: SparkOptions | None = None,
    rules: Any = None,
    arcs: Any = None,
) -> Any:
    """Find all matches of a query in events.

    `events` is a pyarrow, pandas, Polars or Spark table, a list of dicts, the path of a Parquet, CSV or JSON lines
    file, or a dict of these by type; the matches come back as the same kind of table (pyarrow's for a file).
    `query` is a text, an expression of the algebra (`oz.stream`), a set of queries (`oz.queries`), or a list of
    these: of a list, and of a text that holds several queries, the matches come as a dict of tables by query name.

    - `time`, `type` name the columns that hold an event's time and type.  By default the type is in the column
      `type` if there is one; with `type=None` every component ranges over all events.
    - `time=("start", "end")` names the columns of events that last; they are ordered, and late, by their end.
    - `order=["ts", "seq"]` names columns that break ties, the time first; `order="arrival"`, or "arrival" at the
      end of the list, leaves them to the order of rows.  Without, events of one time are simultaneous: neither
      comes before the other.
    - `types={"Shelf": ["tag_id", "shelf_id"], …}` declares the types and their attributes, or, with a dict in
      place of the list, their Arrow types too.
    - `time_unit` is the unit of an integer time column, 's', 'ms', 'us' or 'ns'.  If it is not said, it is 'ms',
      with a warning where the times do not look like that.
    - `params` are the values of `$x`; `engine` overrides the choice of engine, and `tuning` its switches, for
      comparison: `{"evaluation": "merging" | "basic" | "backtracking", "ignorable": "on" | "off"}` of the
      automaton,
      `{"equivalence": "combined" | "dynamic" | "multi" | "selection"}` of the scan,
      `{"plan": "left-deep" | "right-deep" | "bushy" | "((a b) c)", "adapt": "on" | "off", "negation": "pushed" |
      "top"}` of the tree.
    - `mode="compressed"` returns a `MatchGraph` in place of a table: what all matches share, with `expand()`.
    - `limits=oz.Limits(max_runs=…, max_match_size=…, max_matches=…, max_memory="4GB")` bounds what a run may cost;
      what goes beyond is an error, or with `on_limit="shed"` dropped and counted in `report.counters`.  By default
      `max_memory` is half of the memory that is available.
    - `threads` share the partitions of a large table; by default as many as there are processors for us.
    - `on_bad="quarantine"` sets malformed events aside, to be found in `report`, an `oz.Report`.
    - `encoding` and `delimiter` say how a text file is written, where that is not UTF-8 and commas.
    - `progress` is called with the number of events done and the number there are.
    - On Spark the result is a DataFrame, computed when it is used; `spark=oz.SparkOptions(…)` says how.  So is
      `report.quarantined`.
    - Of a Spark stream it is a stream: a match comes out when it is final, once events `watermark` later came.
      Events that are later than the watermark allows are left out and counted in the query's progress, or come out
      with `oz.SparkOptions(late=True)`.  The matches of several queries come as one stream, with a column `query`
      and, for each query, one that holds its matches as structs.
    - `op` names a column that says whether a row inserts an event (+1) or withdraws one (-1): one equal to it or,
      with `identity`, equal in the time and these columns.  What is left is matched; on a Spark stream, what is
      left by then, and the matches have two more columns, `op` and `match_id`: +1 inserts a match of a new id, -1
      withdraws the one of that id.  There `speculation="inf"`, or a length of time, reports matches before they
      are final, as in `matcher`.
    - `rules` is a table of rules, or on a Spark stream a stream of them (or a tuple of both), that changes the
      queries of a set or of a list, each row at its time: it has the columns of `oz.queries`, or `id` and `query`
      with a text, and `valid_from` and `valid_to`.  A row holds until another of its id begins; one without a
      text, or with nulls for all parameters, ends it.  Of texts the result has the columns `query` and `match`.
    - `arcs` is, beside a Spark stream and a register automaton, a stream of rows that change its arcs: `add`, a
      list of arcs in JSON, and `remove`, ids of others, from the time `at` on.

    >>> rows = [{"ts": 1, "type": "A"}, {"ts": 2, "type": "B"}]
    >>> match(rows, "PATTERN A; B RETURN A.ts AS a, B.ts AS b")
    [{'a': 1, 'b': 2}]
    """
    began = clock.perf_counter()
    if not isinstance(query, Query):
        query = Query(NO_QUERIES if rules is not None and query == [] else query)
    query = query._with(optional("params", params, Mapping, DICT) or {})
    ruled = prepared(query.text, query.params, rules, is_spark(events) and events.isStreaming)
    query = query if rules is None else Query(ruled.text, ruled.params)
    limits = optional("limits", limits, Limits, LIMITS) or Limits()
    report = optional("report", report, Report, "oz.Report()") or Report()
    spark = optional("spark", spark, SparkOptions, SPARK)
    tuning = tuning_of(tuning)
    optional("progress", progress, Callable, CALLABLE)
    length_in_ticks(watermark, "ms", "watermark")
    revision = revision_of(speculation, op, identity, is_punctuated=False)
    _check_arcs(arcs, events, rules)
    written = Writing(None, encoding, delimiter)
    if is_spark(events):
        refuse(mode != "verbose", "mode", mode, "on Spark")
        reading = reading_of(time=time, type=type, order=order, types=types, time_unit=time_unit, on_bad=on_bad)
        reading = _of_spark(reading, events.columns)
        arguments = (query.text, query.params, reading, engine, tuning, limits, spark)
        return _on_spark(events, query, ruled, arguments, (watermark, revision, speculation or 0, arcs), report)
    _check_speculation(revision, speculation)
    if is_without_rows(events):
        check_used(parse(query.text), query.text, query.params)
        plans = compile_query(query.text, open_schema(), None, engine, tuning).plans
        found = {plan.query.name: of_no_events(plan.query) for plan in plans}
        return query._given(found) if ruled.batched is None else []
    reading = reading_of(time=time, type=type, order=order, types=types, time_unit=time_unit, on_bad=on_bad)
    reading = replace(reading, encoding=written.encoding, delimiter=written.delimiter)
    table, restore = ingest(events, reading, report, query._used, netting(revision))
    if time_unit is None:
        warn_of_times(table.end_times, table.schema.time)
    if mode not in MODES:
        raise OuzelError(f"mode: required one of {', '.join(MODES)}; got {mode!r}")
    refuse(mode != "verbose" and ruled.batched is not None, "mode", mode, "with rules")
    if mode == "compressed":
        plans = query._compile(table, engine, tuning, having=KeepsGraph).plans
        return query._given({plan.query.name: compress(plan, table, limits, restore) for plan in plans})
    plans = tuple(fitted(plan, table) for plan in query._compile(table, engine, tuning).plans)
    results = run_program(plans, table, limits, progress, report.counters, threads_of(threads))
    report.matches = sum(result.num_rows for result in results.values())
    report.seconds = clock.perf_counter() - began
    if ruled.batched is not None:
        return restore(ruled.batched.joined(results), {})
    origins = {plan.query.name: origins_of(plan.query) for plan in plans}
    for plan in plans:
        if plan.query.into is not None:
            restore = restore.with_composites(plan.query.into, origins[plan.query.name])
    return query._given({name: restore(results[name], origins[name]) for name in query.names})


def _check_arcs(arcs: Any, events: Any, rules: Any) -> None:
    """Refuse a stream of arcs where there is none of events, or what is no stream."""
    if arcs is None:
        return
    if not (is_spark(events) and events.isStreaming and is_spark(arcs) and arcs.isStreaming):
        raise OuzelError(
            "arcs: required a Spark stream of them, beside a Spark stream of events\n"
            "  hint: oz.matcher(…).change(add=[…], remove=[…]) changes arcs in this process"
        )
    refuse(rules is not None, "arcs", "…", "with rules")


def _check_speculation(revision: Revision | None, speculation: Any) -> None:
    """Refuse to speculate where all events are there."""
    refuse(
        revision is not None and speculation_ticks(speculation or 0, "ns") != 0,
        "speculation",
        speculation,
        "where all events are there; it is for oz.matcher(…) and Spark streams",
    )


def _on_spark(events: Any, query: Query, ruled: Prepared, arguments: Any, streamed: Any, report: Report) -> Any:
    """The matches in a DataFrame, a batch or a stream, as one; `streamed` says how a stream is matched."""
    from ouzel.runtimes.spark.batch import match_dataframe
    from ouzel.runtimes.spark.malformed import malformed_events
    from ouzel.runtimes.spark.rule_rows import RuleTables
    from ouzel.runtimes.spark.streaming import match_stream
    from ouzel.runtimes.spark.withdrawals import surviving

    reading: Reading = arguments[2]
    watermark, revision, speculation, arcs = streamed
    if events.isStreaming:
        rules = RuleTables(ruled.table, ruled.stream) if ruled.is_there else None
        rules = rules if arcs is None else RuleTables(stream=arcs, are_arcs=True)
        found: Any = match_stream(*(events, *arguments, watermark, rules, revision, speculation))
        report.refused_rules = None if rules is None else rules.refused
    else:
        _check_speculation(revision, speculation)
        results = match_dataframe(surviving(events, reading, revision), *arguments)
        found = query._given(results) if ruled.batched is None else ruled.batched.united(results)
    if reading.on_bad == "quarantine":
        report.quarantined = malformed_events(events, reading, revision)
    return found


def matcher(  # noqa: PLR0913 - what is not needed is not said
    query: Query | Form,
    schema: Any,
    *,
    time: str | tuple[str, str] = "ts",
    type: str | None = AUTO,
    order: Sequence[str] | str | None = None,
    types: Mapping[str, Any] | None = None,
    time_unit: str | None = None,
    params: Mapping[str, Any] | None = None,
    engine: str = "auto",
    tuning: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    watermark: int | timedelta | str | None = None,
    speculation: int | timedelta | str | None = None,
    op: str | None = None,
    identity: Sequence[str] | None = None,
    sequence: str | None = None,
    on_bad: str = "error",
    on_late: str = "error",
    threads: int | None = None,
) -> Matcher:
    """Match events that come in batches, of a pyarrow schema; what is not said here is as in `match`.

    `push(batch)` and `advance(time)` return the matches that have become final, `finish()` those that are left;
    `advance(time, where="symbol = 'IBM'")` only says of some events that none before the time comes any more;
    `snapshot()` is all that the matcher knows, as bytes from which `restore` makes it again.  Events may come in
    any order up to `watermark` later than the latest one; what comes later is an error, or with `on_late="keep"`
    counted in `report.late` and kept in `late`.  `add(id, query)` and `remove(id)` let queries of a list, or of
    `oz.queries`, come and go while it runs, `replace(id, query)` and `set_params(id, x=1)` let them become others,
    and `change(add=…, remove=…)` lets arcs of a register automaton come and go.  With `on_bad="quarantine"`
    malformed events are kept in `report.quarantined`, their rows counted from the first batch on; `take_late()`
    and `take_quarantined()` hand over what is kept, and the matcher forgets it.  `threads` share the work on a
    large batch.

    With `op`, the column of that name says whether a row inserts an event (+1) or withdraws one (-1): one equal to
    it or, with `identity`, equal in the time and these columns.  With `speculation="inf"` matches are reported
    before they are final, with a length of time those that end less than that after the watermark; only `advance`
    and `push(…, watermark=…)` let time pass then, unless `watermark` is given.  With either, answers have two more
    columns, `op` and `match_id`: +1 inserts a match of a new id, -1 withdraws the one of that id.

    With `sequence`, a column of integers counts the events of every partition of a register automaton: those
    follow each other whose numbers do, so that matches are certain, and reported, once their events are there.

    >>> import pyarrow as pa
    >>> m = matcher("PATTERN A; B RETURN A.ts AS a, B.ts AS b", pa.schema({"ts": "int64", "type": "string"}))
    >>> m.push(pa.table({"ts": [1, 2], "type": ["A", "B"]})).to_pylist()
    []
    >>> restore(m.snapshot()).advance(3).to_pylist()
    [{'a': 1, 'b': 2}]
    """
    query = query if isinstance(query, Query) else Query(query)
    reading = reading_of(time=time, type=type, order=order, types=types, time_unit=time_unit, on_bad=on_bad)
    both = query._with(optional("params", params, Mapping, DICT) or {}).params
    revision = revision_of(speculation, op, identity, sequence, is_punctuated=watermark is not None)
    ahead = "inf" if sequence is not None else speculation or 0
    kind = Matcher if revision is None else partial(Revising, revision=revision, speculation=ahead)
    made = kind(
        query.text,
        schema,
        reading,
        both,
        engine=engine,
        tuning=tuning_of(tuning),
        limits=optional("limits", limits, Limits, LIMITS),
        watermark=0 if watermark is None else watermark,
        on_late=on_late,
        threads=threads_of(threads),
    )
    made.checks_unit = time_unit is None
    return made


def spark_session(master: str | None = None, settings: Mapping[str, str] | None = None) -> Any:
    """The Spark session there is; if none, a new one on this machine, or at `master` (spark://…, sc://…)."""
    from ouzel.runtimes.spark.session import local_session

    return local_session(master, settings)


def restore(snapshot: bytes, *, threads: int | None = None) -> Matcher:
    """The matcher that a snapshot was taken of; `threads` are as in `matcher`."""
    return restored(snapshot, threads_of(threads))


def _of_spark(reading: Reading, columns: Sequence[str]) -> Reading:
    if settled(reading, columns).by_arrival:
        raise OuzelError(
            "order: 'arrival' is not to be had on Spark, where rows have no order\n"
            "  hint: name a column that orders events of one time: order=['ts', 'seq']"
        )
    return reading


def _check_types(text: str, compiled: Compiled, table: EventTable) -> None:
    """Warn of a type that no event has: it is legal, and mostly a slip of the pen."""
    if table.schema.default is None or table.schema.default.name != INFERRED or not len(table):
        return
    occurring = table.types.occurring(names := named_types(compiled.plans))
    there = {name for place, name in enumerate(names) if place in occurring}
    warn_of_types(text, compiled.plans, there, lambda: table.types.names)
