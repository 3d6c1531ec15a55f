"""Which engine runs a query."""

from __future__ import annotations

from ouzel.errors import OuzelError, did_you_mean
from ouzel.logical.query import BoundQuery
from ouzel.optimizer.partition_stream import partition_stream
from ouzel.optimizer.plan import Plan

ENGINES = ("reference",)


def choose_engine(query: BoundQuery, requested: str = "auto") -> Plan:
    """Choose the engine, or take the one that was asked for."""
    if requested not in ("auto", *ENGINES):
        hint = did_you_mean(requested, ("auto", *ENGINES))
        raise OuzelError(
            f"unknown engine '{requested}': required one of auto, {', '.join(ENGINES)}"
            + (f"\n  hint: {hint}" if hint else "")
        )
    reason = "it was asked for" if requested == "reference" else "it is the only engine in this version"
    attributes, partition_reason = partition_stream(query)
    return Plan(query, "reference", reason, attributes, partition_reason)
