from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from ouzel.testing.retail import Retail, retail_readings, write_retail

HOUR = 3_600_000


class Reading(NamedTuple):
    ts: int
    type: str
    shelf: int | None


# With 320 readings, every item is stolen or misplaced.
@pytest.fixture(scope="module", params=[(20_000, 7), (20_000, 8), (2_000, 7), (320, 7)], ids=str)
def week(request: pytest.FixtureRequest) -> Retail:
    readings, seed = request.param
    return retail_readings(readings, seed)


@pytest.fixture(scope="module")
def items(week: Retail) -> dict[int, list[Reading]]:
    columns = week.readings.set_column(0, "ts", week.readings["ts"].cast(pa.int64()))
    found = defaultdict(list)
    for row in columns.to_pylist():
        found[row["tag_id"]].append(Reading(row["ts"], row["type"], row["shelf_id"]))
    return found


def thefts(item: list[Reading]) -> list[tuple[Reading, Reading]]:
    """The theft query, spelled out: SEQ(Shelf a, !(Register b), Exit c) within 12 hours."""
    return [
        (a, c)
        for a in item
        for c in item
        if a.type == "Shelf" and c.type == "Exit" and a.ts < c.ts <= a.ts + 12 * HOUR
        if not any(b.type == "Register" and a.ts < b.ts < c.ts for b in item)
    ]


def misplacements(item: list[Reading]) -> list[tuple[Reading, Reading]]:
    """The other query, spelled out: SEQ(Shelf a, Shelf b, !(ANY(Register, Shelf) c)) within 1 hour."""
    return [
        (a, b)
        for a in item
        for b in item
        if a.type == b.type == "Shelf" and a.shelf != b.shelf and a.ts < b.ts <= a.ts + HOUR
        if not any(
            b.ts < c.ts <= a.ts + HOUR and (c.type == "Register" or (c.type == "Shelf" and c.shelf == a.shelf))
            for c in item
        )
    ]


def test_the_seed_decides() -> None:
    week = retail_readings(2_000, seed=1)
    assert week == retail_readings(2_000, seed=1)
    assert week.readings != retail_readings(2_000, seed=2).readings


@pytest.mark.parametrize("readings", [320, 2_000, 2_009, 12_345])
def test_there_are_as_many_readings_as_asked_for(readings: int) -> None:
    assert retail_readings(readings).readings.num_rows == readings


def test_columns(week: Retail) -> None:
    assert week.readings.schema == pa.schema(
        {
            "ts": pa.timestamp("ms"),
            "type": pa.string(),
            "tag_id": pa.int64(),
            "shelf_id": pa.int32(),
            "product": pa.string(),
        }
    )
    assert set(week.readings["type"].to_pylist()) <= {"Shelf", "Register", "Exit"}


def test_only_readings_at_a_shelf_have_a_shelf(week: Retail) -> None:
    at_shelf = pc.equal(week.readings["type"], "Shelf")
    assert at_shelf == pc.is_valid(week.readings["shelf_id"])
    assert [name for name in week.readings.column_names if week.readings[name].null_count] == ["shelf_id"]


def test_readings_are_in_the_order_of_time(week: Retail) -> None:
    times = week.readings["ts"].to_pylist()
    assert times == sorted(times)
    assert {time.hour for time in times} <= set(range(8, 20))


def test_there_are_ten_readings_per_item(week: Retail, items: dict[int, list[Reading]]) -> None:
    assert len(items) == week.readings.num_rows // 10


def test_an_item_is_never_read_twice_at_a_time(items: dict[int, list[Reading]]) -> None:
    assert all(a.ts < b.ts for item in items.values() for a, b in pairwise(item))


def test_an_item_is_of_one_product(week: Retail) -> None:
    pairs = week.readings.group_by(["tag_id", "product"]).aggregate([])
    assert len(pairs) == len(pc.unique(week.readings["tag_id"]))


def test_sold_items_go_from_the_shelf_over_the_register_to_the_exit(
    week: Retail, items: dict[int, list[Reading]]
) -> None:
    injected = {*week.stolen, *week.misplaced}
    for tag in items.keys() - injected:
        *shelf, second_last, last = [reading.type for reading in items[tag]]
        assert set(shelf) == {"Shelf"}
        assert (second_last, last) in {("Register", "Exit"), ("Shelf", "Shelf")}


def test_the_stolen_items_are_those_the_theft_query_finds(week: Retail, items: dict[int, list[Reading]]) -> None:
    found = {tag: len(thefts(item)) for tag, item in items.items() if thefts(item)}
    assert tuple(sorted(found)) == week.stolen
    assert len(week.stolen) == 20
    assert set(found.values()) <= {1, 2, 3}


def test_the_misplaced_items_are_those_the_other_query_finds(
    week: Retail, items: dict[int, list[Reading]]
) -> None:
    found = {tag: len(misplacements(item)) for tag, item in items.items() if misplacements(item)}
    assert tuple(sorted(found)) == week.misplaced
    assert len(week.misplaced) == 12
    assert set(found.values()) == {1}


def test_only_misplaced_items_are_read_on_a_second_shelf(week: Retail, items: dict[int, list[Reading]]) -> None:
    shelves = {tag: {reading.shelf for reading in item} - {None} for tag, item in items.items()}
    assert {tag for tag, found in shelves.items() if len(found) > 1} == set(week.misplaced)


def test_nothing_need_be_stolen_or_misplaced() -> None:
    week = retail_readings(10, thefts=0, misplaced=0)
    assert (week.readings.num_rows, week.stolen, week.misplaced) == (10, (), ())


def test_too_few_readings_for_what_is_to_be_found_in_them() -> None:
    with pytest.raises(ValueError, match="3 thefts and 2 misplaced items require at least 50 readings; got 49"):
        retail_readings(49, thefts=3, misplaced=2)


def test_written_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "retail.parquet"
    write_retail(path, 2_000, seed=3)
    assert pq.read_table(path) == retail_readings(2_000, seed=3).readings
    assert pq.read_metadata(path).row_group(0).column(0).compression == "ZSTD"
