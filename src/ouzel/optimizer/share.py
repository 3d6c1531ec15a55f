"""Which queries of a list share a plan (Cayuga 4): very many that can, and all sets."""

from __future__ import annotations

from collections.abc import Sequence

from ouzel.optimizer.plan import Plan
from ouzel.physical.contract import PhysicalPlan, UnsuitableError
from ouzel.physical.shared.plan import SharedPlan, check_suitable

Groups = list[tuple[tuple[Plan, ...], PhysicalPlan]]
"""Plans that go together, and what runs them."""
MANY = 64
"""So many queries are worth it: for few of them, kernels that are written for each are faster."""


def shared(plans: Sequence[Plan]) -> Groups:
    """Plans, some of them together, with what runs them; those that share one come first: they read no others."""
    sets = [plan for plan in plans if isinstance(plan.physical, SharedPlan)]
    others = [plan for plan in plans if not isinstance(plan.physical, SharedPlan)] if len(plans) >= MANY else []
    able = [plan for plan in others if not plan.is_asked and not plan.rivals.tuning and _is_suitable(plan)]
    together = [*sets, *(able if len(able) >= MANY else ())]
    if len(together) < 2:
        return alone(plans)
    return group(plans, {plan.query.name for plan in together})


def alone(plans: Sequence[Plan]) -> Groups:
    """Plans, each by itself."""
    return [((plan,), plan.physical) for plan in plans]


def group(plans: Sequence[Plan], names: set[str]) -> Groups:
    """Plans, those of some queries together."""
    together = tuple(plan for plan in plans if plan.query.name in names)
    rest = alone([plan for plan in plans if plan.query.name not in names])
    if not together:
        return rest
    own = [plan.physical for plan in together if isinstance(plan.physical, SharedPlan)]
    merging, indexed = all(one.merging for one in own), all(one.indexed for one in own)
    return [(together, SharedPlan(tuple(plan.query for plan in together), merging, indexed)), *rest]


def _is_suitable(plan: Plan) -> bool:
    try:
        check_suitable(plan.query)
    except UnsuitableError:
        return False
    return True
