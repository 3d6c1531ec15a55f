"""OUTPUT AGGREGATE EVERY: a row for each partition and window of time, of the matches that end in it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import ouzel as oz
from semantics.everywhere import pushed
from semantics.harness import rows, stream

CLOSURE = "PATTERN SEQ(A+ a[], B b)"
PAIR = "PATTERN SEQ(A a, B b)"


def totals(query: str, items: str, every: str, events: Any, **options: Any) -> list[tuple[Any, ...]]:
    """The rows of a result as tuples, the same everywhere, and in a matcher that keeps to the reference.

    The items need no names.
    """
    named = ", ".join(f"{item} AS c{number}" for number, item in enumerate(items.split(", ")))
    text = f"{query} RETURN {named} OUTPUT AGGREGATE EVERY {every}"
    expected = rows(text, events, **options)
    if not isinstance(events, dict):
        rows_in_order = sorted(stream(events) if isinstance(events, str) else events, key=lambda row: row["ts"])
        names = dict.fromkeys(name for row in rows_in_order for name in row)
        table = pa.table({name: [row.get(name) for row in rows_in_order] for name in names})
        assert pushed(text, table, engine="reference", **options) == expected
    return [tuple(row.values()) for row in expected]


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
