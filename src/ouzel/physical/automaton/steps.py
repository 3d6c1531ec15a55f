"""A pattern as an automaton over its components: what may follow what, and what lies between.

The construction is Glushkov's, which suits patterns: a state is a component.  An edge knows the negative
components it passes over and the closures it leaves empty, so that negation sees the nearest components that
really bound an event.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from ouzel.logical.pattern import Component, Disjunction, Pattern, Sequence, Step


@dataclass(frozen=True)
class Crossing:
    """What lies between two components in a row: negative components, and closures that took nothing."""

    negatives: tuple[Component, ...] = ()
    skipped: tuple[Component, ...] = ()

    def __add__(self, other: Crossing) -> Crossing:
        """One crossing after another."""
        return Crossing(self.negatives + other.negatives, self.skipped + other.skipped)


@dataclass(frozen=True)
class Steps:
    """The automaton: where a run may start, how it goes on, where it may end.

    `empties` are the ways to match no event at all; they matter only inside a larger pattern.
    """

    starts: tuple[tuple[Crossing, Component], ...] = ()
    edges: tuple[tuple[Component, Crossing, Component], ...] = ()
    ends: tuple[tuple[Component, Crossing], ...] = ()
    empties: tuple[Crossing, ...] = ()

    def after(self, component: Component) -> list[tuple[Crossing, Component]]:
        """The components that may come next."""
        return [(crossing, target) for source, crossing, target in self.edges if source is component]

    def ends_at(self, component: Component) -> list[Crossing]:
        """What lies between a component and the end of the pattern, if it can be the last to bind."""
        return [crossing for source, crossing in self.ends if source is component]


def build_steps(pattern: Pattern) -> Steps:
    """Build the automaton of a pattern of sequences, alternatives and SASE+ closures."""
    match pattern:
        case Step(component):
            if component.negative:
                return Steps(empties=(Crossing(negatives=(component,)),))
            empties = (Crossing(skipped=(component,)),) if component.least == 0 else ()
            return Steps(((Crossing(), component),), (), ((component, Crossing()),), empties)
        case Sequence(items):
            return reduce(_then, map(build_steps, items))
        case Disjunction(items):
            return reduce(_or, map(build_steps, items))
    raise TypeError("a conjunction has no order of its own")


def _then(left: Steps, right: Steps) -> Steps:
    return Steps(
        starts=left.starts + tuple((e + c, s) for e in left.empties for c, s in right.starts),
        edges=left.edges + right.edges + tuple((a, x + y, b) for a, x in left.ends for y, b in right.starts),
        ends=right.ends + tuple((s, c + e) for s, c in left.ends for e in right.empties),
        empties=tuple(x + y for x in left.empties for y in right.empties),
    )


def _or(left: Steps, right: Steps) -> Steps:
    return Steps(
        left.starts + right.starts,
        left.edges + right.edges,
        left.ends + right.ends,
        left.empties + right.empties,
    )
