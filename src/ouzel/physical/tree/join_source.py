"""Kernels of joins: SEQ (ZStream 4.4.1) and CON (4.4.3), with what may or must not lie between two records."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ouzel.logical.pattern import Binds, Component
from ouzel.physical.compiled.windows import oldest
from ouzel.physical.stoppable import SEEN
from ouzel.physical.tree.gap_source import bar_left, bar_right, gap_marks, group_end, grouped, link_gaps, note_gaps
from ouzel.physical.tree.nodes import Join, Kind, Leaf
from ouzel.physical.tree.record_writer import RecordWriter


def sequence(writer: RecordWriter, node: Join) -> None:
    """Algorithm 1: records on the right in order, for each those on the left that end before it."""
    writer.parameters += ["l_count", "r_count"]
    writer.resume("l", "r")
    writer.link_anew("l", "l")
    gap_marks(writer, node.gaps)
    with writer.block("while r < r_count:"):
        with writer.block(SEEN):
            writer.line("break")
        writer.ends_of("r", "r")
        with writer.block("if start_clocks[rf] <= eat:"):
            writer.write("r += 1", "continue")
        writer.write("until = ends[rl]", f"oldest = {oldest('clocks[rl]')}")
        writer.load("r", "r", node.right)
        writer.since(node.right)
        with writer.block(f"while l < l_count and ends[{writer.parameter('l_last')}[l]] < until:"):
            writer.link("l", "l")
            writer.line("l += 1")
        link_gaps(writer, node.gaps)
        for gap in node.groups:
            group_end(writer, node, gap)
        for bar in node.bars:
            bar_right(writer, bar)
        writer.line("before = found")
        writer.newest("l", "l", "r")
        with writer.block("while j >= 0 and not full:"):
            writer.ends_of("l", "j")
            # what comes before the latest event that must not lie between is out, too (NSEQ, 4.4.2)
            barred = [f"ends[ll] < bar{bar.component.position}" for bar in node.bars if not bar.is_left]
            with writer.block(f"if {' or '.join([*barred, writer.too_old('ll')])}:"):
                writer.line("break")
            with writer.block("if ends[ll] < since and start_clocks[lf] > oldest:"), writer.scene():
                writer.load("l", "j", node.left)
                writer.go_on_if(writer.together())
                for bar in node.bars:
                    if bar.is_left:
                        bar_left(writer, bar)
                _pair(writer, node, "lf", "rl")
            writer.line(writer.earlier("l"))
        with writer.block("if full:"):
            writer.write("found = before", "break")
        writer.line("r += 1")
    note_gaps(writer, node.gaps)
    writer.pause("l", "r")


def conjunction(writer: RecordWriter, node: Join) -> None:
    """Algorithm 3: the record that ends first, of either side, with all earlier ones of the other."""
    writer.parameters += ["l_count", "r_count"]
    writer.resume("l", "r")
    writer.link_anew("l", "l")
    writer.link_anew("r", "r")
    left_first = "l < l_count and (r >= r_count or ends[l_last[l]] <= ends[r_last[r]])"
    with writer.block("while l < l_count or r < r_count:"):
        with writer.block(SEEN):
            writer.line("break")
        writer.line("before = found")
        with writer.block(f"if {left_first}:"):
            _side(writer, node, "l", "r")
        with writer.block("else:"):
            _side(writer, node, "r", "l")
    writer.pause("l", "r")


def _side(writer: RecordWriter, node: Join, own: str, other: str) -> None:
    nodes = {"l": node.left, "r": node.right}
    writer.ends_of(own, own)
    writer.load(own, own, nodes[own])
    writer.line(f"oldest = {oldest(f'clocks[{own}l]')}")
    writer.newest(other, other, own)
    with writer.block("while j >= 0 and not full:"):
        writer.ends_of(other, "j")
        with writer.block(f"if {writer.too_old(f'{other}l')}:"):
            writer.line("break")
        with writer.block(f"if start_clocks[{other}f] > oldest:"), writer.scene():
            writer.load(other, "j", nodes[other])
            writer.line(f"first = rf if {writer.opens('rf', 'lf')} else lf")
            writer.go_on_if([*writer.together(), *_distinct(writer, node)])
            _pair(writer, node, "first", f"{own}l")
        writer.line(writer.earlier(other))
    with writer.block("if full:"):
        writer.write("found = before", "break")
    writer.link(own, own)
    writer.line(f"{own} += 1")


def _distinct(writer: RecordWriter, node: Join) -> list[Callable[[], str]]:
    """The tests that no event is bound on both sides."""
    if isinstance(node.right, Leaf) and node.right.kind is Kind.STOP:
        return []  # a group takes events that others have, too
    return [
        partial(_differ, writer, one, other)
        for one in node.left.components
        for other in node.right.components
        if Binds.GROUP not in (one.binds, other.binds) and one.type_names & other.type_names
    ]


def _differ(writer: RecordWriter, one: Component, other: Component) -> str:
    if not one.is_array and not other.is_array:
        return f"x{one.position} != x{other.position} or x{one.position} < 0"
    name = writer.fresh()
    writer.line(f"{name} = True")
    for component in (one, other):
        if component.is_array:
            writer.elements(component)
    with writer.scope():
        events = []
        for component in (one, other):
            n = component.position
            if component.is_array:
                writer.begin(f"for i{n} in range(a{n}, a{n} + k{n}):")
                events.append(f"e{n}[i{n}]")
            else:
                events.append(f"x{n}")
        writer.write(f"if {events[0]} == {events[1]}:", f"    {name} = False")
    return name


def _pair(writer: RecordWriter, node: Join, first: str, last: str) -> None:
    """What is made of two records that may be joined."""
    groups = {gap.group.variable for gap in node.groups if gap.group}
    early = [one for one in node.conjuncts if not groups & one.variables]
    writer.go_on_if_all(early)
    for gap in node.groups:
        grouped(writer, node, gap, first)
        first = f"first{gap.group.position}" if not gap.after and gap.group else first
    writer.go_on_if_all([one for one in node.conjuncts if one not in early])
    writer.emit(first, last)
