"""Gaps between records, as source: groups of events (KSEQ, ZStream 4.4.5), what must not be there (NSEQ, 4.4.2).

The events of a gap are linked by partition, each to the one before: p<n>.  As records come in order of their ends,
heads lead to the latest event of each partition that ended before the record.
"""

from __future__ import annotations

from collections.abc import Sequence

from ouzel.logical.pattern import Component
from ouzel.logical.times import BEGINNING
from ouzel.physical.compiled.windows import oldest
from ouzel.physical.stoppable import SEEN
from ouzel.physical.tree.columns import lasts
from ouzel.physical.tree.nodes import Bar, Fill, How, Join, Node, linked_gaps, variables, walk
from ouzel.physical.tree.record_writer import GAPS, RecordWriter
from ouzel.physical.tree.shape import Gap


def gap_marks(writer: RecordWriter, gaps: Sequence[Component]) -> None:
    """Go on in the events of gaps."""
    for place, one in enumerate(gaps):
        writer.line(f"g{one.position} = marks[{GAPS + place}]")


def note_gaps(writer: RecordWriter, gaps: Sequence[Component]) -> None:
    """Note how far it came in them."""
    for place, one in enumerate(gaps):
        writer.line(f"marks[{GAPS + place}] = g{one.position}")


def link_gaps(writer: RecordWriter, gaps: Sequence[Component]) -> None:
    """Find the latest event of each gap that ended before the current record: y<n>."""
    for one in gaps:
        n = one.position
        events, heads = writer.parameter(f"g{n}_events"), writer.parameter(f"g{n}_heads")
        with writer.block(f"while g{n} < len({events}) and ends[{events}[g{n}]] < until:"):
            writer.write(f"{heads}[{writer.key(f'{events}[g{n}]')}] = {events}[g{n}]", f"g{n} += 1")
        writer.line(f"y{n} = {heads}[{writer.key('rf')}]")


# ---- NSEQ ------------------------------------------------------------------------------------------------


def bar_right(writer: RecordWriter, bar: Bar) -> None:
    """The latest event that negates the record on the right (Algorithm 2): when it starts, or none does: bar<n>.

    Of events that last, one that ends earlier may start later.
    """
    if bar.is_left:
        return
    n, p = bar.component.position, writer.parameter(f"p{bar.component.position}")
    is_lasting = lasts(bar.component)
    writer.write(f"bar{n} = {BEGINNING + 1}", f"x{n} = y{n}")
    with writer.block(f"while x{n} >= 0 and clocks[x{n}] > oldest and ends[x{n}] > bar{n}:"), writer.scene():
        with writer.scene():
            writer.begin(f"if ends[x{n}] < since" + (f" and starts[x{n}] > bar{n}:" if is_lasting else ":"))
            writer.go_on_if_all(bar.conjuncts)
            writer.line(f"bar{n} = starts[x{n}]")
            if not is_lasting:
                writer.line("break")
        writer.line(f"x{n} = {p}[x{n}]")


def bar_left(writer: RecordWriter, bar: Bar) -> None:
    """Go on if the first event that negates the record on the left does not end before the one on the right.

    Of each record on the left it is known up to which event it was tried.
    """
    n = bar.component.position
    p, until, tried = (writer.parameter(f"{name}{n}") for name in ("p", "until", "tried"))
    with writer.block(f"if {until}[j] >= since:"):
        writer.line(f"x{n} = y{n}")
        with writer.block(f"while x{n} > {tried}[j]:"):
            with writer.scene():
                writer.begin(f"if starts[x{n}] > ends[ll] and ends[x{n}] < {until}[j]:")
                writer.go_on_if_all(bar.conjuncts)
                writer.line(f"{until}[j] = ends[x{n}]")
            writer.line(f"x{n} = {p}[x{n}]")
        writer.write(f"if y{n} > {tried}[j]:", f"    {tried}[j] = y{n}")
    writer.begin(f"if {until}[j] >= since:")


# ---- KSEQ ------------------------------------------------------------------------------------------------


def group_end(writer: RecordWriter, node: Node, gap: Gap) -> None:
    """Find the last event of a group before what follows it: y<n>."""
    group = gap.group
    assert group is not None
    n = group.position
    if gap.before:
        writer.edge(f"since{n}", gap.before, "starts")
        with writer.block(f"while y{n} >= 0 and ends[y{n}] >= since{n}:"):
            writer.line(f"y{n} = {writer.parameter(f'p{n}')}[y{n}]")
    if _is_steady(node, gap):
        writer.write(f"w{n} = y{n}", f"b{n} = len({writer.parameter(f'e{n}')})")


def _is_steady(node: Node, gap: Gap) -> bool:
    """Whether a group but grows as the record on the left, which it follows, is an earlier one."""
    assert gap.group is not None
    if not isinstance(node, Join) or node.how is not How.SEQUENCE or lasts(gap.group):
        return False
    # of a heap it may follow only a part
    heaps = any(isinstance(one, Join) and one.how is How.CONJUNCTION for one in walk(node.left))
    return set(gap.after) <= variables(node.left) and bool(gap.after) and not heaps


def grouped(writer: RecordWriter, node: Node, gap: Gap, first: str) -> None:
    """Go on with every group that there may be between two records."""
    group = gap.group
    assert group is not None
    n = group.position
    e, p = writer.parameter(f"e{n}"), writer.parameter(f"p{n}")
    if _is_steady(node, gap):
        with writer.block(f"while w{n} >= 0 and ends[w{n}] > ends[ll]:"):
            writer.write(f"b{n} -= 1", f"{e}[b{n}] = w{n}", f"w{n} = {p}[w{n}]")
    else:
        writer.write(f"w{n} = y{n}", f"b{n} = len({e})", f"floor{n}_at = -1")
        if gap.after:
            writer.edge(f"floor{n}", gap.after, "ends")
            goes, counts = f"ends[w{n}] > floor{n}", f"starts[w{n}] > floor{n}"
        else:
            goes, counts = f"clocks[w{n}] > oldest", f"start_clocks[w{n}] > oldest"
        with writer.block(f"while w{n} >= 0 and {goes}:"):
            with writer.scope():
                if lasts(group):
                    writer.begin(f"if {counts}:")
                writer.write(f"b{n} -= 1", f"{e}[b{n}] = w{n}")
            writer.line(f"w{n} = {p}[w{n}]")
        if lasts(group):
            writer.line(f"f{n} = floor{n}_at")
    writer.filled.add(n)
    if group.successive:
        writer.begin(f"for a{n} in range(b{n}, len({e}) - {group.least - 1}):")
        writer.write("if full:", "    break", f"k{n} = {group.least}", f"x{n} = {e}[a{n} + {group.least - 1}]")
        if not gap.before:
            # those that end before were found when they did
            writer.begin(f"if ends[x{n}] == ends[y{n}]:")
    else:
        writer.write(f"a{n} = b{n}", f"k{n} = len({e}) - a{n}", f"x{n} = {e}[len({e}) - 1] if k{n} > 0 else -1")
        is_new = "" if gap.before else f" and ends[x{n}] == ends[y{n}]"
        writer.begin(f"if k{n} >= {group.least}{is_new}:")
    if not gap.after:
        writer.line(f"first{n} = {first}")
        with writer.block(f"for i{n} in range(a{n}, a{n} + k{n}):"):
            writer.write(f"if {writer.opens(f'{e}[i{n}]', f'first{n}')}:", f"    first{n} = {e}[i{n}]")


def fill(writer: RecordWriter, node: Fill) -> None:
    """A group before records, or one that is all there is."""
    writer.parameters += ["l_count"]
    group = node.group.group
    assert group is not None
    gaps = linked_gaps(node)
    writer.resume("l")
    gap_marks(writer, gaps)
    with writer.block("while l < l_count:"):
        with writer.block(SEEN):
            writer.line("break")
        writer.ends_of("l", "l")
        writer.write("until = ends[ll]", f"oldest = {oldest('clocks[ll]')}", "rf = lf")
        writer.load("l", "l", node.child)
        link_gaps(writer, gaps)
        group_end(writer, node, node.group)
        writer.line("before = found")
        with writer.scene():
            grouped(writer, node, node.group, "lf")
            writer.go_on_if_all(node.conjuncts)
            writer.emit(f"first{group.position}", "ll")
        with writer.block("if full:"):
            writer.write("found = before", "break")
        writer.line("l += 1")
    note_gaps(writer, gaps)
    writer.pause("l")
