"""A tree at work: rounds in which events come to the leaves, and records are assembled up to the root (4.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ouzel.kernels import records
from ouzel.logical.pattern import Binds, Component
from ouzel.logical.query import BoundQuery
from ouzel.physical.compiled.kernel import kernel_of
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.match_table import Bound, Many, One
from ouzel.physical.memory.growing import Numbers
from ouzel.physical.memory.retained import Retained
from ouzel.physical.tree.arrivals import Arrivals
from ouzel.physical.tree.build import Tree, gap_components
from ouzel.physical.tree.nodes import Kind, Leaf, Node, walk
from ouzel.physical.tree.operators import Bounds, GapEvents, Operator, TooManyRecordsError, oldest_clocks
from ouzel.physical.tree.source import Written

Values = Callable[[Operands], list[Any]]
"""The arguments of a kernel that depend on its operands."""


class TooManyMatchesError(Exception):
    """There are more matches than are allowed, or fit."""


class Assembly:
    """One tree at work."""

    def __init__(self, query: BoundQuery, tree: Tree, kernels: dict[int, Written]) -> None:
        """Begin with empty buffers; kernels by the number of their nodes."""
        self.query, self.tree = query, tree
        self.keyed = bool(query.equivalences)
        self.gaps = {one.position: GapEvents(one) for one in gap_components(tree.root)}
        self.operators: list[Operator] = []
        made: dict[int, Operator] = {}
        for number, node in enumerate(walk(tree.root)):
            children = [made[id(child)] for child in node.children]
            made[id(node)] = Operator(node, kernels.get(number), children, self.gaps)
            self.operators.append(made[id(node)])
        self.root = self.operators[-1]
        self.chains = {
            one.node.component.position: one
            for one in self.operators
            if isinstance(one.node, Leaf) and one.node.kind is Kind.CHAIN
        }

    def __len__(self) -> int:
        """The number of records."""
        return sum(map(len, self.operators))

    # ---- rounds ------------------------------------------------------------------------------------------

    def take(self, arrivals: Arrivals, retained: Retained, limit: int) -> int | None:
        """Take events into the leaves; the number of the first that may end a match, if there is one."""
        partitions = retained.partitions.count
        for gap in self.gaps.values():
            gap.extend(arrivals.of(gap.component), retained, partitions)
        for one in self.operators:
            if isinstance(one.node, Leaf):
                one.take(arrivals.of(one.node.component), retained, limit)
        return min((int(ends[0]) for one in self.tree.finals if len(ends := arrivals.of(one))), default=None)

    def assemble(self, retained: Retained, values: Values, bounds: Bounds, matches: int) -> tuple[int, int]:
        """Assemble all records that there can be; how many were shed, and how many matches of at most so many."""
        below = self._below(retained, values, bounds)
        try:
            return below, self.root.run(retained, values, replace(bounds, most=matches), self.chains)
        except TooManyRecordsError:
            raise TooManyMatchesError from None

    def resume(self, retained: Retained, values: Values, bounds: Bounds) -> int:
        """Make the records of events again whose matches were found already; how many were shed."""
        below = self._below(retained, values, bounds)
        if self.root.is_chain:
            below += self.root.run(retained, values, bounds, self.chains)
        else:
            self.root.run(retained, values, replace(bounds, most=0, sheds=True), self.chains)
        self.root.buffer.empty()
        return below

    def _below(self, retained: Retained, values: Values, bounds: Bounds) -> int:
        """Make all records below the root, of which there may be so many together; how many were shed."""
        shed = 0
        for one in self.operators[:-1]:
            others = len(self) - len(one)
            shed += one.run(retained, values, replace(bounds, most=max(bounds.most - others, 1)), self.chains)
        return shed

    # ---- matches out -------------------------------------------------------------------------------------

    def matches(self, retained: Retained, limit: int) -> Bound:
        """The records of the root, as matches: it forgets them."""
        there = {one.variable for one in self.tree.root.components}
        positives = [one for one in self.query.components if not one.negative]
        bound = {
            one.variable: self._column(one, retained, limit, is_there=one.variable in there) for one in positives
        }
        self.root.buffer.empty()
        return bound

    def _column(self, component: Component, retained: Retained, limit: int, *, is_there: bool) -> One | Many:
        columns, count = self.root.buffer.columns, len(self.root.buffer)
        n = component.position
        unbound = np.full(count, component.variable not in self.tree.variant.empty)
        if not component.is_array:
            if is_there:
                return One(columns[f"x{n}"].values.copy())
            return One(np.full(count, -1, np.int64), unbound)
        if not is_there:
            return Many(np.zeros(count + 1, np.int64), np.zeros(0, np.int64), unbound)
        tails, counts = columns[f"x{n}"].values, columns[f"k{n}"].values
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.maximum(counts, 0), dtype=np.int64)])
        rows = np.empty(int(offsets[-1]), np.int64)
        if component.binds is Binds.CLOSURE:
            store = self.chains[n].store
            assert store is not None
            links = store.columns["event"].values, store.columns["before"].values
            kernel_of(records.chain_elements, len(rows))(tails, *links, offsets, rows)
        else:
            since = columns[f"f{n}"].values if f"f{n}" in columns else np.full(count, -1, np.int32)
            oldest = oldest_clocks(retained.clocks[columns["last"].values], limit)
            moments = retained.starts, retained.ends, retained.start_clocks
            previous = self.gaps[n].previous.values
            kernel_of(records.group_elements, len(rows))(tails, since, oldest, *moments, previous, offsets, rows)
        return Many(offsets, rows, counts < 0)

    # ---- what goes ---------------------------------------------------------------------------------------

    def drop(self, alive: Any) -> dict[int, Numbers]:
        """Drop the records that no match can start with any more; the new numbers of the choices of closures."""
        found: dict[int, Numbers] = {}
        for one in self.operators:
            numbers = one.drop(alive)
            if numbers is not None:
                assert isinstance(one.node, Leaf)
                found[one.node.component.position] = numbers
        return found

    def renumber(self, kept: Any, chains: dict[int, Numbers], retained: Retained) -> None:
        """Follow events, of which some are kept."""
        numbers = Numbers(kept)
        for one in self.operators:
            one.renumber(numbers, chains, kept)
        for gap in self.gaps.values():
            gap.keep(kept, numbers)
        self.relink(retained)

    def relink(self, retained: Retained) -> None:
        """Follow partitions, which have new numbers, and records, which have moved."""
        for one in self.operators:
            one.relink()
            one.relink_gaps(retained)
        for gap in self.gaps.values():
            gap.relink(retained)


def needs_kernel(node: Node) -> bool:
    """Whether a node does more than hold events."""
    return not isinstance(node, Leaf) or node.kind is Kind.CHAIN
