"""Negation in trees: as far down as its conditions allow, or on top of them (ZStream 4.4.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.pattern import Component, binds_in_order, has_conjunction
from ouzel.logical.query import BoundQuery
from ouzel.physical.finish.negation import Between, Refutation
from ouzel.physical.tree.nodes import Bar
from ouzel.physical.tree.shape import Gap, Variant


@dataclass(frozen=True)
class Negated:
    """A negative component that is decided on top: where it looks, and its conditions on several events."""

    component: Component
    between: Between
    conjuncts: tuple[Conjunct, ...]


def on_top(query: BoundQuery, variants: Sequence[Variant], *, pushes: bool) -> tuple[Negated, ...]:
    """What is decided on top of the trees of some variants, each once."""
    variables = frozenset(one.variable for one in query.components if not one.negative)
    places: dict[tuple[str, Between], Negated] = {}
    for variant in variants:
        pushed = [gap for gap, _bars in bars_of(query, variant)] if pushes else []
        unbound = tuple(sorted(variables.difference(variant.variables)))
        for gap in variant.gaps:
            if any(gap is one for one in pushed):
                continue
            for component, between in _betweens(gap, unbound):
                where = replace(between, empty=tuple(sorted(variant.empty)))
                found = Negated(component, where, _conditions(query, component))
                places[component.variable, where] = found
    return tuple(places.values())


def refutation(query: BoundQuery, one: Negated) -> Refutation:
    """What finds the matches that a negative component refutes."""
    positives = tuple(component for component in query.components if not component.negative)
    optional = frozenset(component.variable for component in positives)
    scattered = not binds_in_order(query.pattern)
    return Refutation(positives, optional, one.component, list(one.conjuncts), one.between, scattered=scattered)


def bars_of(query: BoundQuery, variant: Variant) -> list[tuple[Gap, tuple[Bar, ...]]]:
    """The gaps whose negative components are decided where what is beside them is joined.

    Their conditions must read but one side.  With `&`, other events of a match may lie in the gap.
    """
    if has_conjunction(query.pattern):
        return []
    found = []
    for gap in variant.gaps:
        bars = tuple(_bar(query, gap, component) for component in gap.components)
        if gap.after and gap.before and not gap.group and all(bars):
            found.append((gap, tuple(one for one in bars if one)))
    return found


def _bar(query: BoundQuery, gap: Gap, component: Component) -> Bar | None:
    conjuncts = _conditions(query, component)
    read = {name for one in conjuncts for name in one.variables} - {component.variable}
    if read <= {*gap.before}:
        return Bar(component, conjuncts, is_left=False)
    return Bar(component, conjuncts, is_left=True) if read <= {*gap.after} else None


def _conditions(query: BoundQuery, component: Component) -> tuple[Conjunct, ...]:
    return tuple(
        one
        for one in query.relations
        if one.place is Place.NEGATIVE and one.component and one.component.variable == component.variable
    )


def _betweens(gap: Gap, unbound: tuple[str, ...]) -> Iterator[tuple[Component, Between]]:
    """Where each negative component of a gap looks: up to the group that stands there, if that has some event."""
    group, is_behind = gap.group, False
    for component in gap.components:
        if component is group:
            is_behind = True
            continue
        if gap.around:
            yield component, Between(passed=unbound, around=True)
            continue
        if group is not None:
            own = (group.variable,)
            yield component, Between(own, gap.before, unbound) if is_behind else Between(gap.after, own, unbound)
        if group is None or group.least == 0:
            passed = unbound if group is None else (*unbound, group.variable)
            yield component, Between(gap.after, gap.before, passed)
