"""A plan: a bound query and how it is to be run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ouzel.logical.query import BoundQuery
from ouzel.physical.contract import Engine, Engines, Offer, PhysicalPlan
from ouzel.physical.statistics import Statistics


@dataclass(frozen=True)
class Rivals:
    """The engines that may run a query, with the switches that are set."""

    query: BoundQuery
    engines: Engines
    tuning: Mapping[str, str]

    @cached_property
    def offers(self) -> dict[Engine, Offer]:
        """What those offer that can tell how long they will take; found out when it is asked for."""
        offers = {engine: engine.offer(self.query, self.tuning) for engine in self.engines}
        return {engine: one for engine, one in offers.items() if isinstance(one, Offer) and one.estimate}


@dataclass(frozen=True)
class Plan:
    """The choices made for one query, each with its reason.

    - `physical` is what the engine made of the query, and `cost` about how many nanoseconds it takes for an event.
    - `is_asked` says that the engine was asked for; else `passed_over` are more special ones, and why not those.
    - `rivals` are the engines among which there is a choice once events are there: `statistics` are what is known
      of them then, and `estimates` about how many nanoseconds each engine takes for all, the cheapest first.
    """

    query: BoundQuery
    engine: str
    engine_reason: str
    partition_by: tuple[str, ...]
    partition_reason: str
    physical: PhysicalPlan
    cost: float
    is_asked: bool
    passed_over: tuple[tuple[str, str], ...]
    rivals: Rivals
    statistics: Statistics | None = None
    estimates: tuple[tuple[str, float], ...] = ()
