"""Matching where the driver is not: on a standalone cluster, and over Spark Connect."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import ouzel as oz
from spark_events import PAIR, QUERIES, SCHEMA, expected, rows, rows_of, stream

HERE = Path(__file__).parent
EVENTS = stream(7, 200, 300)
ALL = {**QUERIES, "function": f"PATTERN SEQ(A a, B b) WHERE [k] AND twice(a.x) = b.x WITHIN 30 {PAIR}"}
# What differs in how it is run: by keys, read by the workers or by Spark; by slices of time; in one task.
FILES = ["keyed", "two keys", "closure", "pushed down", "function"]
STREAMS = ["refuted at the end", "function"]
ROWS = ["keyed", "contiguous", "counted", "slices refuted before", "one task", "totals", "function"]

# The events in order of time in two parts, and one long after, with which all matches are final.
_ORDERED = sorted(EVENTS, key=lambda event: event["ts"])
IN_TWO = (_ORDERED[:120], [*_ORDERED[120:], {**EVENTS[0], "eid": "end", "ts": 1_000_000, "type": "D"}])


@pytest.fixture(scope="module", autouse=True)
def functions() -> None:
    oz.register_function("twice", lambda x: 2 * x, returns="integer")


@pytest.fixture(scope="module")
def directory(cluster: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a driver of its own has left after all queries ran on the cluster."""
    directory = tmp_path_factory.mktemp("cluster")
    work = {"events": EVENTS, "schema": SCHEMA, "queries": ALL, "rows": ROWS, "files": FILES, "streams": STREAMS}
    (directory / "waiting").mkdir()
    for number, part in enumerate(IN_TWO):
        (directory / "waiting" / f"{number}.json").write_text("\n".join(map(json.dumps, part)), encoding="utf-8")
    (directory / "work.json").write_text(json.dumps(work), encoding="utf-8")
    command = [sys.executable, str(HERE / "on_cluster.py"), cluster, str(directory)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=directory)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    return directory


@pytest.mark.parametrize(
    ("name", "source"),
    [
        (name, source)
        for source, names in (("rows", ROWS), ("files", FILES), ("streams", STREAMS))
        for name in names
    ],
)
def test_a_cluster_finds_what_this_process_finds(directory: Path, name: str, source: str) -> None:
    found = json.loads((directory / "found.json").read_text(encoding="utf-8"))
    wanted = expected(EVENTS, ALL[name])
    assert wanted
    assert rows_of(found[f"{name} in {source}"]) == wanted


def test_a_cluster_counts_on_both_workers(directory: Path) -> None:
    found = json.loads((directory / "found.json").read_text(encoding="utf-8"))
    assert (found["counted"], found["executors"]) == (1000, 2)


def test_matches_do_not_pass_through_the_driver(directory: Path) -> None:
    many = pq.read_table(directory / "many").sort_by("k")
    assert many.nbytes > 2 << 20  # more than the driver would take
    assert many.column("k").to_pylist() == list(range(200_000))


@pytest.mark.parametrize("name", ROWS)
def test_connect_finds_what_this_process_finds(connect: SparkSession, name: str) -> None:
    events = connect.createDataFrame([tuple(event.values()) for event in EVENTS], SCHEMA)
    assert rows(oz.match(events, ALL[name])) == expected(EVENTS, ALL[name])


def test_a_stream_over_connect(connect: SparkSession, tmp_path: Path) -> None:
    """Begun again once, from its checkpoint; the session is one of Spark Connect from end to end."""
    source, sink = tmp_path / "source", tmp_path / "sink.parquet"
    source.mkdir()
    text = "\n".join(f"QUERY q{number} {ALL[name]}" for number, name in enumerate(STREAMS))
    for number, part in enumerate(IN_TWO):
        (source / f"{number}.json").write_text("\n".join(map(json.dumps, part)), encoding="utf-8")
        matches = oz.match(oz.read_stream(source, SCHEMA), text, spark=oz.SparkOptions(buckets=2))
        running = oz.write_stream(matches, sink, checkpoint=tmp_path / "checkpoint", available_now=True)
        assert running.awaitTermination(120)
    found = connect.read.parquet(str(sink))
    for number, name in enumerate(STREAMS):
        own = rows(found.where(f"query = 'q{number}'").select(f"q{number}.*"))
        assert own
        assert own == expected(EVENTS, ALL[name])
