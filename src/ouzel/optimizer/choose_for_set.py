"""How a set of queries is run: all of them by one plan, or each by its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ouzel.errors import OuzelError
from ouzel.logical.query import BoundQuery
from ouzel.optimizer.choose_engine import AUTO, choose_engine
from ouzel.optimizer.plan import Plan
from ouzel.physical.apart import ApartPlan
from ouzel.physical.contract import Engines, Offer

APART, SHARED = "one by one", "shared"


def choose_for_set(
    query: BoundQuery,
    engines: Engines,
    requested: str = AUTO,
    tuning: Mapping[str, str] | None = None,
    having: type = object,
) -> Plan:
    """The plan of a set; what its queries have in common is that of the template's plan."""
    members = query.members
    assert members is not None
    if having is not object:
        raise OuzelError("a set of queries has no graph of its matches\n  hint: give the queries as a list")
    shared = next(one for one in engines if one.name == SHARED)
    own = {switch.name for switch in shared.switches}
    template = choose_engine(
        members.template, engines, *((AUTO, {}) if requested == SHARED else (requested, tuning))
    )
    known = replace(
        query, equivalences=tuple(replace(test, constant=None) for test in template.query.equivalences)
    )
    why = f"the {requested} was asked for"
    if requested in (AUTO, SHARED) and set(tuning or {}) <= own and members.rows is not None:
        offer = shared.offer(known, tuning or {})
        if isinstance(offer, Offer):
            said = f"{len(members):,} queries at once"
            return replace(
                template,
                query=known,
                engine=SHARED,
                engine_reason=f"{shared.purpose}: {said}",
                physical=offer.make(),
                passed_over=(),
            )
        why = offer.why
        if requested == SHARED:
            raise OuzelError(f"the engine {SHARED} cannot run this set of queries: {why}")
    return replace(
        template,
        query=known,
        engine=APART,
        engine_reason=f"each query on its own, the first by the {template.engine}",
        physical=ApartPlan(known, why, requested, tuple(sorted((tuning or {}).items()))),
        passed_over=(),
    )
