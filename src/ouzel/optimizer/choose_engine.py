"""Which engine runs a query: of those that offer to, the cheapest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ouzel.errors import OuzelError, did_you_mean
from ouzel.logical.partition_stream import partition_stream
from ouzel.logical.query import BoundQuery
from ouzel.optimizer.plan import Plan, Rivals
from ouzel.optimizer.switches import check_switches, engines_with, owner_of
from ouzel.physical.contract import Engine, Engines, FindsKeys, Offer, Refusal

AUTO = "auto"


def choose_engine(
    query: BoundQuery,
    engines: Engines,
    requested: str = AUTO,
    tuning: Mapping[str, str] | None = None,
    having: type = object,
) -> Plan:
    """Take the cheapest offer of all engines, or of the one that was asked for, with switches set.

    `having` is what the plan must have beyond what every plan has, as a protocol.
    """
    check_engine(engines, requested)
    tuning = tuning or {}
    check_switches(engines, tuning)
    asked = engines_with(engines, tuning, next((one for one in engines if one.name == requested), None))
    offers: dict[Engine, Offer | Refusal] = {}
    best: tuple[Engine, Offer] | None = None
    for engine in asked:
        if best is not None and engine.cost >= best[1].cost:
            continue  # it cannot offer less
        offer = offers[engine] = _offer(engine, query, tuning, having)
        if isinstance(offer, Offer) and (best is None or offer.cost < best[1].cost):
            best = engine, offer
    if best is None:
        if requested == AUTO and tuning:
            raise OuzelError(_not_with(tuning, offers, choose_engine(query, engines, having=having).engine))
        raise OuzelError(_nobody(requested, offers))
    chosen, offer = best
    more_special = [engine for engine in asked[: asked.index(chosen)] if engine in offers]
    physical = offer.make()
    known = replace(query, equivalences=physical.keys) if isinstance(physical, FindsKeys) else query
    attributes, partition_reason = partition_stream(known)
    return Plan(
        query=known,
        engine=chosen.name,
        engine_reason=_asked_for(requested, tuning) + chosen.purpose,
        partition_by=attributes,
        partition_reason=partition_reason,
        physical=physical,
        cost=offer.cost,
        is_asked=requested != AUTO,
        passed_over=tuple((engine.name, _reason(offers[engine])) for engine in more_special),
        rivals=Rivals(query, asked if requested == AUTO else engines, tuning),
    )


def _offer(engine: Engine, query: BoundQuery, tuning: Mapping[str, str], having: type) -> Offer | Refusal:
    offer = engine.offer(query, tuning)
    if isinstance(offer, Offer) and having is not object and not isinstance(offer.make(), having):
        return Refusal("it writes every match out")
    return offer


def _asked_for(requested: str, tuning: Mapping[str, str]) -> str:
    if requested != AUTO:
        return "it was asked for; "
    return f"it has what is to be tuned, {', '.join(tuning)}; " if tuning else ""


def _reason(offer: Offer | Refusal) -> str:
    return offer.why if isinstance(offer, Refusal) else offer.drawback


def _nobody(requested: str, offers: Mapping[Engine, Offer | Refusal]) -> str:
    """Why no engine runs a query, or not the one that was asked for."""
    if requested != AUTO:
        return f"the engine {requested} cannot run this query: {'; '.join(map(_reason, offers.values()))}"
    why = "; ".join(f"not {engine.name}: {_reason(offer)}" for engine, offer in offers.items())
    return f"no engine can run this query, {why}"


def _not_with(tuning: Mapping[str, str], offers: Mapping[Engine, Offer | Refusal], other: str) -> str:
    """Why the engine that has some switches cannot run a query, and which one can."""
    name = next(iter(tuning))
    owner, why = owner_of(tuple(offers), name), "; ".join(map(_reason, offers.values()))
    return (
        f"tuning '{name}': it is a switch of the {owner}, which cannot run this query: {why}\n"
        f"  hint: leave out {', '.join(tuning)}; the engine {other} can run it"
    )


def check_engine(engines: Engines, requested: str) -> None:
    """Refuse the name of an engine that there is not."""
    if requested != AUTO and not any(engine.name == requested for engine in engines):
        names = (AUTO, *(engine.name for engine in engines))
        hint = did_you_mean(str(requested), names)
        raise OuzelError(
            f"unknown engine '{requested}': required one of {', '.join(names)}"
            + (f"\n  hint: {hint}" if hint else "")
        )
