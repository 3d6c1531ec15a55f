"""A plan: a bound query and how it is to be run."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.logical.query import BoundQuery


@dataclass(frozen=True)
class Plan:
    """The choices made for one query, each with its reason."""

    query: BoundQuery
    engine: str
    engine_reason: str
    partition_by: tuple[str, ...]
    partition_reason: str
