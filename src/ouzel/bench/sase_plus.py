"""SASE+'s experiments (section 6): closures over ticks of two stocks, on one core.

The paper's streams have 200 windows for each symbol: 200,000 events where the window is 500, 800,000 where it is
2,000.  Windows count the events of a partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

import ouzel as oz
from ouzel.bench.measure import Contender, Figures, Row, measure
from ouzel.bench.peers import numpy_pass
from ouzel.testing.papers import stock_stream

PREDICATES = {"p1": "", "p2": "a[i].price > a[i-1].price", "p3": "a[i].price > min(a[..i-1].price)"}
STRATEGIES = {"s2": "partition_contiguity", "s3": "skip_till_next_match"}
WINDOWS = (500, 1_000, 1_500, 2_000)
COLUMNS = ("ts", "symbol", "price", "volume")


@dataclass(frozen=True)
class Template:
    """The paper's template: iterator predicate, strategy, window; `p3*` has a third component (experiment 4)."""

    predicate: str
    strategy: str
    window: int = 500
    output: str = ""

    @property
    def label(self) -> str:
        """As the paper's figures name it."""
        return f"{self.predicate} {self.strategy}"

    @property
    def query(self) -> str:
        """As Ouzel takes it.

        >>> Template("p1", "s3").query
        'PATTERN SEQ(STOCK+ a[], STOCK b) WHERE skip_till_next_match { [symbol] AND a[1].price % 500 = 0
        AND b.volume < 150 } WITHIN 500 EVENTS RETURN a[].ts AS a, b.ts AS b'
        """
        starred = self.predicate.endswith("*")
        components = "STOCK+ a[], STOCK b" + ", STOCK c" * starred
        iterator = PREDICATES[self.predicate.rstrip("*")]
        conditions = ["[symbol]", "a[1].price % 500 = 0", *([iterator] if iterator else []), "b.volume < 150"]
        if starred:
            conditions += ["c.price > a[1].price", "c.price < a[a.LEN].price"]
        where = f"{STRATEGIES[self.strategy]} {{ {' AND '.join(conditions)} }}"
        returned = "a[].ts AS a, b.ts AS b" + ", c.ts AS c" * starred
        query = f"PATTERN SEQ({components}) WHERE {where} WITHIN {self.window} EVENTS RETURN {returned}"
        return f"{query} OUTPUT {self.output}" if self.output else query


def verbose(stream: pa.Table, template: Template, evaluation: str) -> Contender:
    """The matches written out."""
    run = partial(_match, stream, oz.query(template.query), evaluation)
    return Contender(run, partial(_look, stream, evaluation))


def matching(stream: pa.Table, template: Template, evaluation: str) -> Contender:
    """Matching alone: the matches stay in their graph, which takes no time."""
    query = oz.query(template.query)
    tuning = {"evaluation": evaluation}
    run = partial(oz.match, stream, query, type=None, mode="compressed", tuning=tuning)
    return Contender(run, lambda graph: {"matches": int(graph.count)})


def _match(stream: pa.Table, query: oz.Query, evaluation: str) -> tuple[pa.Table, oz.Report]:
    report = oz.Report()
    tuning = {"evaluation": evaluation}
    return oz.match(stream, query, type=None, tuning=tuning, threads=1, report=report), report


def _look(stream: pa.Table, evaluation: str, result: tuple[pa.Table, oz.Report]) -> Figures:
    """The figures of the paper's tables 2 and 3."""
    found, report = result
    bound = sum(len(chunk.flatten()) for chunk in found.column("a").chunks)
    others = found.num_columns - 1
    figures: Figures = {"matches": found.num_rows, "match length": bound / max(found.num_rows, 1) + others}
    counters = report.counters
    if evaluation == "backtracking":
        # over all events, the runs at a time step
        return {**figures, "runs per event": counters.read / len(stream)}
    if evaluation == "merging":
        figures["merged %"] = 100 * counters.merged / max(counters.made, 1)
    return {**figures, "most runs": counters.peak}


def _figure(name: str, stream: pa.Table, template: Template, evaluation: str) -> Figures:
    """A figure that takes another evaluation, or matches written out."""
    contender = verbose(stream, template, evaluation)
    return {name: contender.look(contender.run())[name]}


def _templates(
    predicates: Iterable[str], strategies: Iterable[str] = STRATEGIES, **options: Any
) -> list[Template]:
    return [Template(predicate, strategy, **options) for predicate in predicates for strategy in strategies]


def sase_plus_1(events: int, times: int) -> Iterator[Row]:
    """SASE+'s experiment 1: iterator predicate and strategy; basic evaluation, window 500.

    `runs per event` is the paper's number of runs per time step; here none is cloned to wait for b.
    """
    stream = stock_stream(events)
    for one in _templates(PREDICATES):
        runs = _figure("runs per event", stream, one, "backtracking")
        contenders = {
            "verbose": verbose(stream, one, "basic").also(runs),
            "matching only": matching(stream, one, "basic"),
        }
        yield from measure(one.label, events, contenders, times, against="verbose")


def sase_plus_2(events: int, times: int) -> Iterator[Row]:
    """SASE+'s experiment 2: the window, for each predicate and strategy; basic evaluation."""
    stream = stock_stream(events)
    for window in WINDOWS:
        for one in _templates(PREDICATES, window=window):
            if one.label != "p1 s2":  # the same as p1 s3
                yield from measure(f"window {window:,}", events, {one.label: verbose(stream, one, "basic")}, times)


def sase_plus_3(events: int, times: int) -> Iterator[Row]:
    """SASE+'s experiment 3: basic evaluation or backtracking, all results; window 500."""
    yield from _compared(stock_stream(events), _templates(PREDICATES), ("basic", "backtracking"), times)


def sase_plus_4(events: int, times: int) -> Iterator[Row]:
    """SASE+'s experiment 4: basic evaluation or backtracking, non-overlapping results; window 500."""
    templates = _templates([*PREDICATES, "p3*"], output="NON_OVERLAP")
    yield from _compared(stock_stream(events), templates, ("basic", "backtracking"), times)


def sase_plus_5(events: int, times: int) -> Iterator[Row]:
    """SASE+'s experiment 5: merging or basic evaluation, all matches written out; window 500."""
    stream = stock_stream(events)
    yield from _compared(stream, _templates(PREDICATES), ("basic", "merging"), times)
    yield from measure("all columns", events, {"one pass in NumPy": numpy_pass(stream, COLUMNS)}, times)


def sase_plus_6(events: int, times: int) -> Iterator[Row]:
    """SASE+'s experiment 6: merging or basic evaluation by the window, matching cost alone.

    The paper's table 3 has, for windows of 500 to 2,000, these shares of runs merged: for p1 47.9, 50.9, 66.6 and
    75.3 %, for p2 47.8, 48.3, 55.7 and 60.4 %, for p3 47.8, 45.8, 44.9 and 50.6 %.
    """
    stream = stock_stream(events)
    for window in WINDOWS:
        for one in _templates(PREDICATES, ("s3",), window=window):
            basic, merging = f"{one.label} basic", f"{one.label} merging"
            merged = _figure("merged %", stream, one, "merging")
            contenders = {
                basic: matching(stream, one, "basic"),
                merging: matching(stream, one, "merging").also(merged),
            }
            yield from measure(f"window {window:,}", events, contenders, times, against=basic)


def _compared(
    stream: pa.Table, templates: Iterable[Template], evaluations: tuple[str, str], times: int
) -> Iterator[Row]:
    for one in templates:
        contenders = {name: verbose(stream, one, name) for name in evaluations}
        yield from measure(one.label, len(stream), contenders, times, against=evaluations[0])
