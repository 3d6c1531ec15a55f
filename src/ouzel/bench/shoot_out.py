"""Which engine is the fastest for a query and a stream, and what `auto` takes: random ones, always the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from math import factorial
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa

import ouzel as oz
from ouzel.bench.measure import Figures, Row
from ouzel.errors import OuzelError

ENGINES = ("scan", "automaton", "tree")
AUTO = "auto"
# Each query is run on so many streams, of so many events: kernels are compiled for a query once.
STREAMS, EVENTS = 10, 40_000
TYPES = ("A", "B", "C", "D", "E")
# About so many sequences of the components' events there are for an event, conditions aside: from, to.
COMBINATIONS = (0.1, 100.0)
ATTRIBUTES = ("x", "y")


def shoot_out(cases: int, times: int) -> Iterator[Row]:
    """Random queries under skip_till_any_match on random streams: every engine that takes them, and `auto`.

    `of the fastest` is how many times as long as the fastest engine it takes, on average, and `worst` at worst;
    times are those of the processor, in one thread.
    """
    told: dict[str, list[float]] = defaultdict(list)
    for number in range(0, cases, STREAMS):
        query = _Query(np.random.default_rng(number))
        ratios: dict[str, list[float]] = defaultdict(list)
        seconds: dict[str, float] = defaultdict(float)
        for stream in range(min(STREAMS, cases - number)):
            best = _race(*query.case(np.random.default_rng((number, stream))), times)
            fastest = min(time for series, time in best.items() if series != AUTO)
            for series, time in best.items():
                ratios[series].append(time / fastest)
                seconds[series] += time
        for series, own in ratios.items():
            told[series] += own
            yield Row(query.text, series, {"seconds": seconds[series], **_figures(own)})
    for series, own in told.items():
        yield Row("all", series, _figures(own))


def _figures(ratios: list[float]) -> Figures:
    return {"cases": len(ratios), "of the fastest": float(np.mean(ratios)), "worst": max(ratios)}


def _race(text: str, events: pa.Table, times: int) -> Figures:
    """The best time of each engine that takes a query, and of auto; all must find the same number of matches."""
    query = {series: oz.query(text) for series in (*ENGINES, AUTO)}
    found: dict[str, int] = {}
    for series in (*ENGINES, AUTO):
        try:
            found[series] = _match(events, query[series], series).num_rows
        except OuzelError as error:
            if "cannot run this query" not in str(error):
                raise
    if len(set(found.values())) > 1:
        raise OuzelError(f"{text}: required one number of matches; got {found}")
    best = dict.fromkeys(found, float("inf"))
    for _ in range(times):
        for series in best:
            began = process_time()
            _match(events, query[series], series)
            best[series] = min(best[series], process_time() - began)
    return best


def _match(events: pa.Table, query: oz.Query, engine: str) -> Any:
    return oz.match(events, query, engine=engine, threads=1)


@dataclass(frozen=True)
class _Component:
    variable: str
    text: str
    kind: str


class _Query:
    """A random query: of two to four components, with conditions on some pairs, and perhaps a key."""

    def __init__(self, random: np.random.Generator) -> None:
        length = int(random.choice([2, 3, 3, 3, 4]))
        # in some queries a closure, alternatives or a negative component, which not all engines take
        special = random.choice(["", "", "", "negative", "closure", "either"])
        at = int(random.integers(1, length)) if special == "negative" else int(random.integers(0, length))
        self.components = []
        for place in range(length):
            kind = "closure" if special == "closure" and place == at else "one"
            variable, type_name = "abcd"[place], TYPES[place]
            text = f"{type_name}+ {variable}[]" if kind == "closure" else f"{type_name} {variable}"
            if special == "either" and place == at:
                text, kind = f"(A {variable} | E e)", "either"
            self.components.append(_Component(variable, text, kind))
        parts = [one.text for one in self.components]
        if special == "negative":
            parts.insert(at, "!(E n)")
        self.pattern = f"SEQ({', '.join(parts)})"
        self.keyed = bool(random.random() < 0.5)
        self.conditions = list(_conditions(random, [one.variable for one in self.components if one.kind == "one"]))

    @property
    def text(self) -> str:
        """The query, but for its window."""
        where = " AND ".join([*(["[k]"] if self.keyed else []), *self.conditions])
        return f"PATTERN {self.pattern}" + (f" WHERE {where}" if where else "")

    def case(self, random: np.random.Generator) -> tuple[str, pa.Table]:
        """The query with a window, and a stream."""
        shares = random.dirichlet(np.full(len(TYPES), 0.7)) * 0.95 + 0.01
        shares /= shares.sum()
        keys = int(random.choice([3, 30, 300])) if self.keyed else 1
        wanted = float(np.exp(random.uniform(*np.log(COMBINATIONS))))
        own = [float(shares[place]) for place in range(len(self.components))]
        closures = any(one.kind == "closure" for one in self.components)
        # sequences for an event: the product of shares, and the window to the power of those before the last
        before = len(own) - 1
        window = (wanted * factorial(before) / float(np.prod(own))) ** (1 / before) * keys
        if closures:  # of which there are twice as many with every event
            window = min(window, 3 * keys / max(own))
        window = int(np.clip(window, 2, EVENTS // 2))
        values = int(random.choice([4, 50, 1_000]))
        types = random.choice(TYPES, EVENTS, p=shares)
        columns = {name: random.integers(0, values, EVENTS) for name in ATTRIBUTES}
        keyed = {"k": random.integers(0, keys, EVENTS)}
        events = pa.table({"ts": np.arange(EVENTS), "type": types, **keyed, **columns})
        return f"{self.text} WITHIN {window} RETURN {', '.join(_returned(self.components))}", events


def _returned(components: list[_Component]) -> Iterator[str]:
    for one in components:
        if one.kind == "one":
            yield f"{one.variable}.ts AS {one.variable}"


def _conditions(random: np.random.Generator, variables: list[str]) -> Iterator[str]:
    """Conditions on some pairs of components: of all kinds of selectivity."""
    pairs = [(left, right) for place, left in enumerate(variables) for right in variables[place + 1 :]]
    for left, right in pairs:
        if random.random() < 0.6:
            attribute = random.choice(ATTRIBUTES)
            compared = random.choice(["<", "=", "> 2 *", "!="], p=[0.4, 0.3, 0.2, 0.1])
            yield f"{left}.{attribute} {compared} {right}.{attribute}"
    if random.random() < 0.4:
        yield f"{random.choice(variables)}.y < 2"
