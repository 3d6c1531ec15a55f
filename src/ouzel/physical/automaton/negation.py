"""Negation in the automaton: matches of the positive components first, then what refutes them (SASE+ 3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.expressions import Aggregate, Attribute, Element, Length, Moment, references
from ouzel.logical.pattern import Component
from ouzel.logical.values import ValueType
from ouzel.physical.automaton.shape import Shape
from ouzel.physical.compiled.emit import Emitter
from ouzel.physical.compiled.kernel import long_kernel_of
from ouzel.physical.compiled.operands import Operands, Source
from ouzel.physical.compiled.value import Value
from ouzel.physical.compiled.windows import REACH, oldest
from ouzel.physical.contract import UnsuitableError
from ouzel.physical.match_table import Many, One, ends_of
from ouzel.physical.memory.retained import Retained
from ouzel.physical.stoppable import SEEN


@dataclass(frozen=True)
class _MatchRows:
    """Where a condition on a negative component finds events: y, or those of match k."""

    negative: str
    used: list[tuple[str, bool]]

    def cell(self, node: Attribute | Moment, column: Source, value_type: ValueType, emitter: Emitter) -> Value:
        """The value in a column of the event that a reference means."""
        return emitter.cell(column, value_type, self.row(node))

    def row(self, node: Attribute | Moment) -> str:
        """The index of the event that a reference means."""
        if node.variable == self.negative:
            return "y"
        if node.element not in (Element.SINGLE, Element.FIRST, Element.LAST):
            raise UnsuitableError(f"a condition on '{self.negative}' is on every element of '{node.variable}'")
        key = (node.variable, node.element is Element.LAST)
        if key not in self.used:
            self.used.append(key)
        return f"b{self.used.index(key)}[k]"

    def aggregate(self, node: Aggregate | Length, emitter: Emitter) -> Value:  # noqa: ARG002
        """Aggregates are not kept once a match is found."""
        raise UnsuitableError(f"a condition on '{self.negative}' aggregates '{node.variable}'")


class Refutation:
    """One negative component between two states, and the kernel that finds what it refutes."""

    def __init__(self, shape: Shape, before: int, component: Component, after: int) -> None:
        """Write the kernel; -1 stands for the start or end of the pattern."""
        self.shape, self.before, self.component, self.after = shape, before, component, after
        self.operands = Operands()
        self.used: list[tuple[str, bool]] = []
        conjuncts = [c for c in shape.conjuncts if c.component is component and c.place is Place.NEGATIVE]
        self.source = self._source(conjuncts)

    def _source(self, conjuncts: list[Conjunct]) -> str:
        emitter = Emitter(operands=self.operands, depth=3)
        rows = _MatchRows(self.component.variable, self.used)

        def test(conjunct: Conjunct) -> str:
            nodes = [node for literal in conjunct.literals for node in references(literal)]
            absent = {
                f"{rows.row(node)} < 0"
                for node in nodes
                if isinstance(node, Attribute | Moment) and node.variable in self.shape.optional
            }
            return emitter.holds(conjunct, rows, sorted(absent))

        emitter.go_on_if([partial(test, conjunct) for conjunct in conjuncts])
        emitter.line("keep[k] = False")
        emitter.line("break")
        bound = "".join(f", b{number}" for number in range(len(self.used)))
        parameters = f"{bound}, {self.operands.parameters}"
        body = "\n".join(emitter.lines)
        from_event = (
            "moments[y] <= moments[u[k]]" if self.before >= 0 else f"clocks[y] <= {oldest('clocks[last[k]]')}"
        )
        until = "moments[y] >= moments[v[k]]" if self.after >= 0 else f"{oldest('clocks[y]')} >= clocks[first[k]]"
        return f"""
@jit
def kernel(board, keep, u, v, first, last, parts, refuters, starts, moments, clocks, limit{parameters}):
    {REACH}
    for k in range(len(keep)):
        {SEEN}
            return keep
        if not keep[k]:
            continue
        p = parts[last[k]]
        low = starts[p]
        high = starts[p + 1]
        while low < high:
            middle = (low + high) // 2
            y = refuters[middle]
            if {from_event}:
                low = middle + 1
            else:
                high = middle
        for q in range(low, starts[p + 1]):
            y = refuters[q]
            if {until}:
                break
{body}
    return keep
"""

    @property
    def at_end(self) -> bool:
        """Whether it is at the end of the pattern, so that a match stands only when its window has passed."""
        return self.after < 0

    def keep(self, bound: dict[str, One | Many], retained: Retained, limit: int) -> Any:
        """Which matches this component leaves standing; `retained` has all events that may refute them."""
        first, last = ends_of([one.variable for one in self.shape.states], bound)
        applies = self._applies(bound)
        chosen = np.flatnonzero(applies)
        keep = np.ones(len(first), np.bool_)
        if not len(chosen):
            return keep
        names = [one.variable for one in self.shape.states]
        u = ends_of([names[self.before]], bound)[1] if self.before >= 0 else first
        v = ends_of([names[self.after]], bound)[0] if self.after >= 0 else last
        rows = [ends_of([variable], bound)[1 if late else 0] for variable, late in self.used]
        refuters = np.flatnonzero(retained.marks & (1 << self.component.position))
        matched = [one[chosen] for one in (u, v, first, last, *rows)]
        used = np.unique(np.concatenate([refuters, *matched]))
        used = used[np.searchsorted(used, 0) :]
        events, at = retained.events(used)
        parts, ends, clocks = retained.parts[used].astype(np.int64), retained.ends[used], retained.clocks[used]
        refuters = np.searchsorted(used, refuters)
        refuters = refuters[np.lexsort((ends[refuters], parts[refuters]))]
        starts = np.searchsorted(parts[refuters], np.arange(parts.max() + 2))
        u, v, first, last, *rows = (One(one).placed(used).rows for one in matched)
        kept = long_kernel_of(self.source, len(retained))(
            np.ones(len(chosen), np.bool_),
            *(u, v, first, last),
            parts,
            refuters,
            starts,
            ends,
            clocks,
            limit,
            *rows,
            *self.operands.arguments(events, at, events.end_times[at]),
        )
        keep[chosen] = kept
        return keep

    def _applies(self, bound: dict[str, One | Many]) -> Any:
        """The matches that took this step: both states bound something, and none between them did."""
        low = self.before if self.before >= 0 else -1
        high = self.after if self.after >= 0 else len(self.shape.states)
        present = [ends_of([one.variable], bound)[0] >= 0 for one in self.shape.states]
        applies = np.ones(len(present[0]), np.bool_)
        for number, is_bound in enumerate(present):
            if number in (self.before, self.after):
                applies &= is_bound
            elif low < number < high:
                applies &= ~is_bound
        return applies


def refutations(shape: Shape) -> list[Refutation]:
    """A refutation for every negative component on every step that passes over it."""
    return [
        Refutation(shape, before, component, after)
        for before, crossing, after in shape.crossings()
        for component in crossing.negatives
    ]
