"""What conditions read: event x, the registers of a run, and what the match store keeps of elements.

As conditions ask for registers, these are allotted the columns that it takes.
"""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.language.tree import COUNT_DISTINCT
from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.expressions import Aggregate, Attribute, Length, Moment
from ouzel.logical.read_functions import inlined
from ouzel.logical.values import Kind, ValueType
from ouzel.physical.automaton.assignments import is_stored
from ouzel.physical.automaton.registers import END, KEY, Slots, folded
from ouzel.physical.automaton.states import (
    Automaton,
    Condition,
    EventNumber,
    Move,
    Register,
    is_event,
    is_every,
    key_of,
)
from ouzel.physical.compiled.emit import Emitter
from ouzel.physical.compiled.operands import TIMES, Operands, Source, Written
from ouzel.physical.compiled.operators import as_float, number_kind
from ouzel.physical.compiled.value import Value

_ZERO = {Kind.FLOAT: "0.0", Kind.BOOLEAN: "False"}


def allotted(automaton: Automaton) -> Slots:
    """The columns that all conditions of an automaton read."""
    slots = Slots(automaton)
    slots.integers += [KEY] if automaton.together else []
    slots.integers += [END] if automaton.lasting else []
    draft = Emitter(operands=Operands())
    if automaton.is_open:
        # always the same columns, whatever moves there are
        for register in automaton.registers:
            _hand_over(register, RunRows(slots, "r"), draft)
    for condition in _conditions(automaton):
        holds(condition, draft, RunRows(slots, "r"))
    for move in automaton.moves:
        computed(move, RunRows(slots, "r"), draft)
    for register in [one for state in automaton.states for one in state.hands_over]:
        _hand_over(register, RunRows(slots, "r"), draft)
    if not automaton.has_paths and not automaton.is_open:
        slots.share()
    return slots


def _hand_over(register: Register, rows: RunRows, draft: Emitter) -> None:
    """Allot what a result reads: the number of an event, or a value that was computed."""
    if isinstance(register.of, EventNumber):
        rows.slots.allot(rows.run, register, *key_of(register.of))
    else:
        assert isinstance(register.of, Attribute)
        draft.value(register.of, rows)


def computed(move: Move, rows: RunRows, emitter: Emitter) -> list[tuple[Register, Value]]:
    """Write the values that registers get along a move with event x: all of the run as it was before."""
    live = rows.slots.automaton.live[move.target]
    found = []
    for one in move.assigns:
        is_computed = isinstance(one.register.of, Attribute) and one.value is not None and not is_stored(one)
        if is_computed and one.register in live:
            assert one.value is not None
            value = emitter.held(inlined(one.value), rows)
            if one.register.type.kind is Kind.FLOAT:
                value = as_float(value)
            if value.null is None:
                found.append((one.register, emitter.assigned(value.text, None, value.kind)))
                continue
            # what is null is the same whatever stands there, so that equal runs are found
            text = emitter.assigned(
                f"{value.text} if not {value.null} else {_ZERO.get(value.kind, 0)}", None, value.kind
            ).text
            found.append((one.register, Value(text, value.null, value.kind)))
    return found


def keep_computed(values: list[tuple[Register, Value]], rows: RunRows, emitter: Emitter) -> None:
    """Write them into the run."""
    for register, value in values:
        for slot in [slot for slot, owners in rows.slots.owners.items() if register in owners]:
            kept = value.text if slot[0] == "value" else value.null or "0"
            emitter.line(f"{rows.slots.place(rows.run, slot)} = {kept}")


def holds(condition: Condition, emitter: Emitter, rows: RunRows) -> str:
    """Write a condition, and tell its flag; one that mentions an event which is not there is not applied."""
    if condition.bit is not None:
        return f"m & {1 << condition.bit}"
    absent = sorted(f"{rows.presence(register)} == 0" for register in condition.present)
    if not condition.every:
        return emitter.holds(condition.conjunct, rows, absent)
    name = emitter.fresh()
    emitter.line(f"{name} = True")
    with emitter.scope():
        for register in condition.every:
            _each(register, condition.conjunct, emitter, rows, name)
        flag = emitter.holds(condition.conjunct, rows, absent)
        with emitter.block(f"if not ({flag}):"):
            emitter.line(f"{name} = False")
    return name


def _each(register: Register, conjunct: Conjunct, emitter: Emitter, rows: RunRows, name: str) -> None:
    """Begin a loop over the elements of a closure, from the last, by where they are in the match store."""
    variable = register.of.variable
    element = rows.element(variable)
    following, number = emitter.fresh(), emitter.fresh()
    emitter.line(f"{following} = {rows.slots.allot(rows.run, register, 'elements', variable)}")
    emitter.line(f"{number} = component[max({following}, 0)]")
    emitter.begin(f"while {name} and {following} >= 0 and component[{following}] == {number}:")
    emitter.line(f"{element} = {following}")
    emitter.line(f"{following} = before[{element}]")
    if variable in conjunct.from_second:
        with emitter.block(f"if {following} < 0 or component[{following}] != {number}:"):
            emitter.line("break")


@dataclass(frozen=True)
class RunRows:
    """Where a condition finds values: in event x, or in the registers of a run."""

    slots: Slots
    run: str

    def cell(self, node: Attribute | Moment, column: Source, value_type: ValueType, emitter: Emitter) -> Value:
        """The value in a column of the event that a reference means."""
        if is_event(node):
            return emitter.cell(column, value_type, "x")
        if is_every(node):
            return self._kept(node.variable, column, value_type, emitter)
        return self._value(self.slots.automaton.by_key[key_of(node)], column, value_type, emitter)

    def _value(self, register: Register, column: Source, value_type: ValueType, emitter: Emitter) -> Value:
        """What a register keeps of a column."""
        of, kind = (key_of(register.of), column, value_type), number_kind(value_type.kind)
        read = self.slots.allot(self.run, register, "value", *of, real=kind is Kind.FLOAT)
        if column in TIMES:
            return Value(read, None, Kind.INTEGER)
        null = self.slots.allot(self.run, register, "null", *of)
        null = emitter.kept_null(column, value_type, null)
        return Value(f"({read} != 0)" if kind is Kind.BOOLEAN else read, null, kind)

    def element(self, variable: str) -> str:
        """The name of an element of a closure, in a loop over them."""
        return f"e{self.slots.number(variable)}"

    def _kept(self, variable: str, column: Source, value_type: ValueType, emitter: Emitter) -> Value:
        """What the match store keeps of an element of a closure."""
        kind, element = number_kind(value_type.kind), self.element(variable)
        of = variable, column, value_type
        read = self.slots.keep("value", *of, real=kind is Kind.FLOAT).format(element)
        null = None
        if column not in TIMES:
            null = emitter.kept_null(column, value_type, self.slots.keep("null", *of).format(element))
        return Value(f"({read} != 0)" if kind is Kind.BOOLEAN else read, null, kind)

    def presence(self, register: Register) -> str:
        """The flag of a variable that need not bind anything."""
        return self.slots.allot(self.run, register, *key_of(register.of))

    def aggregate(self, node: Aggregate | Length, emitter: Emitter) -> Value:
        """The value of an aggregate, from running registers."""
        register = self.slots.automaton.by_key[key_of(node)]
        if isinstance(register.of, Length):
            return Value(self.slots.allot(self.run, register, "length", node.variable), None, Kind.INTEGER)
        assert isinstance(node, Aggregate)
        assert node.column is not None
        assert node.input_type is not None
        if node.function in ("first", "last"):
            source = Written(node.column) if node.input_type.kind is Kind.OTHER else node.column
            return self._value(register, source, node.input_type, emitter)
        return self._running(node, register, emitter)

    def _running(self, node: Aggregate, register: Register, emitter: Emitter) -> Value:
        of, real = folded(node), node.input_type is not None and node.input_type.kind is Kind.FLOAT
        count = self.slots.allot(self.run, register, "count", *of)
        if node.function == "count":
            return Value(count, None, Kind.INTEGER)
        if node.function == COUNT_DISTINCT:
            self.slots.allot(self.run, register, "set", *of)
            return Value(self.slots.allot(self.run, register, "distinct", *of), None, Kind.INTEGER)
        if node.function == "stddev":
            self.slots.allot(self.run, register, "mean", *of, real=True)
            squares = self.slots.allot(self.run, register, "squares", *of, real=True)
            return emitter.deviation(squares, count)
        empty = emitter.assigned(f"{count} == 0", None, Kind.BOOLEAN).text
        function = "sum" if node.function == "avg" else node.function
        text = self.slots.allot(self.run, register, function, *of, real=real)
        if real:
            if node.function == "avg":
                text = f"{text} / max({count}, 1)"
            return emitter.assigned(text, empty, Kind.FLOAT)
        if function != "sum":
            return Value(text, empty, Kind.INTEGER)
        carry = self.slots.allot(self.run, register, "carry", *of)
        if node.function == "avg":
            return emitter.assigned(f"carried_float({text}, {carry}) / max({count}, 1)", empty, Kind.FLOAT)
        null = emitter.assigned(f"{empty} or {carry} != 0", None, Kind.BOOLEAN).text
        return Value(text, null, Kind.INTEGER)


def _conditions(automaton: Automaton) -> list[Condition]:
    """All conditions of an automaton."""
    guards = [move.guard for move in automaton.moves]
    guards += [guard for state in automaton.states for guard in state.stay.unless or ()]
    accepting = [condition for state in automaton.states for condition in state.accepts or ()]
    return [*(condition for guard in guards for condition in guard.conditions), *accepting]
