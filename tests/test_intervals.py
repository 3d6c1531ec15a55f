"""Events that last, as files and tables bring them in: both columns are read as times, and in one unit."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import ouzel as oz

TIME = ("start", "end")
QUERY = "PATTERN A a RETURN start(a) AS s, end(a) AS e"
NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)


def found(events: Any, **options: Any) -> list[tuple[Any, Any]]:
    table = oz.match(events, QUERY, time=TIME, **options)
    return [tuple(row.values()) for row in table.to_pylist()]


def written(directory: Path, name: str, text: str) -> Path:
    (directory / name).write_text(text, encoding="utf-8")
    return directory / name


def test_a_start_that_is_less_fine_than_the_end(tmp_path: Path) -> None:
    text = "start,end,type\n2024-01-01 12:00:00,2024-01-01 12:00:00.000001,A\n"
    plain = NOON.replace(tzinfo=None)
    assert found(written(tmp_path, "calls.csv", text)) == [(plain, plain.replace(microsecond=1))]


def test_zones_of_both_times_count(tmp_path: Path) -> None:
    line = '{"start": "2024-01-01T14:00:00+02:00", "end": "2024-01-01T12:00:01.5Z", "type": "A"}\n'
    assert found(written(tmp_path, "calls.jsonl", line)) == [(NOON, NOON.replace(second=1, microsecond=500_000))]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("calls.csv", "start,end,type\n1,2,A\nsoon,2,A\n", 3),
        ("calls.jsonl", '{"start": "1", "end": 2, "type": "A"}\n{"start": "soon", "end": 2, "type": "A"}\n', 2),
    ],
)
def test_a_start_that_is_no_time(tmp_path: Path, name: str, text: str, line: int) -> None:
    path, report = written(tmp_path, name, text), oz.Report()
    with pytest.raises(oz.DataError, match=f"line {line}, column 'start': required a time; got 'soon'"):
        found(path)
    assert found(path, on_bad="quarantine", report=report) == [(1, 2)]
    assert report.quarantined.to_pylist()[0]["start"] == "soon"


def test_a_start_that_is_no_time_in_one_of_several_files(tmp_path: Path) -> None:
    for number, starts in enumerate((["1"], ["2", "soon"])):
        rows = "".join(f"{start},2,A\n" for start in starts)
        written(tmp_path, f"{number}.csv", f"start,end,type\n{rows}")
    report = oz.Report()
    assert found(tmp_path / "*.csv", on_bad="quarantine", report=report) == [(1, 2), (2, 2)]
    (aside,) = report.quarantined.to_pylist()
    assert (aside["row"], aside["start"], aside["end"]) == (2, "soon", 2)


def test_pandas_makes_floats_of_starts_where_one_is_missing() -> None:
    frame = pd.DataFrame({"start": [1, None], "end": [2, 3], "type": ["A", "A"]})
    with pytest.raises(oz.DataError, match="row 1, column 'start': the event has no start"):
        oz.match(frame, QUERY, time=TIME)
    assert oz.match(frame, QUERY, time=TIME, on_bad="quarantine").to_dict("records") == [{"s": 1, "e": 2}]


def test_one_table_per_type_in_several_units() -> None:
    tables = {
        name: pa.table({"start": pa.array([1], pa.timestamp(unit)), "end": pa.array([2], pa.timestamp(unit))})
        for name, unit in {"A": "ms", "B": "us"}.items()
    }
    table = oz.match(tables, QUERY, time=TIME)
    assert table.schema.types == [pa.timestamp("us")] * 2
    assert [column[0].cast(pa.int64()).as_py() for column in table.columns] == [1000, 2000]
