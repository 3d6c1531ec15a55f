"""Cayuga's comparison of two ways to say one pattern (5.2.2): with folds, and by resubscription, on one core."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa

import ouzel as oz
from ouzel.bench.measure import Contender, Figures, Row, measure
from ouzel.compile import compile_query
from ouzel.physical.contract import Found, PhysicalPlan
from ouzel.physical.event_table import EventTable
from ouzel.physical.limits import Limits
from ouzel.runtimes.ingest import ingest
from ouzel.runtimes.quarantine import Report
from ouzel.runtimes.reading import Reading
from ouzel.testing.papers import daily_prices

# How many days prices are averages of.
SMOOTHING = (1, 5, 10, 20)
EXTREMUM = "Extremum"


def by_folds() -> oz.Stream:
    """The Double-Top pattern with a fold for each monotonic sequence: down to A, up to B, to C, to D, and to E.

    >>> str(by_folds()).count("μ")
    5
    """
    quote = oz.stream().select("name", "price").rename(p="price")

    def monotonic(before: oz.Stream, sign: str) -> oz.Stream:
        return before.fold(quote, where="name = name.last", step=lambda s: s.where(f"p {sign} p.last"))

    found = monotonic(quote, "<").extend(A="p")
    found = monotonic(found, ">").where("p >= 1.2 * A").extend(B="p")
    found = monotonic(found, "<").where("p >= 0.9 * A AND p <= 1.1 * A").extend(C="p")
    found = monotonic(found, ">").where("p >= 0.9 * B AND p <= 1.1 * B").extend(D="p")
    return monotonic(found, "<").where("p <= A").select("name", "A", "B", "C", "D", "p")


def by_resubscription() -> list[oz.Stream]:
    """The same without folds: local extrema of three quotes each, and a query for five of these.

    One extremum follows another where their quotes do not overlap, so that it finds less.
    """
    quotes = [oz.stream().select("name", "price").prefixed(f"S{number}") for number in (1, 2, 3)]
    pairs = quotes[0].next(quotes[1], where="S2.name = S1.name")
    triples = pairs.next(quotes[2], where="S3.name = S1.name")
    both = "S2.price > S1.price AND S2.price > S3.price OR S2.price < S1.price AND S2.price < S3.price"
    extrema = triples.where(both).select("S2.name", "S2.price").rename(name="S2.name", price="S2.price")
    conditions = (
        "E2.price >= 1.2 * E1.price",
        "E3.price >= 0.9 * E1.price AND E3.price <= 1.1 * E1.price",
        "E4.price >= 0.9 * E2.price AND E4.price <= 1.1 * E2.price",
        "E5.price <= E1.price",
    )
    found = oz.stream(EXTREMUM).prefixed("E1")
    for number, condition in enumerate(conditions, 2):
        further = oz.stream(EXTREMUM).prefixed(f"E{number}")
        found = found.next(further, where=f"E{number}.name = E1.name").where(condition)
    return [extrema.into(EXTREMUM).named("extrema"), found.named("tops")]


def cayuga_20(events: int, times: int) -> Iterator[Row]:
    """Double-Top by folds and by resubscription, over prices smoothed more and more."""
    for days in SMOOTHING:
        stream = daily_prices(events, smoothing=days)
        contenders = {
            "folds": Contender(partial(_matched, stream, by_folds()), _results),
            "folds, planned before": Contender(_planned(stream, by_folds()), _results),
            "resubscription": Contender(partial(_matched, stream, by_resubscription()), _results),
        }
        yield from measure(f"{days} days", events, contenders, times, "resubscription")


def _matched(stream: pa.Table, query: Any) -> Any:
    return oz.match(stream, query, type=None, threads=1)


def _planned(stream: pa.Table, query: oz.Stream) -> Any:
    """Matching alone, by a plan that is there already."""
    events, _restore = ingest(stream, Reading(type=None), Report())
    (plan,) = compile_query(query.text, events.schema, {}).plans
    return partial(_found, plan.physical, events)


def _found(plan: PhysicalPlan, events: EventTable) -> Found:
    (found,) = plan.begin(Limits(), once=True, threads=1).push(events, None)
    return found


def _results(result: Any) -> Figures:
    if isinstance(result, Found):
        return {"results": len(result.matches)}
    return {"results": (result if isinstance(result, pa.Table) else result["tops"]).num_rows}
