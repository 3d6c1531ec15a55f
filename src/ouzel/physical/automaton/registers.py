"""What a run remembers: the vector V of SASE+ 5.2.1, with only the values that some formula needs.

A run is a row of two arrays, `ri` for integers and `rf` for floats.  The first columns of `ri` are the same for
all queries; the others are allotted here as formulas ask for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ouzel.logical.expressions import Aggregate, Attribute, Element, Extent, Length, Moment
from ouzel.logical.pattern import Component
from ouzel.logical.values import Kind, ValueType
from ouzel.optimizer.plan import UnsuitableError
from ouzel.physical.compiled.emit import Emitter, Value
from ouzel.physical.compiled.operands import Operands

STATE, TAKEN, FIRST, LAST, NODE = range(5)
FIXED = 5


@dataclass
class Registers:
    """Allots registers, and writes how they begin and how they change when a component binds an event."""

    operands: Operands
    components: dict[str, Component]
    optional: frozenset[str]
    integers: list[tuple[str, ...]] = field(default_factory=list)
    floats: list[tuple[str, ...]] = field(default_factory=list)
    columns: dict[tuple[str, str], ValueType] = field(default_factory=dict)

    def integer(self, *key: str) -> int:
        """The place of an integer register."""
        if key not in self.integers:
            self.integers.append(key)
        return FIXED + self.integers.index(key)

    def real(self, *key: str) -> int:
        """The place of a float register."""
        if key not in self.floats:
            self.floats.append(key)
        return self.floats.index(key)

    def initial(self) -> list[int]:
        """The first values of the integer registers: no event, or nothing counted."""
        return [-1 if key[0] == "event" else 0 for key in self.integers]

    def of_column(self, variable: str, column: str, value_type: ValueType) -> None:
        """Note that a running aggregate over a column is needed."""
        self.columns[variable, column] = value_type

    # ---- how they change ---------------------------------------------------------------------------------

    def update(self, component: Component, run: str, emitter: Emitter, *, first: bool) -> None:
        """Write what changes in a run when the component binds event x."""
        variable = component.variable
        for key in list(self.integers):
            if key[0] == "event" and key[1] == variable and (first or key[2] == "last"):
                emitter.line(f"ri[{run}, {self.integer(*key)}] = x")
            if key == ("length", variable):
                emitter.line(f"ri[{run}, {self.integer(*key)}] += 1")
        for (own, column), value_type in self.columns.items():
            if own == variable:
                self._aggregate(component, column, value_type, run, emitter)

    def _aggregate(
        self, component: Component, column: str, value_type: ValueType, run: str, emitter: Emitter
    ) -> None:
        place = self.operands.column(column, value_type)
        count = self.integer("count", component.variable, column)
        emitter.line(f"if not n{place}[x]:")
        emitter.depth += 1
        value = emitter.assigned(f"c{place}[x]", None, Kind.INTEGER).text
        whole = value_type.kind is not Kind.FLOAT
        for function in ("sum", "min", "max"):
            key = (function, component.variable, column)
            if key in self.integers or key in self.floats:
                name = f"ri[{run}, {self.integer(*key)}]" if whole else f"rf[{run}, {self.real(*key)}]"
                if function == "sum" and whole:
                    carry = f"ri[{run}, {self.integer('carry', *key[1:])}]"
                    emitter.line(f"{name}, {carry} = carried({name}, {value}, {carry})")
                elif function == "sum":
                    # the first value as it is: 0.0 + -0.0 would lose its sign
                    emitter.line(f"{name} = {name} + {value} if ri[{run}, {count}] > 0 else {value}")
                else:
                    sign = "<" if function == "min" else ">"
                    emitter.line(f"if ri[{run}, {count}] == 0 or {value} {sign} {name}:")
                    emitter.line(f"    {name} = {value}")
        emitter.line(f"ri[{run}, {count}] += 1")
        emitter.depth -= 1


@dataclass(frozen=True)
class RunRows:
    """Where a formula finds events: those of run `run`, or x for the component that is binding it."""

    registers: Registers
    run: str
    binding: str | None  # the variable of the component that binds x
    first: bool = True  # whether x is its first event

    def row(self, node: Attribute | Moment) -> str:
        """The index of the event that a reference means."""
        own = node.variable == self.binding
        match node.element:
            case Element.SINGLE:
                which = "first"
            case Element.FIRST:
                which = "first"
                own = own and self.first
            case Element.CURRENT if own:
                return "x"
            case Element.PREVIOUS if own:
                return self._event(node.variable, "last")
            case Element.LAST:
                which = "last"
                own = False
            case _:
                raise UnsuitableError(
                    f"it holds for every element of '{node.variable}' when another component begins"
                )
        return "x" if own else self._event(node.variable, which)

    def _event(self, variable: str, which: str) -> str:
        component = self.registers.components[variable]
        kind = which if component.is_array else "first"
        return f"ri[{self.run}, {self.registers.integer('event', variable, kind)}]"

    def may_be_unbound(self, node: Attribute | Moment) -> bool:
        """Whether the event may not be there, so that a condition on it is not applied."""
        return node.variable in self.registers.optional and self.row(node) != "x"

    def aggregate(self, node: Aggregate | Length, emitter: Emitter) -> Value:
        """The value of an aggregate, from running registers."""
        registers, variable = self.registers, node.variable
        own = variable == self.binding
        if isinstance(node, Length) or node.column is None:
            if own and self.first and isinstance(node, Aggregate) and node.extent is Extent.SO_FAR:
                return Value("0", None, Kind.INTEGER)
            return Value(f"ri[{self.run}, {registers.integer('length', variable)}]", None, Kind.INTEGER)
        column, value_type = node.column, _column_type(node)
        if value_type.kind in (Kind.STRING, Kind.BOOLEAN, Kind.OTHER) and node.function not in ("count",):
            raise UnsuitableError(f"{node.function} of {value_type}")
        if node.function in ("first", "last"):
            place = registers.operands.column(column, value_type)
            row = self._event(variable, node.function)
            null = emitter.assigned(f"{row} < 0 or n{place}[{row}]", None, Kind.BOOLEAN).text
            return emitter.assigned(f"c{place}[{row}]", null, _plain(value_type))
        registers.of_column(variable, column, value_type)
        count = f"ri[{self.run}, {registers.integer('count', variable, column)}]"
        if node.function == "count":
            return Value(count, None, Kind.INTEGER)
        empty = emitter.assigned(f"{count} == 0", None, Kind.BOOLEAN).text
        return self._running(node, column, value_type, count, empty, emitter)

    def _running(
        self, node: Aggregate, column: str, value_type: ValueType, count: str, empty: str, emitter: Emitter
    ) -> Value:
        registers, variable = self.registers, node.variable
        function = "sum" if node.function == "avg" else node.function
        if value_type.kind is Kind.FLOAT:
            text = f"rf[{self.run}, {registers.real(function, variable, column)}]"
            if node.function == "avg":
                text = f"{text} / max({count}, 1)"
            return emitter.assigned(text, empty, Kind.FLOAT)
        text = f"ri[{self.run}, {registers.integer(function, variable, column)}]"
        if function != "sum":
            return Value(text, empty, Kind.INTEGER)
        carry = f"ri[{self.run}, {registers.integer('carry', variable, column)}]"
        if node.function == "avg":
            total = f"(float({text}) + 18446744073709551616.0 * {carry})"
            return emitter.assigned(f"{total} / max({count}, 1)", empty, Kind.FLOAT)
        null = emitter.assigned(f"{empty} or {carry} != 0", None, Kind.BOOLEAN).text
        return Value(text, null, Kind.INTEGER)


def _column_type(node: Aggregate) -> ValueType:
    assert node.input_type is not None
    return node.input_type


def _plain(value_type: ValueType) -> Kind:
    return Kind.FLOAT if value_type.kind is Kind.FLOAT else Kind.INTEGER
