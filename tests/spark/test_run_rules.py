"""`ouzel run --rules` and `--rules-stream` on Spark: in batches, in streams, on from a checkpoint."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result

import ouzel as oz
from ouzel.cli.commands import app
from rule_cases import FIRST, TEMPLATE, TEXTS, Rows, alone, changes
from spark_events import EVENT_TYPES, SCHEMA, rows_of, stream

EVENTS = sorted(stream(31, 120, 200), key=lambda event: int(event["ts"]))
STREAM = ["--stream", "./readings", "--schema", SCHEMA]
END = {"eid": "end", "ts": 1_000_000, "type": "D", "k": None, "x": None, "y": None}


@pytest.fixture(autouse=True)
def places(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("readings", "rules"):
        Path(name).mkdir()


def add(directory: str, name: str, rows: Rows) -> None:
    written = Path(name)
    written.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    written.rename(Path(directory) / name)


def run(*arguments: object) -> Result:
    # Spark's Java was started elsewhere
    placed = [re.sub(r"^\./", f"{Path.cwd()}/", str(one)) for one in arguments]
    result = CliRunner().invoke(app, ["run", *placed])
    assert result.exit_code == 0, result.output
    return result


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_batch() -> None:
    pq.write_table(pa.Table.from_pylist(EVENTS), "events.parquet")
    rules = changes(31, 8, 200)
    pq.write_table(pa.Table.from_pylist(rules), "rules.parquet")
    arguments = ["--events", "./events.parquet", "--runtime", "spark", "--format", "json"]
    result = run(TEMPLATE, "--rules", "rules.parquet", *arguments)
    assert rows_of(lines(result.stdout)) == alone(EVENTS, rules, types=EVENT_TYPES)
    texts = changes(32, 8, 200, texts=True)
    pq.write_table(pa.Table.from_pylist(texts), "texts.parquet")
    found = lines(run("--rules", "texts.parquet", *arguments).stdout)
    expected = [json.loads(one) for one in alone(EVENTS, texts, types=EVENT_TYPES)]
    both = [[{**row, "match": json.loads(row["match"])} for row in some] for some in (found, expected)]
    assert rows_of(both[0]) == rows_of(both[1])


def test_texts_that_come_while_a_stream_runs() -> None:
    rules = changes(33, 9, 200, texts=True)
    arguments = [*STREAM, "--rules-stream", "./rules", "--keys", "k", "--buckets", 3]
    arguments += ["--to", "./found.jsonl", "--checkpoint", "./checkpoint", "--available-now"]
    half = [event for event in EVENTS if event["ts"] < 100]
    add("readings", "1.json", half)
    add("rules", "1.json", [rule for rule in rules if rule["valid_from"] < 100])
    run(*arguments)
    add("readings", "2.json", [*EVENTS[len(half) :], END])
    add(
        "rules",
        "2.json",
        [*(rule for rule in rules if rule["valid_from"] >= 100), {"id": "bad", "query": "PATTERN A"}],
    )
    assert "1 refused rule" in run(*arguments).stderr
    read = [line for path in Path("found.jsonl").glob("*.json") for line in lines(path.read_text())]
    assert rows_of(read) == alone(EVENTS, rules, types=EVENT_TYPES)


def test_a_file_and_a_stream_of_values_on_stdout() -> None:
    rules = changes(34, 6, 200)
    pq.write_table(pa.Table.from_pylist(FIRST), "first.parquet")
    add("readings", "1.json", [*EVENTS, END])
    add("rules", "1.json", rules)
    arguments = [*STREAM, "--rules", "first.parquet", "--rules-stream", "./rules", "--available-now"]
    result = run(TEMPLATE, *arguments)
    assert rows_of(lines(result.stdout)) == alone(EVENTS, [*FIRST, *rules], types=EVENT_TYPES)


def test_texts_on_stdout() -> None:
    add("readings", "1.json", [*EVENTS, END])
    add("rules", "1.json", [{"id": 'a "rule"', "query": TEXTS[0]}])
    result = run(*STREAM, "--rules-stream", "./rules", "--available-now")
    found = lines(result.stdout)
    assert {row["query"] for row in found} == {'a "rule"'}
    assert rows_of([row["match"] for row in found]) == rows_of(oz.match(EVENTS, TEXTS[0], types=EVENT_TYPES))
