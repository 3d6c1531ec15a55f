"""`ouzel run`: find the matches of a query in files."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal

import pyarrow as pa
import typer
from rich.text import Text

import ouzel as oz
from ouzel.cli.limit_options import MaxMatchesOption, MaxMemoryOption, MaxRunsOption, OnLimitOption, limits_of
from ouzel.cli.options import (
    EVENTS,
    EVENTS_HELP,
    QUERY,
    RESULTS,
    DelimiterOption,
    EncodingOption,
    EngineOption,
    EventsFormatOption,
    IdentityOption,
    NoTypeOption,
    OpOption,
    OrderOption,
    ParamOption,
    TimeOption,
    TimeUnitOption,
    TypeOption,
    correcting,
    known_master,
    parameters,
    reading,
    times_of,
    writing,
)
from ouzel.cli.progress import STDERR, progress_bar
from ouzel.cli.read import named_paths, read_events
from ouzel.cli.rules import Asked, KeysOption, RulesOption, RulesSchemaOption, RulesStreamOption, result_name
from ouzel.cli.show import counted
from ouzel.cli.spark import SparkRun, runtime_of
from ouzel.cli.stream import Stream, is_database, run_stream
from ouzel.cli.stream_options import (
    BucketsOption,
    CheckpointOption,
    NowOption,
    SchemaOption,
    SpeculationOption,
    StreamOption,
    UpsertOption,
    WatermarkOption,
)
from ouzel.cli.write import (
    SHOWN_ROWS,
    Format,
    check_apart,
    check_flat,
    file_paths,
    show,
    stdout_format,
    write_files,
)
from ouzel.physical.contract import Counters
from ouzel.runtimes.files import Writing
from ouzel.runtimes.spark.topics import topic_of
from ouzel.runtimes.spark.watching import own_errors, watched_tasks

QueryArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="QUERY",
        help="The query, or the path of a file that holds it (an automaton: .json); with --rules, their template.",
        show_default=False,
    ),
]
EventsOption = Annotated[
    list[str] | None,
    typer.Option(metavar="PATH", rich_help_panel=EVENTS, help=EVENTS_HELP, show_default=False),
]
OnBadOption = Annotated[
    Literal["error", "quarantine"] | None,
    typer.Option(
        metavar="POLICY",
        rich_help_panel=EVENTS,
        help="What to do with malformed events (without a time, or with values that do not fit): error stops, "
        "quarantine sets them aside. Lines that are no CSV or JSON stop in any case.",
        show_default="error",
    ),
]
QuarantineOption = Annotated[
    Path | None,
    typer.Option(
        metavar="PATH", rich_help_panel=EVENTS, help="The file for events set aside.", show_default=False
    ),
]
ToOption = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        rich_help_panel=RESULTS,
        help="The file for the matches; for several queries, the directory for one file each. "
        "Of a stream: a directory, kafka://HOST:PORT/TOPIC, or a database, with --upsert.",
        show_default="stdout",
    ),
]
FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        rich_help_panel=RESULTS,
        help="table, json (lines), csv or parquet.",
        show_default="as PATH ends; without, table on a terminal, else json",
    ),
]
LimitOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=0,
        rich_help_panel=RESULTS,
        help="How many matches to show.",
        show_default="50 in a table, else all",
    ),
]

RuntimeOption = Annotated[
    Literal["auto", "spark", "embedded"],
    typer.Option(
        metavar="NAME",
        rich_help_panel=QUERY,
        help="Where to run: spark, or embedded in this process; auto takes Spark for large files and tables.",
    ),
]
MasterOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        rich_help_panel=QUERY,
        help="A Spark master (local[*], spark://…) or Spark Connect (sc://…).",
        callback=known_master,
        show_default="local[*]",
    ),
]

RUN_EXAMPLES = """\
Examples:

  # Times in a column of seconds, types in a column of another name
  ouzel run steep.ozl --events ticks.csv --time at --time-unit s --type symbol

  # Events that last, such as calls: when they start, and when they end
  ouzel run overlaps.ozl --events calls.csv --time start,end

  # One file per event type; ties in time broken by a sequence number
  ouzel run thefts.ozl --events Shelf=shelf.parquet --events Exit=exit.parquet \\
    --order ts,seq

  # Terabytes: on a Spark cluster, from a table of its catalog
  ouzel run thefts.ozl --events shop.readings --master spark://host:7077 --to thefts.parquet

  # Events that keep coming, from a topic to a topic; Ctrl-C stops, the same command goes on
  ouzel run thefts.ozl --stream kafka://localhost:9092/readings \\
    --schema 'ts timestamp, type string, tag_id long' --watermark '10 minutes' \\
    --to kafka://localhost:9092/thefts --checkpoint thefts-checkpoint

  # Thousands of alarms: a template, and a file with a row of limits for each
  ouzel run 'PATTERN Reading r WHERE r.sensor = $sensor AND r.value > $most RETURN r.ts, r.value' \\
    --rules alarms.parquet --events readings.parquet

  # Rules that come and go while a stream runs: files with id, query, valid_from, valid_to
  ouzel run --stream readings --schema 'ts timestamp, type string, tag_id long' \\
    --rules-stream rules --to alarms.jsonl --checkpoint alarms-checkpoint

  # Several files as one table, and what another program writes
  ouzel run thefts.ozl --events 'logs/*.csv' --delimiter ';' --encoding latin-1
  zcat readings.jsonl.gz | ouzel run thefts.ozl --events -

  # Malformed events, such as those without a time, go to a file of their own
  ouzel run thefts.ozl --events readings.jsonl --quarantine bad.jsonl
"""


def run(  # noqa: PLR0913 - a command has as many options as it needs
    query: QueryArgument = None,
    *,
    events: EventsOption = None,
    time: TimeOption = "ts",
    type: TypeOption = None,
    no_type: NoTypeOption = False,
    order: OrderOption = None,
    time_unit: TimeUnitOption = None,
    events_format: EventsFormatOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    op: OpOption = None,
    identity: IdentityOption = None,
    on_bad: OnBadOption = None,
    quarantine: QuarantineOption = None,
    param: ParamOption = None,
    rules: RulesOption = None,
    rules_stream: RulesStreamOption = None,
    rules_schema: RulesSchemaOption = None,
    keys: KeysOption = None,
    engine: EngineOption = "auto",
    runtime: RuntimeOption = "auto",
    master: MasterOption = None,
    to: ToOption = None,
    file_format: FormatOption = None,
    limit: LimitOption = None,
    stream: StreamOption = None,
    schema: SchemaOption = None,
    watermark: WatermarkOption = None,
    speculation: SpeculationOption = None,
    upsert: UpsertOption = None,
    checkpoint: CheckpointOption = None,
    buckets: BucketsOption = None,
    available_now: NowOption = False,
    max_matches: MaxMatchesOption = None,
    max_runs: MaxRunsOption = None,
    max_memory: MaxMemoryOption = None,
    on_limit: OnLimitOption = "error",
) -> None:
    """Find all matches of a query in files of events, or in a stream of them.

    The matches go to stdout or to a file, everything else to stderr.
    """
    options = reading(time, type, no_type, order, time_unit)
    options |= correcting(op, identity)
    options["on_bad"] = _on_bad(on_bad, quarantine)
    options["limits"] = limits_of(max_matches, max_runs, max_memory, on_limit)
    how = writing(events_format, encoding, delimiter)
    asked = Asked.of(query, parameters(param), rules, rules_stream, rules_schema)
    taken = [one for one in (rules, rules_stream) if one is not None]
    if stream is not None:
        _check_stream(events, how, runtime, quarantine, limit)
        is_path = to is not None and not topic_of(to) and not is_database(to)
        check_apart(query or "", [stream, *taken], {"": Path(to)} if to and is_path else {}, {})
        where = (stream, schema, to, file_format, watermark or "0", checkpoint, buckets, available_now)
        place = Stream(
            *where, tuple(name.strip() for name in keys.split(",")) if keys else (), speculation, upsert
        )
        run_stream(asked, place, {**options, "engine": engine}, master)
        return
    if not events:
        raise typer.BadParameter("Missing option '--events' or '--stream'.")
    _check_files(checkpoint, schema, watermark, buckets, available_now, rules_stream, keys, speculation, upsert)
    if limit is not None and to is not None:
        raise typer.BadParameter("is for what is shown; --to gets all matches", param_hint="--limit")
    parsed, more = asked.in_batch()
    options |= more
    names = asked.names(parsed)
    target = file_paths(Path(to), file_format, names) if to else None
    chosen = target[1] if target else stdout_format(file_format, names)
    on_spark = runtime_of(runtime, master, events) == "spark"
    tables = [""] if on_spark else list(named_paths(events))
    aside = file_paths(quarantine, None, tables, "--quarantine") if quarantine else None
    check_apart(query or "", [*events, *taken], target[0] if target else {}, aside[0] if aside else {})
    if on_spark:
        arguments = {**options, "engine": engine}
        _on_spark(parsed, events, how, arguments, master, target, chosen, limit, aside)
        return
    began, report = perf_counter(), oz.Report()
    with progress_bar("reading events") as bar:
        sources = read_events(events, times_of(time), how)
        if aside and aside[1] == "csv":
            check_flat(sources.written, "name a .jsonl or .parquet file with --quarantine")
        if chosen == "csv":
            columns = _find(parsed, sources.empty, engine=engine, **options)
            check_flat(columns, "RETURN single attributes, such as a.ts, or use --format json or parquet")
        bar.say("matching")
        results = _find(parsed, sources.events, engine=engine, report=report, progress=bar, **options)
    written = [(results, *target)] if target else []
    if aside:
        quarantined = report.quarantined if isinstance(report.quarantined, dict) else {"": report.quarantined}
        written.append((quarantined, *aside))
    write_files(*written)
    if not target:
        show(results, chosen, limit)
    _summarise(report, perf_counter() - began, _written(to, target), quarantine)


def _on_spark(
    query: oz.Query,
    events: list[str],
    how: Writing,
    options: dict[str, Any],
    master: str | None,
    target: tuple[dict[str, Path], Format] | None,
    chosen: Format,
    limit: int | None,
    aside: tuple[dict[str, Path], Format] | None,
) -> None:
    """Run the query on Spark."""
    began, report = perf_counter(), oz.Report()
    with progress_bar("starting Spark") as bar, own_errors():
        spark = SparkRun(master, events)
        bar.say("matching on Spark")
        with watched_tasks(spark.session, bar.tasks):
            results = spark.match(query, events, how, report=report, **options)
            if target:
                spark.write(results, *target)
            else:
                most = SHOWN_ROWS if limit is None and chosen == "table" else limit
                tables = spark.shown(results, most)
            malformed = 0 if report.quarantined is None else spark.set_aside(report.quarantined, aside)
    if not target:
        show(tables, chosen, limit)
    where = f" to {', '.join(map(str, target[0].values()))}" if target else ""
    kept = _set_aside(malformed, aside[0][""] if aside else None)
    text = f"matched on Spark{where}, {perf_counter() - began:.1f} s{kept}"
    STDERR.print(Text(text, "dim"), soft_wrap=True)


def _check_stream(
    events: list[str] | None, how: Writing, runtime: str, quarantine: Path | None, limit: int | None
) -> None:
    """Refuse options that a stream cannot have."""
    for is_given, option in (
        (bool(events), "--events"),
        (how.format is not None, "--events-format"),
        (how.encoding is not None, "--encoding"),
        (how.delimiter is not None, "--delimiter"),
        (runtime == "embedded", "--runtime embedded"),
        (quarantine is not None, "--quarantine"),
        (limit is not None, "--limit"),
    ):
        if is_given:
            raise typer.BadParameter(f"cannot be used together with {option}", param_hint="--stream")


def _check_files(*options: object) -> None:
    """Refuse options that files cannot have."""
    names = ["--checkpoint", "--schema", "--watermark", "--buckets", "--available-now", "--rules-stream", "--keys"]
    names += ["--speculation", "--upsert"]
    for option, name in zip(options, names, strict=True):
        if option is not None and option is not False:
            raise typer.BadParameter("is for --stream", param_hint=name)


def _on_bad(on_bad: str | None, quarantine: Path | None) -> str:
    if on_bad == "error" and quarantine is not None:
        raise typer.BadParameter("requires --on-bad quarantine", param_hint="--quarantine")
    return on_bad or ("error" if quarantine is None else "quarantine")


def _find(query: oz.Query, events: Any, **options: Any) -> dict[str, pa.Table]:
    """The matches of each query."""
    found = oz.match(events, query, **options)
    return found if isinstance(found, dict) else {result_name(query): found}


def _written(to: str | None, target: tuple[dict[str, Path], Format] | None) -> str:
    """Where results went, if that is not just where they were to go: a directory has a file for each."""
    paths = list(target[0].values()) if target else []
    return "" if not to or paths == [Path(to)] else f" to {', '.join(map(str, paths))}"


def _summarise(report: oz.Report, seconds: float, where: str, quarantine: Path | None) -> None:
    done = (counted(report.events, "event", "events"), counted(report.matches, "match", "matches"))
    shed = _shed(report.counters)
    text = f"{', '.join(done)}{where}, {seconds:.1f} s{shed}{_set_aside(report.quarantined_count, quarantine)}"
    STDERR.print(Text(text, "dim"), soft_wrap=True)


def _shed(counters: Counters) -> str:
    """What was left out as it went beyond a limit."""
    found = (counters.shed_matches, "match", "matches"), (counters.shed_runs, "run", "runs")
    shed = [counted(*one) for one in found if one[0]]
    return f"; shed: {', '.join(shed)}" if shed else ""


def _set_aside(malformed: int, quarantine: Path | None) -> str:
    """How many events were set aside, if any were, and where they are."""
    if not malformed:
        return ""
    where = f"to {quarantine}" if quarantine else "(--quarantine PATH keeps them)"
    return f"; {counted(malformed, 'malformed event', 'malformed events')} set aside {where}"
