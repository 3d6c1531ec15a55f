"""Conditions on single events, which become bits of their masks before any engine sees them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from functools import cached_property

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.expressions import Apply, Constant, Expression, Variable
from ouzel.logical.pattern import Component
from ouzel.logical.query import BoundQuery
from ouzel.physical.compiled.emit import ByVariable, Emitter
from ouzel.physical.compiled.kernel import kernel_of
from ouzel.physical.compiled.operands import Operands, may_be
from ouzel.physical.compiled.user_calls import calls_users
from ouzel.physical.event_table import EventTable, Integers


class Filters:
    """Conditions on one event each, evaluated once per event into the mask of its component."""

    def __init__(self, query: BoundQuery) -> None:
        """Of all components of a query."""
        self.components = query.components
        self.conjuncts = [(component, query.conditions_on(component)) for component in query.components]
        self.is_empty = not any(own for _component, own in self.conjuncts)

    @cached_property
    def passes(self) -> list[tuple[str, Operands]]:
        """The kernels: what calls functions of the user's is asked last, of the events that are left."""
        found = []
        for calls in (False, True):
            chosen = [(one, [c for c in own if _calls_users(c) is calls]) for one, own in self.conjuncts]
            if any(own for _component, own in chosen):
                found.append(_kernel(chosen))
        return found

    @property
    def source(self) -> str:
        """All that was written."""
        return "".join(source for source, _operands in self.passes)

    def apply(self, masks: Integers, events: EventTable, rows: Integers, times: Integers) -> Integers:
        """The masks without the components whose conditions an event fails."""
        for source, operands in self.passes:
            arguments = operands.arguments(events, rows, times, wanted=may_be(self.components, masks))
            masks = kernel_of(source, len(rows))(masks, *arguments)
        return masks


def _calls_users(conjunct: Conjunct) -> bool:
    return any(map(calls_users, conjunct.literals))


def _kernel(conjuncts: list[tuple[Component, list[Conjunct]]]) -> tuple[str, Operands]:
    emitter = Emitter(operands=Operands(), depth=2)
    emitter.line("m = masks[i]")
    for components, own in _together(conjuncts):
        bits = sum({1 << one.bit for one in components})
        for conjunct in own:
            with emitter.block(f"if m & {bits}:"):
                flag = emitter.holds(conjunct, ByVariable({components[0].variable: "i"}))
                with emitter.block(f"if not ({flag}):"):
                    emitter.line(f"m &= ~{bits}")
    emitter.line("masks[i] = m")
    head = f"@jit\ndef kernel(masks, {emitter.operands.parameters}):\n    for i in range(len(masks)):\n"
    return head + emitter.text + "\n    return masks\n", emitter.operands


def _together(conjuncts: list[tuple[Component, list[Conjunct]]]) -> list[tuple[list[Component], list[Conjunct]]]:
    """Components that ask the same of events of the same types, which is asked once; what users write, for each.

    The arcs of a register automaton are such: many of them have a bit of their own and a fence in common.
    """
    found: dict[Hashable, tuple[list[Component], list[Conjunct]]] = {}
    for component, own in conjuncts:
        asked = tuple(tuple(map(_asked, one.literals)) for one in own)
        alone = component.variable if any(map(_calls_users, own)) else None
        found.setdefault((alone, component.type_names, asked), ([], own))[0].append(component)
    return list(found.values())


def _asked(expression: Expression) -> Hashable:
    """What an expression asks of an event, by whatever variable it calls that."""
    if isinstance(expression, Apply):
        return expression.function, expression.type, *map(_asked, expression.arguments)
    if isinstance(expression, Constant):
        return repr(expression.value), replace(expression, value=None)  # 0.0 is not -0.0
    return replace(expression, variable="") if isinstance(expression, Variable) else expression
