"""A plan: a bound query and how it is to be run."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.logical.query import BoundQuery
from ouzel.physical.contract import PhysicalPlan


@dataclass(frozen=True)
class Plan:
    """The choices made for one query, each with its reason.

    - `physical` is what the engine made of the query, and `cost` about how many nanoseconds it takes for an event.
    - `is_asked` says that the engine was asked for; else `passed_over` are more special ones, and why not those.
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
