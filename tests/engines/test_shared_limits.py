"""Bounds of the shared plan: what is beyond them is an error that names them, or is shed and counted."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

import ouzel as oz
from ouzel.physical import stoppable
from ouzel.physical.compiled import kernel

PAIRS = "PATTERN A a; B b WHERE b.x > $v RETURN b.x AS x"


def ticks(starts: int, ends: int = 0) -> list[dict[str, Any]]:
    """Some events of A, and then some of B, all at one moment each."""
    return [{"ts": 0, "type": "A", "x": 1}] * starts + [{"ts": 1, "type": "B", "x": 1}] * ends


def pairs(queries: int = 1) -> Any:
    return oz.queries(PAIRS, [{"id": number, "v": 0} for number in range(queries)])


@pytest.mark.parametrize(
    ("events", "limits", "said"),
    [
        ((9, 9), {"max_runs": 8}, "more than 8 open runs at once"),
        ((9, 9), {"max_nodes": 8}, "more than 8 events bound in open runs"),
        ((9, 9), {"max_matches": 80}, "more than 80 matches"),
        ((300, 1), {"max_memory": 50_000}, "open runs and more would not fit"),
        ((50, 50), {"max_memory": 50_000}, "runs that begin at one moment and more would not fit"),
        ((20, 15), {"max_memory": 50_000}, "matches and more would not fit"),
    ],
)
def test_what_is_beyond_is_an_error_or_is_shed(events: tuple[int, int], limits: dict[str, Any], said: str) -> None:
    given = ticks(*events)
    with pytest.raises(oz.OuzelError, match=said):
        oz.match(given, pairs(), limits=oz.Limits(**limits))
    report = oz.Report()
    found = oz.match(given, pairs(), limits=oz.Limits(**limits, on_limit="shed"), report=report)
    assert 0 < len(found) < events[0] * events[1]
    assert report.counters.shed_runs + report.counters.shed_matches > 0


def test_runs_that_are_over_hold_no_events() -> None:
    template = "PATTERN A a; B b; C c WHERE b.x > $v WITHIN 3 RETURN c.x AS x"
    many = [{"ts": n, "type": "ABC"[n % 3], "x": 1} for n in range(300)]
    rows = [{"id": 1, "v": 0}]
    found = oz.match(many, oz.queries(template, rows), limits=oz.Limits(max_nodes=8))
    assert found == oz.match(many, oz.queries(template, rows))
    assert len(found) == 100


class Board:
    """A board that says to stop when it is looked at for the third time."""

    looks = 0

    def __getitem__(self, place: int) -> int:
        self.looks += 1
        return int(self.looks >= 3)

    def __setitem__(self, place: int, value: int) -> None: ...


def test_a_moment_of_many_events_can_be_stopped() -> None:
    board = Board()
    with patch.object(stoppable, "board", lambda _share: board), patch.object(kernel, "pays", lambda *_: False):
        oz.match(ticks(100, 1), pairs())
    assert board.looks == 3
