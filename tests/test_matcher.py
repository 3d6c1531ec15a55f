"""A matcher finds what `match` finds, however the stream is cut into batches, and wherever it is restored."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given, settings

import ouzel as oz
from engines.pushes import Events, Pushes, matched, pushed, pushes
from ouzel.physical.compiled import kernel
from ouzel.testing.strategies import RandomQuery, queries, streams

SCHEMA = pa.schema(
    {"eid": pa.string(), "ts": pa.int64(), "type": pa.string(), "k": pa.int64(), "x": pa.int64(), "y": pa.int64()}
)
ALL = queries(non_overlap=True, totals=True, lacking=True)


@settings(max_examples=150)
@given(ALL, streams(), pushes())
def test_batches_make_no_difference(query: RandomQuery, events: Events, cut: Pushes) -> None:
    assert pushed(query.text, events, cut) == matched(query.text, events)


@settings(max_examples=100)
@given(ALL, streams(), pushes())
def test_batches_make_no_difference_to_the_reference(query: RandomQuery, events: Events, cut: Pushes) -> None:
    assert pushed(query.text, events, cut, engine="reference") == matched(query.text, events)


@settings(max_examples=2)
@given(ALL, streams(), pushes())
def test_batches_make_no_difference_compiled(query: RandomQuery, events: Events, cut: Pushes) -> None:
    with patch.object(kernel, "COMPILE_FROM", 0):
        assert pushed(query.text, events, cut) == matched(query.text, events)


@pytest.mark.parametrize(
    "query",
    [
        "PATTERN A a & B b WHERE a.k = b.k WITHIN 4 RETURN a.eid AS a, b.eid AS b",
        "PATTERN A a & B b & !C c WITHIN 4 RETURN a.eid AS a, b.eid AS b",
        "PATTERN A; B+; C WITHIN 5 RETURN A.eid AS a, count(B) AS n, C.eid AS c",
        "PATTERN A; B*; C RETURN A.eid AS a, C.eid AS c",
    ],
)
@settings(max_examples=60)
@given(events=streams(), cut=pushes())
def test_operators_of_zstream(query: str, events: Events, cut: Pushes) -> None:
    assert pushed(query, events, cut) == matched(query, events)


COMPOSED = """
QUERY pairs PATTERN SEQ(A a, B b, !C c) WHERE a.x <= b.x WITHIN 3 RETURN a.eid AS a, b.eid AS b INTO Pair
QUERY whole PATTERN SEQ(Pair p, A last) WITHIN 6 RETURN p.a AS a, p.b AS b, last.eid AS last
"""


@settings(max_examples=100)
@given(streams(), pushes())
def test_composite_events(events: Events, cut: Pushes) -> None:
    assert pushed(COMPOSED, events, cut) == matched(COMPOSED, events)


STEPS = "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 5 RETURN a.eid AS a, b.eid AS b"


def table(*rows: tuple[str, int | None, str | None]) -> pa.Table:
    """Events of one partition: their names, times and types."""
    events = [{"eid": eid, "ts": ts, "type": kind, "k": 1, "x": None, "y": None} for eid, ts, kind in rows]
    return pa.Table.from_pylist(events, SCHEMA)


def test_events_of_the_latest_moment_wait_for_others_of_it() -> None:
    matcher = oz.matcher(STEPS, SCHEMA)
    assert matcher.push(table(("e1", 1, "A"), ("e2", 2, "B"))).to_pylist() == []
    assert matcher.push(table(("e3", 2, "B"))).to_pylist() == []
    assert matcher.advance(3).to_pylist() == [{"a": "e1", "b": "e2"}, {"a": "e1", "b": "e3"}]
    assert matcher.finish().num_rows == 0


def test_a_match_that_may_be_refuted_waits_for_its_window() -> None:
    query = "PATTERN SEQ(A a, B b, !(C c)) WITHIN 5 RETURN a.eid AS a, b.eid AS b"
    matcher = oz.matcher(query, SCHEMA)
    assert matcher.push(table(("e1", 1, "A"), ("e2", 2, "B"), ("e3", 4, "A"))).num_rows == 0
    assert matcher.advance(5).num_rows == 0
    assert matcher.advance(6).to_pylist() == [{"a": "e1", "b": "e2"}]


def test_late_events_are_refused_and_nothing_is_taken() -> None:
    matcher = oz.matcher(STEPS, SCHEMA)
    matcher.push(table(("e1", 10, "A")))
    with pytest.raises(oz.DataError, match=r"1 of 2 events come too late: time has passed 10; the first .* at 9"):
        matcher.push(table(("e2", 9, "A"), ("e3", 11, "B")))
    assert matcher.push(table(("e4", 12, "B"))).num_rows == 0
    assert matcher.finish().to_pylist() == [{"a": "e1", "b": "e4"}]


def test_late_events_can_be_had() -> None:
    matcher = oz.matcher(STEPS, SCHEMA, on_late="keep")
    matcher.push(table(("e1", 10, "A")))
    matcher.push(table(("e2", 9, "A"), ("e3", 11, "B")))
    assert matcher.late.column("eid").to_pylist() == ["e2"]
    assert matcher.report.late == 1
    again = oz.restore(matcher.snapshot())
    assert again.late.column("eid").to_pylist() == ["e2"]
    assert again.report.late == 1
    assert again.take_late().column("eid").to_pylist() == ["e2"]
    assert again.take_late().num_rows == 0
    assert again.report.late == 1
    assert again.finish().to_pylist() == [{"a": "e1", "b": "e3"}]


def test_malformed_events_can_be_had() -> None:
    matcher = oz.matcher(STEPS, SCHEMA, on_bad="quarantine")
    assert matcher.report.quarantined.num_rows == matcher.report.quarantined_count == 0
    matcher.push(table(("e1", 10, "A")))
    matcher.push(table(("e2", None, "A"), ("e3", 11, None)))
    matcher.push(table(("e4", None, None)))
    problems = ["the event has no time", "the event has no type", "the event has no time"]
    again = oz.restore(matcher.snapshot())
    for one in (matcher, again):
        kept = one.report.quarantined
        assert kept.select(["eid", "row"]).to_pylist() == [
            {"eid": "e2", "row": 1},
            {"eid": "e3", "row": 2},
            {"eid": "e4", "row": 3},
        ]
        assert all(text in said for text, said in zip(problems, kept["problem"].to_pylist(), strict=True))
        assert [problem.row for problem in one.report.problems] == [1, 2, 3, 3]
        assert (one.report.events, one.report.quarantined_count) == (4, 3)
    assert again.take_quarantined().num_rows == 3
    assert (again.report.quarantined.num_rows, again.report.problems) == (0, [])
    again.push(table(("e5", 12, None)))
    assert again.report.quarantined["row"].to_pylist() == [4]
    assert again.report.quarantined_count == oz.restore(again.snapshot()).report.quarantined_count == 4


def test_a_refused_push_sets_nothing_aside() -> None:
    matcher = oz.matcher(STEPS, SCHEMA, on_bad="quarantine")
    matcher.push(table(("e1", 10, "A")))
    with pytest.raises(oz.DataError, match="come too late"):
        matcher.push(table(("e2", 9, "A"), ("e3", None, "B")))
    assert (matcher.report.events, matcher.report.quarantined.num_rows) == (1, 0)


def test_a_batch_may_say_how_far_time_has_passed() -> None:
    batch = pa.Table.from_pylist(
        [{"eid": "e0", "ts": 1, "type": "A"}, {"eid": "e1", "ts": 2, "type": "B"}], SCHEMA
    )
    query = "PATTERN SEQ(A a, B b) RETURN a.eid AS a, b.eid AS b"
    one, two = oz.matcher(query, SCHEMA, watermark=100), oz.matcher(query, SCHEMA, watermark=100)
    assert one.push(batch, 3).to_pylist() == [{"a": "e0", "b": "e1"}]
    assert two.push(batch, 2).num_rows == 0
    assert two.push(batch.slice(2), 3).to_pylist() == [{"a": "e0", "b": "e1"}]


def test_a_watermark_waits_for_events_out_of_order() -> None:
    schema = pa.schema({"ts": pa.timestamp("s"), "type": pa.string()})
    matcher = oz.matcher(
        "PATTERN SEQ(A a, B b) RETURN a.ts AS a, b.ts AS b", schema, watermark="30 seconds 0.5 min"
    )

    def at(second: int, kind: str) -> pa.Table:
        return pa.table({"ts": pa.array([second], pa.timestamp("s")), "type": [kind]})

    assert matcher.push(at(50, "B")).num_rows == 0
    assert matcher.push(at(20, "A")).num_rows == 0
    assert matcher.push(at(110, "C")).num_rows == 0
    found = matcher.push(at(111, "C"))
    assert found.column("a").cast(pa.int64()).to_pylist() == [20]
    with pytest.raises(oz.DataError, match="come too late"):
        matcher.push(at(50, "B"))


def test_tie_breakers_order_events_across_batches() -> None:
    schema = pa.schema({"ts": pa.int64(), "seq": pa.int64(), "type": pa.string()})
    query = "PATTERN SEQ(A a, B b) RETURN a.seq AS a, b.seq AS b"
    matcher = oz.matcher(query, schema, order=["ts", "seq"])
    rows = [{"ts": 1, "seq": 2, "type": "B"}, {"ts": 1, "seq": 1, "type": "A"}, {"ts": 1, "seq": 0, "type": "B"}]
    for row in rows:
        assert matcher.push(pa.Table.from_pylist([row], schema)).num_rows == 0
    later = pa.Table.from_pylist([{"ts": 2, "seq": 0, "type": "B"}], schema)
    assert matcher.push(later).to_pylist() == [{"a": 1, "b": 2}]
    assert matcher.finish().to_pylist() == [{"a": 1, "b": 0}]


def test_a_finished_matcher_takes_no_more() -> None:
    matcher = oz.matcher(STEPS, SCHEMA)
    matcher.finish()
    for use in (matcher.finish, matcher.snapshot, lambda: matcher.push(table(("e1", 1, "A")))):
        with pytest.raises(oz.OuzelError, match="the matcher is finished"):
            use()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: oz.matcher(STEPS, {"ts": "int64"}), "schema: required a pyarrow schema; got dict"),
        (lambda: oz.matcher(STEPS, SCHEMA, on_late="drop"), "on_late: required one of error, keep; got 'drop'"),
        (lambda: oz.matcher(STEPS, SCHEMA, watermark="soon"), "watermark: required a length of time such as"),
        (
            lambda: oz.matcher(STEPS, SCHEMA, watermark=timedelta(-1)),
            "watermark: required a length of time such as",
        ),
        (lambda: oz.matcher(STEPS, SCHEMA, watermark="1 hour, 2"), "watermark: required a length of time such as"),
        (lambda: oz.matcher(STEPS, SCHEMA).push([1]), "push: required a pyarrow record batch or table; got list"),
        (lambda: oz.matcher(STEPS, SCHEMA).push(pa.table({"ts": [1]})), "push: required the columns eid"),
        (lambda: oz.matcher(STEPS, SCHEMA).advance("noon"), "advance: required a time as in the column 'ts'"),
    ],
)
def test_messages(make: Any, message: str) -> None:
    with pytest.raises(oz.OuzelError, match=message):
        make()


@pytest.mark.parametrize("query", [STEPS, STEPS.replace("WHERE [k]", "WHERE skip_till_next_match { [k] }")])
def test_memory_is_that_of_the_window(query: str) -> None:
    """A thousand windows pass; a snapshot holds about as much as after ten."""
    matcher = oz.matcher(query, SCHEMA)
    sizes = []
    for batch in range(200):
        rows = [(f"e{n}", n, "ABC"[n % 3]) for n in range(batch * 250, batch * 250 + 250)]
        matcher.push(table(*rows))
        sizes.append(len(matcher.snapshot()))
    assert max(sizes[100:]) <= 1.2 * max(sizes[:100])


def test_the_time_of_pushes_is_counted() -> None:
    matcher = oz.matcher("PATTERN SEQ(A a, B b)", pa.schema({"ts": "int64", "type": "string"}))
    told = [matcher.report.seconds]
    matcher.push(pa.table({"ts": [1, 2], "type": ["A", "B"]}))
    told.append(matcher.report.seconds)
    matcher.advance(3)
    told.append(matcher.report.seconds)
    matcher.finish()
    told.append(matcher.report.seconds)
    assert told[0] == 0.0
    assert told == sorted(set(told))
    assert told[-1] < 60
