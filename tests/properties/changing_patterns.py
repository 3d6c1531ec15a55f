"""Patterns that change while they run, and a small evaluator that knows nothing of engines.

It lets runs go through the stream and changes the query under them: every event is judged by the version in force.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import ouzel as oz

Event = dict[str, Any]
TYPES = {name: ["k", "x", "n"] for name in "ABC"}
SCHEMA = pa.schema({"ts": "int64", "type": "string", "k": "int64", "x": "int64", "n": "int64"})


def is_refused(error: oz.OuzelError, *reasons: str) -> bool:
    """Whether a query is refused for one of some reasons; any other error is raised."""
    if any(reason in str(error) for reason in reasons):
        return True
    raise error


# ---- patterns --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """A component: a type, what is asked of an event and of its predecessor, and how it binds."""

    type: str
    least: int
    rises: bool = False
    closure: bool = False
    negative: bool = False

    def written(self, place: int) -> str:
        variable = f"{self.type} v{place}" + "[]" * self.closure
        one = variable.replace(" ", "+ ", 1) if self.closure else variable
        return f"!({one})" if self.negative else one


@dataclass(frozen=True)
class Query:
    """A sequence, its strategy, whether events have one key, and its window, in ticks or events."""

    parts: tuple[Part, ...]
    strategy: str = "skip_till_any_match"
    keyed: bool = False
    window: int | None = None
    counts: bool = False

    @property
    def text(self) -> str:
        conditions = ["[k]"] if self.keyed else []
        before = None
        for place, one in enumerate(self.parts):
            mine = f"v{place}[i].x" if one.closure else f"v{place}.x"
            conditions.append(f"{mine} >= {one.least}")
            if one.rises and before is not None:
                last = f"v{before}[v{before}.LEN].x" if self.parts[before].closure else f"v{before}.x"
                conditions.append(f"{mine} > {last}")
            before = before if one.negative else place
        written = ", ".join(one.written(place) for place, one in enumerate(self.parts))
        where = f"WHERE {self.strategy} {{ {' AND '.join(conditions)} }}"
        unit = " EVENTS" if self.counts else ""
        return f"PATTERN SEQ({written}) {where}" + ("" if self.window is None else f" WITHIN {self.window}{unit}")

    @property
    def waits(self) -> bool:
        return self.parts[-1].negative


def kept_parts(old: Query, new: Query) -> int:
    """How many parts stay the same."""
    if (old.strategy, old.keyed, old.counts) != (new.strategy, new.keyed, new.counts):
        return 0
    count = 0
    while count < min(len(old.parts), len(new.parts)) and old.parts[count] == new.parts[count]:
        count += 1
    if count == len(old.parts) < len(new.parts):
        count = max(place for place, one in enumerate(old.parts) if not one.negative)
    if (old.waits or new.waits) and old != new:
        count = min(count, max(place for place, one in enumerate(new.parts) if not one.negative))
    return count


# ---- the evaluator ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """What positive parts have bound, by their places."""

    bound: tuple[tuple[int, tuple[Event, ...]], ...]
    start: int
    position: int

    @property
    def last(self) -> tuple[int, tuple[Event, ...]]:
        return self.bound[-1]


@dataclass
class Evaluator:
    """Runs of a query that changes."""

    query: Query
    born: dict[int, int] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)
    waiting: list[Run] = field(default_factory=list)
    seen: list[Event] = field(default_factory=list)
    found: list[str] = field(default_factory=list)

    def change(self, query: Query, now: int) -> None:
        kept = kept_parts(self.query, query)
        self.report(now)
        self.runs = [run for run in self.runs if run.last[0] < kept and self.is_open(run, now)]
        if kept < len(query.parts) or query != self.query:
            self.waiting = []
        new = dict.fromkeys(range(kept, len(query.parts)), now)
        self.born = {place: time for place, time in self.born.items() if place < kept} | (new if kept else {})
        if not kept:
            self.seen_before_anew(now)
        self.query = query

    def seen_before_anew(self, now: int) -> None:
        """A query that begins anew has seen no event, but positions go on."""
        self.born = dict.fromkeys(range(9), now)

    def is_open(self, run: Run, now: int) -> bool:
        query = self.query
        if query.window is None:
            return True
        if not query.counts:
            return now - run.start < query.window
        key = run.bound[0][1][0]["k"]
        return len([one for one in self.seen if not query.keyed or one["k"] == key]) - run.position < query.window

    # ---- moments -------------------------------------------------------------------------------------------

    def moment(self, events: list[Event]) -> None:
        """Let all events of a time come."""
        query = self.query
        runs: list[Run] = []
        for run in self.runs:
            key = run.bound[0][1][0]["k"]
            own = [one for one in events if not query.keyed or one["k"] == key]
            minded = events if query.strategy == "strict_contiguity" else own
            moved = [copy for one in own for copy in self.moves(run, one)]
            runs += moved
            if query.strategy == "skip_till_any_match":
                runs.append(run)
            elif query.strategy == "skip_till_next_match":
                runs += [] if any(self.minds(run, one) for one in own) else [run]
            else:
                runs += [] if minded else [run]
            self.matched(moved)
        begun = []
        first = next(place for place, one in enumerate(query.parts) if not one.negative)
        for one in events:
            before = [other for other in self.seen if not query.keyed or other["k"] == one["k"]]
            if (not query.keyed or one["k"] is not None) and self.fits(first, one, None):
                begun.append(Run(((first, (one,)),), one["ts"], len(before)))
        self.matched(begun)
        self.runs = runs + begun
        self.seen += events

    def fits(self, place: int, event: Event, before: Event | None) -> bool:
        part = self.query.parts[place]
        if event["type"] != part.type or event["x"] < part.least or event["ts"] < self.born.get(place, -1):
            return False
        return not part.rises or before is None or event["x"] > before["x"]

    def within(self, run: Run, event: Event) -> bool:
        window = self.query.window
        if window is None:
            return True
        if not self.query.counts:
            return bool(event["ts"] - run.start < window)
        own = [one for one in self.seen if not self.query.keyed or one["k"] == event["k"]]
        return len(own) - run.position < window

    def takes(self, run: Run, event: Event) -> bool:
        place = run.last[0]
        before = run.bound[-2][1][-1] if len(run.bound) > 1 else None
        return self.query.parts[place].closure and self.within(run, event) and self.fits(place, event, before)

    def following(self, place: int) -> int | None:
        later = range(place + 1, len(self.query.parts))
        return next((one for one in later if not self.query.parts[one].negative), None)

    def begins(self, run: Run, event: Event) -> bool:
        place = self.following(run.last[0])
        return place is not None and self.within(run, event) and self.fits(place, event, run.last[1][-1])

    def minds(self, run: Run, event: Event) -> bool:
        """Whether a run cannot ignore an event under skip_till_next_match."""
        is_open = self.query.parts[run.last[0]].closure
        return self.takes(run, event) if is_open else self.begins(run, event)

    def moves(self, run: Run, event: Event) -> Iterator[Run]:
        if self.takes(run, event):
            place, bound = run.last
            yield replace(run, bound=(*run.bound[:-1], (place, (*bound, event))))
        if self.begins(run, event):
            following = self.following(run.last[0])
            assert following is not None
            yield replace(run, bound=(*run.bound, (following, (event,))))

    # ---- matches -------------------------------------------------------------------------------------------

    def matched(self, runs: list[Run]) -> None:
        for run in runs:
            if self.following(run.last[0]) is None:
                self.waiting.append(run)

    def report(self, now: int | None) -> None:
        """Report what is final by a time."""
        later = []
        for run in self.waiting:
            window = self.query.window or 0
            if self.query.waits and now is not None and run.start + window > now:
                later.append(run)
            elif not self.is_refuted(run):
                names = {f"v{place}": [one["n"] for one in events] for place, events in run.bound}
                self.found.append(repr((run.start, run.last[1][-1]["ts"], names)))
        self.waiting = later

    def is_refuted(self, run: Run) -> bool:
        return any(self.refutes(place, run) for place, one in enumerate(self.query.parts) if one.negative)

    def refutes(self, place: int, run: Run) -> bool:
        before = [events for other, events in run.bound if other < place]
        after = [events for other, events in run.bound if other > place]
        low = before[-1][-1]["ts"] if before else run.last[1][-1]["ts"] - (self.query.window or 0)
        high = after[0][0]["ts"] if after else run.start + (self.query.window or 0)
        key = run.bound[0][1][0]["k"]
        return any(
            low < one["ts"] < high and (not self.query.keyed or one["k"] == key)
            for one in self.seen
            if self.fits(place, one, before[-1][-1] if before else None)
        )


def evaluated(query: Query, table: pa.Table, changes: list[tuple[int, Query]]) -> Counter[str]:
    """What is found if queries come at the times of changes."""
    evaluator = Evaluator(query)
    pending = list(changes)
    for time, events in groupby(table.to_pylist(), key=lambda one: one["ts"]):
        while pending and pending[0][0] <= time:
            at, new = pending.pop(0)
            evaluator.change(new, at)
        evaluator.report(time)
        evaluator.moment(list(events))
    for at, new in pending:
        evaluator.change(new, at)
    evaluator.report(None)
    return Counter(evaluator.found)


# ---- cases -----------------------------------------------------------------------------------------------


@st.composite
def parts(draw: st.DrawFn, *, negative: bool = False) -> Part:
    closure = not negative and draw(st.sampled_from([False, False, True]))
    return Part(
        draw(st.sampled_from("AAB")), draw(st.integers(0, 1)), draw(st.booleans()), closure, negative=negative
    )


@st.composite
def sequences(draw: st.DrawFn, begin: tuple[Part, ...], *, windowed: bool) -> tuple[Part, ...]:
    """Some parts, and others behind them; what is negative is between others, or at the end of a window."""
    found = list(begin)
    for _ in range(draw(st.integers(0 if any(not one.negative for one in begin) else 1, 2))):
        if found and not found[-1].negative and draw(st.integers(0, 3)) == 0:
            found.append(draw(parts(negative=True)))
        found.append(draw(parts()))
    while found[-1].negative:
        found.pop()
    if windowed and draw(st.integers(0, 5)) == 0:
        found.append(draw(parts(negative=True)))
    return (replace(found[0], rises=False), *found[1:])  # there is none before it


@st.composite
def queries(draw: st.DrawFn) -> Query:
    strategies = ["skip_till_any_match", "skip_till_any_match", "skip_till_next_match", "partition_contiguity"]
    strategy = draw(st.sampled_from([*strategies, "strict_contiguity"]))
    window = draw(st.one_of(st.none(), st.integers(1, 6)))
    counts = window is not None and draw(st.integers(0, 3)) == 0
    keyed = strategy == "partition_contiguity" or draw(st.booleans())
    found = draw(sequences((), windowed=window is not None and not counts))
    return Query(found, strategy, keyed, window, counts)


@st.composite
def changed(draw: st.DrawFn, query: Query) -> Query:
    """Another version: some parts, and perhaps another window."""
    begin = query.parts[: draw(st.integers(0, len(query.parts)))]
    is_timed = query.window is not None and not query.counts
    window = query.window
    if window is not None and draw(st.integers(0, 2)) == 0:
        window = draw(st.integers(1, 6))
    return replace(query, parts=draw(sequences(begin, windowed=is_timed)), window=window)


@st.composite
def tables(draw: st.DrawFn, types: str = "AAB") -> pa.Table:
    times = sorted(draw(st.lists(st.integers(0, 12), min_size=3, max_size=12)))
    rows = [
        {
            "ts": time,
            "type": draw(st.sampled_from(types)),
            "k": draw(st.sampled_from([1, 1, 2, None])),
            "x": draw(st.integers(0, 3)),
            "n": number,
        }
        for number, time in enumerate(times)
    ]
    return pa.Table.from_pylist(rows, SCHEMA)


def rows_of(found: pa.Table) -> list[str]:
    rows = []
    for row in found.to_pylist():
        start, end = row.pop("start"), row.pop("end")
        names = {
            name: [one["n"] for one in (bound if isinstance(bound, list) else [bound])]
            for name, bound in row.items()
        }
        rows.append(repr((start, end, names)))
    return rows
