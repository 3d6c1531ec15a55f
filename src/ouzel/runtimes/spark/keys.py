"""Which queries feed a query, and by which columns the events that they read can be kept apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ouzel.logical.equivalence import EquivalenceTest
from ouzel.logical.expressions import Attribute, Element
from ouzel.logical.program import composite_type
from ouzel.logical.query import BoundQuery
from ouzel.optimizer.plan import Plan

Carried = dict[str, dict[str, str]]
"""By composite type: which of its columns hold which key of the primitive events that it is made of."""

_ONE_EVENT = (Element.SINGLE, Element.FIRST, Element.LAST)


def chains_of(plans: Sequence[Plan]) -> dict[str, tuple[Plan, ...]]:
    """By query, all that feed it and it itself, in the order in which they run."""
    makers = {plan.query.into: plan.query.name for plan in plans if plan.query.into is not None}
    chains: dict[str, tuple[Plan, ...]] = {}
    for plan in plans:
        before = [one for name in plan.query.composites for one in chains[makers[name]]]
        chains[plan.query.name] = tuple({one.query.name: one for one in [*before, plan]}.values())
    return chains


def key_columns(plans: Sequence[Plan]) -> list[str]:
    """The columns in which all primitive events agree that can come together in one match of these queries.

    Composite events must carry the key of the events that they are made of: then what is made of events of one key
    meets only what is made of events of the same, and each key goes through all queries apart from the others.
    """
    carried: Carried = {}
    found: list[str] | None = None
    for plan in plans:
        own = _keys(plan, carried)
        keys = list(dict.fromkeys(own.values()))
        found = keys if found is None else [key for key in found if key in keys]
        if plan.query.into is not None:
            carried[plan.query.into] = _handed_on(plan.query, own)
    return found or []


def _keys(plan: Plan, carried: Carried) -> dict[str, str]:
    """By attribute, the key of primitive events that an equivalence test compares, where it is one."""
    tests = plan.query.equivalences if plan.partition_by else ()
    keys = {test.attribute: _key(test, carried) for test in tests}
    return {attribute: key for attribute, key in keys.items() if key is not None}


def _key(test: EquivalenceTest, carried: Carried) -> str | None:
    found = set()
    for name in test.pattern_types:
        column = test.column(name)
        found.add(column if name not in carried else carried[name].get(column or ""))
    return found.pop() if len(found) == 1 else None


def _handed_on(query: BoundQuery, keys: Mapping[str, str]) -> dict[str, str]:
    """The columns of a query's composite events that hold a key: those that show it of one of its events."""
    attributes = composite_type(query).attributes or {}
    tests = {test.attribute: test for test in query.equivalences}
    found: dict[str, str] = {}
    for output in query.output:
        shown = output.expression
        if output.name not in attributes or not isinstance(shown, Attribute) or shown.name not in keys:
            continue
        types = query.component(shown.variable).type_names
        if shown.element in _ONE_EVENT and all(tests[shown.name].column(one) == shown.column for one in types):
            found[attributes[output.name].name] = keys[shown.name]
    return found
