"""From when until when queries of a set are valid: the same times and the same errors however they run."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz

A = oz.stream("A")
ENGINES = ["auto", "automaton", "reference"]
SECONDS = [datetime(2024, 1, 1, 0, 0, second) for second in range(6)]
RULES = A.where("x >= $v").select("x")


def events(arrow: pa.DataType) -> pa.Table:
    times = [time.replace(tzinfo=UTC) for time in SECONDS] if getattr(arrow, "tz", None) else SECONDS
    return pa.table({"ts": pa.array(times, arrow), "type": ["A"] * 6, "x": range(6)})


def found(table: pa.Table, since: pa.Array, until: pa.Array, engine: str, *, pushed: bool) -> list[int]:
    rows = pa.table({"id": ["q"], "v": [0], "since": since, "until": until})
    queries = oz.queries(RULES, rows, valid_from="since", valid_to="until")
    if not pushed:
        return list(oz.match(table, queries, engine=engine).column("x").to_pylist())
    matcher = oz.matcher(queries, table.schema, engine=engine)
    first = matcher.push(table.slice(0, 3))
    matcher = oz.restore(matcher.snapshot())
    rest = [first, matcher.push(table.slice(3)), matcher.finish()]
    return [x for one in rest for x in one.column("x").to_pylist()]


def both(table: pa.Table, since: Any, until: Any, arrow: pa.DataType) -> set[str]:
    """What is found, or said, in all ways of running."""
    bounds = pa.array([since], arrow), pa.array([until], arrow)
    results = set()
    for engine in ENGINES:
        for pushed in (False, True):
            try:
                results.add(str(found(table, *bounds, engine, pushed=pushed)))
            except oz.OuzelError as error:
                results.add(str(error))
    return results


FINE = [datetime(2024, 1, 1, 0, 0, 1, 500_000), datetime(2024, 1, 1, 0, 0, 4)]
FAR = [datetime(1, 1, 1), datetime(9999, 12, 31)]
TAKEN: dict[str, tuple[pa.DataType, Any, Any, pa.DataType, str]] = {
    "finer than events": (pa.timestamp("s"), *FINE, pa.timestamp("us"), "[2, 3]"),
    "coarser": (pa.timestamp("ns"), SECONDS[1], SECONDS[3], pa.timestamp("s"), "[1, 2]"),
    "dates": (pa.timestamp("us"), date(2024, 1, 1), date(2024, 1, 2), pa.date32(), "[0, 1, 2, 3, 4, 5]"),
    "dates of 64 bits": (pa.timestamp("us"), date(2024, 1, 1), date(2024, 1, 1), pa.date64(), "[]"),
    "a zone of their own": (
        pa.timestamp("us", "Europe/Berlin"),
        SECONDS[1].replace(tzinfo=UTC),
        SECONDS[4].replace(tzinfo=UTC),
        pa.timestamp("ms", "UTC"),
        "[1, 2, 3]",
    ),
    "for ever": (pa.timestamp("ns"), *FAR, pa.timestamp("us"), "[0, 1, 2, 3, 4, 5]"),
    "long past": (pa.timestamp("ns"), FAR[0], FAR[0], pa.timestamp("s"), "[]"),
    "nothing said": (pa.timestamp("ns"), None, None, pa.null(), "[0, 1, 2, 3, 4, 5]"),
}


@pytest.mark.parametrize("name", TAKEN)
def test_times_of_other_types(name: str) -> None:
    time, since, until, arrow, wanted = TAKEN[name]
    assert both(events(time), since, until, arrow) == {wanted}


REFUSED: dict[str, tuple[pa.DataType, Any, pa.DataType]] = {
    "texts": (pa.timestamp("us"), "2024-01-01", pa.string()),
    "with a zone": (pa.timestamp("us"), SECONDS[0].replace(tzinfo=UTC), pa.timestamp("us", "UTC")),
    "without a zone": (pa.timestamp("us", "UTC"), SECONDS[0], pa.timestamp("us")),
    "dates, which have no zone": (pa.timestamp("us", "UTC"), date(2024, 1, 1), pa.date32()),
    "floats": (pa.timestamp("us"), 1.5, pa.float64()),
    "truths": (pa.timestamp("us"), True, pa.bool_()),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_such_time_is_refused(name: str) -> None:
    time, since, arrow = REFUSED[name]
    assert both(events(time), since, None, arrow) == {
        f"'since': required times as in the column 'ts', {time}; got {arrow}"
    }


def test_integers_are_ticks() -> None:
    table = pa.table({"ts": range(6), "type": ["A"] * 6, "x": range(6)})
    assert both(table, 2, 2**64 - 1, pa.uint64()) == {"[2, 3, 4, 5]"}
    assert both(table, 2, 4, pa.int8()) == {"[2, 3]"}
    assert both(table, SECONDS[0], None, pa.timestamp("us")) == {
        "'since': required times as in the column 'ts', int64; got timestamp[us]"
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_queries_that_come_later(engine: str) -> None:
    table = events(pa.timestamp("ns"))
    bounds = {"since": pa.array([], pa.timestamp("us")), "until": pa.array([], pa.timestamp("us"))}
    rows = pa.table({"id": pa.array([], pa.string()), "v": pa.array([], pa.int64()), **bounds})
    queries = oz.queries(RULES, rows, valid_from="since", valid_to="until")
    matcher = oz.matcher(queries, table.schema, engine=engine)
    matcher.add("far", {"v": 4, "until": FAR[1]})
    matcher.add("soon", {"v": 0, "since": FINE[0], "until": FINE[1]})
    answers = [matcher.push(table), oz.restore(matcher.snapshot()).finish()]
    assert [(row["id"], row["x"]) for one in answers for row in one.to_pylist()] == [
        *[("soon", 2), ("soon", 3), ("far", 4), ("far", 5)]
    ]


def test_rules_for_ever() -> None:
    table = events(pa.timestamp("ns"))
    none = oz.queries(RULES, pa.table({"id": pa.array([], pa.string()), "v": pa.array([], pa.int64())}))
    rules = [{"id": "q", "v": 3, "valid_from": FAR[0], "valid_to": FAR[1]}]
    assert oz.match(table, none, rules=pa.Table.from_pylist(rules)).column("x").to_pylist() == [3, 4, 5]
