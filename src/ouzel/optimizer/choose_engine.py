"""Which engine runs a query: of those that offer to, the cheapest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ouzel.errors import OuzelError, did_you_mean
from ouzel.logical.partition_stream import partition_stream
from ouzel.logical.query import BoundQuery
from ouzel.optimizer.plan import Plan, Rivals
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
    _check_tuning(engines, tuning or {})
    asked = [engine for engine in engines if requested in (AUTO, engine.name)]
    offers: dict[Engine, Offer | Refusal] = {}
    best: tuple[Engine, Offer] | None = None
    for engine in asked:
        if best is not None and engine.cost >= best[1].cost:
            continue  # it cannot offer less
        offer = offers[engine] = _offer(engine, query, tuning or {}, having)
        if isinstance(offer, Offer) and (best is None or offer.cost < best[1].cost):
            best = engine, offer
    if best is None:
        raise OuzelError(_nobody(requested, offers))
    chosen, offer = best
    more_special = [engine for engine in asked[: asked.index(chosen)] if engine in offers]
    physical = offer.make()
    known = replace(query, equivalences=physical.keys) if isinstance(physical, FindsKeys) else query
    attributes, partition_reason = partition_stream(known)
    return Plan(
        query=known,
        engine=chosen.name,
        engine_reason=("it was asked for; " if requested != AUTO else "") + chosen.purpose,
        partition_by=attributes,
        partition_reason=partition_reason,
        physical=physical,
        cost=offer.cost,
        is_asked=requested != AUTO,
        passed_over=tuple((engine.name, _reason(offers[engine])) for engine in more_special),
        rivals=Rivals(query, engines, tuning or {}),
    )


def _offer(engine: Engine, query: BoundQuery, tuning: Mapping[str, str], having: type) -> Offer | Refusal:
    offer = engine.offer(query, tuning)
    if isinstance(offer, Offer) and having is not object and not isinstance(offer.make(), having):
        return Refusal("it writes every match out")
    return offer


def _reason(offer: Offer | Refusal) -> str:
    return offer.why if isinstance(offer, Refusal) else offer.drawback


def _nobody(requested: str, offers: Mapping[Engine, Offer | Refusal]) -> str:
    """Why no engine runs a query, or not the one that was asked for."""
    if requested != AUTO:
        return f"the engine {requested} cannot run this query: {'; '.join(map(_reason, offers.values()))}"
    why = "; ".join(f"not {engine.name}: {_reason(offer)}" for engine, offer in offers.items())
    return f"no engine can run this query, {why}"


def check_engine(engines: Engines, requested: str) -> None:
    """Refuse the name of an engine that there is not."""
    if requested != AUTO and not any(engine.name == requested for engine in engines):
        names = (AUTO, *(engine.name for engine in engines))
        hint = did_you_mean(str(requested), names)
        raise OuzelError(
            f"unknown engine '{requested}': required one of {', '.join(names)}"
            + (f"\n  hint: {hint}" if hint else "")
        )


def _check_tuning(engines: Engines, tuning: Mapping[str, str]) -> None:
    switches = {switch.name: switch.values for engine in engines for switch in engine.switches}
    for name, value in tuning.items():
        if name not in switches:
            raise OuzelError(f"tuning: required some of {', '.join(switches)}; got '{name}'")
        if value not in switches[name] and (switches[name] or not isinstance(value, str)):
            raise OuzelError(f"{name}: required {_one_of(switches[name])}; got {value!r}")


def _one_of(values: Sequence[str]) -> str:
    return f"one of {', '.join(values)}" if values else "a text"
