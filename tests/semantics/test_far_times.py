"""Times at both ends of 64 bits: windows are measured right, and what cannot be counted is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.logical.times import EARLIEST, LATEST
from ouzel.physical.compiled import kernel
from semantics.everywhere import pushed

pytestmark = pytest.mark.filterwarnings("ignore:the times in 'ts' are taken for milliseconds")

ENGINES = ("scan", "automaton", "reference")
SCHEMA = pa.schema({"ts": "int64", "type": "string"})
SEQUENCE = "PATTERN SEQ(A a, B b) {} RETURN a.ts AS a, b.ts AS b"
NEGATED = "PATTERN SEQ(A a, B b, !(C c)) WITHIN {} RETURN a.ts AS a, b.ts AS b"
BEFORE = "PATTERN SEQ(!(C c), A a, B b) WITHIN {} RETURN a.ts AS a, b.ts AS b"

CASES: dict[str, tuple[str, list[tuple[int, str]], int]] = {
    "far apart": (SEQUENCE.format("WITHIN 5"), [(-(2**62) + 1, "A"), (2**62 + 10, "B")], 0),
    "from end to end": (SEQUENCE.format("WITHIN 5"), [(EARLIEST, "A"), (LATEST, "B")], 0),
    "no window": (SEQUENCE.format(""), [(EARLIEST, "A"), (LATEST, "B")], 1),
    "a window of 63 bits": (SEQUENCE.format(f"WITHIN {2**63 - 1}"), [(EARLIEST, "A"), (0, "A"), (LATEST, "B")], 1),
    "just within it": (SEQUENCE.format(f"WITHIN {2**63 - 1}"), [(-2, "A"), (-1, "A"), (LATEST - 1, "B")], 1),
    "at the beginning": (SEQUENCE.format("WITHIN 5"), [(EARLIEST, "A"), (EARLIEST + 4, "B")], 1),
    "beyond the beginning": (SEQUENCE.format("WITHIN 5"), [(EARLIEST, "A"), (EARLIEST + 5, "B")], 0),
    "at the end": (SEQUENCE.format("WITHIN 5"), [(LATEST - 4, "A"), (LATEST, "B")], 1),
    "refuted at the end": (NEGATED.format(9), [(LATEST - 4, "A"), (LATEST - 3, "B"), (LATEST, "C")], 0),
    "not refuted": (NEGATED.format(9), [(EARLIEST, "A"), (EARLIEST + 1, "B"), (LATEST, "C")], 1),
    "refuted before": (BEFORE.format(9), [(EARLIEST, "C"), (EARLIEST + 1, "A"), (EARLIEST + 2, "B")], 0),
    "not refuted before": (BEFORE.format(9), [(EARLIEST, "C"), (LATEST - 1, "A"), (LATEST, "B")], 1),
    "kept apart": (
        NEGATED.format(9) + " OUTPUT NON_OVERLAP",
        [(EARLIEST, "A"), (EARLIEST + 1, "B"), (LATEST - 2, "A"), (LATEST - 1, "B"), (LATEST, "D")],
        2,
    ),
    "a closure": (
        f"PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match {{ a[i].ts > 0 OR a[i].ts < 0 }} WITHIN {7} "
        "RETURN a[].ts AS a, b.ts AS b",
        [(EARLIEST, "A"), (EARLIEST + 1, "A"), (LATEST - 1, "A"), (LATEST, "B")],
        1,
    ),
}


def table(rows: list[tuple[int, str]]) -> pa.Table:
    return pa.Table.from_pylist([{"ts": ts, "type": kind} for ts, kind in rows], SCHEMA)


@pytest.mark.filterwarnings("ignore:no event has the type")
@pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("case", CASES)
def test_windows_at_the_ends_of_time(case: str, compiled: bool) -> None:
    query, rows, count = CASES[case]
    with patch.object(kernel, "COMPILE_FROM", 0 if compiled else 10**9):
        for engine in ENGINES if "+" not in query else ENGINES[1:]:
            assert len(oz.match(table(rows), query, engine=engine)) == count, engine
            for restored in (False, True):
                assert len(pushed(query, table(rows), engine=engine, restored=restored)) == count, (
                    engine,
                    restored,
                )
        if "!" not in query and "NON_OVERLAP" not in query:
            assert oz.match(table(rows), query, mode="compressed").expand().num_rows == count
            totals = query.partition("RETURN")[0] + "RETURN count(*) AS n OUTPUT AGGREGATE"
            assert oz.match(table(rows), totals).to_pylist() == [{"n": count}]


def test_nanoseconds_as_far_as_they_go() -> None:
    events = pa.table({"ts": pa.array([EARLIEST, LATEST], pa.timestamp("ns")), "type": ["A", "B"]})
    assert oz.match(events, "PATTERN SEQ(A a, B b)").num_rows == 1
    assert oz.match(events, "PATTERN SEQ(A a, B b) WITHIN 100000 days").num_rows == 0


def test_corrections_near_the_end_of_time() -> None:
    text = "PATTERN SEQ(A a, B b, !C c) WHERE [k] WITHIN 10 RETURN a.ts AS a, b.ts AS b"
    for first in (1_000, LATEST - 3):
        matcher = oz.matcher(text, SCHEMA.append(pa.field("k", pa.int64())), speculation="inf")
        for ts, kind in ((first, "A"), (first + 3, "B"), (first + 1, "B")):
            matcher.push(pa.table({"ts": [ts], "type": [kind], "k": [1]}))
        assert sorted(row["b"] - first for row in matcher.finish().to_pylist()) == [1, 3]


# ---- what cannot be counted ------------------------------------------------------------------------------

TOO_FAR = [-(2**63), 2**63 - 1]


@pytest.mark.parametrize("ts", TOO_FAR)
def test_times_too_far_off_are_refused_everywhere_alike(ts: int) -> None:
    query, rows = SEQUENCE.format("WITHIN 5"), [(1, "A"), (ts, "D"), (2, "B")]
    message = f"row 1, column 'ts': the time {ts} is too far off to be counted; required {EARLIEST} to {LATEST}"
    for engine in ENGINES:
        with pytest.raises(oz.DataError, match=message):
            oz.match(table(rows), query, engine=engine)
        with pytest.raises(oz.DataError, match=message):
            oz.matcher(query, SCHEMA, engine=engine).push(table(rows))
    with pytest.raises(oz.DataError, match=message):
        oz.match(table(rows), query, mode="compressed")
    with pytest.raises(oz.DataError, match=message):
        oz.match(table(rows).to_pandas(), query)
    by_type = {kind: table([row for row in rows if row[1] == kind]) for kind in "ABD"}
    with pytest.raises(oz.DataError, match="row 0 of 'D', column 'ts': the time"):
        oz.match(by_type, query)


@pytest.mark.parametrize("ts", TOO_FAR)
def test_times_too_far_off_are_set_aside(ts: int) -> None:
    rows, report = [(1, "A"), (ts, "D"), (2, "B")], oz.Report()
    found = oz.match(table(rows), SEQUENCE.format("WITHIN 5"), on_bad="quarantine", report=report)
    assert found.to_pylist() == [{"a": 1, "b": 2}]
    assert report.quarantined.column("row").to_pylist() == [1]
    matcher = oz.matcher(SEQUENCE.format("WITHIN 5"), SCHEMA, on_bad="quarantine")
    assert matcher.push(table(rows)).num_rows == 0
    assert matcher.finish().to_pylist() == [{"a": 1, "b": 2}]


def test_unsigned_times_too_far_off() -> None:
    events = pa.table({"ts": pa.array([1, 2**64 - 1], pa.uint64()), "type": ["A", "B"]})
    with pytest.raises(oz.DataError, match=f"row 1, column 'ts': the time {2**64 - 1} is too far off"):
        oz.match(events, "PATTERN SEQ(A a, B b)")


@pytest.mark.parametrize("length", [f"{2**63}", f"{2**63 - 1} INCLUSIVE", "1000000000 weeks", f"{2**63} EVENTS"])
def test_windows_too_long_to_be_counted_are_refused(length: str) -> None:
    with pytest.raises(oz.QueryError, match=r"a window too long to be counted|beyond 64 bits") as error:
        oz.match(table([(1, "A")]), SEQUENCE.format(f"WITHIN {length}"), time_unit="ns")
    assert error.value.required is not None
    assert f"at most {2**63 - 1}" in error.value.required


# ---- time that passes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_time_can_be_said_to_pass_to_either_end(engine: str) -> None:
    matcher = oz.matcher(SEQUENCE.format("WITHIN 5"), SCHEMA, engine=engine)
    assert matcher.advance(-(2**63)).num_rows == 0
    assert matcher.push(table([(EARLIEST, "A"), (EARLIEST + 1, "B")])).num_rows == 0
    assert matcher.advance(EARLIEST + 2).num_rows == 1
    assert matcher.push(table([(LATEST - 1, "A"), (LATEST, "B")])).num_rows == 0
    assert matcher.advance(2**63 - 1).num_rows == 1
    assert oz.restore(matcher.snapshot()).finish().num_rows == 0


@pytest.mark.parametrize("watermark", [2**63, -(2**63) - 1])
def test_time_cannot_pass_to_where_it_is_not_counted(watermark: int) -> None:
    matcher = oz.matcher(SEQUENCE.format(""), SCHEMA)
    ways: dict[str, Callable[[int], Any]] = {
        "advance": matcher.advance,
        r"push\(watermark=…\)": lambda time: matcher.push(table([]), time),
    }
    for verb, let_pass in ways.items():
        with pytest.raises(oz.OuzelError, match=f"^{verb}: required a time of 64 bits; got {watermark}"):
            let_pass(watermark)


def test_a_delay_longer_than_time() -> None:
    matcher = oz.matcher(SEQUENCE.format("WITHIN 5"), SCHEMA, watermark=2**64)
    matcher.push(table([(LATEST, "B")]))
    matcher.push(table([(LATEST - 1, "A"), (EARLIEST, "A")]))
    assert matcher.finish().num_rows == 1
