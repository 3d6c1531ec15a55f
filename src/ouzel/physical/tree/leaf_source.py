"""Kernels of closures, which take one event after the other, and of alternatives (ZStream 4.4.4)."""

from __future__ import annotations

from collections.abc import Sequence

from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.physical.compiled.windows import oldest
from ouzel.physical.stoppable import SEEN
from ouzel.physical.tree.columns import own_columns
from ouzel.physical.tree.nodes import Leaf, Union, variables
from ouzel.physical.tree.record_writer import FULL, GAPS, MADE, UNLINKED, RecordWriter
from ouzel.physical.tree.rows import arrays_in


def union(writer: RecordWriter, node: Union) -> None:
    """Merge the records of all children by their ends."""
    count = len(node.parts)
    writer.parameters += [f"c{k}_count" for k in range(count)]
    writer.write(f"found = marks[{MADE}]", "full = False")
    for k in range(count):
        writer.line(f"at{k} = marks[{GAPS + k}]")
    with writer.block("while not full:"):
        writer.write("side = -1", "until = 0")
        for k in range(count):
            last = writer.parameter(f"c{k}_last")
            with writer.block(f"if at{k} < c{k}_count and (side < 0 or ends[{last}[at{k}]] < until):"):
                writer.write(f"side = {k}", f"until = ends[{last}[at{k}]]")
        for k, part in enumerate(node.parts):
            with writer.block(f"{'if' if k == 0 else 'elif'} side == {k}:"):
                writer.ends_of(f"c{k}", f"at{k}")
                writer.load(f"c{k}", f"at{k}", part)
                for component in node.components:
                    if component.variable not in variables(part):
                        writer.write(*(f"{name} = -1" for name in own_columns(component)))
                with writer.scene():
                    writer.go_on_if_all(node.conjuncts)
                    writer.emit(f"c{k}f", f"c{k}l")
                writer.write("if not full:", f"    at{k} += 1")
        with writer.block("else:"):
            writer.line("break")
    for k in range(count):
        writer.line(f"marks[{GAPS + k}] = at{k}")
    writer.write(f"marks[{MADE}] = found", f"marks[{FULL}] = full", "return found")


def chain(writer: RecordWriter, leaf: Leaf) -> None:
    """All choices of events that a closure can take; s has them all, o those that are complete."""
    component = leaf.component
    n = component.position
    writer.parameters += ["l_count", "l_last", "s_room"]
    event = writer.parameter(f"s{n}_event")
    writer.parameter(f"s{n}_before")
    first, length = writer.parameter("s_first"), writer.parameter("s_length")
    writer.resume("l", "made")
    if writer.keyed:
        heads, previous = writer.parameter("s_heads"), writer.parameter("s_previous")
        with writer.block(f"if marks[{UNLINKED}]:"), writer.block("for j in range(made):"):
            writer.write(f"{previous}[j] = {heads}[parts[{first}[j]]]", f"{heads}[parts[{first}[j]]] = j")
    with writer.block("while l < l_count:"):
        with writer.block(SEEN):
            writer.line("break")
        writer.write("x = l_last[l]", f"oldest = {oldest('clocks[x]')}", "had, before_ = found, made")
        # the closure that is empty comes first
        writer.write("j = -1", "nothing = True")
        with writer.block("while (nothing or j >= 0) and not full:"):
            writer.line("go = nothing")
            with writer.block("if not nothing:"):
                with writer.block(f"if clocks[{event}[j]] <= oldest:"):
                    writer.line("break")
                most = "" if component.most is None else f" and {length}[j] < {component.most}"
                writer.line(f"go = ends[{event}[j]] < starts[x] and start_clocks[{first}[j]] > oldest{most}")
            with writer.block("if go and start_clocks[x] > oldest:"):
                _longer(writer, leaf)
            with writer.block("if nothing:"):
                newest = "s_heads[parts[x]]" if writer.keyed else "before_ - 1"
                writer.write("nothing = False", f"j = {newest}")
            with writer.block("else:"):
                writer.line("j = s_previous[j]" if writer.keyed else "j -= 1")
        with writer.block("if full:"):
            writer.write("found = had", "made = before_", "break")
        if writer.keyed:
            with writer.block("for j in range(before_, made):"):
                writer.write("s_previous[j] = s_heads[parts[x]]", "s_heads[parts[x]] = j")
        writer.line("l += 1")
    writer.pause("l", "made")


def _longer(writer: RecordWriter, leaf: Leaf) -> None:
    """Add an event to a choice, unless conditions forbid it."""
    component = leaf.component
    n = component.position
    with writer.block("if made >= s_room:"):
        writer.no_room()
    with writer.block("else:"):
        writer.write(
            f"s{n}_event[made] = x", f"s{n}_before[made] = j", "s_first[made] = x if j < 0 else s_first[j]"
        )
        writer.write("s_length[made] = 1 if j < 0 else s_length[j] + 1", f"x{n}, k{n} = made, s_length[made]")
        proceed = [one for one in leaf.conjuncts if one.place is Place.PROCEED]
        begin = [one for one in leaf.conjuncts if one.place is Place.BEGIN]
        take = [one for one in leaf.conjuncts if one.place is Place.TAKE]
        writer.line("ok = True")
        with writer.block("if j < 0:"):
            _unless(writer, begin, component.variable)
        _unless(writer, take, component.variable)
        with writer.block("if ok:"):
            writer.line("made += 1")
            with writer.block(f"if k{n} >= {component.least}:"):
                writer.go_on_if_all(proceed)
                writer.emit("s_first[made - 1]", "x")
                writer.filled.discard(n)


def _unless(writer: RecordWriter, conjuncts: Sequence[Conjunct], taken: str) -> None:
    """It is not `ok` if a condition does not hold."""
    writer.line("pass")
    for one in conjuncts:
        for component in arrays_in(one, writer.known):
            writer.elements(component)
        writer.line(f"ok = ok and ({writer.rows.holds(one, writer, taken=taken)})")
        writer.filled.clear()
