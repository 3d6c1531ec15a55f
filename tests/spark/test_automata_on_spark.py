"""Register automata on Spark: in batches and streams, by key and not, what the reference finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from typer.testing import CliRunner

import ouzel as oz
from ouzel.cli.commands import app
from spark_events import SCHEMA, Events, rows, rows_of, stream
from spark_feeds import END, Feed, in_batches

RISING = oz.automaton(start="q0", final=["q2"], register={"top": 0, "n": 0}, window=30)
RISING = RISING.arc("q0", "q1", "e.x = 0", {"top": "e.x", "n": "1"})
RISING = RISING.arc("q1", "q1", "e.x >= top", {"top": "e.x", "n": "n + 1"}).arc("q1", "q1", "e.x IS NULL")
RISING = RISING.arc("q1", "q2", "e.x < top AND n > 1", {"n": "n + 1"})
KEYED = oz.automaton({**RISING.spec, "partition": ["k"]})
# an A that no B follows: known when the window is over (AFA Appendix E)
ALONE = oz.automaton(start="q0", final=["q2"], register={"who": "-"}, window=12)
ALONE = ALONE.arc("q0", "q1", "e.type = 'A'", {"who": "e.eid"}).arc("q1", "q1", "e.type != 'B'")
ALONE = ALONE.arc("q1", "q2", end_of_window=True)
AUTOMATA = {
    "slices": RISING,
    "by key": KEYED,
    "slices that end windows": ALONE,
    "windows that end by key": oz.automaton({**ALONE.spec, "partition": ["k"]}),
    "one task": oz.automaton({**RISING.spec, "window": None}),
}


def frame(spark: SparkSession, events: Events) -> DataFrame:
    return spark.createDataFrame([tuple(event.values()) for event in events], SCHEMA).repartition(3)


def expected(events: Events, query: Any) -> list[str]:
    found = rows_of(oz.match(events, query, engine="reference", time_unit="ms"))
    assert found
    return found


@pytest.mark.parametrize("name", AUTOMATA)
def test_batch(spark: SparkSession, name: str) -> None:
    events = stream(31, 150, 300)
    found = oz.match(frame(spark, events), AUTOMATA[name], time_unit="ms", spark=oz.SparkOptions(tasks=4))
    assert rows(found) == expected(events, AUTOMATA[name])


@pytest.mark.parametrize("name", ["slices", "windows that end by key"])
def test_a_stream_stopped_and_begun_again(feed: Feed, name: str) -> None:
    events = stream(32, 90, 200)
    batches = in_batches(events, 30, 30, disorder=9)
    for run in (batches[:1], [*batches[1:], [END]]):
        feed.add(*run)
        feed.run(AUTOMATA[name], watermark=10)
    everything = [*events, END]
    # the last event is not final yet
    found = rows(feed.found().where(f"valid_from < {END['ts']}"))
    assert found == [
        row for row in expected(everything, AUTOMATA[name]) if json.loads(row)["valid_from"] < END["ts"]
    ]


def test_an_automaton_in_a_list(spark: SparkSession) -> None:
    events = stream(33, 80, 120)
    both = [KEYED.named("rising").into("Rise"), "QUERY after PATTERN SEQ(Rise r, B b) WITHIN 50 RETURN r.n, b.eid"]
    found, embedded = oz.match(frame(spark, events), both), oz.match(events, both, time_unit="ms")
    for name, table in found.items():
        assert embedded[name]
        assert rows(table) == rows_of(embedded[name])


def test_explain(spark: SparkSession, feed: Feed) -> None:
    table = frame(spark, stream(5, 10, 10))
    assert "tasks by k" in oz.query(KEYED).explain(table)
    assert "by slices of time that overlap by the window" in oz.query(RISING).explain(table)
    assert "one task: without WITHIN" in oz.query(AUTOMATA["one task"]).explain(table)
    assert "columns: ts, type, k, x" in oz.query(KEYED).explain(table)
    feed.add([END])
    assert "a stream, in 8 buckets by k" in oz.query(KEYED).explain(feed.read())
    assert "a stream, in one bucket" in oz.query(RISING).explain(feed.read())


def test_a_file_of_json_on_the_command_line(feed: Feed, tmp_path: Path) -> None:
    events = stream(34, 60, 100)
    feed.add(events, [END])
    (tmp_path / "rising.json").write_text(json.dumps(KEYED.spec))
    arguments = ["run", str(tmp_path / "rising.json"), "--stream", str(feed.source), "--schema", SCHEMA]
    result = CliRunner().invoke(app, [*arguments, "--available-now"])
    assert result.exit_code == 0, result.output
    assert rows_of(list(map(json.loads, result.stdout.splitlines()))) == expected(events, KEYED)
