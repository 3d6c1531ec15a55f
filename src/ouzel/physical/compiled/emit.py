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
from ouzel.physical.compiled.forms import LEAST, Form, form_of, is_text
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.sources import START, TIME, TIMES, TYPE, Among, Derived, Limb, Source, Written
from ouzel.physical.compiled.user_calls import called, calls_users
from ouzel.physical.compiled.value import Value
from ouzel.physical.compiled.writer import Writer
from ouzel.physical.contract import UnsuitableError

_INTEGER = {"+": "add", "-": "subtract", "*": "multiply", "%": "remainder"}
_FLOAT_CALLS = {"sqrt": "square_root", "ln": "logarithm", "exp": "exponential"}


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
class Emitter(Writer):
    """Writes expressions as source."""

    operands: Operands
    names: int = 0
    depth: int = 1

    def fresh(self) -> str:
        """A name that was not used before."""
        self.names += 1
        return f"t{self.names}"

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
                self.line(f"if {test()}:")
                self.depth += 1
            return
        name = self.fresh()
        self.line(f"{name} = True")
        for test in tests:
            with self.block(f"if {name}:"):
                self.line(f"{name} = {test()}")
        self.line(f"if {name}:")
        self.depth += 1

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

    def assigned(self, text: str, null: str | None, kind: Kind) -> Value:
        """Give a value a name."""
        name = self.fresh()
        self.line(f"{name} = {text}")
        return Value(name, null, kind)

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
            return self._pair("multiply", [self.value(arguments[0], rows), self._constant(factor)])
        if name in SIGNS or name == "in":
            return self._compared(name, arguments, rows)
        values = [self.value(argument, rows) for argument in arguments]
        if name in ("least", "greatest"):
            return self.extreme(name, values, texts=is_text(expression.type))
        return _EMIT[name](self, name, values)

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
            if isinstance(node, Attribute | Moment) and calls_users(expression)
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
        if isinstance(argument, Attribute) and argument.type.kind in (Kind.DECIMAL, Kind.UNSIGNED):
            return self._attribute(replace(argument, type=expression.type), rows)
        value = self.value(argument, rows)
        if argument.type.kind is not Kind.INTEGER:
            # aggregates of unsigned integers fit into 63 bits, or they are refused
            return value if expression.function is TO_SIGNED else _as_float(value)
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

    # ---- operators ---------------------------------------------------------------------------------------

    def null_of(self, values: Sequence[Value], *more: str) -> str | None:
        """The null flag of a strict function: null if any argument is."""
        flags = [value.null for value in values if value.null is not None] + list(more)
        if not flags:
            return None
        return self.assigned(" or ".join(flags), None, Kind.BOOLEAN).text

    def _pair(self, call: str, values: Sequence[Value], kind: Kind = Kind.INTEGER) -> Value:
        """A call that returns a value and whether it is null."""
        value, missing = self.fresh(), self.fresh()
        self.line(f"{value}, {missing} = {call}({', '.join(one.text for one in values)})")
        return Value(value, self.null_of(values, missing), kind)

    def deviation(self, squares: str, count: str) -> Value:
        """The standard deviation of a sample, of squared distances from the mean; of one value it is null."""
        few = self.assigned(f"{count} < 2", None, Kind.BOOLEAN).text
        root, wrong = self.fresh(), self.fresh()
        self.line(f"{root}, {wrong} = square_root({squares} / max({count} - 1, 1))")
        return Value(root, self.assigned(f"{few} or {wrong}", None, Kind.BOOLEAN).text, Kind.FLOAT)

    def arithmetic(self, name: str, values: list[Value]) -> Value:
        left, right = _promoted(values)
        if left.kind is not Kind.FLOAT:
            return self._pair(_INTEGER[name], (left, right))
        if name == "%":
            return self._pair("float_remainder", (left, right), Kind.FLOAT)
        return self.assigned(f"{left.text} {name} {right.text}", self.null_of(values), Kind.FLOAT)

    def quotient(self, _name: str, values: list[Value]) -> Value:
        return self._pair("divide", [_as_float(value) for value in values], Kind.FLOAT)

    def negate(self, name: str, values: list[Value]) -> Value:
        (value,) = values
        if value.kind is Kind.FLOAT:
            text = f"-{value.text}" if name == "negate" else f"abs({value.text})"
            return self.assigned(text, value.null, Kind.FLOAT)
        return self._pair("negate" if name == "negate" else "absolute", values)

    def rounded(self, name: str, values: list[Value]) -> Value:
        (value,) = values
        return value if value.kind is not Kind.FLOAT else self._pair(name, values)

    def real(self, name: str, values: list[Value]) -> Value:
        return self._pair(_FLOAT_CALLS[name], [_as_float(value) for value in values], Kind.FLOAT)

    def junction(self, name: str, values: list[Value]) -> Value:
        """AND and OR of three values: a deciding operand decides, otherwise a null makes it null."""
        decides = "not " if name == "and" else ""
        decided = [
            f"({decides}{value.text}" + (f" and not {value.null})" if value.null else ")") for value in values
        ]
        result = self.assigned(" or ".join(decided), None, Kind.BOOLEAN).text
        text = f"not {result}" if name == "and" else result
        nulls = self.null_of(values)
        null = None if nulls is None else self.assigned(f"{nulls} and not {result}", None, Kind.BOOLEAN).text
        return self.assigned(text, null, Kind.BOOLEAN)

    def negation(self, _name: str, values: list[Value]) -> Value:
        (value,) = values
        return self.assigned(f"not {value.text}", value.null, Kind.BOOLEAN)

    def is_null(self, _name: str, values: list[Value]) -> Value:
        return self.assigned(values[0].null or "False", None, Kind.BOOLEAN)

    def case(self, _name: str, values: list[Value]) -> Value:
        branches = _same_kind([*values[1:-1:2], values[-1]])
        text, null = branches[-1].text, branches[-1].null or "False"
        for condition, branch in reversed(list(zip(values[:-1:2], branches[:-1], strict=True))):
            true = condition.text + (f" and not {condition.null}" if condition.null else "")
            chosen = self.assigned(true, None, Kind.BOOLEAN).text
            text = self.assigned(f"{branch.text} if {chosen} else {text}", None, branch.kind).text
            null = self.assigned(f"{branch.null or 'False'} if {chosen} else {null}", None, Kind.BOOLEAN).text
        return Value(text, null, branches[0].kind)

    def coalesce(self, _name: str, values: list[Value]) -> Value:
        """The first argument that is not null."""
        return self._chosen(values, lambda _other, _text: "False")

    def extreme(self, name: str, values: list[Value], *, texts: bool) -> Value:
        """The least or the greatest of the arguments that are not null."""
        sign = "<" if name == "least" else ">"
        real = any(value.kind is Kind.FLOAT for value in values)

        def better(other: str, text: str) -> str:
            if texts:
                return self.precedes(other, sign, text, STRING)
            # the one before may be no number
            return f"{other} {sign} {text}" + (f" or {text} != {text}" if real else "")

        return self._chosen(values, better)

    def precedes(self, left: str, sign: str, right: str, value_type: ValueType) -> str:
        """A comparison of two values of a type, in the order of that type."""
        if value_type.kind is Kind.STRING:
            left, right = self.operands.rank(left), self.operands.rank(right)
        elif value_type.kind is Kind.UNSIGNED:
            # with the first bit turned over, numbers without a sign are in the order of those with one
            turned = self.operands.constant(LEAST)
            left, right = f"({left} ^ {turned})", f"({right} ^ {turned})"
        return f"{left} {sign} {right}"

    def _chosen(self, values: list[Value], better_than: Callable[[str, str], str]) -> Value:
        first, *others = _same_kind(values)
        text, null = first.text, first.null or "False"
        for other in others:
            better = better_than(other.text, text)
            missing = other.null or "False"
            taken = self.assigned(f"not {missing} and ({null} or {better})", None, Kind.BOOLEAN).text
            text = self.assigned(f"{other.text} if {taken} else {text}", None, other.kind).text
            null = self.assigned(f"{null} and {missing}", None, Kind.BOOLEAN).text
        return Value(text, null, first.kind)


_EMIT: dict[str, Callable[[Emitter, str, list[Value]], Value]] = {
    **dict.fromkeys(_INTEGER, Emitter.arithmetic),
    "/": Emitter.quotient,
    "negate": Emitter.negate,
    "abs": Emitter.negate,
    "floor": Emitter.rounded,
    "ceil": Emitter.rounded,
    **dict.fromkeys(_FLOAT_CALLS, Emitter.real),
    "and": Emitter.junction,
    "or": Emitter.junction,
    "not": Emitter.negation,
    "is null": Emitter.is_null,
    "case": Emitter.case,
    "coalesce": Emitter.coalesce,
}


def number_kind(kind: Kind) -> Kind:
    """The kind of number that a kernel has for values of a kind: times and texts are integers."""
    return kind if kind in (Kind.FLOAT, Kind.BOOLEAN) else Kind.INTEGER


def carried_by(value_type: ValueType) -> str:
    """The helper that adds an integer of a type to a running sum."""
    return "carried_unsigned" if value_type.kind is Kind.UNSIGNED else "carried"


def _as_float(value: Value) -> Value:
    return value if value.kind is Kind.FLOAT else Value(f"float({value.text})", value.null, Kind.FLOAT)


def _promoted(values: list[Value]) -> list[Value]:
    return [_as_float(v) for v in values] if any(v.kind is Kind.FLOAT for v in values) else values


def _same_kind(values: list[Value]) -> list[Value]:
    """Branches of one kind; a null constant takes the kind of the others."""
    known = [value.kind for value in values if value.null != "True"]
    if Kind.FLOAT in known:
        return [_as_float(value) for value in values]
    if Kind.BOOLEAN in known:
        return [Value("False", "True", Kind.BOOLEAN) if value.null == "True" else value for value in values]
    return values


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
