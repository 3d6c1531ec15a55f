"""Snapshots that are foreign, damaged or of another query are refused with a StateError; new RETURNs are not."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ouzel as oz
from ouzel.state import snapshot as snapshots

SCHEMA = pa.schema({"ts": pa.int64(), "type": pa.string(), "k": pa.string(), "x": pa.float64()})
QUERY = "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match { [k] AND a[i].x > $least } WITHIN 50 RETURN b.x AS x"


def events(begin: int, end: int) -> pa.Table:
    rows = [{"ts": n, "type": "AAB"[n % 3], "k": "uv"[n % 2], "x": float(n % 7)} for n in range(begin, end)]
    return pa.Table.from_pylist(rows, SCHEMA)


def begun(query: str = QUERY, **params: Any) -> oz.Matcher:
    matcher = oz.matcher(query, SCHEMA, params={"least": 1, **params})
    matcher.push(events(0, 40))
    return matcher


SNAPSHOT = begun().snapshot()


def test_a_snapshot_says_all_that_is_needed() -> None:
    again = oz.restore(SNAPSHOT)
    matcher = begun()
    assert again.push(events(40, 80)).equals(matcher.push(events(40, 80)))
    assert again.finish().equals(matcher.finish())
    assert again.report.events == 80


@given(st.integers(0, len(SNAPSHOT) - 1))
def test_a_truncated_snapshot_is_refused(length: int) -> None:
    with pytest.raises(oz.StateError, match="required one that a matcher has written, whole; got"):
        oz.restore(SNAPSHOT[:length])


@given(st.integers(0, len(SNAPSHOT) - 1), st.integers(1, 255))
def test_a_damaged_snapshot_is_refused_or_means_the_same(place: int, change: int) -> None:
    damaged = bytearray(SNAPSHOT)
    damaged[place] ^= change
    try:
        again = oz.restore(bytes(damaged))
    except oz.OuzelError:
        return
    # padding between values may change without harm
    assert again.push(events(40, 80)).equals(begun().push(events(40, 80)))


def test_a_header_that_has_changed_is_refused() -> None:
    """It stands in the file twice; what counts is the second."""
    damaged = bytearray(SNAPSHOT)
    damaged[SNAPSHOT.rindex(b'"queries"') + 1] ^= 1
    with pytest.raises(oz.StateError, match="required it as it was written"):
        oz.restore(bytes(damaged))


@pytest.mark.parametrize("data", [b"", b"not a snapshot", b"ARROW1\0\0" + bytes(100)])
def test_foreign_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(oz.StateError, match="required one that a matcher has written"):
        oz.restore(data)


def test_another_arrow_file_is_refused() -> None:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, SCHEMA) as writer:
        writer.write_table(events(0, 5))
    with pytest.raises(oz.StateError, match="got another Arrow file"):
        oz.restore(sink.getvalue().to_pybytes())


def test_text_is_refused() -> None:
    with pytest.raises(oz.StateError, match="snapshot: required bytes; got str"):
        oz.restore("snapshot")  # type: ignore[arg-type]


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "VERSION", 7)
    newer = begun().snapshot()
    monkeypatch.undo()
    with pytest.raises(oz.StateError, match="required version 6 of the format; got 7\n  hint: read it with"):
        oz.restore(newer)


@pytest.mark.parametrize(
    ("query", "params", "difference"),
    [
        (QUERY.replace("WITHIN 50", "WITHIN 60"), {}, "window: 50, now 60"),
        (QUERY.replace("[k] AND ", ""), {}, "equivalence: [k], now none"),
        (QUERY.replace("a[i].x >", "a[i].x <"), {}, "conditions: a[i].x > $least, now a[i].x < $least"),
        (QUERY.replace("next", "any"), {}, "strategy: skip_till_next_match, now skip_till_any_match"),
        (QUERY.replace("A+ a", "A* a"), {}, "pattern: "),
        (QUERY, {"least": 2}, "parameters: least=1, now least=2"),
    ],
)
def test_the_snapshot_of_another_query_is_refused(query: str, params: dict[str, Any], difference: str) -> None:
    matcher = oz.matcher(query, SCHEMA, params={"least": 1, **params})
    with pytest.raises(
        oz.StateError, match="required one of the same query; got another\n.*" + re.escape(difference)
    ):
        matcher.restore(SNAPSHOT)


def test_another_schema_is_refused() -> None:
    matcher = oz.matcher(QUERY, SCHEMA.append(pa.field("y", pa.int64())), params={"least": 1})
    with pytest.raises(oz.StateError, match="schema: other columns or types"):
        matcher.restore(SNAPSHOT)


def test_what_a_query_returns_may_change() -> None:
    query = QUERY.replace("RETURN b.x AS x", "RETURN b.x + 1 AS more, a.LEN AS n")
    matcher = oz.matcher(query, SCHEMA, params={"least": 1})
    matcher.restore(SNAPSHOT)
    found = matcher.push(events(40, 80))
    assert found.column_names == ["more", "n"]
    assert found.num_rows == begun().push(events(40, 80)).num_rows > 0


@pytest.mark.parametrize(
    ("part", "value", "difference"),
    [
        ("window", 31, "window: 30, now 31"),
        ("register", {"n": 1}, "register: n int64 = 0, now n int64 = 1"),
        ("partition", ["x"], "partition: "),
        ("events", ["A"], "events: all, now A"),
    ],
)
def test_the_snapshot_of_another_automaton_is_refused(part: str, value: Any, difference: str) -> None:
    spec = {"start": "q0", "final": ["q1"], "window": 30, "register": {"n": 0}}
    spec["arcs"] = [{"source": "q0", "target": "q1", "set": {"n": "n + 1"}}]
    schema = pa.schema({"ts": pa.int64(), "type": pa.string(), "x": pa.int64()})
    before, after = (oz.matcher(oz.automaton(one), schema) for one in (spec, {**spec, part: value}))
    with pytest.raises(oz.StateError, match=re.escape(difference)):
        after.restore(before.snapshot())
