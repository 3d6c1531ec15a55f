"""Stage 2, register automata: fences and transfers over the event, `e.price`, and fields of the register, `r1`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn

from ouzel.errors import QueryError, did_you_mean
from ouzel.language import automaton_tree as written_tree
from ouzel.language import tree
from ouzel.language.algebra_tree import Formula
from ouzel.language.durations import NANOSECONDS
from ouzel.language.tree import Index
from ouzel.logical.automata.registers import EVENT, Arc, Consumes, Field
from ouzel.logical.bind_expression import ExpressionBinder
from ouzel.logical.bind_time import TIME_FUNCTIONS
from ouzel.logical.coercion import as_number, to_float, to_unit, unify
from ouzel.logical.conjuncts import Conjunct, Place, place_conjuncts
from ouzel.logical.expressions import Apply, Constant, Expression
from ouzel.logical.functions import TO_SIGNED
from ouzel.logical.pattern import Binds, Component
from ouzel.logical.schema import Schema
from ouzel.logical.times import BEGINNING, END
from ouzel.logical.type_rules import TypeClash
from ouzel.logical.values import BOOLEAN, INTEGER, Kind, ValueType, finer

_TIMES = (Kind.TIMESTAMP, Kind.DURATION, Kind.TIME)
# `r.price` reads the register as `price` does.
REGISTER = "r"


@contextmanager
def _about(where: str) -> Iterator[None]:
    """Let errors in here say which part of an arc they are about."""
    try:
        yield
    except QueryError as error:
        raise error.said_of(where) from None


@dataclass(frozen=True)
class ArcBinder:
    """Binds the arcs of one automaton."""

    schema: Schema
    event: Component
    register: tuple[Field, ...]
    parameters: Mapping[str, Any] | None
    query: str

    def bind(self, arc: written_tree.Arc) -> Arc:
        """An arc with its meaning."""
        consumes = Consumes.NOTHING if arc.silent else Consumes.EVENT
        if arc.end_of_window:
            consumes = Consumes.END_OF_WINDOW
        with _about(f"arc '{arc.id}': when"):
            fence = () if arc.when is None else self._fence(arc.when)
        fields = {one.name: one for one in self.register}
        sets = []
        for name, value in arc.sets:
            with _about(f"arc '{arc.id}': {name}"):
                sets.append((name, self._value(fields[name], value)))
        lives = tuple(
            (BEGINNING if since is None else since, END if until is None else until) for since, until in arc.lives
        )
        return Arc(arc.id, arc.source, arc.target, consumes, fence, tuple(sets), lives)

    def _fence(self, when: Formula) -> tuple[Conjunct, ...]:
        """The conjuncts of a fence; those on the event alone are single."""
        binder = self._binder(when)
        bound = binder.bind(when.expression)
        if not (bound.type.is_open or bound.type == BOOLEAN):
            binder.fail(
                f"'{when.text.strip()}' is no condition",
                bound.span,
                required=f"something true or false; got {bound.type}",
            )
        placed = place_conjuncts(bound, {EVENT: self.event, **self._stand_ins}, when.text)
        return tuple(
            one
            if one.place is Place.ALWAYS
            else replace(one, component=self.event, is_single=one.variables == {EVENT})
            for one in placed
        )

    @cached_property
    def _stand_ins(self) -> dict[str, Component]:
        """Fields in the place of components: to be placed, a conjunct must know what it mentions."""
        return {one.name: Component(one.name, (), 0, Binds.ONE) for one in self.register}

    def _value(self, field: Field, written: Formula) -> Expression:
        """What a field becomes, in the field's type."""
        binder = self._binder(written)
        bound = binder.bind(written.expression)
        wanted = field.attribute.type
        if isinstance(bound, Constant):
            # a length of time by itself has no unit yet, and a text may be a time
            bound = self._settled(binder, bound, field)
        found = _converted(bound, wanted)
        if found is None:
            is_float = bound.type.kind in (Kind.FLOAT, Kind.DECIMAL) and wanted.kind is Kind.INTEGER
            first = "{'type': 'float'}" if field.first is None else f"the first value {field.first}.0"
            binder.fail(
                f"type clash: '{field.name}' becomes {_told(bound.type, wanted)}",
                bound.span,
                required=f"a value of the type of its first one, {_told(wanted, bound.type)}",
                hint=f"give it {first}" if is_float else None,
            )
        return found

    def _settled(self, binder: _FormulaBinder, constant: Constant, field: Field) -> Expression:
        """A constant as what it is to become part of."""
        is_time = isinstance(constant.value, str) and field.attribute.type.kind in _TIMES
        try:
            return unify([constant, field.reference] if is_time else [constant], self.schema.time.tick)[0]
        except TypeClash as clash:
            binder.fail(f"type clash: '{field.name}' becomes a text", constant.span, required=str(clash))

    def _binder(self, formula: Formula) -> _FormulaBinder:
        binder = _FormulaBinder(formula.text, self.schema, {EVENT: self.event}, self.parameters, query=self.query)
        binder.register = {one.name: one for one in self.register}
        return binder


def _converted(value: Expression, wanted: ValueType) -> Expression | None:
    """A value in a type; None if it does not become one."""
    held = value.type
    if held.kind is Kind.NULL:
        return replace(value, type=wanted) if isinstance(value, Constant) else value
    if held == wanted or held.is_open or wanted.is_open:
        return value
    if held.is_number and wanted.kind is Kind.FLOAT:
        return to_float(value)
    if held.kind is Kind.UNSIGNED and wanted.kind is Kind.INTEGER:
        return as_number(value)
    if held.kind is Kind.DECIMAL and wanted.kind is Kind.INTEGER and held.scale == 0 and _is_whole(value):
        return Apply(TO_SIGNED, (value,), INTEGER, value.span)
    is_time = held.kind is wanted.kind and held.kind in _TIMES and (held.zone is None) == (wanted.zone is None)
    if not is_time or held.unit is None or wanted.unit is None:
        return None
    if finer(held.unit, wanted.unit) == wanted.unit:
        return to_unit(value, wanted.unit)
    # what is finer would lose digits, unless it is known to have none there
    factor = NANOSECONDS[wanted.unit] // NANOSECONDS[held.unit]
    if not isinstance(value, Constant) or value.value % factor:
        return None
    return replace(value, value=value.value // factor, type=wanted)


def _is_whole(value: Expression) -> bool:
    """Whether a value is chosen among integers, of which some have no sign: coalesce(e.unsigned, 0)."""
    return isinstance(value, Apply) and all(
        one.type.kind in (Kind.INTEGER, Kind.UNSIGNED, Kind.NULL, Kind.BOOLEAN) or _is_whole(one)
        for one in value.arguments
    )


def _told(one: ValueType, other: ValueType) -> str:
    """A type in words, with its unit if that is what tells it from another."""
    return f"{one} in {one.unit}" if str(one) == str(other) and one.unit != other.unit else str(one)


@dataclass
class _FormulaBinder(ExpressionBinder):
    """Binds one fence or transfer."""

    register: Mapping[str, Field] = field(default_factory=dict)

    def bind(self, written: tree.Expression) -> Expression:
        if isinstance(written, tree.Equivalence):
            self.fail(
                "an equivalence test",
                written.span,
                required="a comparison",
                hint="what all events of a match share is the automaton's partition=['…']",
            )
        return super().bind(written)

    def _special(self, written: tree.Call) -> Expression:
        if written.function in ("between", "start", "end") or written.function in TIME_FUNCTIONS:
            return super()._special(written)
        return self.fail(
            f"the aggregate '{written.function}'",
            written.span,
            required="a function of the event and the register",
            hint="add up in the register: set={'total': 'total + e.x'}",
        )

    def reference(self, written: tree.Reference) -> Expression:
        name = written.variable.text
        if written.index is not Index.NONE:
            self.fail(
                f"the index {written.index.value}",
                written.span,
                required="an attribute of the event, or a field of the register",
            )
        if name == EVENT and written.attribute is not None:
            return super().reference(written)
        if name in self.register and written.attribute is None:
            return replace(self.register[name].reference, span=written.span)
        if name == REGISTER and written.attribute is not None and written.attribute.text in self.register:
            return replace(self.register[written.attribute.text].reference, span=written.span)
        return self._unknown_field(name, written)

    def _unknown_field(self, name: str, written: tree.Reference) -> NoReturn:
        meant = name if written.attribute is None or name != REGISTER else written.attribute.text
        is_attribute = any(one.column(meant) is not None for one in self.components[EVENT].types)
        self.fail(
            f"unknown field '{meant}'",
            written.span,
            required=f"a field of the register: {', '.join(self.register) or 'there are none'}",
            hint=f"for the attribute of the event write e.{meant}"
            if is_attribute
            else did_you_mean(meant, self.register),
        )
