"""Tables of events: what a state of them keeps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from engines.splits import ingested
from ouzel.logical.schema import open_schema
from ouzel.physical.event_table import EventTable
from ouzel.physical.event_types import EventTypes
from ouzel.state import read_snapshot, write_snapshot

EVENTS = ingested([{"ts": ts, "type": "AB"[ts % 2], "x": ts} for ts in (5, 2, 3)])
RANKED = replace(EVENTS, starts=(ranks := np.array([2, 0, 1])), ends=ranks)
LASTING = replace(EVENTS, starts=EVENTS.starts - 1, start_times=EVENTS.start_times - 1)


@pytest.mark.parametrize("events", [EVENTS, RANKED, LASTING], ids=["moments", "ranks", "intervals"])
def test_a_state_keeps_which_arrays_are_one(events: EventTable) -> None:
    _header, state = read_snapshot(write_snapshot({}, events.state()))
    again = EventTable.of_state(state, events.schema)
    assert again.table.equals(events.table)
    assert [again.types.names[code] for code in again.types.codes] == ["B", "A", "B"]
    for name in ("starts", "ends", "start_times", "end_times"):
        assert getattr(again, name).tolist() == getattr(events, name).tolist()
    assert again.has_intervals == events.has_intervals
    assert (again.end_times is again.ends) == (events.end_times is events.ends)


def test_types_are_known_where_their_column_is_left_out() -> None:
    table = pa.table({"type": ["A", "B"], "x": [1, 2]})
    times = np.arange(2)
    whole = EventTable.of_moments(table, open_schema(), EventTypes.of_column(table["type"], "type"), times, times)
    without = whole.select({"x"})
    for events in (
        EventTable.joined([whole, without]),
        EventTable.joined([without, whole]),
        without.followed_by(whole),
    ):
        for some in (events.taken(np.arange(4)), events.whole):
            assert [some.types.names[code] for code in some.types.codes] == ["A", "B", "A", "B"]
