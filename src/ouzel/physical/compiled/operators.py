"""Operators and functions as source, over values that are written already: what is null, what is a float."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ouzel.logical.values import Kind, ValueType
from ouzel.physical.compiled.forms import LEAST
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.value import Value
from ouzel.physical.compiled.writer import Writer

_INTEGER = {"+": "add", "-": "subtract", "*": "multiply", "%": "remainder"}
_FLOAT_CALLS = {"sqrt": "square_root", "ln": "logarithm", "exp": "exponential"}


@dataclass(kw_only=True)
class Operators(Writer):
    """Writes what is computed of values, each result under a name of its own."""

    operands: Operands
    names: int = 0
    depth: int = 1

    def fresh(self) -> str:
        """A name that was not used before."""
        self.names += 1
        return f"t{self.names}"

    def assigned(self, text: str, null: str | None, kind: Kind) -> Value:
        """Give a value a name."""
        name = self.fresh()
        self.line(f"{name} = {text}")
        return Value(name, null, kind)

    def applied(self, name: str, values: list[Value]) -> Value:
        """The function or operator of a name, of these values."""
        return _WRITTEN[name](self, name, values)

    def null_of(self, values: Sequence[Value], *more: str) -> str | None:
        """The null flag of a strict function: null if any argument is."""
        flags = [value.null for value in values if value.null is not None] + list(more)
        if not flags:
            return None
        return self.assigned(" or ".join(flags), None, Kind.BOOLEAN).text

    def pair(self, call: str, values: Sequence[Value], kind: Kind = Kind.INTEGER) -> Value:
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
            return self.pair(_INTEGER[name], (left, right))
        if name == "%":
            return self.pair("float_remainder", (left, right), Kind.FLOAT)
        return self.assigned(f"{left.text} {name} {right.text}", self.null_of(values), Kind.FLOAT)

    def quotient(self, _name: str, values: list[Value]) -> Value:
        return self.pair("divide", [as_float(value) for value in values], Kind.FLOAT)

    def negate(self, name: str, values: list[Value]) -> Value:
        (value,) = values
        if value.kind is Kind.FLOAT:
            text = f"-{value.text}" if name == "negate" else f"abs({value.text})"
            return self.assigned(text, value.null, Kind.FLOAT)
        return self.pair("negate" if name == "negate" else "absolute", values)

    def rounded(self, name: str, values: list[Value]) -> Value:
        (value,) = values
        return value if value.kind is not Kind.FLOAT else self.pair(name, values)

    def real(self, name: str, values: list[Value]) -> Value:
        return self.pair(_FLOAT_CALLS[name], [as_float(value) for value in values], Kind.FLOAT)

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

    def extreme(self, name: str, values: list[Value], value_type: ValueType) -> Value:
        """The least or the greatest of the arguments that are not null, which are of one type."""
        sign = "<" if name == "least" else ">"
        real = any(value.kind is Kind.FLOAT for value in values)

        def better(other: str, text: str) -> str:
            # the one before may be no number
            return self.precedes(other, sign, text, value_type) + (f" or {text} != {text}" if real else "")

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


_WRITTEN: dict[str, Callable[[Operators, str, list[Value]], Value]] = {
    **dict.fromkeys(_INTEGER, Operators.arithmetic),
    "/": Operators.quotient,
    "negate": Operators.negate,
    "abs": Operators.negate,
    "floor": Operators.rounded,
    "ceil": Operators.rounded,
    **dict.fromkeys(_FLOAT_CALLS, Operators.real),
    "and": Operators.junction,
    "or": Operators.junction,
    "not": Operators.negation,
    "is null": Operators.is_null,
    "case": Operators.case,
    "coalesce": Operators.coalesce,
}


def number_kind(kind: Kind) -> Kind:
    """The kind of number that a kernel has for values of a kind: times and texts are integers."""
    return kind if kind in (Kind.FLOAT, Kind.BOOLEAN) else Kind.INTEGER


def carried_by(value_type: ValueType) -> str:
    """The helper that adds an integer of a type to a running sum."""
    return "carried_unsigned" if value_type.kind is Kind.UNSIGNED else "carried"


def as_float(value: Value) -> Value:
    """The same number, as a float."""
    return value if value.kind is Kind.FLOAT else Value(f"float({value.text})", value.null, Kind.FLOAT)


def _promoted(values: list[Value]) -> list[Value]:
    return [as_float(v) for v in values] if any(v.kind is Kind.FLOAT for v in values) else values


def _same_kind(values: list[Value]) -> list[Value]:
    """Branches of one kind; a null constant takes the kind of the others."""
    known = [value.kind for value in values if value.null != "True"]
    if Kind.FLOAT in known:
        return [as_float(value) for value in values]
    if Kind.BOOLEAN in known:
        return [Value("False", "True", Kind.BOOLEAN) if value.null == "True" else value for value in values]
    return values
