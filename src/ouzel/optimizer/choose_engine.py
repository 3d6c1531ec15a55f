"""Which engine runs a query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ouzel.errors import OuzelError, did_you_mean
from ouzel.logical.query import BoundQuery
from ouzel.optimizer.partition_stream import partition_stream
from ouzel.optimizer.plan import Plan, UnsuitableError

Engines = Mapping[str, tuple[Callable[[BoundQuery], Any], str]]
"""Engines by name, the preferred ones first: what makes a physical plan, and what the engine is good for."""

REFERENCE = "reference"


def choose_engine(query: BoundQuery, engines: Engines, requested: str = "auto") -> Plan:
    """Take the first engine that can run the query, or the one that was asked for."""
    names = ("auto", *engines, REFERENCE)
    if requested not in names:
        hint = did_you_mean(requested, names)
        raise OuzelError(
            f"unknown engine '{requested}': required one of {', '.join(names)}"
            + (f"\n  hint: {hint}" if hint else "")
        )
    attributes, partition_reason = partition_stream(query)
    reasons: list[str] = []
    for name, (make, purpose) in engines.items():
        if requested in ("auto", name):
            try:
                return Plan(query, name, purpose, attributes, partition_reason, make(query))
            except UnsuitableError as why:
                reasons.append(f"not {name}: {why}")
    if requested not in ("auto", REFERENCE):
        raise OuzelError(f"the engine {requested} cannot run this query, {reasons[0]}")
    reason = "; ".join(reasons) or "it was asked for"
    return Plan(query, REFERENCE, reason, attributes, partition_reason)
