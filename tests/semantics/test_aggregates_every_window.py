"""OUTPUT AGGREGATE EVERY: a row for each partition and window of time, of the matches that end in it."""

from __future__ import annotations

import warnings
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import ouzel as oz
from semantics.harness import rows, stream

CLOSURE = "PATTERN SEQ(A+ a[], B b)"
PAIR = "PATTERN SEQ(A a, B b)"
ENGINES = ("reference", "scan", "automaton", "auto")


def totals(query: str, items: str, every: str, events: Any, **options: Any) -> list[tuple[Any, ...]]:
    """The rows of a result as tuples, the same on every engine that takes the query, and in matchers.

    The items need no names.
    """
    named = ", ".join(f"{item} AS c{number}" for number, item in enumerate(items.split(", ")))
    text = f"{query} RETURN {named} OUTPUT AGGREGATE EVERY {every}"
    expected = rows(text, events, engine="reference", **options)
    for engine in ENGINES[1:]:
        try:
            assert rows(text, events, engine=engine, **options) == expected, engine
        except oz.OuzelError as error:
            if "cannot run this query" not in str(error):
                raise
    if not isinstance(events, dict):
        rows_in_order = sorted(stream(events) if isinstance(events, str) else events, key=lambda row: row["ts"])
        names = dict.fromkeys(name for row in rows_in_order for name in row)
        table = pa.table({name: [row.get(name) for row in rows_in_order] for name in names})
        for engine in ("reference", "auto"):
            assert pushed(text, table, engine=engine, **options) == expected, f"a matcher, {engine}"
    return [tuple(row.values()) for row in expected]


def pushed(text: str, events: pa.Table, *, size: int = 1, **options: Any) -> list[dict[str, Any]]:
    """What a matcher returns in all, pushed some events at a time, with a snapshot after every push."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oz.OuzelWarning)
        matcher = oz.matcher(text, events.schema, **options)
        found: list[dict[str, Any]] = []
        for begin in range(0, events.num_rows, size):
            found += matcher.push(events.slice(begin, size)).to_pylist()
            matcher = oz.restore(matcher.snapshot())
        return found + list(matcher.finish().to_pylist())


def at(*times: int, types: str = "", **columns: Any) -> list[dict[str, Any]]:
    """Events at some times, all of type A if nothing else is said."""
    kinds = types or "A" * len(times)
    values = ({name: column[place] for name, column in columns.items()} for place in range(len(times)))
    return [{"ts": ts, "type": kind, **row} for ts, kind, row in zip(times, kinds, values, strict=True)]


# ---- which window ----------------------------------------------------------------------------------------


def test_a_match_is_counted_where_it_ends() -> None:
    # a3 b8 and a9 b11, a3 b11
    events = "a3:x=1 b8:x=0 a9:x=2 b11:x=0"
    assert totals(PAIR, "count(*), sum(a.x)", "10", events) == [(0, 10, 1, 1), (10, 20, 2, 3)]


def test_a_window_begins_where_the_one_before_ends() -> None:
    events = at(-11, -10, -9, -1, 0, 1, 9, 10, 11)
    expected = [(-20, -10, 1), (-10, 0, 3), (0, 10, 3), (10, 20, 2)]
    assert totals("PATTERN A a", "count(*)", "10", events) == expected


def test_windows_without_a_match_have_no_row() -> None:
    assert totals("PATTERN A a", "count(*)", "10", "a5 a35 b41") == [(0, 10, 1), (30, 40, 1)]
    assert totals(PAIR, "count(*)", "10", "a5 a35") == []


def test_a_window_of_one_tick() -> None:
    assert totals("PATTERN A a", "count(*)", "1", "a5 a5' a6") == [(5, 6, 2), (6, 7, 1)]


def test_a_window_that_holds_all() -> None:
    assert totals("PATTERN A a", "count(*)", "1 week", "a5 a35") == [(0, 604_800_000, 2)]


def test_lengths_of_several_parts_and_parameters() -> None:
    events = at(0, 89_999, 90_000)
    expected = [(0, 90_000, 2), (90_000, 180_000, 1)]
    assert totals("PATTERN A a", "count(*)", "1 min 30 s", events) == expected
    for given in (90_000, "90 s", "1 minute 30 seconds", timedelta(seconds=90), pd.Timedelta("90s")):
        assert totals("PATTERN A a", "count(*)", "$d", events, params={"d": given}) == expected
    assert totals("PATTERN A a", "count(*)", "1 min $s s", events, params={"s": 30}) == expected


def test_windows_and_the_window_of_a_match_have_nothing_in_common() -> None:
    events = "a1 b2 a8 b9 b12"
    assert totals(f"{PAIR} WITHIN 5", "count(*)", "10", events) == [(0, 10, 2), (10, 20, 1)]
    assert totals(f"{PAIR} WITHIN 2 EVENTS", "count(*)", "10", events) == [(0, 10, 2)]
    assert totals(PAIR, "count(*)", "2", events) == [(2, 4, 1), (8, 10, 2), (12, 14, 2)]


# ---- by partition ----------------------------------------------------------------------------------------


def test_by_window_and_then_by_partition() -> None:
    events = at(1, 2, 11, 12, 13, 21, id=[2, 1, 1, 2, 1, 2], x=[1, 2, 3, 4, 5, 6])
    expected = [(0, 10, 1, 1, 2), (0, 10, 2, 1, 1), (10, 20, 1, 2, 5), (10, 20, 2, 1, 4), (20, 30, 2, 1, 6)]
    assert totals("PATTERN A a WHERE [id]", "count(*), max(a.x)", "10", events) == expected


def test_the_columns_of_windows_come_first() -> None:
    text = "PATTERN A a WHERE [id] RETURN count(*) AS n OUTPUT AGGREGATE EVERY 10"
    assert rows(text, "a1:id=7") == [{"window_start": 0, "window_end": 10, "id": 7, "n": 1}]


def test_nulls_of_keys() -> None:
    # events without the attribute are in every partition; with null in it, in none
    events = {"A": [{"ts": 1, "id": 7}, {"ts": 2, "id": None}, {"ts": 11, "id": 7}], "B": [{"ts": 3}, {"ts": 12}]}
    assert totals("PATTERN A a | B b WHERE [id]", "count(*)", "10", events) == [
        (0, 10, 7, 1),
        (0, 10, None, 1),
        (10, 20, 7, 1),
        (10, 20, None, 1),
    ]
    assert totals("PATTERN A a | B b WHERE [id = 7]", "count(*)", "10", events) == [(0, 10, 7, 2), (10, 20, 7, 2)]


def test_text_keys_and_two_attributes() -> None:
    events = at(1, 2, 3, 12, id=[2, 1, 2, 2], name=["u", "v", "u", "u"])
    expected = [(0, 10, 1, "v", 1), (0, 10, 2, "u", 2), (10, 20, 2, "u", 1)]
    assert totals("PATTERN A a WHERE [id, name]", "count(*)", "10", events) == expected


# ---- patterns and aggregates -----------------------------------------------------------------------------


def test_every_aggregate() -> None:
    # [a1] b5, [a2] b5, [a1 a2] b5; and with a8 before b11 four more than these
    events = "a1:x=1 a2:x=2 b5:x=0 a8:x=4 b11:x=9"
    items = "count(*), count(a[]), sum(a[].x), avg(a[].x), min(a[].x), max(a[].x), count(b), max(b.ts)"
    assert totals(CLOSURE, items, "10", events) == [
        (0, 10, 3, 4, 6, 1.5, 1, 2, 3, 5),
        (10, 20, 7, 12, 28, 28 / 12, 1, 4, 7, 11),
    ]


def test_nulls_are_left_out() -> None:
    events = at(1, 2, 11, x=[None, 3, None])
    items = "count(*), count(a.x), sum(a.x), min(a.x)"
    assert totals("PATTERN A a", items, "10", events) == [(0, 10, 2, 1, 3, 3), (10, 20, 1, 0, None, None)]


def test_strategies() -> None:
    events = "a1 c2 a3 b4 a9 b12"
    query = f"{CLOSURE} WHERE {{}} {{{{ }}}}"
    assert totals(query.format("strict_contiguity"), "count(*), count(a[])", "10", events) == [
        (0, 10, 1, 1),
        (10, 20, 1, 1),
    ]
    assert totals(query.format("skip_till_next_match"), "count(*)", "10", events) == [(0, 10, 2), (10, 20, 3)]
    assert totals(query.format("skip_till_any_match"), "count(*)", "10", events) == [(0, 10, 3), (10, 20, 7)]


def test_negation() -> None:
    # at the end: a match counts where its last event is, not where its window ends
    events = "a1 n2 a8 a15 n19 a25"
    assert totals("PATTERN SEQ(A a, !(N n)) WITHIN 5", "count(*)", "10", events) == [(0, 10, 1), (20, 30, 1)]
    assert totals("PATTERN SEQ(!(N n), A a) WITHIN 7", "count(*)", "10", events) == [(0, 10, 1), (10, 20, 1)]
    assert totals("PATTERN SEQ(A a, !(N n), A b)", "count(*)", "10", events) == [(10, 20, 1)]


def test_conjunctions_groups_and_alternatives() -> None:
    events = "b1 a2 b3 c5 a11 c12"
    assert totals("PATTERN A & B", "count(*)", "10", events) == [(0, 10, 2), (10, 20, 2)]
    assert totals("PATTERN A; B+; C", "count(*), count(B)", "10", events) == [(0, 10, 1, 1), (10, 20, 1, 1)]
    assert totals("PATTERN A a | C c", "count(*), count(c)", "10", events) == [(0, 10, 2, 1), (10, 20, 2, 1)]


def test_composite_events_end_where_their_last_event_does() -> None:
    text = "QUERY p PATTERN SEQ(A a, B b) WITHIN 5 RETURN a.x INTO T QUERY q PATTERN T t RETURN "
    text += "count(*) AS n, sum(t.x) AS x OUTPUT AGGREGATE EVERY 10"
    found = rows(text, "a1:x=1 b2:x=0 a9:x=2 b11:x=0", of="q")
    assert [tuple(row.values()) for row in found] == [(0, 10, 1, 1), (10, 20, 1, 2)]


def test_events_of_one_time_that_have_an_order() -> None:
    events = [{"ts": ts, "seq": seq, "type": kind} for ts, seq, kind in ((9, 1, "A"), (10, 2, "B"), (10, 1, "A"))]
    assert totals(PAIR, "count(*)", "10", events, order=["ts", "seq"]) == [(10, 20, 2)]


# ---- types of times --------------------------------------------------------------------------------------


def edges(times: Any, every: str, **options: Any) -> tuple[list[Any], list[Any], pa.DataType]:
    found = oz.match(
        pa.table({"ts": times}), f"PATTERN a RETURN count(*) OUTPUT AGGREGATE EVERY {every}", **options
    )
    assert found.schema.types[:2] == [found.schema.types[0]] * 2
    return *(found.column(name).to_pylist() for name in ("window_start", "window_end")), found.schema.types[0]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_windows_of_timestamps_are_aligned_to_the_first_hour_of_1970_in_utc(unit: str) -> None:
    for zone in (None, "UTC", "Asia/Kolkata"):
        moment = datetime(2026, 3, 1, 5, 59, 59, tzinfo=UTC if zone else None)
        kind = pa.timestamp(unit, zone)
        starts, ends, found = edges(pa.array([moment], kind), "6 hours")
        assert found == kind
        assert starts == [moment.replace(hour=0, minute=0, second=0)]
        assert ends == [moment.replace(hour=6, minute=0, second=0)]


def test_days_and_weeks() -> None:
    days = pa.array([date(1970, 1, 7), date(1970, 1, 8), date(1969, 12, 31)])
    starts, ends, kind = edges(days, "1 week")  # the first of 1970 was a Thursday
    assert (starts, kind) == ([date(1969, 12, 25), date(1970, 1, 1), date(1970, 1, 8)], pa.date32())
    assert ends == [date(1970, 1, 1), date(1970, 1, 8), date(1970, 1, 15)]
    assert edges(days.cast(pa.date64()), "1 week")[2] == pa.date64()


def test_integers_count_in_their_own_unit() -> None:
    assert edges(pa.array([7_199, 7_200]), "2 hours", time_unit="s")[:2] == ([0, 7_200], [7_200, 14_400])
    assert edges(pa.array([7, 8], pa.uint8()), "4 units") == ([4, 8], [8, 12], pa.uint8())


def test_edges_that_no_time_of_the_column_can_be_are_null() -> None:
    assert edges(pa.array([-128, 127], pa.int8()), "100") == ([None, 100], [-100, None], pa.int8())
    far = pa.array([-(2**63) + 1, 2**63 - 2])
    assert edges(far, "1000")[:2] == ([None, 9223372036854775000], [-9223372036854775000, None])
    assert edges(far, str(2**63 - 1))[:2] == ([-(2**63) + 1, 0], [0, 2**63 - 1])


def test_tables_of_pandas_get_the_dtype_of_their_times_back() -> None:
    for times in (
        pd.to_datetime(["2026-01-01 10:05", "2026-01-01 11:00"]),
        pd.to_datetime(["2026-01-01 10:05", "2026-01-01 11:00"]).as_unit("ms").tz_localize("Europe/Madrid"),
    ):
        frame = pd.DataFrame({"ts": times})
        found = oz.match(frame, "PATTERN a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 1 hour")
        assert found.dtypes.iloc[:2].tolist() == [frame["ts"].dtype] * 2
        assert found["window_start"].tolist() == list(times.floor("h"))


def test_no_events_at_all() -> None:
    text = "PATTERN A a RETURN count(*) OUTPUT AGGREGATE EVERY 1 hour"
    assert oz.match([], text) == []
    none = oz.match(pa.table({"ts": pa.array([], pa.timestamp("us")), "type": pa.array([], pa.string())}), text)
    assert none.schema.types == [pa.timestamp("us")] * 2 + [pa.float64()]
    assert none.num_rows == 0


def test_every_is_still_a_name() -> None:
    text = (
        "QUERY every PATTERN Every every WHERE [every] RETURN sum(every.every) AS every2 OUTPUT AGGREGATE EVERY 10"
    )
    assert oz.match([{"ts": 1, "type": "Every", "every": 3}], text) == [
        {"window_start": 0, "window_end": 10, "every": 3, "every2": 3}
    ]


def test_explain_says_it() -> None:
    query = oz.query("PATTERN A a WHERE [id] RETURN count(*) AS n OUTPUT AGGREGATE EVERY 1 hour 30 min")
    said = " ".join(query.explain().split())
    assert "aggregates over all matches of each partition and window of 1 hour 30 min, by where they end" in said
    assert "window_start, window_end, n" in said
    plain = oz.query("PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY $d").explain()
    assert "aggregates over all matches of each window of $d, by where they end" in plain


def test_many_more_matches_than_could_be_written_out() -> None:
    events = stream(" ".join(f"a{n}" for n in range(1, 70)) + " b75 b85")
    # the reference would write them out
    found = rows(f"{CLOSURE} RETURN count(*) AS n OUTPUT AGGREGATE EVERY 10", events, engine="automaton")
    assert [row["n"] for row in found] == [pytest.approx(2.0**69), pytest.approx(2.0**69)]


# ---- matchers --------------------------------------------------------------------------------------------

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
