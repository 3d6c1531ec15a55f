"""Assignments to registers as source: what becomes of a run's columns along a move."""

from __future__ import annotations

from ouzel.logical.expressions import Aggregate, Attribute, Length, Moment
from ouzel.logical.values import Kind, ValueType
from ouzel.physical.automaton.registers import Slot, Slots, folded
from ouzel.physical.automaton.states import (
    Assignment,
    Elements,
    EventNumber,
    Move,
    Presence,
    Register,
    is_event,
    key_of,
)
from ouzel.physical.compiled.calls import Collect
from ouzel.physical.compiled.emit import Emitter
from ouzel.physical.compiled.fill import is_written
from ouzel.physical.compiled.operands import Source, Written
from ouzel.physical.compiled.operators import carried_by
from ouzel.physical.compiled.sources import is_register


def assign(slots: Slots, move: Move, run: str, emitter: Emitter) -> None:
    """Write what becomes of registers along a move with event x, of those that matter behind it."""
    live = slots.automaton.live[move.target]
    done: set[Slot] = set()
    for assignment in move.assigns:
        register = assignment.register
        if register not in live:
            continue
        match register.of:
            case Presence():
                emitter.line(f"{slots.place(run, key_of(register.of))} = 1")
            case Elements():
                # the event is bound next
                emitter.line(f"{slots.place(run, ('elements', register.of.variable))} = nodes")
            case Length():
                count = slots.place(run, ("length", register.of.variable))
                emitter.line(f"{count} = min({count} + 1, {register.most})" if register.most else f"{count} += 1")
            case Aggregate() as node if (of := folded(node)) not in done:
                done.add(of)
                _fold(slots, of, run, emitter)
            case EventNumber():
                emitter.line(f"{slots.place(run, key_of(register.of))} = base + x")
            case Attribute() | Moment() if is_stored(assignment):
                _store(slots, register, run, emitter)


def _store(slots: Slots, register: Register, run: str, emitter: Emitter) -> None:
    """Keep the values of event x that some condition asks for: in the columns that it is asked for in."""
    for slot in [slot for slot, owners in slots.owners.items() if register in owners and slot[0] == "value"]:
        column, value_type = slot[2:]
        assert isinstance(column, Source)
        assert isinstance(value_type, ValueType)
        value = emitter.cell(column, value_type, "x", kept=True)
        emitter.line(f"{slots.place(run, slot)} = {value.text}")
        if value.null is not None:
            emitter.line(f"{slots.place(run, ('null', *slot[1:]))} = {value.null}")


def _fold(slots: Slots, of: Slot, run: str, emitter: Emitter) -> None:
    """Add the value of event x to all aggregates of one column."""
    _variable, column, value_type = of
    assert isinstance(column, str)
    assert isinstance(value_type, ValueType)
    place = emitter.operands.column(Written(column) if is_written(value_type) else column, value_type)
    count = slots.place(run, ("count", *of))
    with emitter.block(f"if not n{place}[x]:"):
        value = emitter.assigned(f"c{place}[x]", None, Kind.INTEGER).text
        for function in ("sum", "min", "max"):
            if (function, *of) in slots.owners:
                _extend(slots, function, of, run, value, emitter)
        if ("set", *of) in slots.owners:
            held, added = slots.place(run, ("set", *of)), emitter.fresh()
            collect = emitter.operands.call(Collect(value_type))
            emitter.line(f"{held}, {added} = {collect}({held}, {value})")
            emitter.line(f"{slots.place(run, ('distinct', *of))} += {added}")
        if ("squares", *of) in slots.owners:
            # Welford's updates, as the reference has them
            mean, squares = (slots.place(run, (name, *of)) for name in ("mean", "squares"))
            as_float = f"{'unsigned_float' if value_type.kind is Kind.UNSIGNED else 'float'}({value})"
            delta = emitter.assigned(f"{as_float} - {mean}", None, Kind.FLOAT).text
            emitter.line(f"{mean} = {mean} + {delta} / ({count} + 1)")
            emitter.line(f"{squares} = {squares} + {delta} * ({as_float} - {mean})")
        # where only whether there was a value is needed, runs that counted differently may be merged
        readers = (one.of.function for one in slots.owners["count", *of] if isinstance(one.of, Aggregate))
        exact = any(function in ("count", "avg", "stddev") for function in readers)
        emitter.line(f"{count} += 1" if exact else f"{count} = 1")


def _extend(slots: Slots, function: str, of: Slot, run: str, value: str, emitter: Emitter) -> None:
    value_type = of[-1]
    assert isinstance(value_type, ValueType)
    slot, count = (function, *of), slots.place(run, ("count", *of))
    name, real = slots.place(run, slot), slot in slots.floats
    if function == "sum" and not real:
        carry = slots.place(run, ("carry", *of))
        emitter.line(f"{name}, {carry} = {carried_by(value_type)}({name}, {value}, {carry})")
    elif function == "sum":
        # the first value as it is: 0.0 + -0.0 would lose its sign
        emitter.line(f"{name} = {name} + {value} if {count} > 0 else {value}")
    else:
        sign = "<" if function == "min" else ">"
        none = f"{count} == 0 or {name} != {name}" if real else f"{count} == 0"
        with emitter.block(f"if {none} or {emitter.precedes(value, sign, name, value_type)}:"):
            emitter.line(f"{name} = {value}")


def is_stored(assignment: Assignment) -> bool:
    """Whether a value of the event is stored as it is, in the columns that conditions ask for it in."""
    of, value = assignment.register.of, assignment.value
    is_computed = isinstance(of, Attribute) and is_register(of)
    return isinstance(value, Attribute | Moment) and is_event(value) and not is_computed
