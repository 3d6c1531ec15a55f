"""Columns that no query uses are no reason to refuse events; one that is used is refused by name and value."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import ouzel as oz

Rows = list[dict[str, Any]]
PAIRS = "PATTERN SEQ(A a, B b) RETURN a.ts AS a, b.ts AS b"
FOUND = [{"a": 1, "b": 2}]
ODD = {
    "objects": [object(), object()],
    "an object and an integer": [object(), 1],
    "beyond 64 bits": [2**70, 1],
    "beyond 64 bits, negative": [2**63, -1],
    "mixed": [1, "s"],
    "a text that cannot be written": ["\ud800", "a"],
    "complex": [1 + 2j, 1j],
    "a type": [int, str],
}
odd = pytest.mark.parametrize("values", ODD.values(), ids=ODD)


def rows(values: Any) -> Rows:
    return [{"ts": 1, "type": "A", "z": values[0]}, {"ts": 2, "type": "B", "z": values[1]}]


def found(events: Any, **options: Any) -> Any:
    result = oz.match(events, PAIRS, **options)
    return result.to_dict("records") if isinstance(result, pd.DataFrame) else result


@odd
@pytest.mark.parametrize("on_bad", ["error", "quarantine"])
def test_unused(values: Any, on_bad: str) -> None:
    report = oz.Report()
    for events in (rows(values), pd.DataFrame(rows(values), dtype=object)):
        assert found(events, on_bad=on_bad, report=report) == FOUND
        assert report.problems == []
    by_type = {"A": rows(values)[:1], "B": rows(values)[1:]}
    assert found(by_type, on_bad=on_bad) == FOUND


@odd
@pytest.mark.parametrize(
    "query",
    [
        "PATTERN SEQ(A a, B b)",
        "PATTERN SEQ(A a, B b) RETURN b",
        "PATTERN SEQ(A a, B b) RETURN a.*",
        "PATTERN SEQ(A a, B b) WHERE [z] RETURN a.ts",
        "PATTERN SEQ(A a, B b) WHERE a.z IS NOT NULL RETURN b.ts",
        "PATTERN SEQ(A a, B b) WHERE a.z LIKE 's%' RETURN b.ts",
        "QUERY p PATTERN A a RETURN a.z INTO P QUERY q PATTERN P p RETURN p.ts",
    ],
)
def test_used(values: Any, query: str) -> None:
    for events in (rows(values), pd.DataFrame(rows(values), dtype=object)):
        with pytest.raises((oz.DataError, oz.SchemaError), match="column 'z': required "):
            oz.match(events, query)


def test_a_type_of_one_table_per_type() -> None:
    events = {"A": [{"ts": 1, "z": 5}, {"ts": 2, "z": "s"}], "B": [{"ts": 3, "z": "t"}]}
    assert oz.match(events, "PATTERN SEQ(A a, B b) WHERE b.z = 't' RETURN a.ts") == [{"ts": 1}, {"ts": 2}]
    with pytest.raises(oz.DataError, match="row 1 of 'A', column 'z': required int64; got 's'"):
        oz.match(events, "PATTERN SEQ(A a, B b) WHERE a.z = 5 RETURN a.ts")
    assert oz.match(events, "PATTERN SEQ(A a, B b) WHERE a.z = 5 RETURN b.z", on_bad="quarantine") == [{"z": "t"}]


def test_a_field_of_a_struct() -> None:
    events = rows([{"at": 1}, 5])
    assert found(events) == FOUND
    with pytest.raises(oz.DataError, match="row 1, column 'z': required struct"):
        oz.match(events, "PATTERN A a WHERE a.z.at = 1")


def test_declared_types_are_asked_for() -> None:
    with pytest.raises(oz.DataError, match="row 1, column 'z': required int64; got 's'"):
        oz.match(rows(["1", "s"]), PAIRS, types={"A": {"z": "int64"}, "B": {"z": "int64"}})


def test_explained() -> None:
    assert oz.query(PAIRS).explain(rows([1, "s"]))


# ---- dates of 64 bits ------------------------------------------------------------------------------------

DAYS = pa.array([0, 1], pa.date64())
TABLES = {
    "a date": DAYS,
    "a dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), DAYS),
    "a struct": pa.StructArray.from_arrays([DAYS], ["at"]),
}


@pytest.mark.parametrize("days", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("engine", ["auto", "scan", "automaton", "reference"])
def test_dates_that_are_no_whole_days(days: pa.Array, engine: str) -> None:
    table = pa.table({"ts": [1, 2], "type": ["A", "B"], "z": days})
    expected = "row 1, column 'z': required a whole day; got 1 milliseconds since 1970"
    for query in ("PATTERN SEQ(A a, B b)", "PATTERN SEQ(A a, B b) WHERE b.z IS NOT NULL RETURN a.ts"):
        with pytest.raises(oz.DataError, match=expected):
            oz.match(table, query, engine=engine)
    assert oz.match(table, PAIRS, engine=engine).to_pylist() == FOUND
    matcher = oz.matcher(PAIRS, table.schema, engine=engine)
    assert [*matcher.push(table).to_pylist(), *matcher.finish().to_pylist()] == FOUND
    with pytest.raises(oz.DataError, match=expected):
        oz.matcher("PATTERN SEQ(A a, B b)", table.schema, engine=engine).push(table)


def test_times_that_are_no_whole_days() -> None:
    table, report = pa.table({"ts": DAYS, "type": ["A", "A"]}), oz.Report()
    with pytest.raises(oz.DataError, match="row 1, column 'ts': required a whole day"):
        oz.match(table, "PATTERN A a RETURN a.type")
    assert oz.match(table, "PATTERN A a RETURN a.type", on_bad="quarantine", report=report).num_rows == 1
    assert report.quarantined["row"].to_pylist() == [1]
    matcher = oz.matcher("PATTERN A a RETURN a.type", table.schema, on_bad="quarantine")
    assert matcher.push(table).num_rows + matcher.finish().num_rows == 1
    assert [problem.row for problem in matcher.report.problems] == [1]
