"""Expressions as source: straight lines of assignments, each value with a flag that says whether it is null.

No text of the user's gets into the source: names are ours, constants and columns are arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.constants import constant_value
from ouzel.logical.expressions import (
    Aggregate,
    Apply,
    Attribute,
    Constant,
    Element,
    Expression,
    Length,
    Moment,
    Variable,
    references,
    walk,
)
from ouzel.logical.functions import TO_FLOAT, TO_SIGNED, Rescale, Stretch
from ouzel.logical.read_functions import inlined
from ouzel.logical.values import BOOLEAN, INTEGER, STRING, Kind, ValueType
from ouzel.physical.compiled.calls import Call
from ouzel.physical.compiled.comparison import SIGNS, comparison
from ouzel.physical.compiled.fill import NOTED, is_written
from ouzel.physical.compiled.forms import Form, form_of
from ouzel.physical.compiled.operators import Operators, as_float, number_kind
from ouzel.physical.compiled.sources import (
    START,
    TIME,
    TIMES,
    TYPE,
    Among,
    Derived,
    Limb,
    Source,
    Written,
    is_register,
)
from ouzel.physical.compiled.user_calls import called, calls_users
from ouzel.physical.compiled.value import Value
from ouzel.physical.contract import UnsuitableError


class Rows(Protocol):
    """Where a reference finds its value, and what a closure's aggregates are called."""

    def cell(self, node: Attribute | Moment, column: Source, value_type: ValueType, emitter: Emitter) -> Value:
        """The value in a column of the event that a reference means."""

    def aggregate(self, node: Aggregate | Length, emitter: Emitter) -> Value:
        """The value of an aggregate, as the kernel keeps it."""


@dataclass(frozen=True)
class ByVariable:
    """One event per variable."""

    rows: Mapping[str, str]

    def cell(self, node: Attribute | Moment, column: Source, value_type: ValueType, emitter: Emitter) -> Value:
        """The value of the variable's event."""
        return emitter.cell(column, value_type, self.rows[node.variable])

    def aggregate(self, node: Aggregate | Length, emitter: Emitter) -> Value:  # noqa: ARG002
        """There are no closures here."""
        raise UnsuitableError("it refers to the elements of a closure")


# So many conditions of one place nest in each other: there are several places in a row, and 100 levels in Python.
NESTED = 8


@dataclass(kw_only=True)
class Emitter(Operators):
    """Writes expressions as source."""

    # ---- conditions --------------------------------------------------------------------------------------

    def holds(self, conjunct: Conjunct, rows: Rows, absent: Sequence[str] = ()) -> str:
        """Write a conjunct; the name of a flag that says whether one of its literals is true.

        It is not applied if one of the tests holds that an event which it mentions is `absent`.  What calls
        functions is written such that they are called only where nothing before has decided.
        """
        literals = [inlined(literal) for literal in conjunct.literals]
        name, is_lazy = self.fresh(), any(map(_calls, literals))
        if is_lazy:
            self.line(f"{name} = {' or '.join(absent) or 'False'}")
        flags = list(absent)
        for literal in literals:
            # a literal is true of an event whose type lacks an attribute that it mentions (SASE 2.2.2)
            lacking = [node for node in references(literal) if isinstance(node, Attribute) and node.missing_in]
            for node in dict.fromkeys(lacking):
                lacks = _flag(rows.cell(node, Among(node.missing_in), BOOLEAN, self))
                flags.append(lacks)
                if is_lazy:
                    self.line(f"{name} = {name} or {lacks}")
            if not is_lazy:
                flags.append(_flag(self.value(literal, rows)))
                continue
            with self.block(f"if not {name}:"):
                self.line(f"{name} = {_flag(self.value(literal, rows))}")
        if not is_lazy:
            self.line(f"{name} = {' or '.join(flags)}")
        return name

    def go_on_if(self, tests: Sequence[Callable[[], str]], nested: int = NESTED) -> None:
        """Write tests one by one, each a function that writes it and tells its flag; what follows is if all hold.

        Up to `nested` of them nest, which reads best; more stand below each other, as Python nests only so deep.
        """
        if len(tests) <= nested:
            for test in tests:
                self.begin(f"if {test()}:")
            return
        name = self.fresh()
        self.line(f"{name} = True")
        for test in tests:
            with self.block(f"if {name}:"):
                self.line(f"{name} = {test()}")
        self.begin(f"if {name}:")

    # ---- values ------------------------------------------------------------------------------------------

    def value(self, expression: Expression, rows: Rows) -> Value:
        """Write an expression."""
        if not isinstance(expression, Constant) and not list(references(expression)):
            folded = called([expression], partial(constant_value, expression))
            expression = Constant(folded, expression.type, expression.span)
        match expression:
            case Constant():
                return self._constant(expression)
            case Attribute():
                return self._attribute(expression, rows)
            case Moment(which):
                return rows.cell(expression, START if which == "start" else TIME, expression.type, self)
            case Aggregate() | Length():
                return rows.aggregate(expression, self)
            case Apply():
                return self._apply(expression, rows)
        raise UnsuitableError("it refers to whole events")

    def held(self, expression: Expression, rows: Rows) -> Value:
        """Write a value as registers hold it: of decimals and unsigned integers those that stand for them."""
        if expression.type.kind not in (Kind.DECIMAL, Kind.UNSIGNED):
            return self.value(expression, rows)
        if isinstance(expression, Attribute):
            return rows.cell(expression, expression.column, expression.type, self)
        assert isinstance(expression, Apply)
        values = [self.held(argument, rows) for argument in expression.arguments]
        return self._of_values(expression, values)

    def cell(self, column: Source, value_type: ValueType, row: str, *, kept: bool = False) -> Value:
        """The value in a column of the event at an index; times are never null.

        A value that is `kept` for later may be one that could not be computed, which matters when it is asked for.
        """
        place = self.operands.column(column, value_type)
        at = f"{row} - len(n{place})" if kept and _may_fail(column) else row
        null = None if column in TIMES else self.assigned(f"n{place}[{at}]", None, Kind.BOOLEAN).text
        return self.assigned(f"c{place}[{row}]", null, number_kind(value_type.kind))

    def kept_null(self, column: Source, value_type: ValueType, kept: str) -> str:
        """Whether a value that was kept is null."""
        text = f"{kept} != 0"
        if _may_fail(column):
            place = self.operands.column(column, value_type)
            text = f"{kept} == 1 or ({kept} >= {NOTED} and n{place}[{kept} - {NOTED}])"
        return self.assigned(text, None, Kind.BOOLEAN).text

    def _constant(self, expression: Constant) -> Value:
        if expression.value is None:
            return Value("0", "True", Kind.INTEGER)
        if isinstance(expression.value, bool):
            return Value(str(expression.value), None, Kind.BOOLEAN)
        return Value(self.operands.constant(expression.value), None, number_kind(expression.type.kind))

    def _attribute(self, expression: Attribute, rows: Rows) -> Value:
        if expression.type.kind is Kind.NULL:
            return Value("0", "True", Kind.INTEGER)
        if expression.type.kind in (Kind.DECIMAL, Kind.UNSIGNED):
            # as it is, it is only asked whether it is there
            if is_register(expression):
                return self.held(expression, rows)
            return rows.cell(expression, Limb(expression.column, 1, is_low=False), INTEGER, self)
        return rows.cell(expression, expression.column, expression.type, self)

    def _apply(self, expression: Apply, rows: Rows) -> Value:
        match form_of(expression):
            case Form.COLUMN:
                return self._column(expression, rows)
            case Form.CALLED:
                return self._called(expression, rows)
            case Form.NONE:
                raise UnsuitableError(f"a number beyond 64 bits: {expression.type}")
        name, arguments = expression.function.name, expression.arguments
        if expression.function in (TO_FLOAT, TO_SIGNED):
            return self._converted(expression, rows)
        if isinstance(expression.function, Rescale):
            factor = Constant(expression.function.factor, expression.type, expression.span)
            return self.pair("multiply", [self.value(arguments[0], rows), self._constant(factor)])
        if name in SIGNS or name == "in":
            return self._compared(name, arguments, rows)
        return self._of_values(expression, [self.value(argument, rows) for argument in arguments])

    def _of_values(self, expression: Apply, values: list[Value]) -> Value:
        name = expression.function.name
        if name in ("least", "greatest"):
            return self.extreme(name, values, expression.type)
        return self.applied(name, values)

    def _column(self, expression: Apply, rows: Rows) -> Value:
        """What depends on one event alone is computed for all events at once."""
        node = next(node for node in references(expression) if isinstance(node, Attribute | Moment))
        return rows.cell(node, Derived(_of_any_element(expression)), expression.type, self)

    def _called(self, expression: Apply, rows: Rows) -> Value:
        """What no kernel can say is called, with the values of all that it reads."""
        reads = tuple(dict.fromkeys(references(expression)))
        given = [self._as_read(node, rows) for node in reads]
        events = {
            (node.variable, node.element): node
            for node in reads
            if isinstance(node, Attribute | Moment) and not is_register(node) and calls_users(expression)
        }
        told = [rows.cell(node, *of, self) for node in events.values() for of in ((TYPE, STRING), (TIME, INTEGER))]
        texts = [text for one in given for text in (one.text, one.null or "False")]
        texts += [one.text for one in told]
        call = Call(expression, reads, tuple(variable for variable, _element in events))
        value, missing = self.fresh(), self.fresh()
        self.line(f"{value}, {missing} = {self.operands.call(call)}({', '.join(texts)})")
        return Value(value, missing, number_kind(expression.type.kind))

    def _as_read(self, node: Variable, rows: Rows) -> Value:
        """A value from which a call can tell what it stands for."""
        if isinstance(node, Attribute):
            if is_written(node.type):
                return rows.cell(node, Written(node.column), STRING, self)
            if node.type.kind in (Kind.DECIMAL, Kind.UNSIGNED):
                return rows.cell(node, node.column, node.type, self)
        return self.value(node, rows)

    def _converted(self, expression: Apply, rows: Rows) -> Value:
        """A number as one of another type: a column is converted as a whole, any other value here."""
        (argument,) = expression.arguments
        if is_register(argument) and argument.type.kind is Kind.UNSIGNED:
            held = self.held(argument, rows)
            if expression.function is TO_FLOAT:
                return self.assigned(f"unsigned_float({held.text})", held.null, Kind.FLOAT)
            return Value(held.text, self.null_of([held], f"{held.text} < 0"), Kind.INTEGER)
        if isinstance(argument, Attribute) and argument.type.kind in (Kind.DECIMAL, Kind.UNSIGNED):
            return self._attribute(replace(argument, type=expression.type), rows)
        value = self.value(argument, rows)
        if argument.type.kind is not Kind.INTEGER:
            # aggregates of unsigned integers fit into 63 bits, or they are refused
            return value if expression.function is TO_SIGNED else as_float(value)
        return self.assigned(f"float({value.text})", value.null, Kind.FLOAT)

    def _compared(self, name: str, arguments: Sequence[Expression], rows: Rows) -> Value:
        """A comparison by value: of numbers of one type, or such that nothing is lost between two."""
        if name == "in":
            subject, *candidates = arguments
            plain_subject = subject.type.kind not in (Kind.DECIMAL, Kind.UNSIGNED)
            known = self.value(subject, rows) if plain_subject and not _is_stretched(subject) else None
            tests = [comparison(self, "=", subject, one, rows, known) for one in candidates]
            if not tests:
                return Value("False", self.value(subject, rows).null, Kind.BOOLEAN)
            return self.junction("or", tests) if len(tests) > 1 else tests[0]
        return comparison(self, name, arguments[0], arguments[1], rows)


def _is_stretched(expression: Expression) -> bool:
    return isinstance(expression, Apply) and isinstance(expression.function, Stretch)


def _flag(value: Value) -> str:
    return value.text if value.null is None else f"({value.text} and not {value.null})"


def _calls(expression: Expression) -> bool:
    """Whether computing an expression calls functions of the user's, or others that take long."""
    return calls_users(expression) or any(
        isinstance(node, Apply) and form_of(node) is Form.CALLED for node in walk(expression)
    )


def _may_fail(column: Source) -> bool:
    return isinstance(column, Derived) and calls_users(column.expression)


def _of_any_element(expression: Expression) -> Expression:
    """The same for whatever event: first, current and last element of a closure share a column."""
    match expression:
        case Attribute():
            return replace(expression, element=Element.SINGLE, missing_in=frozenset())
        case Moment():
            return replace(expression, element=Element.SINGLE)
        case Apply():
            return replace(expression, arguments=tuple(map(_of_any_element, expression.arguments)))
    return expression
