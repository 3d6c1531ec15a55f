"""What writes the kernels of tree plans: records in and out, links between them, and conditions.

A kernel goes on from `marks`, where it notes how far it came: in the records of its children, in the events of
gaps, and how many records it made.  It stops where there is no room for all records of one more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.expressions import Attribute
from ouzel.logical.pattern import Binds, Component
from ouzel.logical.times import END
from ouzel.physical.compiled.emit import Emitter
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.windows import REACH
from ouzel.physical.tree.columns import ENDS, columns_of, lasts, own_columns
from ouzel.physical.tree.hashing import hashed_in
from ouzel.physical.tree.nodes import Join, Kind, Leaf, Node, Union, variables, walk
from ouzel.physical.tree.rows import RecordRows, arrays_in

LEFT, RIGHT, MADE, FULL, SHEDS, SHED, UNLINKED, GAPS = range(8)
"""What is where in marks: the next records of the children, those made, whether there was no room; whether records
are shed for which there is none, and how many were; whether links are to be made anew; the next events of gaps, or
records of alternatives."""

PLAIN = ("board", "marks", "room", "limit", "eat", "starts", "ends", "start_clocks", "clocks", "parts")


class RecordWriter(Emitter):
    """Writes the kernel of a node."""

    def __init__(self, node: Node, operands: Operands, *, keyed: bool, counts: bool) -> None:
        """Begin with nothing; `keyed` if there are partitions, `counts` if the window counts their events."""
        super().__init__(operands=operands, depth=1)
        self.node = node
        self.keyed, self.counts = keyed, counts
        negative = [bar.component for bar in node.bars] if isinstance(node, Join) else []
        self.known = {component.variable: component for component in (*node.components, *negative)}
        self.hashed = hashed_in(node)
        self.rows = RecordRows(self.known, _loose_in(node))
        self.parameters = [*PLAIN]
        self.filled: set[int] = set()

    def parameter(self, name: str) -> str:
        """A parameter, which it has from now on."""
        if name not in self.parameters:
            self.parameters.append(name)
        return name

    @contextmanager
    def scene(self) -> Iterator[None]:
        """Come back to the current depth, and to the elements that are written already."""
        filled = set(self.filled)
        with self.scope():
            yield
        self.filled = filled

    # ---- records of children and out ---------------------------------------------------------------------

    def load(self, side: str, index: str, node: Node) -> None:
        """Read what a record binds."""
        is_stop = isinstance(node, Leaf) and node.kind is Kind.STOP
        for name in columns_of(node):
            if name not in ENDS:
                local = f"y{name[1:]}" if is_stop else name
                self.line(f"{local} = {self.parameter(f'{side}_{name}')}[{index}]")

    def ends_of(self, side: str, index: str) -> None:
        """Read the first and last event of a record."""
        self.line(f"{side}f = {self.parameter(f'{side}_first')}[{index}]")
        self.line(f"{side}l = {self.parameter(f'{side}_last')}[{index}]")

    def emit(self, first: str, last: str) -> None:
        """Make a record of what is loaded, if there is room."""
        with self.block("if found >= room:"):
            self.no_room()
        with self.block("else:"):
            self.write(
                f"{self.parameter('o_first')}[found] = {first}", f"{self.parameter('o_last')}[found] = {last}"
            )
            for component in self.node.components:
                for name in own_columns(component):
                    self.line(f"{self.parameter(f'o_{name}')}[found] = {name}")
            self.line("found += 1")

    def no_room(self) -> None:
        """Stop until there is room, or shed a record."""
        self.write(f"full = marks[{SHEDS}] == 0", f"marks[{SHED}] += 1")

    def resume(self, *names: str) -> None:
        """Go on from the marks."""
        self.write(REACH, f"found = marks[{MADE}]", "full = False")
        for place, name in enumerate(names):
            self.line(f"{name} = marks[{place}]")

    def pause(self, *names: str) -> None:
        """Note the marks."""
        for place, name in enumerate(names):
            self.line(f"marks[{place}] = {name}")
        self.write(f"marks[{MADE}] = found", f"marks[{FULL}] = full")
        self.line("return found")

    def key(self, event: str) -> str:
        """The partition of an event."""
        return f"parts[{event}]" if self.keyed else "0"

    # ---- links -------------------------------------------------------------------------------------------

    @property
    def _linked(self) -> bool:
        return self.keyed or bool(self.hashed)

    def link(self, side: str, index: str) -> None:
        """Put a record before those of its partition, and of its bucket, that came earlier."""
        if not self._linked:
            return
        heads, previous = self.parameter(f"{side}_heads"), self.parameter(f"{side}_previous")
        with self.scope():
            for expression in self._equal(side):
                n = self.known[expression.variable].position
                self.line(f"x{n} = {self.parameter(f'{side}_x{n}')}[{index}]")
            place = self._bucket(side, f"{self.parameter(f'{side}_first')}[{index}]", heads)
            self.write(f"{previous}[{index}] = {heads}[{place}]", f"{heads}[{place}] = {index}")

    def link_anew(self, side: str, count: str) -> None:
        """Link all records before one, if they have moved since they were."""
        if self._linked:
            with self.block(f"if marks[{UNLINKED}]:"), self.block(f"for again in range({count}):"):
                self.link(side, "again")

    def newest(self, side: str, count: str, other: str) -> None:
        """The latest record of a side that may go with the current one of the other, which is loaded: j."""
        if not self._linked:
            self.line(f"j = {count} - 1")
            return
        self.line("j = -1")
        with self.scope():
            heads = self.parameter(f"{side}_heads")
            place = self._bucket(other, f"{other}f", heads)
            self.line(f"j = {heads}[{place}]")

    def earlier(self, side: str) -> str:
        """The step to the record before it that may go with the same ones."""
        return f"j = {self.parameter(f'{side}_previous')}[j]" if self._linked else "j -= 1"

    def together(self) -> list[Callable[[], str]]:
        """The test that two records are of one partition, where buckets hold those of several."""
        return [lambda: "parts[lf] == parts[rf]"] if self.keyed and self.hashed else []

    def opens(self, one: str, other: str) -> str:
        """A test that a window reaches from an event and not from another: positions are in the order of ends."""
        moments = "ends" if self.counts else "starts"
        return f"{moments}[{one}] < {moments}[{other}]"

    def since(self, node: Node) -> None:
        """The start of the record on the right, which is loaded."""
        if self.counts and not isinstance(node, Leaf) and any(map(lasts, node.components)):
            self.edge("since", [one.variable for one in node.components], "starts")
        else:
            self.line("since = starts[rf]")

    def too_old(self, last: str) -> str:
        """A test that a record, and all that end before it, are outside of the window."""
        old = f"clocks[{last}] <= oldest"
        # the position of an event in another partition tells nothing
        return " and ".join([old, *(test() for test in self.together())]) if self.counts else old

    def _equal(self, side: str) -> list[Attribute]:
        return [pair["lr".index(side)] for pair in self.hashed]

    def _bucket(self, side: str, first: str, heads: str) -> str:
        """Where a record is linked, or what it goes with: by its partition, and the values that must be equal.

        What follows is not done if one of these is null, which equals nothing.
        """
        if not self.hashed:
            return self.key(first)
        values = [self.value(expression, self.rows) for expression in self._equal(side)]
        for null in {value.null for value in values} - {None}:
            self.begin(f"if not {null}:")
        self.line(f"place = {self.key(first)}")
        for value in values:
            self.line(f"place = mixed(place, {value.text})")
        self.line(f"place = place & (len({heads}) - 1)")
        return "place"

    # ---- conditions --------------------------------------------------------------------------------------

    def elements(self, component: Component) -> None:
        """Write the elements of a closure or group in order, at the end of an array."""
        n = component.position
        if n in self.filled:
            return
        self.filled.add(n)
        e = self.parameter(f"e{n}")
        self.write(f"a{n} = len({e})", f"q = x{n}")
        with self.block(f"while len({e}) - a{n} < k{n}:"):
            if component.binds is Binds.GROUP:
                with ExitStack() as stack:
                    if lasts(component):
                        # without an event to start after, the window says which of them count
                        since = (
                            f"(f{n} < 0 and start_clocks[q] > oldest) or (f{n} >= 0 and starts[q] > ends[f{n}])"
                        )
                        stack.enter_context(self.block(f"if {since}:"))
                    self.write(f"a{n} -= 1", f"{e}[a{n}] = q")
                self.line(f"q = {self.parameter(f'p{n}')}[q]")
            else:
                self.write(f"a{n} -= 1", f"{e}[a{n}] = {self.parameter(f's{n}_event')}[q]")
                self.line(f"q = {self.parameter(f's{n}_before')}[q]")

    def go_on_if_all(self, conjuncts: Sequence[Conjunct], taken: str | None = None) -> None:
        """Go on if conditions hold; what they read of closures is written before."""
        simple = [one for one in conjuncts if not arrays_in(one, self.known)]
        others = [one for one in conjuncts if arrays_in(one, self.known)]
        self.go_on_if([partial(self.rows.holds, one, self) for one in simple])
        for one in others:
            for component in arrays_in(one, self.known):
                self.elements(component)
        self.go_on_if([partial(self.rows.holds, one, self, taken=taken) for one in others])

    def edge(self, name: str, names: Sequence[str], which: str) -> None:
        """The end of the last, or the start of the first, of the events that some variables are bound to."""
        sign = ">" if which == "ends" else "<"
        self.write(f"{name} = {-END if which == 'ends' else END}", f"{name}_at = -1")
        for variable in names:
            component = self.known[variable]
            n = component.position
            row, there = f"x{n}", f"x{n} >= 0"
            if component.is_array:
                self.elements(component)
                row, there = (f"e{n}[a{n} + k{n} - 1]" if which == "ends" else f"e{n}[a{n}]"), f"k{n} > 0"
            with self.block(f"if {there} and {which}[{row}] {sign} {name}:"):
                self.write(f"{name} = {which}[{row}]", f"{name}_at = {row}")


def _loose_in(node: Node) -> frozenset[str]:
    """The variables that a record need not bind: those of alternatives."""
    found: set[str] = set()
    for one in walk(node):
        if isinstance(one, Union):
            parts = [variables(part) for part in one.parts]
            found |= frozenset().union(*parts) - frozenset.intersection(*parts)
    return frozenset(found)
