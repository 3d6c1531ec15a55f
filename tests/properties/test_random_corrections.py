"""Whatever comes late or is withdrawn: insertions less withdrawals are the matches of the surviving events."""

from __future__ import annotations

from random import Random
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ouzel as oz
from engines.corrections import Script, check, random_events, random_script, scripts
from engines.pushes import SCHEMA, TYPES, Events
from ouzel.physical.compiled import kernel
from ouzel.physical.limit_errors import LimitError
from ouzel.testing import algebra
from ouzel.testing.automata import automata
from ouzel.testing.encodings import Rows, stored_streams
from ouzel.testing.programs import Program, program_text, programs
from ouzel.testing.strategies import RandomQuery, queries, streams

ORDERS = st.sampled_from((None, None, "arrival", ["ts", "eid"], ["ts", "x", "arrival"]))
# of these there are matches in most streams
PLAIN = (
    "PATTERN A a; B b RETURN a.eid AS a, b.eid AS b",
    "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 4",
    "PATTERN SEQ(A a, !(B b), C c) WITHIN 5 RETURN a.k AS k, c.k AS l",
    "PATTERN SEQ(A a, C c, !(B b)) WITHIN 4 RETURN a.eid AS a, c.eid AS c",
    "PATTERN SEQ(!(B b), A a, C c) WHERE [k] WITHIN 4 RETURN a.eid AS a, c.eid AS c",
    "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match {[k]} WITHIN 6 RETURN a[].eid AS a, b.eid AS b",
    "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match {[k]} WITHIN 6",
    "PATTERN SEQ(A a, B b) WITHIN 5 EVENTS RETURN a.k AS k",
    "PATTERN SEQ(A a, B b) WHERE strict_contiguity {a.x <= b.x} RETURN a.eid AS a, b.eid AS b",
    "PATTERN SEQ(A a, ANY(B, C) b) WHERE partition_contiguity {[k]} RETURN a.eid AS a, b.eid AS b",
    "PATTERN SEQ(A a, ANY(B, C) b) WITHIN 6 RETURN a.eid AS a, b.eid AS b OUTPUT NON_OVERLAP",
    "PATTERN A a & B b WITHIN 4 RETURN a.eid AS a, b.eid AS b",
    "PATTERN A; B*; C WITHIN 5 RETURN A.eid AS a, count(B) AS n, C.eid AS c",
    "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 6 RETURN count(*) AS n, sum(a.x) AS s OUTPUT AGGREGATE",
    "PATTERN SEQ(A a, B b) WITHIN 6 RETURN count(*) AS n, max(b.x) AS m OUTPUT AGGREGATE EVERY 3",
    "QUERY p PATTERN SEQ(A a, B b) WITHIN 4 RETURN a.k AS k, b.eid AS b INTO P "
    "QUERY q PATTERN SEQ(P p, C c) WHERE [k] WITHIN 8 RETURN p.b AS b, c.eid AS c",
)
RANDOMS = st.randoms(use_true_random=False)
# all combinations of all combinations are too many to wait for; to ask how much memory there is takes time, too
FEW = oz.Limits(max_matches=150, max_runs=1_500, max_memory="4GB")


def bounded(query: Any, table: pa.Table, times: list[int], script: Script, **options: Any) -> None:
    try:
        check(query, table, times, script, limits=FEW, **options)
    except LimitError:
        assume(False)
    except oz.OuzelError as error:
        assume("cannot run this query" not in str(error))
        raise


def as_table(events: Events) -> tuple[pa.Table, list[int]]:
    rows = [{"seq": 0, **event} for event in events]
    return pa.Table.from_pylist(rows, SCHEMA), [row["ts"] for row in rows]


def shuffled(events: pa.Table, random: Any) -> pa.Table:
    rows = list(range(events.num_rows))
    random.shuffle(rows)
    return events.take(pa.array(rows, pa.int64()))


@settings(max_examples=150)
@given(queries(non_overlap=True, totals=True, lacking=True), streams(14, min_events=8), scripts())
def test_queries(query: RandomQuery, events: Events, script: Script) -> None:
    bounded(query.text, *as_table(events), script, types=TYPES)


@settings(max_examples=40)
@given(queries(non_overlap=True, totals=True), streams(12, min_events=8), scripts(), ORDERS)
def test_total_orders(query: RandomQuery, events: Events, script: Script, order: Any) -> None:
    events = [{**event, "x": event["x"] or 0} for event in events]
    bounded(query.text, *as_table(events), script, types=TYPES, order=order)


@settings(max_examples=30)
@given(programs(), streams(12, min_events=8), scripts())
def test_programs(program: Program, events: Events, script: Script) -> None:
    bounded(program_text(program), *as_table(events), script, types=TYPES)


@settings(max_examples=60)
@given(
    algebra.expressions(linear_plus=False), algebra.events(least=6), st.randoms(use_true_random=False), scripts()
)
def test_expressions(expression: oz.Stream, events: pa.Table, random: Any, script: Script) -> None:
    rows = list(range(events.num_rows))
    random.shuffle(rows)
    events = events.take(pa.array(rows, pa.int64()))
    bounded(expression, events, events.column("ts").to_pylist(), script, types=algebra.TYPES)


@settings(max_examples=30)
@given(algebra.expressions(), algebra.events(least=6, lasting=True), RANDOMS, scripts())
def test_events_that_last(expression: oz.Stream, events: pa.Table, random: Any, script: Script) -> None:
    events = shuffled(events, random)
    times = events.column("end").to_pylist()
    bounded(expression, events, times, script, types=algebra.TYPES, time=("start", "end"))


@settings(max_examples=40)
@given(queries(non_overlap=True), stored_streams(max_events=10), scripts())
def test_encodings(query: RandomQuery, events: tuple[Rows, pa.Table], script: Script) -> None:
    rows, table = events
    types = {name: ["eid", "k", "x", "y"] for name in "ABCD"}
    bounded(query.text, table, [row["ts"] for row in rows], script, types=types)


@settings(max_examples=20)
@given(st.lists(queries(), min_size=2, max_size=3), streams(12, min_events=8), scripts())
def test_lists(some: list[RandomQuery], events: Events, script: Script) -> None:
    bounded([one.text for one in some], *as_table(events), script, types=TYPES)


@settings(max_examples=60)
@given(st.sampled_from(PLAIN), st.integers(0, 2**32))
def test_checkpoints(query: str, number: int) -> None:
    random = Random(number)
    events, script = random_events(random, 16), random_script(random, 32)
    rewinding = "ouzel.runtimes.rewinding"
    with (
        patch(f"{rewinding}.LEAST", 1),
        patch(f"{rewinding}.BYTES_PER_EVENT", 10**9),
        patch("ouzel.runtimes.revising.Revising.by_regions", False),
    ):
        bounded(query, *as_table(events), script, types=TYPES)


# partitions are matched again, where windows are of time
PARTITIONED = (
    "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 4",
    "PATTERN SEQ(A a, B b) WHERE [k, y] WITHIN 6 RETURN b.eid AS b, a.x AS x",
    "PATTERN SEQ(A a, !(B b), C c) WHERE [k] WITHIN 5 INCLUSIVE RETURN a.eid AS a, c.eid AS c",
    "PATTERN SEQ(A a, C c, !(B b)) WHERE [k] WITHIN 4 RETURN a.eid AS a, c.eid AS c",
    "PATTERN SEQ(!(B b), A a, C c) WHERE [k] WITHIN 4 RETURN a.eid AS a, c.eid AS c",
    "PATTERN SEQ(!(B b), A a, C c, !(B d)) WHERE [k] AND b.x = a.x WITHIN 5 RETURN a.x AS a, c.x AS c",
    "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match {[k]} WITHIN 6 RETURN a[].eid AS a, b.eid AS b",
    "PATTERN SEQ(A? a, B b, C* c[]) WHERE [k] WITHIN 3 RETURN a.x AS a, b.eid AS b, count(c[]) AS n",
    "PATTERN SEQ(A a, ANY(B, C) b) WHERE partition_contiguity {[k]} WITHIN 5",
    "PATTERN A | B; C WHERE [k] WITHIN 4 RETURN A.eid AS a, B.eid AS b, C.eid AS c",
    "PATTERN A a & B b & !C c WHERE [k] WITHIN 4 RETURN a.eid AS a, b.eid AS b",
    "PATTERN A; B*; C WHERE [k] WITHIN 5 RETURN A.eid AS a, count(B) AS n, C.eid AS c",
    "QUERY p PATTERN SEQ(A a, B b) WHERE [k] WITHIN 4 RETURN a.y AS y "
    "QUERY q PATTERN SEQ(B a, C b) WHERE [y] WITHIN 8 RETURN a.eid AS a, b.eid AS b",
)


@settings(max_examples=100)
@given(st.sampled_from(PARTITIONED), st.integers(0, 2**32), ORDERS)
def test_regions(query: str, number: int, order: Any) -> None:
    random = Random(number)
    events, script = random_events(random, 18), random_script(random, 36)
    events = [{**event, "x": event["x"] or 0} for event in events] if order else events
    bounded(query, *as_table(events), script, types=TYPES, order=order)


def test_these_go_by_regions() -> None:
    for query in PARTITIONED:
        made = oz.matcher(query, SCHEMA, types=TYPES, speculation="inf")
        assert "partitions, a window around them, are matched again" in " ".join(made.explain().split()), query


@settings(max_examples=2)
@given(queries(), streams(14, min_events=8), scripts())
def test_compiled(query: RandomQuery, events: Events, script: Script) -> None:
    with patch.object(kernel, "COMPILE_FROM", 0):
        bounded(query.text, *as_table(events), script, types=TYPES)


@settings(max_examples=80)
@given(st.one_of(automata(), automata(ending=True)), algebra.events(9, least=6), RANDOMS, scripts())
def test_automata(automaton: oz.Automaton, events: pa.Table, random: Any, script: Script) -> None:
    events = shuffled(events, random)
    bounded(automaton, events, events.column("ts").to_pylist(), script, types=algebra.TYPES)


@settings(max_examples=80)
@given(automata(silent=False, waiting=False), st.integers(0, 2**32))
def test_automata_where_much_happens(automaton: oz.Automaton, number: int) -> None:
    much_happens(automaton, Random(number), 12, 12)


@settings(max_examples=80)
@given(automata(waiting=False, ignoring=True), st.integers(0, 2**32))
def test_automata_that_ignore_events(automaton: oz.Automaton, number: int) -> None:
    random = Random(number)
    # where times are few, more is simultaneous; where they are many, more is ignored in a row
    much_happens(automaton, random, 10, random.choice((6, 12, 24)))


def much_happens(automaton: oz.Automaton, random: Random, count: int, latest: int) -> None:
    rows = [
        {**event, "ts": random.randint(0, latest), "s": random.choice("aB"), "y": event["y"] / 2}
        for event in random_events(random, count)
    ]
    table = pa.Table.from_pylist(rows, pa.schema({"ts": pa.int64(), **algebra.ARROW}))
    with patch("ouzel.physical.automaton.event_lists.SPARE", random.choice((0, 32_768))):
        script = random_script(random, 3 * count)
        bounded(automaton, table, [row["ts"] for row in rows], script, types=algebra.TYPES)
