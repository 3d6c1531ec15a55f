"""Types that a query names and no event has: legal, and mostly a slip of the pen."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from typing import NoReturn

from ouzel.errors import OuzelWarning, QueryError, did_you_mean, listed, outer_level
from ouzel.logical.schema import INFERRED
from ouzel.optimizer.plan import Plan


def named_types(plans: Sequence[Plan]) -> tuple[str, ...]:
    """The types that queries take from the input, and those that they make."""
    produced = {plan.query.into for plan in plans if plan.query.into}
    mentioned = {name for plan in plans for one in plan.query.components for name in one.type_names}
    return (*sorted(mentioned - produced - {INFERRED}), *sorted(produced))


def made_types(plans: Sequence[Plan]) -> tuple[str, ...]:
    """The types that queries make, where the input may have events of any type; those declared are told apart."""
    default = plans[0].query.schema.default
    free = default is not None and default.name == INFERRED
    return tuple(sorted({plan.query.into for plan in plans if plan.query.into})) if free else ()


def refuse_made(text: str, name: str) -> NoReturn:
    """Refuse to make a type that events of the input have."""
    raise QueryError(f"INTO '{name}', which is a type of the input already", text)


def warn_of_types(
    text: str, plans: Sequence[Plan], there: Collection[str], known: Callable[[], Collection[str]]
) -> None:
    """Warn of types that are not `there`; refuse to make one that is.  All that are `known` are rarely needed."""
    produced = {plan.query.into for plan in plans}
    for name in named_types(plans):
        if name in produced and name in there:
            refuse_made(text, name)
        if name not in produced and name not in there:
            hint = did_you_mean(name, known()) or f"the types are {listed(known())}"
            warnings.warn(f"no event has the type '{name}'; {hint}", OuzelWarning, stacklevel=outer_level())
