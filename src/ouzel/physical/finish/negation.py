"""Negation after the fact: matches of the positive components first, then what refutes them (SASE+ 3.1).

At the end of a pattern it is postponed until the window has passed (SASE 3.3): of each batch, the events that may
refute are tried on all matches that wait.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.expressions import Aggregate, Attribute, Element, Length, Moment, references
from ouzel.logical.pattern import Component
from ouzel.logical.values import ValueType
from ouzel.physical.compiled.emit import Emitter
from ouzel.physical.compiled.kernel import long_kernel_of
from ouzel.physical.compiled.operands import Operands, Source
from ouzel.physical.compiled.value import Value
from ouzel.physical.compiled.windows import REACH, oldest
from ouzel.physical.contract import UnsuitableError
from ouzel.physical.event_table import Integers
from ouzel.physical.finish.order import used_events
from ouzel.physical.match_table import Bound, One, chosen, ends_of
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
    """One negative component on one step between two variables, and the kernel that finds what it refutes."""

    def __init__(
        self,
        variables: tuple[str, ...],
        optional: frozenset[str],
        component: Component,
        conjuncts: list[Conjunct],
        before: int,
        after: int,
    ) -> None:
        """Write the kernel.

        `variables` are all that matches bind, in order, of which some are `optional`.  The step leads from one to
        another by their places, -1 for the start or end of the pattern.
        """
        self.variables, self.optional, self.component = variables, optional, component
        self.before, self.after = before, after
        self.operands = Operands()
        self.used: list[tuple[str, bool]] = []
        self.source = self._source(conjuncts)

    @property
    def at_end(self) -> bool:
        """Whether it is at the end of the pattern, so that a match stands only when its window has passed."""
        return self.after < 0

    @property
    def bit(self) -> int:
        """The bit of the component in masks."""
        return 1 << self.component.bit

    # ---- source ------------------------------------------------------------------------------------------

    def _source(self, conjuncts: list[Conjunct]) -> str:
        """Write the kernel: refuters are in order of partition and time, of which p's begin at starts[p]."""
        emitter = Emitter(operands=self.operands, depth=0)
        with emitter.scope():
            emitter.depth = 1
            emitter.line(REACH)
            with emitter.block("for k in range(len(keep)):"):
                with emitter.block(SEEN):
                    emitter.line("return keep")
                emitter.write("p = parts[k]", "low = starts[p]", "high = starts[p + 1]")
                with emitter.block("while low < high:"):
                    emitter.write("middle = (low + high) // 2", "y = refuters[middle]")
                    with emitter.block(f"if {self._is_before}:"):
                        emitter.line("low = middle + 1")
                    with emitter.block("else:"):
                        emitter.line("high = middle")
                with emitter.block("for q in range(low, starts[p + 1]):"):
                    emitter.line("y = refuters[q]")
                    with emitter.block(f"if {self._is_after}:"):
                        emitter.line("break")
                    tests = [partial(self._test, emitter, conjunct) for conjunct in conjuncts]
                    emitter.go_on_if([*self._lasting(), *tests])
                    emitter.write("keep[k] = False", "break")
            emitter.line("return keep")
        bound = "".join(f"b{number}, " for number in range(len(self.used)))
        plain = "board, keep, u, v, first, last, parts, refuters, starts"
        plain += ", begun, moments, start_clocks, clocks, limit"
        emitter.lines[:0] = ["@jit", f"def kernel({plain}, {bound}{self.operands.parameters}):"]
        return emitter.text

    @property
    def _is_before(self) -> str:
        """Whether an event comes before what is refuted begins: the step, or the window of the last event."""
        return "moments[y] <= moments[u[k]]" if self.before >= 0 else f"clocks[y] <= {oldest('clocks[last[k]]')}"

    @property
    def _is_after(self) -> str:
        """Whether an event comes after the step, or after the window of the first event."""
        if self.after >= 0:
            return "moments[y] >= begun[v[k]]"
        return f"{oldest('clocks[y]')} >= start_clocks[first[k]]"

    def _lasting(self) -> list[Callable[[], str]]:
        """The test that all of an event lies where it refutes, if it lasts: its end is known to."""
        if not any(one.composite for one in self.component.types):
            return []
        if self.before >= 0:
            return [lambda: "begun[y] > moments[u[k]]"]
        return [lambda: f"start_clocks[y] > {oldest('clocks[last[k]]')}"]

    def _test(self, emitter: Emitter, conjunct: Conjunct) -> str:
        """Write a condition, which holds where a variable is bound to nothing."""
        rows = _MatchRows(self.component.variable, self.used)
        nodes = [node for literal in conjunct.literals for node in references(literal)]
        absent = {
            f"{rows.row(node)} < 0"
            for node in nodes
            if isinstance(node, Attribute | Moment) and node.variable in self.optional
        }
        return emitter.holds(conjunct, rows, sorted(absent))

    # ---- at work -----------------------------------------------------------------------------------------

    def keep(self, bound: Bound, refuters: Integers, retained: Retained, limit: int, seen: int) -> Any:
        """Which matches this component leaves standing; `refuters` are the events that may refute them.

        `seen` is how many events came, which tells whether compiling pays.
        """
        first, last = ends_of(list(self.variables), bound)
        keep = np.ones(len(first), np.bool_)
        if not len(refuters) or not len(keep):
            return keep
        parts = retained.parts[refuters]
        order = np.lexsort((retained.ends[refuters], parts))
        refuters, parts = refuters[order], parts[order]
        starts = np.searchsorted(parts, np.arange(int(parts[-1]) + 2))
        own = retained.parts[last]
        tried = np.flatnonzero(self._applies(bound) & (own <= parts[-1]))
        tried = tried[starts[own[tried] + 1] > starts[own[tried]]]
        if not len(tried):
            return keep
        bound = {variable: chosen(one, tried) for variable, one in bound.items()}
        first, last = first[tried], last[tried]
        u = ends_of([self.variables[self.before]], bound)[1] if self.before >= 0 else first
        v = ends_of([self.variables[self.after]], bound)[0] if self.after >= 0 else last
        rows = [ends_of([variable], bound)[1 if late else 0] for variable, late in self.used]
        compared = [refuters, u, v, first, last, *rows]
        used = used_events(compared, len(retained))
        refuters, u, v, first, last, *rows = (One(one).placed(used).rows for one in compared)
        events, at = retained.events(used if self.operands.columns else used[:0])
        arguments = self.operands.arguments(events, at, events.end_times[at])
        keep[tried] = long_kernel_of(self.source, seen)(
            np.ones(len(tried), np.bool_),
            *(u, v, first, last),
            own[tried],
            refuters,
            starts,
            *(retained.starts[used], retained.ends[used], retained.start_clocks[used], retained.clocks[used]),
            limit,
            *rows,
            *arguments,
        )
        return keep

    def _applies(self, bound: Bound) -> Any:
        """The matches that took this step: both variables bound something, and none between them did."""
        low = self.before if self.before >= 0 else -1
        high = self.after if self.after >= 0 else len(self.variables)
        applies = np.ones(len(next(iter(bound.values()))), np.bool_)
        for number, variable in enumerate(self.variables):
            if variable in self.optional and low <= number <= high:
                is_bound = ends_of([variable], bound)[0] >= 0
                applies &= is_bound if number in (self.before, self.after) else ~is_bound
            elif low < number < high:
                applies[:] = False
        return applies
