"""A plan: a bound query and how it is to be run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ouzel.logical.query import BoundQuery


class UnsuitableError(Exception):
    """An engine cannot run a query; the message says why."""


@dataclass(frozen=True)
class Plan:
    """The choices made for one query, each with its reason.

    `physical` is what the engine made of the query; `passed_over` are engines preferred to it, and why not those.
    """

    query: BoundQuery
    engine: str
    engine_reason: str
    partition_by: tuple[str, ...]
    partition_reason: str
    physical: Any = None
    passed_over: tuple[tuple[str, str], ...] = ()
