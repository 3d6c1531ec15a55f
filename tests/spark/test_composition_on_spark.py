"""Queries that feed each other on Spark: where all keep to a key that composite events carry, keys go apart."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

import ouzel as oz
from ouzel.runtimes.reading import Reading
from ouzel.runtimes.spark.keys import chains_of, key_columns
from ouzel.runtimes.spark.processor import ENDLESS
from ouzel.runtimes.spark.task import Task
from ouzel.testing.strategies import STRATEGIES, RandomQuery, queries, streams
from spark_events import EVENT_TYPES, SCHEMA, Events, rows, rows_of, stream
from spark_feeds import END, Feed, in_batches

ARROW = pa.schema({"eid": "string", "ts": "int64", "type": "string", "k": "int64", "x": "int64", "y": "int64"})
EVENTS = stream(10, 300, 200)
MADE = "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 9 RETURN a.eid AS eid,"
PAIRS = f"QUERY pairs {MADE} b.k AS k INTO Pair"
AFTER = "PATTERN SEQ(Pair p, C c) WHERE [k] WITHIN 20 RETURN p.eid AS p, c.eid AS c"
KEYED = {
    "two levels": f"{PAIRS} QUERY after {AFTER}",
    "three levels": f"""{PAIRS}
        QUERY triples PATTERN SEQ(Pair p, C c) WHERE [k] WITHIN 20
            RETURN p.eid AS eid, c.k AS own, c.x AS k INTO Triple
        QUERY after PATTERN SEQ(Triple p, Triple q) WHERE [own] WITHIN 90 RETURN p.eid AS p, q.eid AS q""",
    "under another name": f"""QUERY pairs {MADE} a.k AS tag INTO Pair
        QUERY after PATTERN SEQ(Pair p, !(Pair n), Pair q) WHERE [tag] AND n.eid != p.eid WITHIN 30
            RETURN p.eid AS p, q.eid AS q, end(q) - start(p) AS lasting""",
    "by its first and last event": """
        QUERY rises PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match { [k] AND a[i].x >= a[i-1].x } WITHIN 12
            RETURN a[a.LEN].k AS k, a[1].eid AS eid INTO Rise
        QUERY next PATTERN SEQ(Rise r, ANY(A, B, C, D) c) WHERE partition_contiguity { [k] }
            RETURN r.eid AS p, c.eid AS c""",
    "by some of its keys": f"""
        QUERY pairs PATTERN SEQ(A a, B b) WHERE [x, k] WITHIN 20 RETURN a.eid AS eid, a.k, b.x INTO Pair
        QUERY after {AFTER} OUTPUT NON_OVERLAP""",
    "totals": f"""{PAIRS} QUERY after PATTERN SEQ(Pair p, C c) WHERE [k] WITHIN 20
            RETURN count(*) AS n, max(c.x) AS x OUTPUT AGGREGATE EVERY 50""",
}
NOT_KEYED = {
    "without the key": f"QUERY pairs {MADE} a.x INTO Pair QUERY after PATTERN SEQ(Pair p, C c) WITHIN 20",
    "another under its name": f"QUERY pairs {MADE} b.x AS k INTO Pair QUERY after {AFTER}",
    "computed": f"QUERY pairs {MADE} b.k + 0 AS k INTO Pair QUERY after {AFTER}",
    "made without keys": f"""QUERY pairs PATTERN SEQ(A a, B b) WITHIN 3 RETURN a.eid, b.k INTO Pair
        QUERY after {AFTER}""",
    "strictly contiguous": f"{PAIRS} QUERY after PATTERN SEQ(Pair p, Pair q) WHERE strict_contiguity {{ [k] }}",
    "another key": f"QUERY pairs {MADE} b.x AS x INTO Pair QUERY after {AFTER.replace('[k]', '[x]')}",
}


def keys(text: str) -> list[str]:
    return key_columns(Task(text, "", {}, Reading(), ARROW, "auto", oz.Limits()).plans)


def reference(events: Events, text: str) -> dict[str, list[str]]:
    found = oz.match(events, text, engine="reference", types=EVENT_TYPES)
    return {name: rows_of(table) for name, table in found.items()}


def test_what_keeps_to_a_key() -> None:
    assert {name: keys(text) for name, text in KEYED.items()} == {name: ["k"] for name in KEYED}
    assert {name: keys(text) for name, text in NOT_KEYED.items()} == {name: [] for name in NOT_KEYED}


def test_a_query_runs_after_those_that_feed_it_and_no_others() -> None:
    text = f"""{KEYED["three levels"]} QUERY alone PATTERN A a
        QUERY others PATTERN SEQ(A a, B b) RETURN a.ts INTO Other
        QUERY both PATTERN SEQ(Triple t, ANY(Pair, Other) p)"""
    chains = chains_of(Task(text, "", {}, Reading(), ARROW, "auto", oz.Limits()).plans)
    assert {name: [plan.query.name for plan in chain] for name, chain in chains.items()} == {
        "pairs": ["pairs"],
        "alone": ["alone"],
        "others": ["others"],
        "triples": ["pairs", "triples"],
        "after": ["pairs", "triples", "after"],
        "both": ["pairs", "triples", "others", "both"],
    }


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Queries that all have an equivalence test, some of them over matches of others."""
    made: list[str] = []
    several: list[RandomQuery] = []
    for number in range(draw(st.integers(2, 3))):
        query = draw(queries(composites=tuple(made), strategies=STRATEGIES[1:]))
        if not any(condition.startswith("[") for condition in query.conditions):
            query.conditions.append("[k]")
        if number == 0 or draw(st.booleans()):
            query.into = f"P{number}"
            made.append(query.into)
        several.append(query)
    return "\n".join(f"QUERY q{number} {query.text}" for number, query in enumerate(several))


@given(programs(), streams(max_events=14))
def test_buckets_of_keys_find_together_what_all_events_do(text: str, events: Events) -> None:
    """Without Spark: any program whose queries keep to a key, and all events of a key in a run of their own."""
    assume(keys(text))
    whole = matched(events, text)
    for name in whole:
        assert sorted(row for part in apart(events, text) for row in matched(part, text)[name]) == whole[name]


@given(programs(), streams(max_events=14), st.integers(0, 13))
def test_matchers_of_buckets_find_together_what_all_events_do(text: str, events: Events, cut: int) -> None:
    """Without Spark: in two micro-batches, after each of which a matcher is made anew from its state."""
    assume(keys(text))
    task = Task(text, "", {}, Reading(types=EVENT_TYPES), ARROW, "auto", oz.Limits())
    times = sorted(event["ts"] for event in events)
    middle = times[min(cut, len(times) - 1)]
    found: dict[str, list[str]] = defaultdict(list)
    for bucket in apart(events, text):
        matcher = task.matcher(watermark=ENDLESS, on_late="keep")
        for now, is_before in ((middle, True), (times[-1], False)):
            part = [event for event in bucket if (event["ts"] < middle) == is_before]
            add(found, matcher.push(pa.Table.from_pylist(part, ARROW), now))
            snapshot = matcher.snapshot()
            matcher = task.matcher(watermark=ENDLESS, on_late="keep")
            matcher.restore(snapshot)
        add(found, matcher.finish())
    assert {name: sorted(rows) for name, rows in found.items()} == matched(events, text)


def apart(events: Events, text: str) -> list[Events]:
    """The events by key."""
    found: dict[Any, Events] = defaultdict(list)
    for event in events:
        found[tuple(event[key] for key in keys(text))].append(event)
    return list(found.values())


def matched(events: Events, text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    add(found, oz.match(pa.Table.from_pylist(events, ARROW), text, types=EVENT_TYPES))
    return {name: sorted(rows) for name, rows in found.items()}


def add(found: dict[str, list[str]], results: dict[str, pa.Table]) -> None:
    for name, table in results.items():
        found[name] += rows_of(table.to_pylist())


# ---- on Spark --------------------------------------------------------------------------------------------


def frame(spark: SparkSession, events: Events) -> DataFrame:
    return spark.createDataFrame([tuple(event.values()) for event in events], SCHEMA).repartition(3)


@pytest.mark.parametrize("name", KEYED)
def test_batch(spark: SparkSession, name: str) -> None:
    found = oz.match(frame(spark, EVENTS), KEYED[name], spark=oz.SparkOptions(tasks=3))
    assert {table.rdd.getNumPartitions() for table in found.values()} == {3}
    wanted = reference(EVENTS, KEYED[name])
    assert all(wanted.values())
    assert {one: rows(table) for one, table in found.items()} == wanted


@pytest.mark.parametrize("name", ["another under its name", "made without keys"])
def test_batch_in_one_task(spark: SparkSession, name: str) -> None:
    found = oz.match(frame(spark, EVENTS), NOT_KEYED[name], spark=oz.SparkOptions(tasks=3))["after"]
    assert found.rdd.getNumPartitions() == 1
    assert rows(found) == reference(EVENTS, NOT_KEYED[name])["after"]


def test_more_events_than_memory_and_files_that_workers_read(spark: SparkSession, tmp_path: Path) -> None:
    wanted = reference(EVENTS, KEYED["two levels"])["after"]
    options = oz.SparkOptions(tasks=2, memory=1_000)
    assert rows(oz.match(frame(spark, EVENTS), KEYED["two levels"], spark=options)["after"]) == wanted
    path = str(tmp_path / "events")
    frame(spark, EVENTS).write.parquet(path)
    assert rows(oz.match(spark.read.parquet(path), KEYED["two levels"], spark=options)["after"]) == wanted


@pytest.mark.parametrize(
    "text",
    [f"{KEYED['under another name']} {KEYED['by its first and last event']}", NOT_KEYED["made without keys"]],
    ids=["by key", "in one bucket"],
)
def test_a_stream_stopped_and_begun_again(feed: Feed, text: str) -> None:
    """Composite events wait in the state of their bucket for those that may come before them."""
    first, *others = in_batches(EVENTS, 120, 100, disorder=10)
    for run in ([first], [*others, [END]]):
        feed.add(*run)
        assert feed.run(text, watermark=10)["late"] == 0
    found = feed.found()
    wanted = reference(EVENTS, text)
    assert all(wanted.values())
    assert {one: rows(found.where(f"query = '{one}'").select(f"{one}.*")) for one in wanted} == wanted


def test_explain_says_by_which_key(spark: SparkSession, tmp_path: Path) -> None:
    events = frame(spark, EVENTS)
    words = oz.query(KEYED["two levels"]).explain(events, spark=oz.SparkOptions(tasks=3))
    assert words.count("3 tasks by k; Spark reads the events") == 2
    words = oz.query(NOT_KEYED["another key"]).explain(events, spark=oz.SparkOptions(tasks=3))
    assert "3 tasks by k; Spark reads the events" in words
    assert "one task: queries feed each other, and no key is common to them" in words
    arriving = spark.readStream.schema(SCHEMA).json(str(tmp_path))
    words = oz.query(KEYED["two levels"]).explain(arriving, spark=oz.SparkOptions(buckets=5))
    assert "a stream, in 5 buckets by k" in words
