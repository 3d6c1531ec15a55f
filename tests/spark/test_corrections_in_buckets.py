"""Corrections in the buckets of a stream, without Spark: cut anyhow, with tasks retried and workers lost."""

from __future__ import annotations

import random
from copy import deepcopy
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from correction_cases import corrected, standing
from ouzel.errors import StateError
from ouzel.runtimes.revision import Revision
from ouzel.runtimes.spark import bucket_state, processor
from ouzel.runtimes.spark.rule_rows import RuleTables
from rule_cases import SET
from spark_bench import END, Bench
from spark_events import EVENT_TYPES, QUERIES, expected, rows_of, stream

LAST = {**END, "op": 1}
OP = Revision(op="op", punctuates=False)
BY_ID = Revision(op="op", identity=("eid", "k"), punctuates=False)
NAMES = ["keyed", "closure", "refuted at the end", "apart", "counted", "slices"]


@pytest.mark.parametrize("speculation", [0, 7, "inf"])
@pytest.mark.parametrize("seed", range(len(NAMES)))
def test_any_cut_leaves_the_matches_of_what_is_left(
    seed: int, speculation: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(bucket_state, "DELTAS", chance.choice((0, 2, 100)))
    query, disorder = QUERIES[NAMES[seed]], chance.choice((0, 25))
    rows, left = corrected(stream(seed, 150, 200), seed, disorder)
    revision = chance.choice((OP, BY_ID))
    bench = Bench(query, chance.randint(1, 4), disorder, revision=revision, speculation=speculation)
    while rows:
        size = chance.randint(1, 60)
        batch, rows = rows[:size], rows[size:]
        cut = chance.randint(0, len(batch))
        if chance.random() < 0.4:
            processor._matchers.clear()
        if chance.random() < 0.4:
            before = deepcopy(bench.handles)
            packed = bench.packed([batch])
            lost = bench.attempt(packed, 0)
            bench.handles = deepcopy(before)
            assert bench.attempt(packed.take(list(range(len(packed)))[::-1]), 0) == lost
            bench.handles = before
        bench.push(batch[cut:], batch[:cut])  # tasks in any order
    bench.push([LAST])
    changes = bench.found()
    assert standing(changes) == expected(left, query)
    assert bench.told.get("#withdrawn", 0) == sum(row["op"] == -1 for row in changes)
    assert sum(number for name, number in bench.told.items() if name == "query1") == sum(
        row["op"] == 1 for row in changes
    )
    assert "late" not in bench.told
    if speculation == 0:
        assert all(row["op"] == 1 for row in changes)


def test_speculation_without_withdrawals() -> None:
    events = sorted(stream(3, 100, 150), key=lambda event: event["ts"] + random.Random(event["eid"]).randint(0, 9))
    bench = Bench(QUERIES["refuted at the end"], 3, 10, revision=Revision(punctuates=False), speculation="inf")
    for begin in range(0, 100, 20):
        bench.push(events[begin : begin + 20])
    early = len(bench.found())
    bench.push([END])
    assert early
    assert standing(bench.found()) == expected(events, QUERIES["refuted at the end"])


def test_withdrawals_tell_no_time_and_need_their_event() -> None:
    a = {**LAST, "eid": "a", "ts": 5, "type": "A", "k": 1}
    query = "PATTERN A a WHERE [k] RETURN a.eid"
    bench = Bench(query, 2, revision=OP)
    with pytest.raises(oz.DataError, match="it withdraws an event that is not there"):
        bench.push([{**a, "op": -1}])
    bench = Bench(query, 2, on_bad="quarantine", revision=OP)
    bench.push([{**a, "op": -1, "ts": 10**8}, {**a, "op": 0, "ts": 10**8}, {**a, "op": None}])
    assert bench.told["malformed"] == 3
    bench.push([a, LAST])
    assert [row["eid"] for row in bench.found()] == ["a"]
    bench.push([{**a, "op": -1}])
    assert bench.told["late"] == 1


def test_late_rows_come_out_with_their_op() -> None:
    bench = Bench("PATTERN A a WHERE [k]  RETURN a.eid", 1, revision=OP, late=True)
    bench.push([LAST])
    bench.push([{**LAST, "eid": "late", "ts": 5, "op": -1}])
    (row,) = bench.found()
    assert (row["late"]["eid"], row["late"]["op"]) == ("late", -1)


def test_an_identity_that_is_no_key_makes_one_bucket() -> None:
    assert Bench(QUERIES["keyed"], 3, revision=Revision(op="op", identity=("eid",))).stream.buckets == 1
    bench = Bench(QUERIES["keyed"], 3, revision=BY_ID)
    assert bench.stream.keys == ("k",)
    assert "y" not in bench.stream.task.schema.names
    assert "y" in Bench(QUERIES["keyed"], 3, revision=OP).stream.task.schema.names


def test_another_speculation_is_refused_on_an_old_state() -> None:
    bench, other = (Bench(QUERIES["keyed"], 1, revision=OP, speculation=one) for one in (5, "inf"))
    bench.push([LAST])
    other.handles = bench.handles
    with pytest.raises(StateError, match="speculation: 5 ticks, now inf"):
        other.push([LAST])


def test_rules_of_a_set_see_what_is_left() -> None:
    rows, left = corrected(stream(9, 120, 150), 9, 10)
    bench = Bench(SET, 3, 10, rules=RuleTables(), revision=OP)
    rules = pa.table({"id": ["new"], "least": [1], "valid_from": [60], "valid_to": pa.array([120], pa.int64())})
    bench.push(rows[:40], rules=rules)
    bench.push(rows[40:], [LAST])
    found = oz.match(left, SET, rules=rules, types=EVENT_TYPES)
    assert any(row["id"] == "new" for row in found)
    assert standing(bench.found()) == rows_of(found)


def test_rules_that_cannot_be_corrected() -> None:
    with pytest.raises(oz.OuzelError, match="speculation: not to be had with rules"):
        Bench(SET, 1, rules=RuleTables(), revision=OP, speculation="inf")
    with pytest.raises(oz.OuzelError, match="op: not to be had with rules that are texts"):
        Bench(["PATTERN A a"], 1, rules=RuleTables(), revision=OP)
