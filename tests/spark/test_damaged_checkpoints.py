"""A checkpoint that holds something else than was written is refused, not gone on from."""

from __future__ import annotations

import random
import shutil
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

from ouzel.errors import StateError
from ouzel.runtimes.spark import bucket_state, processor
from spark_bench import END, Bench, Handle
from spark_events import QUERIES, expected, rows, rows_of, stream
from spark_feeds import END as LAST
from spark_feeds import Feed, in_batches

Changes = list[list[tuple[str, str, Any]]]
"""Micro-batch by micro-batch, what was done to which part of the state."""

# With the last event all that came before it makes matches.
OPEN = "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 500 RETURN a.eid AS a, b.eid AS b"
CLOSING = {"eid": "closing", "ts": 400, "type": "B", "k": 1, "x": None, "y": None}


def batches(bench: Bench, seed: int) -> Changes:
    """What a stream writes in each micro-batch."""
    [handle] = bench.handles
    logged: Changes = []
    events = sorted(stream(seed, 300, 300), key=lambda event: event["ts"])
    chance = random.Random(seed)
    while events:
        size = chance.choice((1, 3, 10, 40))
        bench.push(events[:size])
        events = events[size:]
        names = {id(state): name for name, state in handle.states.items()}
        logged.append([(names[id(state)], done, value) for state, done, value in handle.log])
        handle.log.clear()
    return logged


def replayed(changes: Changes) -> Handle:
    """The state that Spark makes of change logs."""
    handle = Handle()
    bucket_state.BucketState(handle)
    for batch in changes:
        for name, done, value in batch:
            getattr(handle.states[name], done)(*(() if value is None else (value,)))
    return handle


@pytest.mark.parametrize(("deltas", "marks"), [(32, 16), (0, 3), (2, 2)])
def test_no_change_log_passes_for_another(monkeypatch: pytest.MonkeyPatch, deltas: int, marks: int) -> None:
    """Whichever is in the place of whichever: refused, or, if a snapshot came after it, without harm."""
    monkeypatch.setattr(bucket_state, "DELTAS", deltas)
    monkeypatch.setattr(bucket_state, "MARKS", marks)
    bench = Bench(OPEN, 1)
    changes = batches(bench, 3)
    assert len(changes) > 10
    bench.matched = []
    bench.push([CLOSING, END])
    wanted = rows_of(bench.found())
    assert wanted
    refused = 0
    for newer in range(1, len(changes)):
        for older in range(newer):
            processor._matchers.clear()
            other = deepcopy(bench)
            other.matched = []
            other.handles = [replayed([*changes[:newer], changes[older], *changes[newer + 1 :]])]
            try:
                other.push([CLOSING, END])
            except StateError:
                refused += 1
                continue
            assert newer < len(changes) - 1  # the last one's is always found out
            assert rows_of(other.found()) == wanted
    assert refused > len(changes)
    processor._matchers.clear()
    good = deepcopy(bench)
    good.matched, good.handles = [], [replayed(changes)]
    good.push([CLOSING, END])
    assert rows_of(good.found()) == wanted


def damage(handle: Handle, how: str) -> None:
    deltas, snapshot = handle.states["deltas"].values, handle.states["snapshot"].values
    match how:
        case "drop":
            del deltas[0]
        case "swap":
            deltas[0], deltas[1] = deltas[1], deltas[0]
        case "repeat":
            deltas.append(deltas[-1])
        case "alter":
            now, data = deltas[-1]
            deltas[-1] = (now, data[:-1] + bytes([data[-1] ^ 1]))
        case "time":
            deltas[-1] = (deltas[-1][0] + 1, deltas[-1][1])
        case "snapshot":
            snapshot[0] = (snapshot[0][0] + b" ",)
        case "none":
            snapshot.clear()


@pytest.mark.parametrize("how", ["drop", "swap", "repeat", "alter", "time", "snapshot", "none"])
def test_what_is_damaged_is_refused(how: str) -> None:
    bench = Bench(QUERIES["keyed"], 1)
    for moment in range(4):
        bench.push([{**END, "eid": f"e{moment}", "ts": moment, "type": "A", "k": 1, "x": 1}])
    processor._matchers.clear()
    assert len(bench.handles[0].states["deltas"].values) >= 2
    damage(bench.handles[0], how)
    with pytest.raises(StateError, match=r"it is damaged: .*\n  hint: put back a copy of the whole checkpoint"):
        bench.push([END])


def test_an_older_change_log_of_spark_in_the_place_of_the_newest(feed: Feed) -> None:
    """With the files of a real checkpoint, in every partition of its state."""
    events = stream(11, 200, 300)
    *parts, last = in_batches(events, 40, 40, 40, 40)
    feed.add(*parts)
    feed.run(QUERIES["refuted at the end"])
    whole = feed.checkpoint
    feed.add(last, [LAST])
    for older in (3, 2):
        # a place of its own for each: tasks of a stream that failed may still be writing
        feed.checkpoint = whole.with_name(f"{older} for 4")
        shutil.copytree(whole, feed.checkpoint)
        for log in change_logs(feed.checkpoint, 4):
            shutil.copyfile(log.with_name(f"{older}.changelog"), log)
        with pytest.raises(StreamingQueryException, match="StateError: checkpoint: it is damaged"):
            feed.run(QUERIES["refuted at the end"])
    feed.checkpoint = whole
    feed.run(QUERIES["refuted at the end"])
    assert rows(feed.found()) == expected(events, QUERIES["refuted at the end"])


def change_logs(checkpoint: Path, version: int) -> list[Path]:
    """The change logs of a version, without the sums by which Hadoop would find the damage."""
    found = sorted(checkpoint.glob(f"state/0/*/{version}.changelog"))
    assert found
    for path in checkpoint.glob("state/0/*/.*.crc"):
        path.unlink()
    return found
