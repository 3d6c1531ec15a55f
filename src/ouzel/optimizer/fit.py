"""Which engine suits the events of a table: of those that offer to run a query, the cheapest by estimate."""

from __future__ import annotations

from dataclasses import replace
from math import exp, lgamma, log
from typing import NamedTuple

from ouzel.logical.query import BoundQuery
from ouzel.optimizer.plan import Plan
from ouzel.optimizer.sample import can_sample, sampled
from ouzel.physical.event_table import EventTable
from ouzel.physical.statistics import Statistics

# For fewer events kernels are not even compiled.
LARGE = 20_000


class Doubt(NamedTuple):
    """When to look whether there is a better engine than one that is taken where nothing is known of events.

    If it takes less than `worth` nanoseconds, it is no use; a combination of events takes it `combination` at
    least.  Another one must take less than a share of its time, `better`.
    """

    worth: float
    combination: float
    better: float


# The scan is hard to beat; an automaton has a node for every event of a run, and few runs merge in sequences.
DOUBTS = {"automaton": Doubt(10e6, 100.0, 0.8)}
OTHERS = Doubt(50e6, 1.0, 0.5)
# How many runs an automaton merges is hard to tell: its estimate may be a tenth of what it takes.  Where another
# engine comes first, it is not taken on the strength of that.
TRUSTED = ("scan", "tree")
# The logarithm of the most combinations that are told apart.
MOST = 200.0


def known(plan: Plan, events: EventTable) -> Plan:
    """The plan with what a sample of events tells, and what each engine that can run the query would take."""
    if not can_sample(plan.query) or not plan.rivals.offers:
        return plan
    return _with(plan, sampled(plan.query, events))


def fitted(plan: Plan, events: EventTable) -> Plan:
    """The same query, by the engine that is the cheapest for some events, if that can make a difference.

    First it is seen how much there can be to do at most, then by a few rows how much there is: to look closely
    takes as long as to match some ten thousand events.
    """
    if plan.is_asked or len(events) < LARGE or plan.query.aggregates or not can_sample(plan.query):
        return plan
    doubt = DOUBTS.get(plan.engine, OTHERS)
    if _most_combinations(plan.query, events) * doubt.combination < doubt.worth or len(plan.rivals.offers) < 2:
        return plan
    filters = getattr(plan.physical, "filters", None)
    if _takes(_with(plan, sampled(plan.query, events, filters, closely=False), plan.engine)) < doubt.worth:
        return plan
    plan = _with(plan, sampled(plan.query, events))
    best, least = next((one for one in plan.estimates if one[0] in TRUSTED), plan.estimates[0])
    before = _takes(plan)
    if best == plan.engine or before < doubt.worth or least > doubt.better * before:
        return plan
    engine, offer = next(one for one in plan.rivals.offers.items() if one[0].name == best)
    why = f"by estimate it takes {before / max(least, 1.0):,.0f} times as long for these events"
    passed_over = (*plan.passed_over, (plan.engine, why))
    return replace(
        plan,
        engine=best,
        engine_reason=engine.purpose,
        physical=offer.make(),
        cost=offer.cost,
        passed_over=passed_over,
    )


def _with(plan: Plan, statistics: Statistics, only: str = "") -> Plan:
    """The plan with what is known of events, and what each engine would take, or one of them."""
    offers = [(engine.name, one) for engine, one in plan.rivals.offers.items() if only in ("", engine.name)]
    times = [(name, one.estimate(statistics)) for name, one in offers if one.estimate]
    return replace(plan, statistics=statistics, estimates=tuple(sorted(times, key=lambda one: one[1])))


def _takes(plan: Plan) -> float:
    """What its engine takes, by estimate."""
    return dict(plan.estimates).get(plan.engine, 0.0)


def _most_combinations(query: BoundQuery, events: EventTable) -> float:
    """How many combinations of events there can be at most: as many as if each component had its part of them."""
    window, count = query.window, float(len(events))
    within = count
    if window is not None and window.counts_events:
        within = float(window.limit)
    elif window is not None:
        span = float(events.end_times[-1]) - float(events.end_times[0])
        within = min(count * window.limit / span, count) if span > 0 else count
    length = sum(not one.negative for one in query.components)
    if any(one.is_array for one in query.components):
        return float(count * 2.0 ** min(within, 64.0))
    return exp(min(log(max(count, 1.0)) + (length - 1) * log(max(within, 1.0) / length) - lgamma(length), MOST))
