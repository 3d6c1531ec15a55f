"""Stage 2, register automata, the whole of it: a specification as written and a schema in, a bound query out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ouzel.errors import QueryError, Span, did_you_mean, listed
from ouzel.language import automaton_tree as written_tree
from ouzel.language import tree
from ouzel.language.tree import Strategy
from ouzel.logical.algebra.streams import StreamAttribute
from ouzel.logical.automata.bind_arc import ArcBinder
from ouzel.logical.automata.registers import EVENT, LIFETIME, Field, RegisterAutomaton
from ouzel.logical.bind_equivalence import EquivalenceBinder
from ouzel.logical.equivalence import EquivalenceTest
from ouzel.logical.pattern import Binds, Component, Step
from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import INFERRED, EventType, Schema
from ouzel.logical.times import BEGINNING, END
from ouzel.logical.values import BOOLEAN, FLOAT, INTEGER, STRING, ValueType, to_arrow
from ouzel.logical.window import Window, bind_window

_TYPES = {"integer": INTEGER, "float": FLOAT, "string": STRING, "boolean": BOOLEAN}
# What a first value tells of a field; True is an integer to Python, so the order matters.
_BY_VALUE: tuple[tuple[type, ValueType], ...] = ((bool, BOOLEAN), (int, INTEGER), (float, FLOAT), (str, STRING))
_INTEGERS = range(-(2**63), 2**63)


def bind_automaton(
    written: written_tree.Query, schema: Schema, parameters: Mapping[str, Any] | None, name: str
) -> BoundQuery:
    """Bind one automaton to a schema; `parameters` None stands for values that are not known yet."""
    automaton = written.automaton
    event = Component(EVENT, _event_types(automaton, schema), 0, Binds.ONE)
    register = tuple(_field(one, schema) for one in automaton.register)
    binder = ArcBinder(schema, event, register, parameters, name)
    arcs = tuple(binder.bind(arc) for arc in automaton.arcs)
    partition = _partition(automaton, schema, event)
    return BoundQuery(
        name=name,
        source=written.source,
        schema=schema,
        pattern=Step(event),
        components=(event,),
        # a computation consumes every moment of its partition
        strategy=Strategy.PARTITION_CONTIGUITY if partition else Strategy.STRICT_CONTIGUITY,
        equivalences=partition,
        conjuncts=(),
        window=_window(automaton, schema, parameters),
        output=(),
        into=written.into.text if written.into else None,
        non_overlap=False,
        automaton=RegisterAutomaton(
            start=automaton.start,
            final=_final(automaton),
            final_at_end=_final_at_end(automaton),
            register=register,
            arcs=arcs,
            types=event.type_names if automaton.events else None,
            named=automaton.states,
        ),
    )


def _final(automaton: written_tree.Automaton) -> dict[str, int]:
    """From which time on states are final: always, or from the first life of an arc that says so."""
    return _since(automaton, lambda since, _until: since)


def _final_at_end(automaton: written_tree.Automaton) -> dict[str, int]:
    """The same for windows that end: where the first life is for no time, those that end then are before it."""
    return _since(automaton, lambda since, until: since + (since == until))


def _since(automaton: written_tree.Automaton, of: Callable[[int, int], int]) -> dict[str, int]:
    found = dict.fromkeys(automaton.final, BEGINNING)
    for arc in (one for one in automaton.arcs if one.final and one.lives):
        lives = ((BEGINNING if a is None else a, END if b is None else b) for a, b in arc.lives)
        found[arc.target] = min(found.get(arc.target, END), of(*min(lives)))
    return found


def _event_types(automaton: written_tree.Automaton, schema: Schema) -> tuple[EventType, ...]:
    """The types that it reads: those it names, or all that come in."""
    if automaton.events:
        types = tuple(_event_type(name, schema) for name in automaton.events)
    elif schema.default is not None:
        types = (schema.default,)
    else:
        types = tuple(one for one in schema.types.values() if not one.composite)
    lasting = next((one for one in types if one.lasts), None)
    if lasting is not None:
        raise QueryError(
            f"automaton: events {f'of type {lasting.name} ' if lasting.name else ''}have a start and an end",
            required="events that happen at one time: a computation consumes moment after moment",
            hint="give the time at which they end: time='end'",
        )
    return types


def _event_type(name: str, schema: Schema) -> EventType:
    found = schema.event_type(name) if name != INFERRED else None
    if found is None:
        raise QueryError(
            f"automaton: unknown event type '{name}' in 'events'",
            required=f"one of {listed(schema.types)}",
            hint=did_you_mean(name, schema.types),
        )
    return found


def _field(written: written_tree.Field, schema: Schema) -> Field:
    name = written.name
    if name == EVENT or name in LIFETIME:
        raise QueryError(
            f"register: a field is called '{name}'",
            required=f"a name that is neither that of the event, {EVENT}, nor of a column: {', '.join(LIFETIME)}",
        )
    if isinstance(written.first, int) and written.first not in _INTEGERS:
        raise QueryError(f"register: {name}: its first value is {written.first}", required="an integer of 64 bits")
    if written.type is not None:
        held = schema.time.type if written.type == "time" else _TYPES[written.type]
    else:
        held = next(one for kind, one in _BY_VALUE if isinstance(written.first, kind))
    arrow = schema.time.arrow if written.type == "time" else to_arrow(held)
    return Field(StreamAttribute(name, held, arrow), written.first)


def _window(
    automaton: written_tree.Automaton, schema: Schema, parameters: Mapping[str, Any] | None
) -> Window | None:
    window = automaton.window
    if window is None:
        return None
    try:
        bound = bind_window(window.within, window.source, schema.time.tick, parameters)
    except QueryError as error:
        raise _of_window(error, window) from None
    assert bound is not None
    return replace(bound, text=f"WITHIN {window.text}")


def _of_window(error: QueryError, window: written_tree.Window) -> QueryError:
    """An error of WITHIN as one of the value that stands there."""
    before = len(window.source) - len(window.text)
    span = Span(max((error.span or Span(0, 0)).start - before, 0), len(window.text))
    required = (error.required or "").removeprefix("WITHIN ")
    return QueryError(f"window: {error.message}", window.text, span, required=required)


def _partition(automaton: written_tree.Automaton, schema: Schema, event: Component) -> tuple[EquivalenceTest, ...]:
    """A partition is what an equivalence test of its column makes: a null is in none."""
    tests = []
    for name in automaton.partition:
        lacking = next((one for one in event.types if one.column(name) is None), None)
        if lacking is not None:
            known = [key for one in event.types for key in one.attributes or ()]
            raise QueryError(
                f"partition: unknown column '{name}'" + (f" of {lacking.name}" if lacking.name else ""),
                required=f"a column of all events: {listed(known)}",
                hint=did_you_mean(name, known),
            )
        whole = Span(0, len(name))
        same = tree.Same(tree.Name(name, whole), None)
        binder = EquivalenceBinder(name, schema, {EVENT: event}, None)
        tests.append(replace(binder.bind(same, whole), text=f"[{name}]"))
    return tuple(tests)
