"""Paths of the match store become columns of row numbers: the decompressor of SASE+ 4.2.

Going back from a match's last node, every union is a fork in the road; a branch whose latest start lies outside
the window of the last event is expired and left out.  The matches of one end share the walk along what they share.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from ouzel.kernels.arrays import longer, taller
from ouzel.kernels.jit import Kernel
from ouzel.physical.automaton.shape import Shape
from ouzel.physical.automaton.store import UNION, Store
from ouzel.physical.compiled.cost import Cost
from ouzel.physical.compiled.kernel import long_kernel_of
from ouzel.physical.compiled.windows import REACH, oldest
from ouzel.physical.event_table import Integers
from ouzel.physical.limits import Limits, Room
from ouzel.physical.match_table import Many, One
from ouzel.physical.recycled import recycled
from ouzel.physical.stoppable import LARGE, SEEN, stoppable

# So many matches are written out before Ctrl-C could be heard.
FEW = 10_000


@dataclass(frozen=True)
class Expanded:
    """Matches written out: what each variable is bound to, and which of the nodes given each ends with."""

    bound: dict[str, One | Many]
    of: Integers
    shed: int


def expand_source(shape: Shape) -> str:
    """Write the kernel: a walk by stretches of nodes, with a stack of the branches still to be taken.

    It is run twice, to count and then to fill: `totals` are the numbers of matches and of events in each closure.
    Where the stack is short of room it returns the match at which to go on.
    """
    arrays, singles = _split(shape)
    outputs = [f"v{s}, o{s}" for s in arrays] + [f"v{s}" for s in singles] + [f"w{s}" for s in _told(shape)]
    counts = "\n".join(f"    n{s} = totals[{s + 1}]" for s in arrays)
    saved = "\n".join(f"        totals[{s + 1}] = n{s}" for s in arrays)
    written = [_array_source(shape, s) if s in arrays else _single_source(shape, s) for s in _numbers(shape)]
    return f"""
@jit
def kernel(
    board, fill, f, totals, begins, lengths, branches, most_matches, most_size, most_bytes, match_bytes,
    event_bytes, shed_matches,
    found, event, component, before, lesser, stretch, start_clocks, clocks, limit, of, {", ".join(outputs)}
):
    {REACH}
    matches = totals[0]
    shed = totals[-1]
    used = totals[-2]
{counts}
    while f < len(found):
        totals[0] = matches
        totals[-1] = shed
        totals[-2] = used
{saved}
        last = found[f, 1]
        kind = found[f, 2]
        end = clocks[last if last >= 0 else event[found[f, 0]]]
        oldest = {oldest("end")}
        branches[0, 0] = found[f, 0]
        branches[0, 1] = 0
        branches[0, 2] = 1 if last >= 0 else 0
        waiting = 1
        while waiting > 0:
            {SEEN}
                return f, {int(Needs.ROOM)}
            waiting -= 1
            q = branches[waiting, 0]
            k = branches[waiting, 1]
            size = branches[waiting, 2]
            while q >= 0:
                if component[q] == {UNION}:
                    if start_clocks[lesser[q]] <= oldest:
                        q = before[q]
                        continue
                    # what started earlier first: this is nearly the order of results
                    if waiting == len(branches):
                        return f, {int(Needs.ROOM)}
                    branches[waiting, 0] = before[q]
                    branches[waiting, 1] = k
                    branches[waiting, 2] = size
                    waiting += 1
                    q = event[q]
                    continue
                if k == len(begins):
                    return f, {int(Needs.ROOM)}
                lengths[k] = stretch[q]
                begins[k] = q - lengths[k] + 1
                size += lengths[k]
                q = before[begins[k]]
                k += 1
            more = match_bytes + event_bytes * size
            if size > most_size or matches >= most_matches or used + more > most_bytes:
                if not shed_matches:
                    totals[0] = matches
                    if size > most_size:
                        return f, {int(Needs.SIZE)}
                    return f, {int(Needs.MATCHES)} if matches >= most_matches else {int(Needs.MEMORY)}
                shed += 1
                if size <= most_size:
                    waiting = 0
                continue
            used += more
            k -= 1
{chr(10).join(written)}
            if fill:
                of[matches] = f
            matches += 1
        f += 1
    totals[0] = matches
    totals[-1] = shed
    totals[-2] = used
{saved.replace("        totals", "    totals")}
    return f, {int(Needs.NOTHING)}
"""


class Needs(IntEnum):
    """Why the kernel returned."""

    NOTHING = 0
    ROOM = 1
    SIZE = 2
    MATCHES = 3
    MEMORY = 4


def _numbers(shape: Shape) -> range:
    return range(len(shape.variables))


def _split(shape: Shape) -> tuple[list[int], list[int]]:
    """The variables that bind several events, and those that bind one."""
    numbered = list(enumerate(shape.variables))
    return [n for n, one in numbered if one.is_array], [n for n, one in numbered if not one.is_array]


def _told(shape: Shape) -> list[int]:
    """The variables that several states bind: a match tells in which it did."""
    return [number for number, one in enumerate(shape.variables) if len(shape.codes[one.variable]) > 1]


def _is(shape: Shape, variable: int, code: str) -> str:
    """A test that a state is one of a variable."""
    codes = shape.codes[shape.variables[variable].variable]
    return f"{code} == {codes[0]}" if len(codes) == 1 else f"{codes[0]} <= {code} <= {codes[-1]}"


def _array_source(shape: Shape, variable: int) -> str:
    """Copy the stretches of a closure, and the match's last event if it belongs there."""
    lines = [
        f"while k >= 0 and {_is(shape, variable, 'component[begins[k]]')}:",
        "    if fill:",
        f"        copy_part(event, begins[k], v{variable}, n{variable}, lengths[k])",
        *_telling(shape, variable, "component[begins[k]]"),
        f"    n{variable} += lengths[k]",
        "    k -= 1",
        f"if last >= 0 and {_is(shape, variable, 'kind')}:",
        "    if fill:",
        f"        v{variable}[n{variable}] = last",
        *_telling(shape, variable, "kind"),
        f"    n{variable} += 1",
        "if fill:",
        f"    o{variable}[matches + 1] = n{variable}",
    ]
    return _indented(lines)


def _single_source(shape: Shape, variable: int) -> str:
    lines = [
        f"if k >= 0 and {_is(shape, variable, 'component[begins[k]]')}:",
        "    if fill:",
        f"        v{variable}[matches] = event[begins[k]]",
        *_telling(shape, variable, "component[begins[k]]"),
        "    k -= 1",
        f"elif last >= 0 and {_is(shape, variable, 'kind')}:",
        "    if fill:",
        f"        v{variable}[matches] = last",
        *_telling(shape, variable, "kind"),
        "elif fill:",
        f"    v{variable}[matches] = -1",
    ]
    return _indented(lines)


def _telling(shape: Shape, variable: int, code: str) -> list[str]:
    return [f"        w{variable}[matches] = {code}"] if variable in _told(shape) else []


def _indented(lines: list[str]) -> str:
    return "\n".join(f"            {line}" for line in lines)


def expand(
    shape: Shape,
    source: str,
    found: Any,
    store: Store,
    start_clocks: Integers,
    clocks: Integers,
    limit: int,
    limits: Limits,
    room: Room,
    result: Cost,
) -> Expanded:
    """What each variable is bound to in each match, as numbers of prepared events (-1: none).

    `result` is what a match takes in the result; all of it has to fit into the room beside the match store.
    """
    (arrays, singles), told = _split(shape), _told(shape)
    kernel = long_kernel_of(source, store.nodes)
    nodes = (found, *store.arrays, start_clocks, clocks, limit)
    held = found.nbytes + sum(one.nbytes for one in store.arrays)
    # numbers of events, twice while they are put in order, and what they are put in order by
    cost = int(64 + 16 * len(shape.variables) + result.match), int(24 + result.element)
    work = _Work(limits, room, (limits.max_matches, limits.max_match_size, room.size - held, *cost, limits.sheds))
    totals = np.zeros(len(shape.variables) + 3, np.int64)
    outputs = _outputs(totals, arrays, singles, told)
    is_few = work.are_few(kernel, totals, nodes, outputs)

    def written() -> list[Any]:
        if not is_few:
            totals[:] = 0
            work.walk(kernel, totals, nodes, outputs, fill=False)
        written = _outputs(totals, arrays, singles, told)
        work.walk(kernel, np.zeros_like(totals), nodes, written, fill=True)
        return written

    # a few merged runs may stand for any number of matches
    of, *columns = stoppable(written, size=0 if is_few else LARGE)
    shed = int(totals[-1])
    by_number: dict[int, One | Many] = {}
    for place, number in enumerate(arrays):
        rows, offsets = columns[2 * place], columns[2 * place + 1]
        # a closure that must not be empty is so only in an alternative that was not chosen
        unbound = (offsets[1:] == offsets[:-1]) & (shape.variables[number].least > 0)
        by_number[number] = Many(offsets, rows, unbound)
    del columns[: 2 * len(arrays)]
    by_number |= {number: One(rows) for number, rows in zip(singles, columns, strict=False)}
    bound = {one.variable: by_number[number] for number, one in enumerate(shape.variables)}
    if shape.empties:
        codes = dict(zip((shape.variables[one].variable for one in told), columns[len(singles) :], strict=True))
        bound = shape.ways.told(bound, shape.states, codes, shape.empties)
    return Expanded(bound, of, shed)


def _outputs(totals: Any, arrays: list[int], singles: list[int], told: list[int]) -> list[Any]:
    """Arrays for so many matches: the node each ends with, what the variables bind, and in which states."""
    outputs: list[Any] = [recycled(int(totals[0]))]
    for number in arrays:
        # as narrow as the store's: closures are most of what there is to write, and to read again
        outputs += [recycled(int(totals[number + 1]), np.int32), np.zeros(totals[0] + 1, np.int64)]
    outputs += [recycled(int(totals[0])) for _ in singles]
    return outputs + [np.full(totals[0], -1, np.int64) for _ in told]


class _Work:
    """The stack of a walk, made longer when it asks for room; `most` is what the kernel takes of limits."""

    def __init__(self, limits: Limits, room: Room, most: tuple[int, ...]) -> None:
        self.limits, self.room, self.most = limits, room, most
        self.begins, self.lengths = np.empty(256, np.int64), np.empty(256, np.int64)
        self.branches: Any = np.empty((64, 3), np.int64)

    def walk(
        self,
        kernel: Kernel,
        totals: Any,
        nodes: tuple[Any, ...],
        outputs: list[Any],
        *,
        fill: bool,
    ) -> None:
        match self._walk(kernel, totals, nodes, outputs, self.most, fill=fill):
            case Needs.SIZE:
                raise self.limits.exceeded("max_match_size")
            case Needs.MATCHES:
                raise self.limits.exceeded("max_matches")
            case Needs.MEMORY:
                raise self.room.exceeded(int(totals[0]), "matches")

    def are_few(self, kernel: Kernel, totals: Any, nodes: tuple[Any, ...], outputs: list[Any]) -> bool:
        """Whether there are but a few matches, all within limits; then they are counted."""
        most = (min(self.most[0], FEW), *self.most[1:-1], False)
        return self._walk(kernel, totals, nodes, outputs, most, fill=False) is Needs.NOTHING

    def _walk(
        self,
        kernel: Kernel,
        totals: Any,
        nodes: tuple[Any, ...],
        outputs: list[Any],
        most: tuple[int, ...],
        *,
        fill: bool,
    ) -> Needs:
        at, needs = 0, Needs.ROOM
        while True:
            stack = self.begins, self.lengths, self.branches
            at, needs = kernel(fill, at, totals, *stack, *most, *nodes, *outputs)
            if needs != Needs.ROOM:
                return Needs(needs)
            self.begins, self.lengths = longer(self.begins), longer(self.lengths)
            self.branches = taller(self.branches)
