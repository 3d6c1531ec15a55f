"""`ouzel run --stream`: files and topics in and out, a restart, Ctrl-C, errors, and what a terminal shows."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.avro.functions import to_avro
from typer.testing import CliRunner, Result

import ouzel as oz
from ouzel.cli.commands import app
from ouzel.cli.main import main
from spark_events import QUERIES, SCHEMA, expected, rows, rows_of, stream

EVENTS = sorted(stream(7, 200, 300), key=lambda event: int(event["ts"]))
END = {"eid": "end", "ts": 1_000_000, "type": "D", "k": None, "x": None, "y": None}
ALL = [*EVENTS, END]
QUERY = QUERIES["refuted at the end"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    directory = tmp_path / "readings"
    directory.mkdir()
    return directory


def add(source: Path, name: str, events: list[dict[str, object]]) -> None:
    written = source.parent / name
    written.write_text("\n".join(map(json.dumps, events)), encoding="utf-8")
    written.rename(source / name)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["run", QUERY, *map(str, arguments)])


def test_files_to_files_and_on_from_the_checkpoint(spark: SparkSession, source: Path, tmp_path: Path) -> None:
    arguments = ["--stream", source, "--schema", SCHEMA, "--to", tmp_path / "found.parquet", "--buckets", 2]
    arguments += ["--checkpoint", tmp_path / "checkpoint", "--available-now", "--watermark", "5"]
    add(source, "1.json", EVENTS[:120])
    first = run(*arguments)
    assert first.exit_code == 0, first.output
    assert first.stderr.startswith("120 events, ")
    add(source, "2.json", [*EVENTS[120:], END])
    second = run(*arguments)
    assert second.stderr.startswith("81 events, ")
    found = rows(spark.read.parquet(str(tmp_path / "found.parquet")))
    assert found
    assert found == expected(EVENTS, QUERY)


def test_matches_on_stdout(spark: SparkSession, source: Path) -> None:
    add(source, "1.json", [*EVENTS, END])
    result = run("--stream", source / "*.json", "--schema", SCHEMA, "--available-now")
    assert result.exit_code == 0, result.output
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert rows_of(found) == expected(EVENTS, QUERY)
    assert result.stderr == f"201 events, {len(found)} matches\n"


def test_events_that_last(spark: SparkSession, source: Path, tmp_path: Path) -> None:
    """Watermark and lateness go by their end."""
    calls = [(1, 3, "Call", 1), (2, 4, "Ring", 2), (5, 7, "Ring", 4), (4, 9, "Ring", 3), (99, 99, "End", 5)]
    names = ("start", "end", "type", "id")
    add(source, "1.json", [dict(zip(names, call, strict=True)) for call in calls])
    following = oz.stream("Call").select("id").next(oz.stream("Ring").select("id").rename(ring="id"))
    (tmp_path / "next.ozl").write_text(oz.query(following).text, encoding="utf-8")
    schema = "start long, end long, type string, id long"
    options = ["--stream", str(source), "--schema", schema, "--time", "start,end", "--available-now"]
    result = CliRunner().invoke(app, ["run", str(tmp_path / "next.ozl"), *options])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {"id": 1, "ring": 4, "start": 1, "end": 7}
    assert result.stderr == "5 events, 1 match\n"


def test_from_topic_to_topic(spark: SparkSession, kafka: str, tmp_path: Path) -> None:
    broker = {"kafka.bootstrap.servers": kafka}
    sent = spark.createDataFrame([(json.dumps(event),) for event in [*EVENTS, END]], "value string")
    sent.write.format("kafka").options(**broker).option("topic", "cli-in").save()
    places = ["--stream", f"kafka://{kafka}/cli-in", "--to", f"kafka://{kafka}/cli-out"]
    result = run(*places, "--schema", SCHEMA, "--checkpoint", tmp_path / "checkpoint", "--available-now")
    assert result.exit_code == 0, result.output
    received = spark.read.format("kafka").options(**broker).option("subscribe", "cli-out").load()
    found = [json.loads(row.value) for row in received.selectExpr("CAST(value AS STRING)").collect()]
    assert rows_of(found) == expected(EVENTS, QUERY)


def test_over_connect(connect: SparkSession, source: Path, tmp_path: Path) -> None:
    add(source, "1.json", ALL)
    places = ["--stream", source, "--schema", SCHEMA, "--available-now"]
    refused = run(*places)
    assert refused.exit_code == 2
    assert "is required over Spark Connect" in " ".join(refused.output.split())
    result = run(*places, "--to", tmp_path / "found.parquet", "--checkpoint", tmp_path / "checkpoint")
    assert result.exit_code == 0, result.output
    found = rows(connect.read.parquet(str(tmp_path / "found.parquet")))
    assert found == expected(EVENTS, QUERY)
    assert result.stderr == f"201 events, {len(found)} matches\n"


def test_a_process_of_its_own_fetches_the_connectors(spark: SparkSession, kafka: str, tmp_path: Path) -> None:
    """Events in Avro, matches on stdout; Spark says nothing there."""
    fields = [{"name": name, "type": ["null", "long"]} for name in ("ts", "k", "x", "y")]
    fields += [{"name": name, "type": ["null", "string"]} for name in ("eid", "type")]
    schema = json.dumps({"type": "record", "name": "Event", "fields": fields})
    (tmp_path / "event.avsc").write_text(schema, encoding="utf-8")
    rows_in = [(event["ts"], event["k"], event["x"], event["y"], event["eid"], event["type"]) for event in ALL]
    columns = "ts long, k long, x long, y long, eid string, type string"
    frame = spark.createDataFrame(rows_in, columns).selectExpr("struct(*) AS value")
    messages = frame.select(to_avro("value", schema).alias("value")).write.format("kafka")
    messages.option("kafka.bootstrap.servers", kafka).option("topic", "cli-avro").save()
    command = [sys.executable, "-m", "ouzel.cli.main", "run", QUERY, "--stream", f"kafka://{kafka}/cli-avro"]
    command += ["--schema", str(tmp_path / "event.avsc"), "--available-now", "--buckets", "2"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    assert rows_of([json.loads(line) for line in ran.stdout.splitlines()]) == expected(EVENTS, QUERY)


def test_whoever_reads_matches_goes_away(
    spark: SparkSession, source: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def gone(*_given: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("ouzel.cli.stream._print", gone)
    monkeypatch.setattr("ouzel.cli.commands._silence_stdout", lambda: None)
    add(source, "1.json", [*EVENTS, END])
    assert exit_code("run", QUERY, "--stream", str(source), "--schema", SCHEMA, "--available-now") == 141
    assert "error" not in capsys.readouterr().err


def test_what_fails_in_a_function_that_spark_calls_is_told(
    spark: SparkSession, source: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_given: object) -> None:
        raise RuntimeError("the place is gone")

    monkeypatch.setattr("ouzel.cli.stream._print", fail)
    add(source, "1.json", [*EVENTS, END])
    assert exit_code("run", QUERY, "--stream", str(source), "--schema", SCHEMA, "--available-now") == 5
    assert "error: Spark: RuntimeError: the place is gone" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("is required with --stream and --to", ["--to", "found.parquet"]),
        ("cannot be used together with --events", ["--events", "events.csv"]),
        ("cannot be used together with --runtime embedded", ["--runtime", "embedded"]),
        ("on stdout a stream is in JSON", ["--format", "csv"]),
        ("is for files: csv, json or parquet", ["--to", "x", "--checkpoint", "c", "--format", "table"]),
    ],
)
def test_options_that_do_not_go_together(message: str, arguments: list[str]) -> None:
    result = run("--stream", "readings", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(re.sub(r"[│╭╮╰╯─]", " ", result.output).split())


def test_errors_in_workers_are_told_as_ours(
    spark: SparkSession, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--stream", str(source), "--schema", SCHEMA, "--available-now", "--buckets", "2"]
    arguments += ["--to", str(tmp_path / "found.parquet"), "--checkpoint", str(tmp_path / "checkpoint")]
    add(source, "1.json", [{**END, "ts": None}])
    assert exit_code("run", QUERY, *arguments) == 4
    assert capsys.readouterr().err.endswith(
        "error: row 0, column 'ts': the event has no time\n"
        "  hint: mend the data, or set such events aside with --on-bad quarantine\n"
    )
    assert exit_code("run", QUERY, *arguments, "--on-bad", "quarantine") == 0
    assert "1 malformed event" in capsys.readouterr().err
    add(source, "2.json", [END])
    assert exit_code("run", QUERY.replace("WITHIN 15", "WITHIN 16"), *arguments, "--on-bad", "quarantine") == 5
    error = capsys.readouterr().err
    assert "': required the query that it was begun with; got another" in error
    assert "window: 15, now 16" in error
    assert "Traceback" not in error


def exit_code(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    return int(str(end.value.code or 0))


def test_a_terminal_shows_numbers_and_ctrl_c_stops(spark: SparkSession, source: Path, tmp_path: Path) -> None:
    """A process of its own, on a terminal; it is stopped after its first micro-batch, and begun again."""
    sink, checkpoint = tmp_path / "found.jsonl", tmp_path / "checkpoint"
    command = [sys.executable, "-m", "ouzel.cli.main", "run", QUERY, "--stream", str(source), "--schema", SCHEMA]
    command += ["--to", str(sink), "--checkpoint", str(checkpoint), "--buckets", "2", "--master", "local[1]"]
    add(source, "1.json", EVENTS[:120])
    shown, code = on_terminal(command, checkpoint / "commits" / "0")
    assert code == 130
    assert re.search(r"[\d,]+ rows/s, time \d+, \d+ open runs?, [\d.]+ kB of state, \d+ match", shown), shown
    assert re.search(rf"120 events, \d+ match\w*; stopped: the same command goes on from {checkpoint}", shown), (
        shown
    )
    assert "Traceback" not in shown
    add(source, "2.json", [*EVENTS[120:], END])
    again = run(*command[5:-2], "--available-now")
    assert again.exit_code == 0, again.output
    assert again.stderr.startswith("81 events, ")
    assert rows(spark.read.schema("a string, b string").json(str(sink))) == expected(EVENTS, QUERY)


def on_terminal(command: list[str], committed: Path) -> tuple[str, int]:
    """Run a command on a terminal of 200 columns; when a micro-batch is committed and shown, press Ctrl-C."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "200", "TERM": "xterm"}
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    os.set_blocking(ours, False)
    shown, end, is_asked = "", time.monotonic() + 240, False
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.2)
        shown += read(ours)
        if not is_asked and committed.exists() and "rows/s" in shown:
            process.send_signal(signal.SIGINT)
            is_asked = True
    if process.poll() is None:
        process.kill()
    shown += read(ours)
    os.close(ours)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown), process.wait()


def read(terminal: int) -> str:
    """All that is there by now; a terminal hands out little at a time."""
    parts = []
    with suppress(OSError):  # nothing there, or nobody is left to write
        while part := os.read(terminal, 1 << 16):
            parts.append(part)
    return b"".join(parts).decode(errors="replace")
