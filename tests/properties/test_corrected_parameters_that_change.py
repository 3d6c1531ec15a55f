"""Parameters that change in a matcher that corrects itself: as in one that is given the surviving events in order.

What that one makes of changes is tested elsewhere; here much happens, to every kind of query.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ouzel as oz
from engines.corrections import Consumer
from properties.changing_patterns import Event, is_refused

TYPES = {name: ["k", "x"] for name in "ABC"}
SCHEMA = pa.schema({"ts": "int64", "type": "string", "k": "int64", "x": "int64"})
A, B, C = (oz.stream(one).select("k", "x").rename(**{f"k{one}": "k", f"x{one}": "x"}) for one in "ABC")
ARCS = [
    {"id": "begin", "source": "q0", "target": "q1", "when": "e.x <= 2", "set": {"n": "0"}},
    {"id": "stay", "source": "q1", "target": "q1", "when": "e.x >= $p", "set": {"n": "n + 1"}},
    {"id": "end", "source": "q1", "target": "q2", "when": "e.x < 2"},
    {"id": "on", "source": "q2", "target": "q1", "when": "e.x > $p", "set": {"n": "n + 10"}},
]
AUTOMATON = {"start": "q0", "final": ["q2"], "register": {"n": 0}, "partition": ["k"], "arcs": ARCS}
WAITING = {"id": "over", "source": "q1", "target": "q3", "end_of_window": True, "when": "n >= 1"}
QUERIES: dict[str, Any] = {
    "combinations": "PATTERN SEQ(A a, B b, C c) WHERE b.x >= $p WITHIN 6",
    "partitions": "PATTERN SEQ(A a, B b, C c) WHERE [k] AND b.x >= $p WITHIN 6",
    "partitions, with absence": "PATTERN SEQ(A a, !(B n), C c) WHERE [k] AND c.x >= $p WITHIN 6 INCLUSIVE",
    "absence that changes": "PATTERN SEQ(A a, !(B n), C c) WHERE [k] AND n.x >= $p WITHIN 6",
    "absence at the end": "PATTERN SEQ(A a, C c, !(B n)) WHERE [k] AND c.x >= $p WITHIN 5",
    "absence at the beginning": "PATTERN SEQ(!(B n), A a, C c) WHERE [k] AND c.x >= $p WITHIN 5",
    "absence around": "PATTERN A a & C c & !B n WHERE [k] AND c.x >= $p WITHIN 4",
    "closures": "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match {[k] AND b.x >= $p} WITHIN 8",
    "closures that change": "PATTERN SEQ(A a, B+ b[], C c) WHERE [k] AND b[i].x >= $p WITHIN 5",
    "contiguous": "PATTERN SEQ(A a, ANY(B, C) b, C c) WHERE partition_contiguity {[k] AND c.x >= $p} WITHIN 5",
    "no window": "PATTERN SEQ(A a, B b) WHERE skip_till_next_match {a.x = b.x AND b.x >= $p}",
    "windows of events": "PATTERN SEQ(A a, B b) WHERE [k] AND b.x >= $p WITHIN 4 EVENTS",
    "apart": "PATTERN SEQ(A a, B b) WHERE [k] AND b.x >= $p WITHIN 6 OUTPUT NON_OVERLAP",
    "conjunction": "PATTERN (A a & B b); C c WHERE [k] AND c.x >= $p WITHIN 6",
    "groups": "PATTERN A; B+; C WHERE [k] AND C.x >= $p WITHIN 6",
    "expression": A.next(B, where="kB = kA AND xB >= $p").next(C, where="kC = kA AND duration() <= 8"),
    "list": [
        oz.query("QUERY one PATTERN SEQ(A a, B b) WHERE [k] AND b.x >= $p WITHIN 6"),
        oz.query("QUERY two PATTERN SEQ(A a, C b) WHERE [k] AND b.x >= 1 WITHIN 4"),
    ],
    "set": "PATTERN SEQ(A a, B b, C c) WHERE [k] AND b.x >= $p WITHIN 6",
    "automaton": AUTOMATON | {"window": 6},
    "automaton without partitions": {**AUTOMATON, "partition": [], "window": 4},
    "automaton that waits": {**AUTOMATON, "window": 4, "final": ["q2", "q3"], "arcs": [*ARCS, WAITING]},
}


@dataclass
class Case:
    """A query by name, and how it is read."""

    name: str
    engine: str

    def matcher(self, **options: Any) -> Any:
        query, params = QUERIES[self.name], {"p": 1}
        schema = SCHEMA.append(pa.field("op", pa.int8())) if "op" in options else SCHEMA
        if isinstance(query, dict):
            return oz.matcher(oz.automaton(query), schema, type=None, params=params, **options)
        if self.name == "set":
            rows = pa.table({"id": [1, 2], "p": [0, 1]})
            return oz.matcher(oz.queries(query, rows), schema, types=TYPES, engine=self.engine, **options)
        return oz.matcher(query, schema, types=TYPES, params=params, engine=self.engine, **options)

    def change(self, matcher: Any, value: int) -> None:
        matcher.set_params({"set": 1, "list": "one"}.get(self.name), p=value)


@dataclass
class Found:
    """What is found by query: by a consumer of changes, or of rows."""

    consumers: dict[str, Consumer] = field(default_factory=dict)
    rows: Counter[str] = field(default_factory=Counter)

    def take(self, found: Any) -> None:
        for name, table in (found if isinstance(found, dict) else {"": found}).items():
            if "match_id" in table.column_names:
                self.consumers.setdefault(name, Consumer()).apply(table)
            else:
                self.rows += Counter(f"{name} {row!r}" for row in table.to_pylist())

    @property
    def net(self) -> Counter[str]:
        net = Counter(self.rows)
        for name, one in self.consumers.items():
            net += Counter(f"{name} {row}" for row in one.live.values())
        return net


def in_order(case: Case, events: list[Event], changes: list[tuple[int, int]]) -> Counter[str]:
    """What a matcher finds that waits, in order of time."""
    matcher, found = case.matcher(watermark=1_000), Found()
    coming = sorted(events, key=lambda event: event["ts"])
    for time, value in changes:
        before = [one for one in coming if one["ts"] < time]
        coming = coming[len(before) :]
        found.take(matcher.push(pa.Table.from_pylist(before, SCHEMA)))
        if time >= 0:
            found.take(matcher.advance(time))
        case.change(matcher, value)
    found.take(matcher.push(pa.Table.from_pylist(coming, SCHEMA)))
    found.take(matcher.finish())
    return found.net


@dataclass
class Stream:
    """A matcher that corrects itself, the events that are there, and the values that came, each at its time."""

    case: Case
    matcher: Any
    random: Random
    found: Found = field(default_factory=Found)
    living: list[Event] = field(default_factory=list)
    changes: list[tuple[int, int]] = field(default_factory=list)
    now: int = -1

    def push(self, events: list[Event], op: int) -> None:
        rows = [{**one, "op": op} for one in events]
        self.found.take(self.matcher.push(pa.Table.from_pylist(rows, self.matcher.schema)))

    def insert(self) -> None:
        random, since = self.random, max(self.now, 0)
        events = [
            {
                "ts": random.randint(since, since + 7),
                "type": random.choice("ABC"),
                "k": random.choice((1, 1, 2)),
                "x": random.randint(0, 2),
            }
            for _ in range(random.randint(1, 6))
        ]
        self.living += events
        self.push(events, 1)

    def withdraw(self) -> None:
        can_be = [one for one in self.living if one["ts"] >= self.now]
        if can_be:
            event = self.random.choice(can_be)
            self.living.remove(event)
            self.push([event], -1)

    def advance(self) -> None:
        self.now += self.random.randint(1, 4)
        self.found.take(self.matcher.advance(self.now))

    def change(self) -> None:
        value = self.random.randint(0, 2)
        self.case.change(self.matcher, value)
        self.changes.append((self.now, value))

    def restore(self) -> None:
        self.matcher = oz.restore(self.matcher.snapshot())

    def compare(self) -> None:
        assert self.found.net == in_order(self.case, self.living, self.changes)


@settings(max_examples=150)
@given(
    st.sampled_from(sorted(QUERIES)),
    st.sampled_from(("auto", "auto", "automaton", "reference")),
    st.sampled_from(("inf", "inf", "inf", 3, 0)),
    st.integers(0, 2**32),
)
def test_as_in_order(name: str, engine: str, speculation: Any, number: int) -> None:
    case = Case(name, engine)
    try:
        matcher = case.matcher(op="op", speculation=speculation, watermark=None if speculation else 1_000)
        stream = Stream(case, matcher, Random(number))
        for _ in range(stream.random.randint(4, 12)):
            actions = (*[stream.insert] * 3, stream.withdraw, stream.advance, stream.change, stream.restore)
            stream.random.choice(actions)()
            if speculation == "inf" and "absence" not in name and "waits" not in name:
                stream.push([], 1)
                stream.compare()
    except oz.OuzelError as error:
        assume(not is_refused(error, "cannot run this query", "in automata only"))
    stream.found.take(stream.matcher.finish())
    stream.compare()
