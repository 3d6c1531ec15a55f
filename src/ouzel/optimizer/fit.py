"""What is known of the events of a table, and what each engine would take for them, by estimate."""

from __future__ import annotations

from dataclasses import replace

from ouzel.optimizer.plan import Plan
from ouzel.optimizer.sample import can_sample, sampled
from ouzel.physical.event_table import EventTable


def fitted(plan: Plan, events: EventTable) -> Plan:
    """The plan with what a sample of events tells, and what each engine that can run the query would take."""
    if not can_sample(plan.query) or not plan.rivals.offers:
        return plan
    statistics = sampled(plan.query, events)
    times = [(engine.name, one.estimate(statistics)) for engine, one in plan.rivals.offers.items() if one.estimate]
    return replace(plan, statistics=statistics, estimates=tuple(sorted(times, key=lambda one: one[1])))
