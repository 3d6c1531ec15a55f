"""Which engine runs a query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ouzel.errors import OuzelError, did_you_mean
from ouzel.logical.query import BoundQuery
from ouzel.optimizer.partition_stream import partition_stream
from ouzel.optimizer.plan import Plan, UnsuitableError


@dataclass(frozen=True)
class Engine:
    """What makes a physical plan of a query, what the engine is good for, and the switches it has.

    `yields` says why, unless it is asked for, the engine leaves a query that it can run to the next.
    """

    make: Callable[..., Any]
    purpose: str
    switches: tuple[str, ...] = ()
    yields: Callable[[BoundQuery], str | None] = lambda query: None  # noqa: ARG005


Engines = Mapping[str, Engine]
"""Engines by name, the preferred ones first."""

REFERENCE = "reference"
ASKED = "it was asked for; "
"""How the reason of an engine begins that was not chosen here."""


def choose_engine(
    query: BoundQuery, engines: Engines, requested: str = "auto", tuning: Mapping[str, str] | None = None
) -> Plan:
    """Take the first engine that can run the query, or the one that was asked for, with switches set."""
    tuning = tuning or {}
    _check(engines, requested, tuning)
    attributes, partition_reason = partition_stream(query)
    asked = "" if requested == "auto" else ASKED
    passed_over: list[tuple[str, str]] = []
    for name, engine in engines.items():
        if requested in ("auto", name):
            try:
                physical = _made(engine, query, tuning)
                if requested == "auto" and (better := engine.yields(query)):
                    raise UnsuitableError(better)
            except UnsuitableError as why:
                passed_over.append((name, str(why)))
            else:
                reason = asked + engine.purpose
                return Plan(query, name, reason, attributes, partition_reason, physical, tuple(passed_over))
    if requested not in ("auto", REFERENCE):
        name, why_not = passed_over[0]
        raise OuzelError(f"the engine {requested} cannot run this query, not {name}: {why_not}")
    reason = asked + "every query, slowly, straight from the language's definition"
    return Plan(query, REFERENCE, reason, attributes, partition_reason, None, tuple(passed_over))


def _made(engine: Engine, query: BoundQuery, tuning: Mapping[str, str]) -> Any:
    if any(event_type.composite for component in query.components for event_type in component.types):
        raise UnsuitableError("composite events last, and compiled kernels know moments only")
    return engine.make(query, **{switch: tuning[switch] for switch in engine.switches if switch in tuning})


def _check(engines: Engines, requested: str, tuning: Mapping[str, str]) -> None:
    names = ("auto", *engines, REFERENCE)
    if requested not in names:
        hint = did_you_mean(requested, names)
        raise OuzelError(
            f"unknown engine '{requested}': required one of {', '.join(names)}"
            + (f"\n  hint: {hint}" if hint else "")
        )
    switches = [switch for engine in engines.values() for switch in engine.switches]
    for switch in tuning:
        if switch not in switches:
            raise OuzelError(f"tuning: required some of {', '.join(switches)}; got '{switch}'")
