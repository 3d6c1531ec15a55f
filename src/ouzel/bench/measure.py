"""How things are measured: contenders over the same events, in turns, the best time of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import pyarrow as pa

from ouzel.errors import OuzelError

Clock = Callable[[], float]
Figures = dict[str, float]
"""Numbers by name; the names are the columns of tables."""


@dataclass(frozen=True)
class Row:
    """One measurement: what was varied and to what, what was measured, its figures, and perhaps a remark."""

    varied: str
    series: str
    figures: Figures
    note: str = ""


def _nothing(_result: Any) -> Figures:
    return {}


@dataclass(frozen=True)
class Contender:
    """What is timed, what there is to say of its result, which is not timed, and of how it does it."""

    run: Callable[[], Any]
    look: Callable[[Any], Figures] = _nothing
    note: str = ""

    def also(self, figures: Figures) -> Contender:
        """The same, with figures that are known already."""
        return replace(self, look=lambda result: {**self.look(result), **figures})


def measure(
    varied: str,
    events: int,
    contenders: Mapping[str, Contender],
    times: int,
    against: str = "",
    clock: Clock = perf_counter,
) -> Iterator[Row]:
    """A row for each contender: how long its first call took, in which kernels are compiled, and the best later.

    They take turns, so that what else the machine does hits all alike.  Contenders that count matches must have
    the same number.  `times faster` compares with the one called `against`, if it is there.

    >>> [row] = measure("size 2", 2, {"sum": Contender(lambda: sum([1, 2]))}, 1)
    >>> list(row.figures)
    ['first call', 'seconds', 'events/s']
    """
    figures: dict[str, Figures] = {}
    for series, contender in contenders.items():
        result, seconds = timed(contender.run, clock)
        figures[series] = {**contender.look(result), "first call": seconds}
        del result
    _check_matches(varied, figures)
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(times):
        for series, contender in contenders.items():
            best[series] = min(best[series], timed(contender.run, clock)[1])
    for series, seconds in best.items():
        own = {**figures[series], "seconds": seconds, "events/s": events / seconds}
        if against in best:
            own["times faster"] = best[against] / seconds
        yield Row(varied, series, own, contenders[series].note)


def timed(run: Callable[[], Any], clock: Clock = perf_counter) -> tuple[Any, float]:
    """The result of a call, and how long it took."""
    began = clock()
    result = run()
    return result, clock() - began


def rows_of(found: Any) -> int:
    """How many rows there are in what was found: a table, a dict of them, or a list of these.

    >>> rows_of([pa.table({"x": [1, 2]}), {"a": pa.table({"x": [3]})}])
    3
    """
    if isinstance(found, pa.Table):
        return len(found)
    return sum(map(rows_of, found.values() if isinstance(found, dict) else found))


def relative(rows: Iterable[Row], to: str) -> Iterator[Row]:
    """Rows with their throughput as a share of that which the same series has at one point (SASE 5.4).

    >>> rows = [Row("size 2", "sum", {"events/s": 8.0}), Row("size 4", "sum", {"events/s": 2.0})]
    >>> [row.figures["relative"] for row in relative(rows, to="size 2")]
    [1.0, 0.25]
    """
    rows = list(rows)
    whole = {row.series: row.figures["events/s"] for row in rows if row.varied == to}
    for row in rows:
        yield replace(row, figures={**row.figures, "relative": row.figures["events/s"] / whole[row.series]})


def _check_matches(varied: str, figures: Mapping[str, Figures]) -> None:
    counts = {series: one["matches"] for series, one in figures.items() if "matches" in one}
    if len(set(counts.values())) > 1:
        found = ", ".join(f"{series} {count:,}" for series, count in counts.items())
        raise OuzelError(f"{varied}: required one number of matches; got {found}")
