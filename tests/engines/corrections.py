"""A stream with disorder and withdrawals, pushed to a matcher that corrects itself: is what it says ever right?

After every answer the net output is compared with the reference, as a matcher that is given those of the surviving
events, in order, that may be matched by then; at the end with the reference's `match`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from hypothesis import strategies as st

import ouzel as oz
from ouzel.compile import Compiled, compile_query
from ouzel.logical.pattern import edge_negatives, negatives_around

INSERT, WITHDRAW, CUT, RESTORE, PROMISE = "insert", "withdraw", "cut", "restore", "promise"


@dataclass(frozen=True)
class Script:
    """What happens: rows inserted in turn, the n-th living one withdrawn, batches that end, time that passes.

    It is also said that no event of some key comes before a time; nevertheless it may, and is late then.
    """

    actions: list[tuple[str, int]]
    speculation: Any
    watermark: int | None
    ops: pa.DataType

    @property
    def punctuates(self) -> bool:
        return self.watermark is not None or self.speculation == 0


@st.composite
def scripts(draw: st.DrawFn, most: int = 10) -> Script:
    kinds = st.sampled_from((INSERT,) * 6 + (WITHDRAW,) * 3 + (CUT,) * 4 + (RESTORE,))
    passes = st.sampled_from((*[-1] * 12, 1, 2, 3, 4, 6))
    length = draw(st.integers(most, 3 * most))
    actions: list[tuple[str, int]] = []
    for kind in draw(st.lists(kinds, min_size=length, max_size=length)):
        number = draw(passes) if kind == CUT else draw(st.integers(0, 9)) if kind == WITHDRAW else 0
        actions.append((kind, number))
    speculation = draw(st.sampled_from(("inf", "inf", "inf", 0, 1, 3, 6)))
    watermark = draw(st.sampled_from((None, None, None, 0, 2, 5)))
    ops = draw(st.sampled_from((pa.int8(), pa.int64(), pa.dictionary(pa.int8(), pa.int32()))))
    return Script(actions, speculation, watermark, ops)


def random_script(random: Random, length: int) -> Script:
    """A script in which much happens: Hypothesis likes what is simple."""
    actions = []
    promises = random.choice((0, 0, 1, 2))
    for kind in random.choices((INSERT, WITHDRAW, CUT, RESTORE, PROMISE), (12, 4, 6, 1, promises), k=length):
        passes = random.randint(0, 12) if kind == CUT and random.random() < 0.05 else -1
        most = 26 if kind == PROMISE else 9
        actions.append((kind, passes if kind == CUT else random.randint(0, most)))
    watermark = random.choice((None, None, None, 3))
    return Script(actions, random.choice(("inf", "inf", 0, 2, 5)), watermark, pa.int8())


def random_events(random: Random, count: int) -> list[dict[str, Any]]:
    """Events of three types and two keys."""
    return [
        {
            "eid": f"e{number}",
            "ts": random.randint(0, 12),
            "type": random.choice("ABC"),
            "k": random.choice((1, 2)),
            "x": random.choice((None, 0, 1, 2)),
            "y": random.randint(0, 3),
        }
        for number in range(count)
    ]


@dataclass
class Consumer:
    """Whoever applies the changes of a query."""

    live: dict[int, str] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    final: list[tuple[set[int], int]] = field(default_factory=list)
    """Ids of equal rows, and how many of them are never to be withdrawn."""

    def apply(self, table: pa.Table) -> None:
        assert table.column_names[-2:] == ["op", "match_id"]
        assert table.schema.field("op").type == pa.int8()
        assert table.schema.field("match_id").type == pa.int64()
        for row in table.to_pylist():
            op, number = row.pop("op"), row.pop("match_id")
            if op == 1:
                assert number not in self.seen
                self.seen.add(number)
                self.live[number] = repr(row)
            else:
                assert op == -1
                assert self.live.pop(number) == repr(row)
        for ids, least in self.final:
            assert len(ids & self.live.keys()) >= least

    def settle(self, final: Counter[str]) -> None:
        for row, count in final.items():
            ids = {number for number, one in self.live.items() if one == row}
            assert len(ids) >= count
            self.final.append((ids, count))

    @property
    def net(self) -> Counter[str]:
        return Counter(self.live.values())


Nets = dict[str, "Counter[str]"]


@dataclass
class Stream:
    """Rows by number, the order in which those that live came, and how far time is."""

    query: oz.Query
    table: pa.Table
    times: list[int]
    script: Script
    options: dict[str, Any]
    living: list[int] = field(default_factory=list)
    latest: int | None = None
    now: int | None = None
    plans: Compiled | None = None
    yardstick: str = "reference"
    known: dict[tuple[Any, ...], Nets] = field(default_factory=dict)

    def expected(self, until: int | None, *, ended: bool = False) -> Nets:
        """What a matcher finds in the living events before a time that has passed; None: in all, at the end."""
        rows = [row for row in self.living if until is None or self.times[row] < until]
        rows.sort(key=lambda row: self.times[row])
        asked = (*rows, until, ended)
        if asked not in self.known:
            self.known[asked] = self._found(rows, until, ended=ended)
        return self.known[asked]

    def _found(self, rows: list[int], until: int | None, *, ended: bool) -> Nets:
        with patch("ouzel.runtimes.matcher.compile_query", self.compiled_once):
            matcher = oz.matcher(self.query, self.table.schema, engine=self.yardstick, **self.options)
        events = taken(self.table, rows)
        found = [matcher.push(events)]
        if until is not None:
            found.append(matcher.advance(until))
        if until is None or ended:
            found.append(matcher.finish())
        nets: Nets = {name: Counter() for name in matcher.names}
        for one in found:
            for name, result in named(one, matcher.names).items():
                nets[name] += Counter(map(repr, result.to_pylist()))
        return nets

    def compiled_once(self, *arguments: Any) -> Compiled:
        """The plans of the yardstick: many matchers are made of them, one after the other."""
        if self.plans is None:
            self.plans = compile_query(*arguments)
        return self.plans

    @property
    def until(self) -> int | None:
        """Before which time events may be matched by now; None if none may."""
        if self.script.speculation == "inf":
            ends = [self.now, None if self.latest is None else self.latest + 1]
            return max((one for one in ends if one is not None), default=None)
        if self.now is None:
            return None
        reach = self.now + self.script.speculation
        return max(self.now, min(reach, self.latest + 1)) if self.latest is not None else self.now


def taken(table: pa.Table, rows: list[int]) -> pa.Table:
    """Some rows of a table whose columns Arrow may not know how to take from."""
    return pa.concat_tables([table.slice(row, 1) for row in rows]) if rows else table.slice(0, 0)


def named(result: Any, names: tuple[str, ...]) -> dict[str, pa.Table]:
    return result if isinstance(result, dict) else {names[0]: result}


class Driver:
    """Pushes rows as a script says, and compares after every answer."""

    def __init__(self, stream: Stream) -> None:
        self.stream, script = stream, stream.script
        self.matcher = oz.matcher(
            stream.query,
            stream.table.schema.append(pa.field("op", script.ops)),
            op="op",
            speculation=script.speculation,
            watermark=script.watermark,
            on_late="keep" if any(kind == PROMISE for kind, _number in script.actions) else "error",
            **stream.options,
        )
        self.consumers = {name: Consumer() for name in self.matcher.names}
        patterns = [plan.query.pattern for plan in self.matcher._chain.all_plans]
        if any(edge_negatives(one, at_end=True) or negatives_around(one) for one in patterns):
            # where later events may refute a match, the reference waits longer than need be
            stream.yardstick = "auto"
        # totals are told as they are, where anything is told before it is final
        totals = any(plan.query.aggregates for plan in self.matcher._chain.all_plans)
        self.ended = totals and script.speculation != 0
        self.batch: list[tuple[int, int]] = []
        self.twin: oz.Matcher | None = None
        self.promised: dict[Any, int] = {}
        self.late = [0, 0]
        """Rows that are late as they were promised not to come, and those that were told to be."""
        rows = range(len(stream.times))
        # where events let time pass, those that come out of order are late by little
        self.coming = sorted(rows, key=lambda row: stream.times[row] + row % 3) if script.punctuates else [*rows]

    @property
    def nets(self) -> Nets:
        return {name: one.net for name, one in self.consumers.items()}

    def apply(self, result: Any) -> None:
        for name, changes in named(result, self.matcher.names).items():
            self.consumers[name].apply(changes)

    def compare(self) -> None:
        until = self.stream.until
        if until is not None:
            assert self.nets == self.stream.expected(until, ended=self.ended)
        elif not self.ended:
            assert not any(self.nets.values())

    def act(self, action: str, number: int) -> None:
        stream, now = self.stream, self.stream.now
        if action == INSERT:
            row = next((row for row in self.coming if now is None or stream.times[row] >= now), None)
            if row is not None:
                self.coming.remove(row)
                self.batch.append((row, 1))
            if row is not None and not self.is_late(row):
                stream.living.append(row)
                time = stream.times[row]
                stream.latest = time if stream.latest is None else max(time, stream.latest)
        elif action == WITHDRAW:
            can_be = [row for row in stream.living if now is None or stream.times[row] >= now]
            if can_be:
                row = can_be[number % len(can_be)]
                self.batch.append((row, -1))
                if not self.is_late(row):
                    stream.living.remove(row)
        elif action == PROMISE:
            self.promise(number // 2, 1 + number % 2)
        else:
            self.push(number if action == CUT else -1)
        if action == RESTORE:
            # the one before goes on beside it, and says the same
            self.twin, self.matcher = self.matcher, oz.restore(self.matcher.snapshot())

    def promise(self, time: int, key: int) -> None:
        """Say that no event of a key comes before a time any more."""
        self.push(-1)
        self.promised[key] = max(time, self.promised.get(key, time))
        for matcher in (self.matcher, self.twin):
            told = matcher.advance(time, where=f"k = {key}") if matcher is not None else {}
            assert not any(changes.num_rows for changes in named(told, self.matcher.names).values())

    def is_late(self, row: int) -> bool:
        """Whether a row was promised not to come; if so it is counted."""
        if not self.promised or self.stream.times[row] >= self.promised.get(self.key_of(row), 0):
            return False
        self.late[0] += 1
        return True

    def key_of(self, row: int) -> Any:
        return self.stream.table.column("k")[row].as_py()

    def push(self, watermark: int) -> None:
        stream, script, before = self.stream, self.stream.script, self.stream.now
        rows, ops = [row for row, _op in self.batch], pa.array([op for _row, op in self.batch], pa.int32())
        ops = ops.dictionary_encode() if pa.types.is_dictionary(script.ops) else ops
        events = taken(stream.table, rows).append_column("op", ops.cast(script.ops))
        self.batch = []
        passed = [] if stream.now is None else [stream.now]
        passed += [watermark] if watermark >= 0 else []
        if script.punctuates and stream.latest is not None:
            passed.append(stream.latest - (script.watermark or 0))
        stream.now = max(passed, default=None)
        passing = watermark if watermark >= 0 else None
        result = self.matcher.push(events, passing)
        self.apply(result)
        self.late[1] += self.matcher.take_late().num_rows
        if self.twin is not None:
            other = named(self.twin.push(events, passing), self.matcher.names)
            for name, table in named(result, self.matcher.names).items():
                assert repr(table.to_pylist()) == repr(other[name].to_pylist())
        self.compare()
        if stream.now != before and stream.now is not None:
            for name, final in stream.expected(stream.now).items():
                self.consumers[name].settle(final)


def check(query: Any, table: pa.Table, times: list[int], script: Script, **options: Any) -> Nets:
    """Push a table's rows as a script says; what is the net output at the end."""
    query = oz.Query(query)
    stream = Stream(query, table, times, script, options)
    driver = Driver(stream)
    for action, number in script.actions:
        driver.act(action, number)
    driver.push(-1)
    driver.apply(driver.matcher.finish())
    assert driver.nets == stream.expected(None)
    assert driver.late[0] == driver.late[1]
    survivors = taken(table, stream.living)
    at_once = named(oz.match(survivors, query, engine="reference", **options), driver.matcher.names)
    assert driver.nets == {name: Counter(map(repr, one.to_pylist())) for name, one in at_once.items()}
    return driver.nets
