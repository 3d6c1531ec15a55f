"""Expressions as source: straight lines of assignments, each value with a flag that says whether it is null.

No text of the user's gets into the source: names are ours, constants and columns are arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.expressions import (
    Aggregate,
    Apply,
    Attribute,
    Constant,
    Expression,
    Length,
    Moment,
    references,
)
from ouzel.logical.functions import TO_FLOAT, TO_SIGNED, Stretch
from ouzel.logical.values import INTEGER, Kind, ValueType
from ouzel.physical.compiled.comparison import SIGNS, comparison
from ouzel.physical.compiled.operands import TIME, Derived, Limb, Operands, Source, only_text
from ouzel.physical.compiled.user_calls import called
from ouzel.physical.compiled.value import Value
from ouzel.physical.compiled.writer import Writer
from ouzel.physical.contract import UnsuitableError
from ouzel.physical.reference.evaluate import evaluate, evaluate_column

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

    def holds(self, conjunct: Conjunct, rows: Rows) -> str:
        """Write a conjunct; the name of a flag that says whether one of its literals is true."""
        flags = []
        for literal in conjunct.literals:
            value = self.value(literal, rows)
            flags.append(value.text if value.null is None else f"({value.text} and not {value.null})")
        name = self.fresh()
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
            folded = called([expression], partial(evaluate, expression, {}, None))  # type: ignore[arg-type]
            expression = Constant(folded, expression.type, expression.span)
        match expression:
            case Constant():
                return self._constant(expression)
            case Attribute():
                return self._attribute(expression, rows)
            case Moment():
                return rows.cell(expression, TIME, expression.type, self)
            case Aggregate() | Length():
                return rows.aggregate(expression, self)
            case Apply():
                return self._apply(expression, rows)
        raise UnsuitableError("it refers to whole events")

    def cell(self, column: Source, value_type: ValueType, row: str) -> Value:
        """The value in a column of the event at an index; times are never null."""
        place = self.operands.column(column, value_type)
        null = None if column == TIME else self.assigned(f"n{place}[{row}]", None, Kind.BOOLEAN).text
        return self.assigned(f"c{place}[{row}]", null, plain(value_type.kind))

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
        if not isinstance(expression.value, int | float | str):
            raise UnsuitableError(f"a constant of type {expression.type}")
        return Value(self.operands.constant(expression.value), None, plain(expression.type.kind))

    def _attribute(self, expression: Attribute, rows: Rows) -> Value:
        if expression.missing_in:
            raise UnsuitableError(f"'{expression.name}' is missing in some types of '{expression.variable}'")
        if expression.type.kind in (Kind.OTHER, Kind.NULL):
            raise UnsuitableError(f"'{expression.name}' is {expression.type}")
        if expression.type.kind in (Kind.DECIMAL, Kind.UNSIGNED):
            # as it is, it is only asked whether it is there
            return rows.cell(expression, Limb(expression.column, 1, is_low=False), INTEGER, self)
        return rows.cell(expression, expression.column, expression.type, self)

    def _apply(self, expression: Apply, rows: Rows) -> Value:
        name = expression.function.name
        types = [expression.type, *(argument.type for argument in expression.arguments)]
        equality = name in ("=", "!=", "in") and all(map(_is_plain_text, expression.arguments))
        if not equality and any(value_type.kind is Kind.STRING for value_type in types):
            return self._derived(expression, rows)
        if expression.function.ticks is not None:
            return self._of_time(expression, rows)
        if expression.function in (TO_FLOAT, TO_SIGNED):
            return self._converted(expression, rows)
        if name.startswith("×"):
            factor = Constant(int(name[1:]), expression.type, expression.span)
            return self._pair("multiply", [self.value(expression.arguments[0], rows), self._constant(factor)])
        if expression.type.kind in (Kind.UNSIGNED, Kind.DECIMAL):
            raise UnsuitableError("it chooses among unsigned integers")
        if name in SIGNS or name == "in":
            return self._compared(name, expression.arguments, rows)
        emit = _EMIT.get(name)
        if emit is None:
            raise UnsuitableError(f"the function {name} runs in Python only")
        return emit(self, name, [self.value(argument, rows) for argument in expression.arguments])

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

    def _derived(self, expression: Apply, rows: Rows) -> Value:
        """What depends on one text alone is computed once for every distinct text."""
        attribute = only_text(expression)
        if attribute is None or attribute.missing_in:
            raise UnsuitableError("it relates texts other than by = and !=")

        def compute(texts: Sequence[str | None]) -> list[Any]:
            return called([expression], lambda: evaluate_column(expression, texts))

        derived = Derived(attribute.column, expression.type, compute, expression)
        return rows.cell(attribute, derived, expression.type, self)

    def _of_time(self, expression: Apply, rows: Rows) -> Value:
        """A function of a time is computed once for every event."""
        (argument,) = expression.arguments
        compute = expression.function.ticks
        assert compute is not None
        if isinstance(argument, Moment):
            column = TIME
        elif isinstance(argument, Attribute) and not argument.missing_in:
            column = argument.column
        else:
            raise UnsuitableError(f"{expression.function.name} of a time that is computed")
        derived = Derived(column, expression.type, compute, expression, argument.type)
        return rows.cell(argument, derived, expression.type, self)

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

    def choose(self, name: str, values: list[Value]) -> Value:
        """coalesce, least and greatest: of the arguments that are not null."""
        first, *others = _same_kind(values)
        text, null = first.text, first.null or "False"
        sign = {"least": "<", "greatest": ">"}.get(name)
        for other in others:
            better = f"{other.text} {sign} {text}" if sign else "False"
            if sign and first.kind is Kind.FLOAT:
                better += f" or {text} != {text}"  # which is no number
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
    **dict.fromkeys(("coalesce", "least", "greatest"), Emitter.choose),
}


def plain(kind: Kind) -> Kind:
    """To a kernel, times and texts are integers."""
    return kind if kind in (Kind.FLOAT, Kind.BOOLEAN) else Kind.INTEGER


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


def _is_plain_text(expression: Expression) -> bool:
    return isinstance(expression, Attribute) or (
        isinstance(expression, Constant) and (expression.value is None or isinstance(expression.value, str))
    )
