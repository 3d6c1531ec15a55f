"""What a run remembers: the vector V of SASE+ 5.2.1, with only the values that some formula still needs.

A run is a row of two arrays, `ri` for integers and `rf` for floats.  The first columns of `ri` are the same for
all queries; the others are allotted here as formulas ask for them.  Values that no formula at a state or after it
reads (the masks M of SASE+ 5.2.2) are reset when the state is entered, so that runs of one future have equal rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from ouzel.language.tree import COUNT_DISTINCT
from ouzel.logical.expressions import Aggregate, Attribute, Element, Extent, Length, Moment
from ouzel.logical.pattern import Component
from ouzel.logical.values import Kind, ValueType
from ouzel.physical.compiled.emit import Emitter, carried_by, plain
from ouzel.physical.compiled.operands import TIME, Operands, Source, Written
from ouzel.physical.compiled.value import Value
from ouzel.physical.contract import UnsuitableError

# START is the clock of the latest start among the runs merged into this one, FIRST the event it started with.
STATE, TAKEN, START, FIRST, NODE = range(5)
FIXED = 5

Key = tuple[Hashable, ...]


@dataclass
class Registers:
    """Allots registers, and writes how they begin and how they change when a component binds an event."""

    operands: Operands
    components: dict[str, Component]
    optional: frozenset[str]
    live: Mapping[int, set[Key]] | None = None
    integers: list[Key] = field(default_factory=list)
    floats: list[Key] = field(default_factory=list)
    reads: dict[int, set[Key]] = field(default_factory=dict)

    def slot(self, run: str, *key: Hashable, real: bool = False) -> str:
        """The place of a register in a run."""
        known = self.floats if real else self.integers
        if key not in known:
            known.append(key)
        return f"rf[{run}, {known.index(key)}]" if real else f"ri[{run}, {FIXED + known.index(key)}]"

    def read(self, state: int, run: str, *key: Hashable, real: bool = False) -> str:
        """The same, noting that a formula reads it while a run is at a state."""
        self.reads.setdefault(state, set()).add(key)
        return self.slot(run, *key, real=real)

    def is_live(self, state: int, key: Key) -> bool:
        """Whether a formula at a state or after it reads a register; all are until that is known."""
        return self.live is None or key in self.live.get(state, ())

    def initial(self, run: str, *, dead_at: int | None = None) -> list[str]:
        """Assignments of first values: nothing bound, nothing counted; only to what is dead at a state."""
        values = [(self.slot(run, *key), 1 if key[0] == "null" else 0, key) for key in self.integers]
        values += [(self.slot(run, *key, real=True), 0, key) for key in self.floats]
        return [f"{name} = {n}" for name, n, key in values if dead_at is None or not self.is_live(dead_at, key)]

    # ---- how they change ---------------------------------------------------------------------------------

    def update(self, component: Component, state: int, run: str, emitter: Emitter, *, first: bool) -> None:
        """Write what changes in a run when the component binds event x."""
        variable = component.variable
        own = [key for key in (*self.integers, *self.floats) if len(key) > 1 and key[1] == variable]
        own = [key for key in own if self.is_live(state, key)]
        for key in own:
            match key:
                case ("bound", _) if first:
                    emitter.line(f"{self.slot(run, *key)} = 1")
                case ("length", _):
                    emitter.line(f"{self.slot(run, *key)} += 1")
                case ("value", _, which, column, value_type) if first or which == "last":
                    assert isinstance(column, Source)
                    assert isinstance(value_type, ValueType)
                    value = emitter.cell(column, value_type, "x", kept=True)
                    real = value_type.kind is Kind.FLOAT
                    emitter.line(f"{self.slot(run, *key, real=real)} = {value.text}")
                    if value.null is not None:
                        emitter.line(f"{self.slot(run, 'null', *key[1:])} = {value.null}")
                case ("count", _, column, value_type):
                    assert isinstance(column, str)
                    assert isinstance(value_type, ValueType)
                    self._aggregate(variable, column, value_type, run, emitter)

    def _aggregate(self, variable: str, column: str, value_type: ValueType, run: str, emitter: Emitter) -> None:
        of = (variable, column, value_type)
        place = self.operands.column(column, value_type)
        count = self.slot(run, "count", *of)
        emitter.line(f"if not n{place}[x]:")
        emitter.depth += 1
        value = emitter.assigned(f"c{place}[x]", None, Kind.INTEGER).text
        real = value_type.kind is Kind.FLOAT
        for function in ("sum", "min", "max"):
            if (function, *of) in (self.floats if real else self.integers):
                name = self.slot(run, function, *of, real=real)
                if function == "sum" and not real:
                    carry = self.slot(run, "carry", *of)
                    emitter.line(f"{name}, {carry} = {carried_by(value_type)}({name}, {value}, {carry})")
                elif function == "sum":
                    # the first value as it is: 0.0 + -0.0 would lose its sign
                    emitter.line(f"{name} = {name} + {value} if {count} > 0 else {value}")
                else:
                    sign = "<" if function == "min" else ">"
                    none = f"{count} == 0 or {name} != {name}" if real else f"{count} == 0"
                    emitter.line(f"if {none} or {emitter.precedes(value, sign, name, value_type)}:")
                    emitter.line(f"    {name} = {value}")
        if ("squares", *of) in self.floats:
            # Welford's updates, as the reference has them
            mean, squares = (self.slot(run, name, *of, real=True) for name in ("mean", "squares"))
            as_float = f"{'unsigned_float' if value_type.kind is Kind.UNSIGNED else 'float'}({value})"
            delta = emitter.assigned(f"{as_float} - {mean}", None, Kind.FLOAT).text
            emitter.line(f"{mean} = {mean} + {delta} / ({count} + 1)")
            emitter.line(f"{squares} = {squares} + {delta} * ({as_float} - {mean})")
        counted = f"{count} += 1"
        if not self.counts(of):
            # only whether there was a value is needed: runs that counted differently may be merged
            counted = f"{count} = 1"
        emitter.line(counted)
        emitter.depth -= 1

    def counts(self, of: Key) -> bool:
        """Whether the number of values matters, and not only whether there are any."""
        return ("counted", *of) in {key for keys in self.reads.values() for key in keys}


@dataclass(frozen=True)
class RunRows:
    """Where a formula finds values: in the registers of run `run`, or in event x, which a component is binding."""

    registers: Registers
    run: str
    state: int  # the state that the run is at; -1: it is only starting
    binding: str | None  # the variable of the component that binds x
    first: bool = True  # whether x is its first event

    def cell(self, node: Attribute | Moment, column: Source, value_type: ValueType, emitter: Emitter) -> Value:
        """The value in a column of the event that a reference means."""
        which = self._which(node)
        if which is None:
            return emitter.cell(column, value_type, "x")
        key = (node.variable, which, column, value_type)
        read = self.registers.read(self.state, self.run, "value", *key, real=value_type.kind is Kind.FLOAT)
        if column == TIME:
            return Value(read, None, Kind.INTEGER)
        null = self.registers.read(self.state, self.run, "null", *key)
        null = emitter.kept_null(column, value_type, null)
        kind = plain(value_type.kind)
        return Value(f"({read} != 0)" if kind is Kind.BOOLEAN else read, null, kind)

    def _which(self, node: Attribute | Moment) -> str | None:
        """The first or last event of a variable; None for x."""
        own = node.variable == self.binding
        which = "first"
        match node.element:
            case Element.SINGLE:
                pass
            case Element.FIRST:
                own = own and self.first
            case Element.CURRENT if own:
                pass
            case Element.PREVIOUS if own:
                which, own = "last", False
            case Element.LAST:
                which, own = "last", False
            case _:
                raise UnsuitableError(
                    f"it holds for every element of '{node.variable}' when another component begins"
                )
        if own:
            return None
        return which if self.registers.components[node.variable].is_array else "first"

    def absent(self, node: Attribute | Moment) -> str | None:
        """A test that the event is not there, so that a condition on it is not applied; None if it must be."""
        if node.variable not in self.registers.optional or self._which(node) is None:
            return None
        return f"{self.registers.read(self.state, self.run, 'bound', node.variable)} == 0"

    def aggregate(self, node: Aggregate | Length, emitter: Emitter) -> Value:
        """The value of an aggregate, from running registers."""
        registers, variable = self.registers, node.variable
        own = variable == self.binding
        if isinstance(node, Length) or node.column is None:
            if own and self.first and isinstance(node, Aggregate) and node.extent is Extent.SO_FAR:
                return Value("0", None, Kind.INTEGER)
            return Value(registers.read(self.state, self.run, "length", variable), None, Kind.INTEGER)
        if node.function == COUNT_DISTINCT:
            raise UnsuitableError(f"{node.function} needs all values, and a run keeps totals only")
        column, value_type = node.column, _column_type(node)
        if node.function in ("first", "last"):
            source: Source = Written(column) if value_type.kind is Kind.OTHER else column
            key = (variable, node.function, source, value_type)
            read = registers.read(self.state, self.run, "value", *key, real=value_type.kind is Kind.FLOAT)
            null = registers.read(self.state, self.run, "null", *key)
            null = emitter.assigned(f"{null} != 0", None, Kind.BOOLEAN).text
            kind = plain(value_type.kind)
            return emitter.assigned(f"{read} != 0" if kind is Kind.BOOLEAN else read, null, kind)
        of = (variable, column, value_type)
        count = registers.read(self.state, self.run, "count", *of)
        if node.function in ("count", "avg", "stddev"):
            registers.reads[self.state].add(("counted", *of))
        if node.function == "count":
            return Value(count, None, Kind.INTEGER)
        empty = emitter.assigned(f"{count} == 0", None, Kind.BOOLEAN).text
        return self._running(node, of, count, empty, emitter)

    def _running(self, node: Aggregate, of: Key, count: str, empty: str, emitter: Emitter) -> Value:
        registers, real = self.registers, _column_type(node).kind is Kind.FLOAT
        if node.function == "stddev":
            registers.read(self.state, self.run, "mean", *of, real=True)
            squares = registers.read(self.state, self.run, "squares", *of, real=True)
            return emitter.deviation(squares, count)
        function = "sum" if node.function == "avg" else node.function
        text = registers.read(self.state, self.run, function, *of, real=real)
        if real:
            if node.function == "avg":
                text = f"{text} / max({count}, 1)"
            return emitter.assigned(text, empty, Kind.FLOAT)
        if function != "sum":
            return Value(text, empty, Kind.INTEGER)
        carry = registers.read(self.state, self.run, "carry", *of)
        if node.function == "avg":
            return emitter.assigned(f"carried_float({text}, {carry}) / max({count}, 1)", empty, Kind.FLOAT)
        null = emitter.assigned(f"{empty} or {carry} != 0", None, Kind.BOOLEAN).text
        return Value(text, null, Kind.INTEGER)


def _column_type(node: Aggregate) -> ValueType:
    assert node.input_type is not None
    return node.input_type
