"""Ways to leave alternatives empty: which of them a run took, where several lead to the same events.

Of `(B* b[] | C* c[])` without an event, the first alternative counts that its conditions and negation allow.  So
behind one that nothing can forbid, no other is taken.  Of those that are left, each leads to a state of its own:
matches that are found in several ways are told apart by these, until only the first is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ouzel.logical.pattern import Component
from ouzel.physical.automaton.steps import Crossing, Steps
from ouzel.physical.match_table import Bound, is_bound, took

Step = tuple[Component | None, Crossing, Component | None]
"""From a component to another: None is the start or the end."""

Left = tuple[str, ...]
"""What a way leaves empty: between two components, that tells it from others."""


@dataclass(frozen=True)
class Stand:
    """Where a run stands: the component that it bound last, by its variable, the way there and that to the end.

    The ways are told only where there are several.  Of several to the end, only the first stand goes on.
    """

    variable: str
    component: Component = field(compare=False)
    way: Left | None = None
    end: Left | None = None
    goes_on: bool = True

    @property
    def name(self) -> str:
        """The component, and what is left empty."""
        left = [*(self.way or ()), *(self.end or ())]
        return f"{self.variable} ({', '.join(left)} empty)" if left else self.variable


@dataclass(frozen=True)
class Ways:
    """The steps between components that runs take, and the stands that these lead to."""

    steps: Steps

    @classmethod
    def of(cls, steps: Steps, counted: frozenset[str]) -> Ways:
        """Leave out ways that are never taken; `counted` are variables whose aggregates conditions read."""
        kept = _taken(_all(steps), counted)
        return cls(
            Steps(
                tuple((crossing, b) for a, crossing, b in kept if a is None and b is not None),
                tuple((a, crossing, b) for a, crossing, b in kept if a is not None and b is not None),
                tuple((a, crossing) for a, crossing, b in kept if a is not None and b is None),
            )
        )

    @cached_property
    def all_steps(self) -> list[Step]:
        """Every step, from the start and to the end, too."""
        return _all(self.steps)

    @cached_property
    def _several(self) -> frozenset[tuple[str, str]]:
        """The components between which there are several ways."""
        counts = Counter(_pair(before, after) for before, _crossing, after in self.all_steps)
        return frozenset(pair for pair, count in counts.items() if count > 1)

    @property
    def are_several(self) -> bool:
        """Whether a match may be found in several ways."""
        return bool(self._several)

    def after(self, component: Component | None) -> list[tuple[Crossing, Stand]]:
        """The ways on from a component, and where they lead; None is before the start."""
        steps = self.steps.starts if component is None else self.steps.after(component)
        return [
            (crossing, stand)
            for crossing, target in steps
            for stand in self._stands(target, self._told(component, crossing, target))
        ]

    def _told(self, before: Component | None, crossing: Crossing, after: Component | None) -> Left | None:
        return _left(crossing) if _pair(before, after) in self._several else None

    def _stands(self, component: Component, way: Left | None) -> list[Stand]:
        of = component.variable, component, way
        if (component.variable, "") not in self._several:
            return [Stand(*of)]
        ends = [_left(crossing) for crossing in self.steps.ends_at(component)]
        return [Stand(*of, end, goes_on=place == 0) for place, end in enumerate(ends)]

    def stands(self, components: Sequence[Component]) -> tuple[Stand, ...]:
        """Where runs can stand, in the order of components."""
        if not self.are_several:
            return tuple(Stand(one.variable, one) for one in components)
        found = dict.fromkeys(stand for one in (None, *components) for _crossing, stand in self.after(one))
        return tuple(stand for one in components for stand in found if stand.component is one)

    # ---- what a match left empty -------------------------------------------------------------------------

    def told(
        self, bound: Bound, stands: Sequence[Stand], codes: Mapping[str, Any], empties: Sequence[str]
    ) -> Bound:
        """What variables are bound to, with flags where those that may be left empty were not chosen at all.

        `codes` has the number of the stand at which each match bound a variable, if that has several.
        """
        names = list(bound)
        chosen = {name: is_bound(bound[name]) for name in empties}
        for before, crossing, after in self.all_steps:
            left = [name for name in _left(crossing) if name in chosen]
            if not left:
                continue
            taken = took(bound, *(-1 if one is None else names.index(one.variable) for one in (before, after)))
            end = after or before
            assert end is not None
            if end.variable in codes:
                way = end.variable, self._told(before, crossing, after)
                known = [(one.variable, one.way if after else one.end) == way for one in stands]
                taken &= np.array([*known, False])[codes[end.variable]]
            for name in left:
                chosen[name] |= taken
        return {name: one.told(~chosen[name]) if name in chosen else one for name, one in bound.items()}


def _all(steps: Steps) -> list[Step]:
    found: list[Step] = [(None, crossing, target) for crossing, target in steps.starts]
    found += steps.edges
    return found + [(source, crossing, None) for source, crossing in steps.ends]


def _left(crossing: Crossing) -> Left:
    return tuple(one.variable for one in crossing.skipped)


def _pair(before: Component | None, after: Component | None) -> tuple[str, str]:
    return before.variable if before else "", after.variable if after else ""


def _taken(steps: list[Step], counted: frozenset[str]) -> list[Step]:
    """The steps without those that come behind one between the same components which nothing can forbid."""
    kept: list[Step] = []
    settled: set[tuple[str, str]] = set()
    for before, crossing, after in steps:
        if _pair(before, after) in settled:
            continue
        kept.append((before, crossing, after))
        if not crossing.negatives and counted.isdisjoint(_left(crossing)):
            settled.add(_pair(before, after))
    return kept
