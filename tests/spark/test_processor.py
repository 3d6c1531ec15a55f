"""The matchers of a stream, without Spark: cut anyhow, with tasks retried, checkpoints copied, workers lost."""

from __future__ import annotations

import random
from collections.abc import Iterator
from copy import deepcopy

import pyarrow as pa
import pytest

from ouzel.errors import StateError
from ouzel.logical.times import BEGINNING
from ouzel.runtimes.reading import Reading
from ouzel.runtimes.spark import bucket_state, processor
from ouzel.runtimes.spark.malformed import Required
from ouzel.runtimes.spark.packing import BUCKET, Packing, latest_tick
from spark_bench import END, Bench
from spark_events import QUERIES, Events, expected, rows_of, stream


def cut(events: Events, chance: random.Random, disorder: int) -> Iterator[list[Events]]:
    """Micro-batches of tasks, in which no event comes more than `disorder` after a later one."""
    left = sorted(events, key=lambda event: event["ts"] + chance.randint(0, disorder))
    while left:
        size = chance.randint(1, 60)
        batch, left = left[:size], left[size:]
        edge = chance.randint(0, len(batch))
        yield [task for task in (batch[:edge], batch[edge:]) if task]


@pytest.mark.parametrize(
    "name",
    ["keyed", "two keys", "closure", "counted", "refuted at the end", "apart", "slices refuted before", "both"],
)
def test_any_cut_gives_the_same_matches(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when workers are lost between micro-batches, tasks are retried, and snapshots are rare or frequent."""
    for seed in range(6):
        chance = random.Random(seed)
        monkeypatch.setattr(bucket_state, "DELTAS", chance.choice((0, 2, 100)))
        events = stream(seed, 200, 300)
        disorder = chance.choice((0, 25))
        bench = Bench(QUERIES[name], chance.randint(1, 4), disorder)
        for tasks in cut(events, chance, disorder):
            if chance.random() < 0.4:
                processor._matchers.clear()
            if chance.random() < 0.4:
                before = deepcopy(bench.handles)
                packed, bucket = bench.packed(tasks), chance.randrange(bench.stream.buckets)
                lost, left = bench.attempt(packed, bucket), bench.handles
                bench.handles = deepcopy(before)
                # what the second attempt gets, comes in another order
                assert bench.attempt(packed.take(list(range(len(packed)))[::-1]), bucket) == lost
                assert bench.handles[bucket].version() == left[bucket].version()
                bench.handles = before
            bench.push(*chance.sample(tasks, len(tasks)))
        bench.push([END])
        assert rows_of(bench.found()) == expected(events, QUERIES[name])


def test_a_kept_matcher_of_another_past_is_not_used() -> None:
    """Two streams go on from copies of one checkpoint, in the same worker."""
    a, b = (
        {**END, "eid": eid, "ts": ts, "type": type_, "k": 1} for eid, ts, type_ in (("a", 1, "A"), ("b", 3, "B"))
    )
    one = Bench("PATTERN SEQ(A a, B b) WHERE [k] RETURN a.eid AS a", 1)
    one.push([a])
    other = deepcopy(one)
    one.push([{**a, "eid": "second", "ts": 2}])
    kept = dict(processor._matchers)
    other.push([{**a, "eid": "third", "ts": 2}])
    processor._matchers.update(kept)  # as if `other` had run elsewhere, and came back
    other.push([b, END])
    one.push([b, END])
    assert sorted(row["a"] for row in one.found()) == ["a", "second"]
    assert sorted(row["a"] for row in other.found()) == ["a", "third"]


def test_a_watermark_that_changes_loses_nothing() -> None:
    """Events that were held back under the old watermark are still held back when the state is read again."""
    query = "PATTERN SEQ(A a, B b) WHERE [k] RETURN a.eid AS a, b.eid AS b"
    events = [{**END, "eid": f"e{ts}", "ts": ts, "type": "AB"[ts % 2], "k": 1} for ts in range(8)]
    before, after = Bench(query, 1, watermark=100), Bench(query, 1, watermark=0)
    before.push(events[:4])
    before.push(events[4:6])
    assert before.handles[0].states["deltas"].values
    after.handles = before.handles
    after.push(events[6:], [END])
    assert not before.found()
    assert rows_of(after.found()) == expected(events, query)


def test_state_of_other_buckets_is_refused() -> None:
    before, after = Bench(QUERIES["keyed"], 2), Bench(QUERIES["keyed"], 3)
    before.push([END])
    after.handles[:2] = before.handles
    with pytest.raises(
        StateError, match="required events in 2 buckets by k, as it was begun; got in 3 buckets by k"
    ):
        after.push([END])


def test_a_return_that_needs_other_columns_is_refused() -> None:
    query = "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 20 RETURN a.{} AS found"
    before, after = Bench(query.format("x"), 1), Bench(query.format("y"), 1)
    before.push([END])
    after.handles = before.handles
    with pytest.raises(StateError, match="k int64, x int64, now ts int64, type string, k int64, y int64"):
        after.push([END])


def test_malformed_and_late_events_are_counted() -> None:
    bench = Bench(QUERIES["keyed"], 1, on_bad="quarantine")
    bench.push([END])
    packed = bench.packed([[{**END, "ts": 1, "type": "A"}, {**END, "ts": None}, {**END, "type": None}]])
    told = [(row["query"], row["number"], row["blob"]) for row in bench.attempt(packed, 0)]
    size = told[3][1]
    assert size > 0
    assert told == [
        ("late", 1, b""),
        ("malformed", 2, b""),
        ("#runs", 0, b""),
        ("#state", size, b""),
        ("#time", END["ts"], b""),
    ]


@pytest.mark.parametrize(
    ("query", "runs"),
    [
        ("PATTERN SEQ(A a, B b) WHERE [k] WITHIN 10 RETURN a.eid AS a", 1),
        ("PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match { [k] } WITHIN 10 RETURN b.eid AS b", 1),
        ("PATTERN SEQ(A a, B b, !(C c)) WHERE [k] WITHIN 10 RETURN a.eid AS a", 1),
        ("PATTERN A a & B b WHERE a.k = b.k WITHIN 10 RETURN a.eid AS a", 1),
    ],
)
def test_open_runs_and_time_are_told(query: str, runs: int) -> None:
    """Of a scan, an automaton, matches that wait, and a tree."""
    bench = Bench(query, 1)
    told = []
    for moment, type_ in ((1, "A"), (2, "D"), (3, "B")):
        bench.push([{**END, "eid": type_, "ts": moment, "type": type_, "k": 1}])
        told.append(bench.handles[0].states["head"].get()[5:7])
    # events of the latest time wait for others of that moment
    assert told == [(0, 1), (1, 2), (runs, 3)]


def test_the_latest_time() -> None:
    dates = pa.chunked_array([pa.array([3, 9], pa.date32())])
    assert latest_tick(dates) == 9
    assert latest_tick(dates.slice(2)) < -(2**60)
    assert latest_tick(pa.chunked_array([pa.array([7], pa.timestamp("us", "UTC"))])) == 7


def test_malformed_events_make_no_time_pass() -> None:
    """What no query wants does: only its time is left of it."""
    schema = pa.schema({"start": pa.int64(), "ts": pa.int64(), "type": pa.string()})
    reading = Reading(start="start", types={"A": []})
    packing = Packing(schema, "ts", 1, Required.by(reading, schema.names, ["start", "ts"]))

    def latest(bucket: int | None, *row: object) -> int:
        rows = pa.table(
            {name: [value] for name, value in zip((*schema.names, BUCKET), (*row, bucket), strict=True)}
        )
        return int(packing.part(rows.cast(pa.schema([*schema, (BUCKET, pa.int32())])), 0, 0)["latest"][0].as_py())

    assert latest(0, 1, 5, "A") == latest(None, None, 5, None) == 5
    for row in ((6, 5, "A"), (None, 5, "A"), (1, 5, None), (1, 5, "B"), (-(2**63), 5, "A"), (1, None, "A")):
        assert latest(0, *row) == BEGINNING
