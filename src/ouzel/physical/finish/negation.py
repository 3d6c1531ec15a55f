"""Negation after the fact: matches of the positive components first, then what refutes them (SASE+ 3.1).

At the end of a pattern it is postponed until the window has passed (SASE 3.3): of each batch, the events that may
refute are tried on all matches that wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ouzel.logical.conjuncts import Conjunct, is_iterated
from ouzel.logical.expressions import Aggregate, Attribute, Length, Moment, Variable
from ouzel.logical.pattern import Component
from ouzel.logical.values import ValueType
from ouzel.physical.compiled.emit import Emitter
from ouzel.physical.compiled.kernel import long_kernel_of
from ouzel.physical.compiled.match_rows import MatchRows
from ouzel.physical.compiled.operands import Operands, Source
from ouzel.physical.compiled.value import Value
from ouzel.physical.compiled.windows import REACH, oldest
from ouzel.physical.event_table import Integers
from ouzel.physical.finish.order import used_events
from ouzel.physical.match_table import Bound, One, chosen, ends_of, is_bound, outermost
from ouzel.physical.memory.retained import Retained
from ouzel.physical.stoppable import SEEN


class _Rows(MatchRows):
    """Where a condition on a negative component finds events: y, or those of match i."""

    def __init__(self, negative: str, arrays: Mapping[str, bool]) -> None:
        super().__init__(arrays)
        self.negative = negative
        self._known: dict[Variable, Value] = {}

    def cell(self, node: Attribute | Moment, column: Source, value_type: ValueType, emitter: Emitter) -> Value:
        """The value in a column of the event that a reference means."""
        if node.variable == self.negative:
            return emitter.cell(column, value_type, "y")
        if is_iterated(node):
            k = self.places[node.variable]
            return emitter.cell(column, value_type, f"rows{k}[e{k}]")
        return super().cell(node, column, value_type, emitter)

    def begin(self, nodes: Iterable[Variable], emitter: Emitter) -> None:
        """Write the aggregates that conditions read, once for a match: no refuter changes them."""
        for node in nodes:
            if isinstance(node, Aggregate | Length) and node not in self._known:
                self._known[node] = super().aggregate(node, emitter)

    def aggregate(self, node: Aggregate | Length, emitter: Emitter) -> Value:  # noqa: ARG002
        """The value of an aggregate."""
        return self._known[node]


@dataclass(frozen=True)
class Between:
    """Where a negative component looks: between what some variables are bound to and what others are.

    None of those that are `passed` over is bound; those that are `empty` were chosen nevertheless.  Without
    variables it is at the start or end of the pattern; what is `around` looks at the whole window of a match, on
    both sides.
    """

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    around: bool = False

    @classmethod
    def of_step(cls, variables: tuple[str, ...], before: int, after: int, empty: tuple[str, ...] = ()) -> Between:
        """A step from one variable to another by their places in order, -1 for the start or end of the pattern."""
        return cls(
            variables[before : before + 1] if before >= 0 else (),
            variables[after : after + 1] if after >= 0 else (),
            variables[before + 1 : after if after >= 0 else None],
            empty,
        )

    @property
    def at_end(self) -> bool:
        """Whether it is at the end of the pattern, so that a match stands only when its window has passed."""
        return self.around or not self.after

    def applies(self, bound: Bound) -> Any:
        """Which matches it is about."""
        applies = np.ones(len(next(iter(bound.values()))), np.bool_)
        for variables in (self.before, self.after):
            if variables:
                applies &= np.logical_or.reduce([is_bound(bound[one]) for one in variables])
        for one in self.passed:
            applies &= ~is_bound(bound[one])
        for one in self.empty:
            unbound = bound[one].unbound
            if unbound is not None:
                applies &= ~unbound
        return applies


class Refutation:
    """One negative component in one place, and the kernel that finds what it refutes."""

    def __init__(
        self,
        positives: tuple[Component, ...],
        optional: frozenset[str],
        component: Component,
        conjuncts: list[Conjunct],
        between: Between,
        *,
        scattered: bool = False,
    ) -> None:
        """Write the kernel.

        `positives` are the components that matches bind, in order, of which some are `optional`; if `scattered`,
        they need not bind in order.
        """
        self.variables = tuple(one.variable for one in positives)
        self.optional, self.component, self.between = optional, component, between
        self.conjuncts = conjuncts
        self.scattered = scattered
        self.operands = Operands()
        read = {node.variable for conjunct in conjuncts for node in conjunct.references}
        # of what binds in order, none of a match's own events can lie where it is refuted
        own = [one.variable for one in positives if scattered and one.type_names & component.type_names]
        self._own = tuple(own)
        read |= {*own}
        arrays = {one.variable: one.is_array for one in positives if one.variable in read}
        self.rows = _Rows(component.variable, arrays)
        self.source = self._source(conjuncts)

    @property
    def at_end(self) -> bool:
        """Whether it is at the end of the pattern, so that a match stands only when its window has passed."""
        return self.between.at_end

    @property
    def at_once(self) -> bool:
        """Whether what came before the last event of a match, or with it, may refute it.

        With `&`, that event need not be what a negative component at the end of the pattern stands behind.
        """
        return self.between.around or self.scattered or bool(self.between.after)

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
            with emitter.block("for i in range(len(keep)):"):
                with emitter.block(SEEN):
                    emitter.line("return keep")
                emitter.write("p = parts[i]", "low = starts[p]", "high = starts[p + 1]")
                with emitter.block("while low < high:"):
                    emitter.write("middle = (low + high) // 2", "y = refuters[middle]")
                    with emitter.block(f"if {self._is_before}:"):
                        emitter.line("low = middle + 1")
                    with emitter.block("else:"):
                        emitter.line("high = middle")
                self.rows.begin((node for conjunct in conjuncts for node in conjunct.references), emitter)
                with emitter.block("for q in range(low, starts[p + 1]):"):
                    emitter.line("y = refuters[q]")
                    with emitter.block(f"if {self._is_after}:"):
                        emitter.line("break")
                    tests = [partial(self._test, emitter, conjunct) for conjunct in conjuncts]
                    emitter.go_on_if([*self._lasting(), *self._others(emitter), *tests])
                    emitter.write("keep[i] = False", "break")
            emitter.line("return keep")
        plain = "board, keep, u, v, first, last, parts, refuters, starts"
        plain += ", begun, moments, start_clocks, clocks, limit"
        emitter.lines[:0] = ["@jit", f"def kernel({plain}, {self.rows.parameters}{self.operands.parameters}):"]
        return emitter.text

    @property
    def _is_before(self) -> str:
        """Whether an event comes before what is refuted begins: the step, or the window of the last event."""
        return (
            "moments[y] <= moments[u[i]]" if self.between.before else f"clocks[y] <= {oldest('clocks[last[i]]')}"
        )

    @property
    def _is_after(self) -> str:
        """Whether an event comes after the step, or after the window of the first event."""
        if self.between.after:
            return "moments[y] >= begun[v[i]]"
        return f"{oldest('clocks[y]')} >= start_clocks[first[i]]"

    def _lasting(self) -> list[Callable[[], str]]:
        """The test that all of an event lies where it refutes, if it lasts: its end is known to."""
        if not any(one.lasts for one in self.component.types):
            return []
        if self.between.before:
            return [lambda: "begun[y] > moments[u[i]]"]
        return [lambda: f"start_clocks[y] > {oldest('clocks[last[i]]')}"]

    def _others(self, emitter: Emitter) -> list[Callable[[], str]]:
        """The tests that an event is none of the match's own."""
        return [partial(self._is_other, emitter, self.rows.places[one], one) for one in self._own]

    def _is_other(self, emitter: Emitter, k: int, variable: str) -> str:
        if not self.rows.arrays[variable]:
            return f"rows{k}[i] != y"
        name = emitter.fresh()
        emitter.line(f"{name} = True")
        with emitter.block(f"for j in range(offsets{k}[i], offsets{k}[i + 1]):"):
            emitter.line(f"{name} = {name} and rows{k}[j] != y")
        return name

    def _test(self, emitter: Emitter, conjunct: Conjunct) -> str:
        """Write a condition, which must hold for each element that [i] means; of what is not there it holds."""
        uncertain = [node for node in conjunct.references if node.variable in self.optional]
        absent = sorted({self._absent(node) for node in uncertain if not is_iterated(node)})
        iterated = {node.variable for node in conjunct.references if is_iterated(node)}
        if not iterated:
            return emitter.holds(conjunct, self.rows, absent)
        name = emitter.fresh()
        emitter.line(f"{name} = True")
        with emitter.scope():
            for variable in sorted(iterated):
                k = self.rows.places[variable]
                first = f"offsets{k}[i]" + (" + 1" if variable in conjunct.from_second else "")
                emitter.begin(f"for e{k} in range({first}, offsets{k}[i + 1]):")
                emitter.write(f"if not {name}:", "    break")
            emitter.line(f"{name} = {emitter.holds(conjunct, self.rows, absent)}")
        return name

    def _absent(self, node: Variable) -> str:
        """A test that there is nothing that a reference means."""
        if isinstance(node, Aggregate | Length):
            return f"unbound{self.rows.places[node.variable]}[i]"
        assert isinstance(node, Attribute | Moment)
        return self.rows.absent(node)

    # ---- at work -----------------------------------------------------------------------------------------

    def keep(self, bound: Bound, refuters: Integers, retained: Retained, limit: int, seen: int) -> Any:
        """Which matches this component leaves standing; `refuters` are the events that may refute them.

        `seen` is how many events came, which tells whether compiling pays.
        """
        first, last = self._edges(self.variables, bound, retained.openings, retained.ends)
        keep = np.ones(len(first), np.bool_)
        if not len(refuters) or not len(keep):
            return keep
        parts = retained.parts[refuters]
        order = np.lexsort((retained.ends[refuters], parts))
        refuters, parts = refuters[order], parts[order]
        starts = np.searchsorted(parts, np.arange(int(parts[-1]) + 2))
        own = retained.parts[last]
        tried = np.flatnonzero(self.between.applies(bound) & (own <= parts[-1]))
        tried = tried[starts[own[tried] + 1] > starts[own[tried]]]
        if not len(tried):
            return keep
        bound = {variable: chosen(one, tried) for variable, one in bound.items()}
        first, last = first[tried], last[tried]
        between = self.between
        moments = retained.starts, retained.ends
        u = self._edges(between.before, bound, *moments)[1] if between.before else first
        v = self._edges(between.after, bound, *moments)[0] if between.after else last
        compared = [refuters, u, v, first, last]
        used = used_events([*compared, *(bound[one].rows for one in self.rows.places)], len(retained))
        refuters, u, v, first, last = (One(one).placed(used).rows for one in compared)
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
            *self.rows.arguments(bound, used),
            *arguments,
        )
        return keep

    def _edges(
        self, variables: tuple[str, ...], bound: Bound, starts: Integers, ends: Integers
    ) -> tuple[Integers, Integers]:
        """The first and last event that some variables are bound to in each match."""
        if not self.scattered:
            return ends_of(list(variables), bound)
        return outermost({one: bound[one] for one in variables}, starts, ends)
