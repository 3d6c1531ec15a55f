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
from ouzel.physical.automaton.construct import takes_more
from ouzel.physical.automaton.shape import Shape
from ouzel.physical.automaton.store import UNION, Store
from ouzel.physical.compiled.cost import Cost
from ouzel.physical.compiled.kernel import long_kernel_of
from ouzel.physical.compiled.windows import REACH, oldest
from ouzel.physical.event_table import Integers
from ouzel.physical.limits import Limits, Room
from ouzel.physical.match_table import Many, One, Pieces
from ouzel.physical.recycled import recycled
from ouzel.physical.stoppable import LARGE, SEEN, stoppable

# So many matches are written out before Ctrl-C could be heard.
FEW = 10_000
# Closures of so many events in all stay in pieces, if these are so long on average.
MANY, LONG = 50_000, 8


@dataclass(frozen=True)
class Expanded:
    """Matches written out: what each variable is bound to; and how many were shed."""

    bound: dict[str, One | Many]
    shed: int


def expand_source(shape: Shape) -> str:
    """Write the kernel: a walk by stretches of nodes, with a stack of the branches still to be taken.

    It is run twice, to count and then to fill: `totals` are the numbers of matches, and of events and stretches in
    each closure, which is written out event by event, or in pieces.  A path is gone through in the order of
    variables; one that comes back to a variable, in a cycle of states, is so as often as it takes.  Where the
    stack is short of room it returns the match at which to go on.
    """
    arrays, singles = _split(shape)
    outputs = [f"v{s}, l{s}, e{s}, o{s}" for s in arrays] + [f"v{s}" for s in singles]
    outputs += [f"w{s}" for s in _told(shape)]
    counters = [(f"n{s}", 2 * s + 1) for s in arrays] + [(f"m{s}", 2 * s + 2) for s in arrays]
    counts = "\n".join(f"    {name} = totals[{place}]" for name, place in counters)
    saved = "\n".join(f"        totals[{place}] = {name}" for name, place in counters)
    begun = _indented([line for s in singles for line in ("if fill:", f"    v{s}[matches] = -1")])
    stretches = [line for s in _numbers(shape) for line in _stretches(shape, s, is_array=s in arrays)]
    ends = [line for s in _numbers(shape) for line in _end(shape, s, is_array=s in arrays)]
    written = _indented(["while k >= 0:", *(f"    {line}" for line in stretches), *ends])
    return f"""
@jit
def kernel(
    board, fill, f, totals, begins, lengths, branches, most_matches, most_size, most_bytes, match_bytes,
    event_bytes, shed_matches,
    found, event, component, before, lesser, stretch, start_clocks, clocks, limit, {", ".join(outputs)}
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
        branches[0, 2] = 1 if last >= 0 and kind >= 0 else 0
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
{begun}
{written}
            matches += 1
        f += 1
    totals[0] = matches
    totals[-1] = shed
    totals[-2] = used
{saved.replace("        totals", "    totals")}
    return f, {int(Needs.NOTHING)}
"""


class Fill(IntEnum):
    """What a walk is for: to count, or to write closures out event by event or in pieces."""

    NOTHING = 0
    EVENTS = 1
    PIECES = 2


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


def _stretches(shape: Shape, variable: int, *, is_array: bool) -> list[str]:
    """Write the events of a variable that come next on a path: copy its stretches, or say where they are."""
    code = "component[begins[k]]"
    if not is_array:
        return [
            f"if k >= 0 and {_is(shape, variable, code)}:",
            "    if fill:",
            f"        v{variable}[matches] = event[begins[k]]",
            *_telling(shape, variable, code),
            "    k -= 1",
        ]
    return [
        f"while k >= 0 and {_is(shape, variable, code)}:",
        f"    if fill == {Fill.PIECES:d}:",
        f"        v{variable}[m{variable}] = begins[k]",
        f"        l{variable}[m{variable}] = lengths[k]",
        f"    elif fill == {Fill.EVENTS:d}:",
        # where runs take turns in the store, a stretch is one node, and no part worth copying
        "        if lengths[k] == 1:",
        f"            v{variable}[n{variable}] = event[begins[k]]",
        "        else:",
        f"            copy_part(event, begins[k], v{variable}, n{variable}, lengths[k])",
        *_telling(shape, variable, code),
        f"    n{variable} += lengths[k]",
        f"    m{variable} += 1",
        "    k -= 1",
    ]


def _end(shape: Shape, variable: int, *, is_array: bool) -> list[str]:
    """Write the last event of a match, if the variable is bound to it, and where a closure ends."""
    if not is_array:
        return [
            f"if last >= 0 and {_is(shape, variable, 'kind')}:",
            "    if fill:",
            f"        v{variable}[matches] = last",
            *_telling(shape, variable, "kind"),
        ]
    return [
        f"if last >= 0 and {_is(shape, variable, 'kind')}:",
        "    if fill:",
        f"        v{variable}[n{variable}] = last",
        *_telling(shape, variable, "kind"),
        f"    n{variable} += 1",
        "if fill:",
        f"    o{variable}[matches + 1] = n{variable}",
        f"if fill == {Fill.PIECES:d}:",
        f"    e{variable}[matches + 1] = m{variable}",
    ]


def _telling(shape: Shape, variable: int, code: str) -> list[str]:
    return ["    if fill:", f"        w{variable}[matches] = {code}"] if variable in _told(shape) else []


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
    *,
    in_pieces: bool,
) -> Expanded:
    """What each variable is bound to in each match, as numbers of prepared events (-1: none).

    `result` is what a match takes in the result; all of it has to fit into the room beside the match store.  With
    `in_pieces`, what closures bind stays in the store where it comes in long stretches.
    """
    (arrays, singles), told = _split(shape), _told(shape)
    kernel = long_kernel_of(source, store.nodes)
    nodes = (found, *store.arrays, start_clocks, clocks, limit)
    held = found.nbytes + sum(one.nbytes for one in store.arrays)
    # numbers of events, twice while they are put in order, and what they are put in order by
    cost = int(64 + 16 * len(shape.variables) + result.match), int(24 + result.element)
    work = _Work(limits, room, (limits.max_matches, limits.max_match_size, room.size - held, *cost, limits.sheds))
    totals = np.zeros(2 * len(shape.variables) + 3, np.int64)
    nothing = _outputs(totals, arrays, singles, told, Fill.EVENTS)
    is_few = work.are_few(kernel, totals, nodes, nothing)

    def written() -> tuple[list[Any], Fill]:
        if not is_few:
            totals[:] = 0
            work.walk(kernel, totals, nodes, nothing, Fill.NOTHING)
        fill = Fill.PIECES if in_pieces and _are_long(totals, shape, arrays) else Fill.EVENTS
        outputs = _outputs(totals, arrays, singles, told, fill)
        work.walk(kernel, np.zeros_like(totals), nodes, outputs, fill)
        return outputs, fill

    # a few merged runs may stand for any number of matches
    outputs, fill = stoppable(written, size=0 if is_few else LARGE)
    by_number: dict[int, One | Many] = {}
    for place, number in enumerate(arrays):
        values, lengths, edges, offsets = outputs[4 * place : 4 * place + 4]
        rows = Pieces(store.event[: store.nodes], values, lengths, edges) if fill is Fill.PIECES else values
        # a closure that must not be empty is so only in an alternative that was not chosen
        unbound = (offsets[1:] == offsets[:-1]) & (shape.variables[number].least > 0)
        by_number[number] = Many(offsets, rows, unbound)
    del outputs[: 4 * len(arrays)]
    by_number |= {number: One(rows) for number, rows in zip(singles, outputs, strict=False)}
    bound = {one.variable: by_number[number] for number, one in enumerate(shape.variables)}
    if shape.empties:
        codes = dict(zip((shape.variables[one].variable for one in told), outputs[len(singles) :], strict=True))
        bound = shape.ways.told(bound, shape.states, codes, shape.empties)
    return Expanded(bound, int(totals[-1]))


def _are_long(totals: Any, shape: Shape, arrays: list[int]) -> bool:
    """Whether closures have many events, in long stretches, none of which is a last event: that has no node."""
    events, stretches = (sum(int(totals[2 * number + more]) for number in arrays) for more in (1, 2))
    are_long = events > MANY and events >= LONG * stretches
    return are_long and all(takes_more(shape.variables[number]) for number in arrays)


def _outputs(totals: Any, arrays: list[int], singles: list[int], told: list[int], fill: Fill) -> list[Any]:
    """Arrays for so many matches: what variables bind, of closures events or pieces; and in which states."""
    outputs: list[Any] = []
    matches = int(totals[0])
    for number in arrays:
        events, stretches = int(totals[2 * number + 1]), int(totals[2 * number + 2])
        pieces = stretches if fill is Fill.PIECES else 0
        # as narrow as the store's: closures are most of what there is to write, and to read again
        outputs += [recycled(pieces or events, np.int32), recycled(pieces, np.int32)]
        outputs += [np.zeros(matches + 1 if fill is Fill.PIECES else 1, np.int64), np.zeros(matches + 1, np.int64)]
    outputs += [recycled(matches) for _ in singles]
    return outputs + [np.full(matches, -1, np.int64) for _ in told]


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
        fill: Fill,
    ) -> None:
        match self._walk(kernel, totals, nodes, outputs, self.most, fill):
            case Needs.SIZE:
                raise self.limits.exceeded("max_match_size")
            case Needs.MATCHES:
                raise self.limits.exceeded("max_matches")
            case Needs.MEMORY:
                raise self.room.exceeded(int(totals[0]), "matches")

    def are_few(self, kernel: Kernel, totals: Any, nodes: tuple[Any, ...], outputs: list[Any]) -> bool:
        """Whether there are but a few matches, all within limits; then they are counted."""
        most = (min(self.most[0], FEW), *self.most[1:-1], False)
        return self._walk(kernel, totals, nodes, outputs, most, Fill.NOTHING) is Needs.NOTHING

    def _walk(
        self,
        kernel: Kernel,
        totals: Any,
        nodes: tuple[Any, ...],
        outputs: list[Any],
        most: tuple[int, ...],
        fill: Fill,
    ) -> Needs:
        at, needs = 0, Needs.ROOM
        while True:
            stack = self.begins, self.lengths, self.branches
            at, needs = kernel(int(fill), at, totals, *stack, *most, *nodes, *outputs)
            if needs != Needs.ROOM:
                return Needs(needs)
            self.begins, self.lengths = longer(self.begins), longer(self.lengths)
            self.branches = taller(self.branches)
