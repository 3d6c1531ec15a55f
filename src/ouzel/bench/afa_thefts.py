"""The shop's thefts, a text, with readings that are late or withdrawn: reported at once, and corrected."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa

import ouzel as oz
from ouzel.bench.measure import Contender, Row, measure
from ouzel.testing.papers import displaced
from ouzel.testing.retail import retail_readings

THEFTS = """PATTERN SEQ(Shelf a, !(Register b), Exit c) WHERE [tag_id] WITHIN 12 hours
    RETURN a.tag_id AS tag, c.ts AS left_at"""
BATCH = 10_000
# Of all readings so large a share is late, or is withdrawn again, by so many places at most.
SHARE, BY = 0.005, 20_000
IN_ORDER = "in order"


def afa_thefts(events: int, times: int) -> Iterator[Row]:
    """The shop's thefts with 1% of readings late or withdrawn, 10,000 at a time, which are reported at once."""
    readings = retail_readings(events).readings
    contenders = {
        "in order, final only": _pushed(_rows(readings, corrected=False), 0),
        IN_ORDER: _pushed(_rows(readings, corrected=False), "inf"),
        "1% late or withdrawn": _pushed(_rows(readings, corrected=True), "inf"),
    }
    for row in measure("thefts", events, contenders, times, IN_ORDER, process_time):
        row.figures["of in order"] = row.figures["times faster"]
        yield row


def _rows(readings: pa.Table, *, corrected: bool) -> pa.Table:
    """Readings as they arrive, with what becomes of them; withdrawn ones are wrong, and come beside the others."""
    table = readings.append_column("op", pa.array(np.ones(len(readings), np.int8)))
    if not corrected:
        return table
    rng = np.random.default_rng(1)
    wrong = np.sort(rng.choice(len(table), max(int(SHARE * len(table)), 1), replace=False))
    order = displaced(len(table), SHARE, BY)
    places = np.empty(len(table))
    places[order] = np.arange(len(table))
    # a wrong reading is that of an exit, at the time of another reading, until it is withdrawn
    mistaken = table.take(pa.array(wrong))
    exits = pa.array(["Exit"] * len(wrong)).cast(mistaken.schema.field("type").type)
    mistaken = mistaken.set_column(mistaken.schema.get_field_index("type"), "type", exits)
    signs = pa.array(-np.ones(len(wrong), np.int8))
    taken = mistaken.set_column(mistaken.schema.get_field_index("op"), "op", signs)
    later = places[wrong] + rng.integers(1, BY + 1, len(wrong)) + 0.5
    arrival = np.concatenate([places, places[wrong] + 0.25, later])
    return pa.concat_tables([table, mistaken, taken]).take(pa.array(np.argsort(arrival, kind="stable")))


def _pushed(rows: pa.Table, speculation: Any) -> Contender:
    """Pushing all rows; time passes as far as it may."""
    times = rows["ts"].cast(pa.int64()).to_numpy()
    follows = np.minimum.accumulate(times[::-1])[::-1]
    unit = rows.schema.field("ts").type

    def run() -> int:
        matcher = oz.matcher(
            THEFTS, rows.schema, threads=1, speculation=speculation, op="op", watermark="365 days"
        )
        for begin in range(0, len(rows), BATCH):
            end = begin + BATCH
            now = pa.scalar(int(follows[min(end, len(rows) - 1)]), pa.int64()).cast(unit)
            matcher.push(rows.slice(begin, BATCH), watermark=now.as_py())
        matcher.finish()
        return int(matcher.report.matches)

    return Contender(partial(run), lambda found: {"matches": found})
