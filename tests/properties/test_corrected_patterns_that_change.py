"""Queries that change in a matcher that corrects itself: events are judged by the version in force at their time.

A new version is in force from the punctuation on, so that it judges events, too, that came before it did.
"""

from __future__ import annotations

from ast import literal_eval
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ouzel as oz
from engines.corrections import Consumer
from properties.changing_patterns import Query, changed, evaluated, is_refused, queries, tables

TYPES = {name: ["k", "x", "n", "bit"] for name in "ABC"}
REFUSED = ("in automata only", "have not kept", "left out negative", "cannot run this query")
ENGINES = st.sampled_from(("auto", "auto", "automaton", "tree", "reference"))
# More components no version has.
MOST = 9


def text_of(query: Query) -> str:
    """A query that returns, by component, a bit for each event: versions have the same columns."""
    columns = []
    for place in range(MOST):
        part = query.parts[place] if place < len(query.parts) else None
        what = "0" if part is None or part.negative else f"v{place}.bit"
        columns.append(f"{what if part is None or not part.closure else f'sum(v{place}[].bit)'} AS c{place}")
    return f"{query.text} RETURN {', '.join(columns)}"


@dataclass
class Stream:
    """A matcher, the rows that are there, how far time is, and the versions since when they are in force."""

    query: Query
    table: pa.Table
    matcher: Any
    living: list[int] = field(default_factory=list)
    now: int = -1
    versions: list[tuple[int, Query]] = field(default_factory=list)
    consumer: Consumer = field(default_factory=Consumer)
    final: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.times = self.table.column("ts").to_pylist()

    def push(self, rows: list[int], op: int) -> None:
        some = self.table.take(pa.array(rows, pa.int64()))
        self.told(self.matcher.push(some.append_column("op", pa.array([op] * len(rows), pa.int8()))))

    def told(self, found: pa.Table) -> None:
        self.consumer.apply(found)
        assert all(self.consumer.live.get(number) == row for number, row in self.final.items())

    def insert(self, rows: list[int]) -> None:
        rows = [row for row in rows if self.times[row] >= self.now]
        self.living += rows
        self.push(rows, 1)

    def withdraw(self, number: int) -> None:
        can_be = [row for row in self.living if self.times[row] >= self.now]
        if can_be:
            row = can_be[number % len(can_be)]
            self.living.remove(row)
            self.push([row], -1)

    def advance(self, time: int) -> None:
        if time > self.now:
            self.now = time
            self.told(self.matcher.advance(time))
            self.final |= {number: row for number, row in self.consumer.live.items() if self.is_final(row)}

    def is_final(self, said: str) -> bool:
        bits = sum(literal_eval(said).values())
        times = [time for row, time in enumerate(self.times) if bits >> row & 1]
        every = [self.query, *(version for _time, version in self.versions)]
        waits = max((one.window or 0 for one in every if one.waits), default=-1)
        return max(times) < self.now and (waits < 0 or min(times) + waits <= self.now)

    def become(self, version: Query) -> bool:
        """Whether the matcher does."""
        try:
            self.matcher.replace(None, text_of(version))
        except oz.OuzelError as error:
            return not is_refused(error, *REFUSED)
        self.versions.append((self.now, version))
        return True

    def compare(self) -> None:
        rows = sorted(self.living, key=lambda row: self.times[row])
        found = evaluated(self.query, self.table.take(pa.array(rows, pa.int64())), self.versions)
        assert self.consumer.net == Counter({_row(said): count for said, count in found.items()})


def _row(said: str) -> str:
    """What the evaluator found, as the query returns it."""
    _start, _end, bound = literal_eval(said)
    return repr({f"c{place}": sum(1 << number for number in bound.get(f"v{place}", ())) for place in range(MOST)})


@settings(max_examples=150)
@given(st.data(), queries(), tables(), ENGINES, st.sampled_from(("inf", "inf", 0, 2)))
def test_patterns(data: st.DataObject, query: Query, table: pa.Table, engine: str, speculation: Any) -> None:
    table = table.append_column("bit", pa.array([1 << row for row in range(table.num_rows)], pa.int64()))
    schema = table.schema.append(pa.field("op", pa.int8()))
    how = {"types": TYPES, "engine": engine, "op": "op", "speculation": speculation}
    try:
        matcher = oz.matcher(text_of(query), schema, watermark=None if speculation else 20, **how)
    except oz.OuzelError as error:
        assume(not is_refused(error, *REFUSED))
        return
    stream = Stream(query, table, matcher)
    coming = data.draw(st.permutations(range(table.num_rows)))
    for _ in range(data.draw(st.integers(3, 9))):
        action = data.draw(st.sampled_from(("insert", "insert", "withdraw", "advance", "become", "restore")))
        if action == "insert":
            count = data.draw(st.integers(1, 5))
            stream.insert(coming[:count])
            coming = coming[count:]
        elif action == "withdraw":
            stream.withdraw(data.draw(st.integers(0, 9)))
        elif action == "advance":
            stream.advance(stream.now + data.draw(st.integers(1, 5)))
        elif action == "become":
            if not stream.become(data.draw(changed(stream.versions[-1][1] if stream.versions else query))):
                return
        else:
            stream.matcher = oz.restore(stream.matcher.snapshot())
        if speculation == "inf" and not any(one.waits for one in (query, *(new for _, new in stream.versions))):
            stream.push([], 1)
            stream.compare()
    stream.insert(coming)
    stream.told(stream.matcher.finish())
    stream.compare()
