"""OUTPUT AGGREGATE in matchers: windows are reported once time has passed them, and a snapshot keeps open ones."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from semantics.everywhere import pushed

SCHEMA = pa.schema({"ts": "int64", "type": "string", "k": "int64", "x": "int64"})


def matcher(text: str, **options: Any) -> Any:
    """A matcher, and what it returns for events: their types and times, and the values of k and x."""
    return oz.matcher(f"{text} RETURN count(*) AS n, sum(a.x) AS x OUTPUT AGGREGATE EVERY 10", SCHEMA, **options)


def events_of(*rows: tuple[Any, ...]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


def starts(found: pa.Table) -> list[int]:
    return [int(start) for start in found.column("window_start").to_pylist()]


def test_a_window_is_reported_once_time_has_passed_it() -> None:
    at_work = matcher("PATTERN A a")
    assert starts(at_work.push(events_of((1, "A", 1, 1), (9, "A", 1, 1)))) == []
    assert starts(at_work.advance(9)) == []
    assert at_work.advance(10).to_pylist() == [{"window_start": 0, "window_end": 10, "n": 2, "x": 2}]
    assert starts(at_work.push(events_of((10, "A", 1, 1), (35, "A", 1, 1)))) == [10]
    assert starts(at_work.push(events_of((49, "B", 1, 1)))) == [30]
    assert starts(at_work.finish()) == []


def test_what_waits_keeps_its_window_open() -> None:
    at_work = matcher("PATTERN SEQ(A a, !(B b)) WHERE [k] WITHIN 30")
    assert starts(at_work.push(events_of((1, "A", 1, 1), (8, "A", 2, 1), (19, "C", 1, 1)))) == []
    # 1 stands at 31, 8 at 38; what begins at 35 waits till 65
    assert starts(at_work.push(events_of((35, "A", 3, 1)))) == []
    assert at_work.advance(38).to_pylist() == [
        {"window_start": 0, "window_end": 10, "k": 1, "n": 1, "x": 1},
        {"window_start": 0, "window_end": 10, "k": 2, "n": 1, "x": 1},
    ]
    assert starts(at_work.advance(64)) == []
    assert starts(at_work.advance(65)) == [30]


def test_a_window_that_was_refuted_whole_has_no_row() -> None:
    at_work = matcher("PATTERN SEQ(A a, !(B b)) WHERE [k] WITHIN 30")
    assert starts(at_work.push(events_of((1, "A", 1, 1), (11, "A", 2, 1), (12, "B", 1, 1), (60, "C", 1, 1)))) == [
        10
    ]
    assert starts(at_work.finish()) == []


def test_disorder_within_the_watermark() -> None:
    ordered = [(ts, "AB"[ts % 2], ts // 6 % 2, ts) for ts in range(-40, 60, 3)]
    mixed = [ordered[place ^ 1] for place in range(len(ordered))]
    text = "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 25"
    at_work, found = matcher(text, watermark=6), []
    for row in mixed:
        found += at_work.push(events_of(row)).to_pylist()
        at_work = oz.restore(at_work.snapshot())
    found += at_work.finish().to_pylist()
    whole = f"{text} RETURN count(*) AS n, sum(a.x) AS x OUTPUT AGGREGATE EVERY 10"
    assert found == oz.match(events_of(*ordered), whole, engine="reference").to_pylist()
    assert len(found) > 10


def test_late_events_change_nothing() -> None:
    at_work = matcher("PATTERN A a", on_late="keep")
    at_work.push(events_of((5, "A", 1, 1), (12, "A", 1, 1)))
    assert starts(at_work.push(events_of((6, "A", 1, 1), (21, "A", 1, 1)))) == [10]
    assert at_work.report.late == 1


def test_windows_come_in_order_however_many_close_at_once() -> None:
    at_work = matcher("PATTERN A a WHERE [k]")
    found = at_work.push(events_of(*((ts, "A", 3 - ts % 2, 1) for ts in range(1, 100, 3))))
    assert starts(found) == sorted(starts(found))
    assert found.column("k").to_pylist() == [2, 3] * 9


def test_what_is_kept_is_that_of_open_windows() -> None:
    at_work = matcher("PATTERN SEQ(A a, B b) WHERE [k] WITHIN 5")
    sizes = []
    for batch in range(60):
        times = range(batch * 1_000, batch * 1_000 + 1_000)
        at_work.push(events_of(*((ts, "AB"[ts % 2], ts % 40 // 2, 1) for ts in times)))
        sizes.append(len(at_work.snapshot()))
    assert max(sizes[30:]) <= 1.2 * max(sizes[:30])


def test_sums_of_fractions_are_those_of_match_but_for_the_last_digits() -> None:
    table = pa.table({"ts": range(50), "x": [n / 10 for n in range(50)]})
    text = "PATTERN a RETURN sum(a.x) AS s, avg(a.x) AS m OUTPUT AGGREGATE EVERY 20"
    whole = [list(row.values()) for row in oz.match(table, text).to_pylist()]
    found = [list(row.values()) for row in pushed(text, table)]
    assert found == [pytest.approx(row, rel=1e-14) for row in whole]


KINDS = {
    "small": pa.array([3, -1, 2, None, 3, 1], pa.int8()),
    "big": pa.array([2**63 - 1, None, 2**63 - 2, 5, -(2**63), 5], pa.int64()),
    "money": pa.array(["1.10", "2.20", "1.10", "0.00", None, "2.20"]).cast(pa.decimal128(9, 2)),
    "day": pa.array([3, 1, 2, 4, None, 3], pa.int32()).cast(pa.date32()),
    "at": pa.array([3, 1, 2, 4, None, 3], pa.timestamp("us", "Asia/Kolkata")),
    "code": pa.array([30, 10, None, 20, 30, 40]).dictionary_encode(),
    "float": pa.array([float("nan"), 2.0, 1.0, float("nan"), -0.0, 0.0]),
    "none": pa.nulls(6),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_values_of_every_type_over_batches(kind: str, size: int) -> None:
    table = pa.table({"ts": [1, 2, 3, 11, 12, 14], "v": KINDS[kind]})
    text = (
        "PATTERN a RETURN count(*), count(a.v) AS n, min(a.v) AS low, max(a.v) AS high OUTPUT AGGREGATE EVERY 10"
    )
    expected = oz.match(table, text, engine="reference")
    assert repr(pushed(text, table, size=size)) == repr(expected.to_pylist())
    matcher = oz.matcher(text, table.schema)
    assert matcher.push(table).schema == expected.schema == matcher.finish().schema


KEYS = {**KINDS, "text": pa.array(["u", "v", None, "u", "w", "v"])}
KEYS["words"] = KEYS["text"].dictionary_encode()


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_partitions_of_every_type_over_batches(kind: str, size: int) -> None:
    table = pa.table({"ts": [1, 2, 3, 11, 12, 14], "v": KEYS[kind]})
    text = "PATTERN a WHERE [v] RETURN count(*), max(a.ts) AS last OUTPUT AGGREGATE EVERY 10"
    expected = oz.match(table, text, engine="reference").to_pylist()
    assert repr(pushed(text, table, size=size)) == repr(expected)


def test_a_key_in_columns_of_two_types() -> None:
    types = {"A": {"id": pa.int64()}, "B": {"id2": pa.float64()}}
    table = pa.table({"ts": [1, 2, 3], "type": ["A", "B", "A"], "id": [1, None, 1], "id2": [None, 1.0, None]})
    text = "PATTERN A a | B b WHERE [id] RETURN count(*) AS n OUTPUT AGGREGATE EVERY 10"
    expected = oz.match(table, text, types=types, engine="reference").to_pylist()
    assert (
        pushed(text, table, types=types)
        == expected
        == [
            {"window_start": 0, "window_end": 10, "id": 1, "n": 2},
            {"window_start": 0, "window_end": 10, "id": None, "n": 1},
        ]
    )


def test_without_windows_a_matcher_reports_when_the_stream_ends() -> None:
    text = "PATTERN A a WHERE [k] RETURN count(*) AS n, sum(a.x) AS x OUTPUT AGGREGATE"
    at_work = oz.matcher(text, SCHEMA)
    assert at_work.push(events_of((1, "A", 1, 1), (2, "A", 2, 1))).num_rows == 0
    at_work = oz.restore(at_work.snapshot())
    assert at_work.push(events_of((30, "A", 1, 5))).num_rows == 0
    assert at_work.finish().to_pylist() == [{"k": 1, "n": 2, "x": 6}, {"k": 2, "n": 1, "x": 1}]
    nothing = oz.matcher("PATTERN A a RETURN count(*) AS n, sum(a.x) AS x OUTPUT AGGREGATE", SCHEMA)
    assert nothing.finish().to_pylist() == [{"n": 0, "x": None}]


def test_several_queries_and_composite_events() -> None:
    text = """
        QUERY p PATTERN SEQ(A a, B b) WITHIN 9 RETURN a.x AS x INTO T
        QUERY q PATTERN T t RETURN count(*) AS n, sum(t.x) AS x, max(t.x) AS high OUTPUT AGGREGATE EVERY 10
        QUERY r PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 20"""
    table = events_of(*((ts, "AB"[ts % 2], 1, ts) for ts in range(1, 60, 3)))
    expected = oz.match(table, text, engine="reference")
    at_work = oz.matcher(text, SCHEMA)
    found: dict[str, list[Any]] = {name: [] for name in "pqr"}
    for row in range(table.num_rows):
        for name, rows_found in at_work.push(table.slice(row, 1)).items():
            found[name] += rows_found.to_pylist()
        at_work = oz.restore(at_work.snapshot())
    for name, rows_found in at_work.finish().items():
        found[name] += rows_found.to_pylist()
    assert {name: sorted(map(repr, one)) for name, one in found.items()} == {
        name: sorted(map(repr, one.to_pylist())) for name, one in expected.items()
    }
    assert len(found["q"]) > 3


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            "sum(a.x) AS s OUTPUT AGGREGATE EVERY 20",
            "output: AGGREGATE EVERY 10 of sum(a.x), now AGGREGATE EVERY 20",
        ),
        ("max(a.x) AS s OUTPUT AGGREGATE EVERY 10", "EVERY 10 of sum(a.x), now AGGREGATE EVERY 10 of max(a.x)"),
        ("sum(a.x) AS s OUTPUT AGGREGATE", "of sum(a.x), now AGGREGATE of sum(a.x)"),
        ("a.x AS s", "output: AGGREGATE EVERY 10 of sum(a.x), now ALL"),
    ],
)
def test_a_snapshot_serves_the_same_aggregates_only(other: str, message: str) -> None:
    snapshot = oz.matcher("PATTERN A a RETURN sum(a.x) AS s OUTPUT AGGREGATE EVERY 10", SCHEMA).snapshot()
    with pytest.raises(oz.StateError) as error:
        oz.matcher(f"PATTERN A a RETURN {other}", SCHEMA).restore(snapshot)
    assert message in str(error.value)
    renamed = oz.matcher("PATTERN A a RETURN sum(a.x) AS other OUTPUT AGGREGATE EVERY 10 units", SCHEMA)
    renamed.restore(snapshot)
