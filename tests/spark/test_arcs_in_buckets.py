"""Arcs of an automaton changed by a second stream: in the buckets of a stream, and on Spark."""

from __future__ import annotations

import json
import os
import random
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from arc_cases import CHANGES, OTHER, ROWS, SPEC, Spec, expected
from correction_cases import corrected, standing
from ouzel.errors import StateError
from ouzel.runtimes.arc_rows import Arced, ArcRows
from ouzel.runtimes.revising import Revising
from ouzel.runtimes.revision import Revision
from ouzel.runtimes.spark import bucket_state, processor
from ouzel.runtimes.spark.rule_rows import RuleTables
from spark_bench import END, Bench
from spark_events import rows_of, stream
from spark_feeds import BUCKETS, Feed

KINDS = pa.schema({"at": pa.int64(), "add": pa.string(), "remove": pa.list_(pa.string())})


@pytest.mark.parametrize("speculation", [None, 0, "inf"])
@pytest.mark.parametrize("seed", range(3))
def test_any_cut_gives_the_same_matches(seed: int, speculation: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(bucket_state, "DELTAS", chance.choice((0, 2, 100)))
    disorder = chance.choice((0, 25))
    revision = None if speculation is None else Revision(op="op", punctuates=False)
    rows, left = corrected(stream(seed, 150, 200), seed, disorder)
    if revision is None:
        rows = sorted(left, key=lambda event: event["ts"] + chance.randint(0, disorder))
    how: Spec = {"rules": RuleTables(are_arcs=True), "revision": revision, "speculation": speculation or 0}
    bench = Bench(oz.automaton(SPEC), chance.randint(1, 4), disorder, **how)
    waiting = [(chance.randrange(change["at"]), change) for change in CHANGES]
    waiting[2] = (waiting[1][0], waiting[2][1])  # of two for one time, the first comes first
    latest = 0
    while rows:
        size = chance.randint(1, 60)
        batch, rows = rows[:size], rows[size:]
        latest = max(latest, *(event["ts"] for event in batch))
        held = [change for comes, change in waiting if comes <= latest]
        waiting = [(comes, change) for comes, change in waiting if comes > latest]
        changes = pa.Table.from_pylist(held, KINDS) if held else None
        if chance.random() < 0.4:
            processor._matchers.clear()
        if chance.random() < 0.4:
            before = deepcopy(bench.handles)
            packed = bench.packed([batch], changes)
            lost = bench.attempt(packed, 0)
            bench.handles = deepcopy(before)
            assert bench.attempt(packed.take(list(range(len(packed)))[::-1]), 0) == lost
            bench.handles = before
        bench.push(batch, rules=changes)
    bench.push([END if revision is None else {**END, "op": 1}])
    found = [row for row in bench.found() if row["valid_from"] < END["ts"]]
    assert "#refused" not in bench.told
    assert (rows_of(found) if revision is None else standing(found)) == expected(left)


def test_rows_that_make_no_sense_are_counted_once() -> None:
    bench = Bench(oz.automaton(SPEC), 3, rules=RuleTables(are_arcs=True))
    wrong = [
        {"add": "[{"},
        {"add": '{"id": 1}'},
        {"add": json.dumps([OTHER]).replace('"when"', '"when": "e.x = 1", "when"')},
        {"add": json.dumps([{**OTHER, "when": "e.nothing = 1"}])},
        {"add": json.dumps([{**OTHER, "set": {"m": "1"}}])},
        {"add": json.dumps([{**OTHER, "id": "b"}])},
        {"add": "[" * 100_000},
        {"remove": ["z"]},
        {},
    ]
    bench.push(rules=pa.Table.from_pylist(wrong, KINDS))
    assert bench.told["#refused"] == len(wrong)
    bench.push(rules=pa.Table.from_pylist([{"remove": ["b"]}], KINDS))
    bench.push([{**END, "eid": "a", "ts": 1, "type": "A", "k": 1, "x": 1}, {**END, "ts": 2, "k": 1, "x": 2}, END])
    assert [row["n"] for row in bench.found()] == [1]


ON = oz.automaton(start="q0", final=["q1"], register={"n": 0}).arc("q0", "q1", "e.x = 1", id="a")
EVENTS = pa.schema({"ts": pa.int64(), "x": pa.int64()})


def arced(events: pa.Schema, automaton: oz.Automaton = ON, params: Spec | None = None, **options: Any) -> Arced:
    """A matcher as a bucket has one."""
    query, params = oz.query(automaton), params or {}
    made = oz.matcher(query, events, params=params, type=None, time_unit="ms")
    rows = ArcRows(query.text, params, made._intake.none.schema, ("auto", {}))
    how: Spec = {"revision": Revision(punctuates=False), "speculation": "inf", "on_late": "keep", **options}
    return Arced(query.text, params, rows, lambda text, now: Revising(text, events, made.reading, now, **how))


def change(at: int, add: list[Spec], *remove: str) -> pa.Table:
    return pa.Table.from_pylist([{"at": at, "add": json.dumps(add), "remove": remove}], KINDS)


def test_arcs_are_refused_where_a_matcher_would_refuse_them_and_nowhere_else() -> None:
    least = oz.automaton(start="q0", final=["q1"], register={"n": 0}).arc("q0", "q1", "e.x > $least")
    arc: Spec = {"source": "q0", "target": "q1"}
    cases: list[tuple[list[Spec], list[str]]] = [
        ([{**arc, "id": "a0", "when": "e.x > 3"}], ["a0"]),  # the only one with the parameter
        ([{**arc, "when": "e.x = 1"}, {**arc, "id": "a1", "when": "e.x = 0"}], []),
        ([{**arc, "when": "e.x = 1"}], []),
        ([{**arc, "when": "e.x > $least"}], ["a0"]),
    ]
    for add, remove in cases:
        some = arced(EVENTS, least, {"least": 5})
        some.push(pa.table({"ts": [1], "x": [2]}), 2)
        assert some.take(change(2, add, *remove)) == 0
        assert some.push(None, 3)[1] == 0
        oz.matcher(least, EVENTS, params={"least": 5}).change(add, remove)
    assert arced(EVENTS, least, {"least": 5}).take(change(2, [{**arc, "when": "e.x > $most"}])) == 1


def test_a_function_that_fails_in_a_change_ends_the_stream() -> None:
    """As a limit does: it may fail on the events of one bucket alone."""
    oz.register_function("no_three", lambda x: 1 // (x - 3) < 9, returns="boolean")
    some = arced(EVENTS)
    some.push(pa.table({"ts": [5], "x": [3]}), 5)
    some.take(change(5, [{"id": "b", "source": "q0", "target": "q1", "when": "no_three(e.x)"}]))
    with pytest.raises(oz.FunctionError):
        some.push(None, 6)


def test_late_events_are_told_at_once_where_a_change_is_refused() -> None:
    bench = Bench(oz.automaton(SPEC), 1, rules=RuleTables(are_arcs=True))
    first = {**END, "eid": "a", "ts": 50, "type": "A", "k": 1, "x": 1}
    bench.push([first])
    bench.push([{**first, "ts": 90}])
    wrong = pa.Table.from_pylist([{"add": json.dumps([{**OTHER, "id": "b"}])}], KINDS)
    bench.push([{**first, "eid": "late", "ts": 1}], rules=wrong)
    assert bench.told["#refused"] == 1
    assert bench.told["late"] == 1


def test_a_time_that_cannot_be_counted_is_refused() -> None:
    some = arced(pa.schema({"ts": pa.timestamp("ns"), "x": pa.int64()}))
    far = pa.table({"at": [datetime(9999, 12, 31, tzinfo=UTC).replace(tzinfo=None)], "remove": [["a"]]})
    assert some.take(far) == 1
    some.restore(some.snapshot())


def test_a_limit_that_a_change_meets_ends_the_stream() -> None:
    """If the change were refused, it would be so in some buckets, and not in others."""
    some = arced(EVENTS, limits=oz.Limits(max_matches=3))
    some.push(pa.table({"ts": list(range(5)), "x": [2] * 5}), 0)
    every = json.dumps([{"id": "every", "source": "q0", "target": "q1"}])
    assert some.take(pa.table({"at": [0], "add": [every]})) == 0
    with pytest.raises(oz.OuzelError, match="more than 3 matches"):
        some.push(pa.table({"ts": [7], "x": [2]}), 3)


def test_what_cannot_change() -> None:
    with pytest.raises(oz.OuzelError, match="arcs: required one register automaton"):
        Bench("PATTERN A a", 1, rules=RuleTables(are_arcs=True))
    with pytest.raises(oz.OuzelError, match="arcs: required a Spark stream of them"):
        oz.match([END], oz.automaton(SPEC), arcs=[{"add": "[]"}])
    bench, other = (
        Bench(oz.automaton({**SPEC, "window": window}), 1, rules=RuleTables(are_arcs=True)) for window in (30, 31)
    )
    bench.push([END])
    other.handles = bench.handles
    with pytest.raises(StateError, match="required one of the same query"):
        other.push([END])


def test_a_stream_on_spark(feed: Feed, tmp_path: Path) -> None:
    events = sorted(stream(5, 120, 200), key=lambda event: int(event["ts"]))
    arcs = tmp_path / "arcs"
    arcs.mkdir()
    feed.add(events[:40], events[40:80])
    for number, rows in enumerate(([*CHANGES[:3], {"add": "["}], CHANGES[3:])):
        path = arcs / f"{number}.json"
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        os.utime(path, (1_000_000_000 + number,) * 2)
    report = oz.Report()
    refused = 0
    for more in ([], [events[80:], [END]]):
        feed.add(*more)
        changes = oz.read_stream(arcs, ROWS, session=feed.spark)
        feed.run(oz.automaton(SPEC), BUCKETS, arcs=changes, report=report)
        refused += sum(row["refused"] for row in feed.metrics)
    assert refused == 1
    assert report.refused_rules.columns == ["at", "add", "remove", "problem"]
    found = [row.asDict() for row in feed.found().collect()]
    assert rows_of([row for row in found if row["valid_from"] < END["ts"]]) == expected(events)
    wrong = feed.spark.readStream.schema("at long, plus string").json(str(arcs))
    with pytest.raises(oz.SchemaError, match="arcs: required a column 'add' or 'remove'"):
        oz.match(feed.read(), oz.automaton(SPEC), arcs=wrong)
    for kind in ("string", "timestamp", "double"):
        wrong = feed.spark.readStream.schema(f"at {kind}, add string").json(str(arcs))
        with pytest.raises(oz.SchemaError, match="arcs: column 'at': required int64, as the time of events; got"):
            oz.match(feed.read(), oz.automaton(SPEC), arcs=wrong)
    misspelt = feed.spark.readStream.schema("att long, add string").json(str(arcs))
    with pytest.raises(oz.SchemaError, match="arcs: required a column 'at'; got add, att"):
        oz.match(feed.read(), oz.automaton(SPEC), arcs=misspelt)
