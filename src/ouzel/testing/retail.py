"""A shop's RFID readings, made up from a seed: what `ouzel demo` and the benchmarks run on.

Every item carries a tag.  It is read on its shelf while it lies there, at a register when it is paid for and
at an exit when it leaves.  A few items are stolen and a few are put on the wrong shelf, for queries to find.

Stories are told in opening time: milliseconds since the first opening, as if the shop never closed.  Nights
come in at the very end: 12 hours each, which keeps yesterday's readings out of a window of 12 hours.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

TYPES = ("Shelf", "Register", "Exit")
SHELF, REGISTER, EXIT = range(3)
PRODUCTS = tuple(
    f"{colour} {garment}"
    for colour in ("black", "white", "navy", "olive", "red")
    for garment in ("belt", "coat", "dress", "jeans", "scarf", "shirt", "skirt", "sweater")
)

MINUTE = 60_000
HOUR = 60 * MINUTE
OPEN = 12 * HOUR
DAYS = 6
CLOSING = DAYS * OPEN
FIRST_OPENING = np.datetime64("2026-03-02T08:00", "ms")

READINGS_PER_TAG = 10
FIRST_TAG = 1_000_001
NO_SHELF = -1

READING = np.dtype([("tag", np.int64), ("type", np.int8), ("shelf", np.int32), ("at", np.int64)])
STAY = np.dtype([("tag", np.int64), ("shelf", np.int32), ("begin", np.float64), ("end", np.float64)])

Numbers = npt.NDArray[np.int64]
Times = npt.NDArray[np.float64]
Records = npt.NDArray[np.void]


@dataclass(frozen=True)
class Retail:
    """The readings by time, and the tags of the items that were stolen or misplaced."""

    readings: pa.Table
    stolen: tuple[int, ...]
    misplaced: tuple[int, ...]


def retail_readings(readings: int = 1_000_000, seed: int = 7, thefts: int = 20, misplaced: int = 12) -> Retail:
    """Make up a week in the shop, the same one for the same arguments.

    >>> week = retail_readings(2_000)
    >>> week.readings.num_rows, len(week.stolen), len(week.misplaced)
    (2000, 20, 12)
    """
    least = READINGS_PER_TAG * max(1, thefts + misplaced)
    if readings < least:
        wanted = f"{thefts} thefts and {misplaced} misplaced items"
        raise ValueError(f"{wanted} require at least {least} readings; got {readings}")
    rng = np.random.default_rng(seed)
    tags = readings // READINGS_PER_TAG
    product = rng.integers(0, len(PRODUCTS), tags)
    home = rng.permutation(len(PRODUCTS))[product]

    unsold = (tags - thefts - misplaced) * 15 // 100
    groups = np.split(rng.permutation(tags), np.cumsum([thefts, misplaced, unsold]))
    stories = [tell(rng, group, home[group]) for tell, group in zip(STORIES, groups, strict=True)]
    stays = np.concatenate([stays for stays, _ in stories])
    events = np.concatenate([events for _, events in stories])

    rows = np.concatenate([events, _read_shelves(rng, stays, readings - events.size)])
    rows = rows[np.argsort(rows["at"], kind="stable")]
    return Retail(_as_table(rows, product), _tag_ids(groups[0]), _tag_ids(groups[1]))


def write_retail(path: Path, readings: int = 1_000_000, seed: int = 7) -> None:
    """Write a week in the shop to a Parquet file."""
    pq.write_table(retail_readings(readings, seed).readings, path, compression="zstd")


def _steal(rng: np.random.Generator, tags: Numbers, home: Numbers) -> tuple[Records, Records]:
    """Stolen: one to three readings on the shelf on the last day, then one at the exit."""
    morning, start = _time_on_a_day(rng, tags.size, first_day=1, room=4 * HOUR)
    turn = np.arange(3)
    at = start[:, None] + turn * HOUR + rng.uniform(0, 30 * MINUTE, (tags.size, 3))
    item, seen = np.nonzero(turn < rng.integers(1, 4, (tags.size, 1)))
    left = start + rng.uniform(3 * HOUR, 4 * HOUR, tags.size)
    events = [_read(tags[item], SHELF, at[item, seen], home[item]), _read(tags, EXIT, left)]
    return _stay(tags, home, 0, morning), np.concatenate(events)


def _misplace(rng: np.random.Generator, tags: Numbers, home: Numbers) -> tuple[Records, Records]:
    """Misplaced: a reading at home, within the hour one on a wrong shelf, where the item then stays."""
    morning, seen = _time_on_a_day(rng, tags.size, first_day=1, room=4 * HOUR)
    moved = seen + rng.uniform(10 * MINUTE, 50 * MINUTE, tags.size)
    wrong = (home + rng.integers(1, len(PRODUCTS), tags.size)) % len(PRODUCTS)
    stays = [_stay(tags, home, 0, morning), _stay(tags, wrong, seen + 2 * HOUR, CLOSING)]
    events = [_read(tags, SHELF, seen, home), _read(tags, SHELF, moved, wrong)]
    return np.concatenate(stays), np.concatenate(events)


def _keep(_: np.random.Generator, tags: Numbers, home: Numbers) -> tuple[Records, Records]:
    """Unsold: on the shelf all the time."""
    return _stay(tags, home, 0, CLOSING), np.empty(0, READING)


def _sell(rng: np.random.Generator, tags: Numbers, home: Numbers) -> tuple[Records, Records]:
    """Sold: picked up, paid for and carried out on the same day."""
    _, picked = _time_on_a_day(rng, tags.size, first_day=0, room=HOUR)
    paid = picked + rng.uniform(5 * MINUTE, 40 * MINUTE, tags.size)
    left = paid + rng.uniform(MINUTE, 10 * MINUTE, tags.size)
    events = np.concatenate([_read(tags, REGISTER, paid), _read(tags, EXIT, left)])
    return _stay(tags, home, rng.uniform(0, picked - HOUR), picked), events


STORIES = (_steal, _misplace, _keep, _sell)


def _time_on_a_day(rng: np.random.Generator, count: int, *, first_day: int, room: int) -> tuple[Times, Times]:
    """Mornings of random days, and times on these days with room for the rest of a story before closing."""
    morning = OPEN * rng.integers(first_day, DAYS, count).astype(np.float64)
    return morning, morning + rng.uniform(2 * HOUR, OPEN - room, count)


def _stay(tags: Numbers, shelf: Numbers, begin: Times | int, end: Times | int) -> Records:
    stays = np.empty(tags.size, STAY)
    stays["tag"], stays["shelf"], stays["begin"], stays["end"] = tags, shelf, begin, end
    return stays


def _read(tags: Numbers, type: int, at: Times, shelf: Numbers | int = NO_SHELF) -> Records:
    rows = np.empty(tags.size, READING)
    rows["tag"], rows["type"], rows["shelf"], rows["at"] = tags, type, shelf, at
    return rows


def _read_shelves(rng: np.random.Generator, stays: Records, readings: int) -> Records:
    """Spread readings over the stays: one for each, the others by how long a stay lasts."""
    length = stays["end"] - stays["begin"]
    counts = 1 + rng.multinomial(readings - stays.size, length / length.sum())
    turn = np.arange(readings) - np.repeat(np.cumsum(counts) - counts, counts)
    # A stay falls into equal turns, with a reading near the middle of each: no two are at the same time.
    share = (turn + rng.uniform(0.2, 0.8, readings)) / np.repeat(counts, counts)
    stay = np.repeat(np.arange(stays.size), counts)
    return _read(stays["tag"][stay], SHELF, stays["begin"][stay] + length[stay] * share, stays["shelf"][stay])


def _as_table(rows: Records, product: Numbers) -> pa.Table:
    day, time = np.divmod(rows["at"], OPEN)
    ts = FIRST_OPENING + (day * (24 * HOUR) + time).astype("timedelta64[ms]")
    return pa.table(
        {
            "ts": pa.array(ts),
            "type": pa.array(TYPES).take(pa.array(rows["type"])),
            "tag_id": pa.array(rows["tag"] + FIRST_TAG),
            "shelf_id": pa.array(rows["shelf"] + np.int32(1), mask=rows["shelf"] == NO_SHELF),
            "product": pa.array(PRODUCTS).take(pa.array(product[rows["tag"]])),
        }
    )


def _tag_ids(tags: Numbers) -> tuple[int, ...]:
    return tuple(np.sort(tags + FIRST_TAG).tolist())
