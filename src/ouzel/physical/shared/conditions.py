"""Conditions as tests that are data: what is asked, and of which constants the bounds are made.

Of a set of queries the constants of each are in columns of values; a plain query is a set of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ouzel.kernels import shared_tests as kernel
from ouzel.logical.conjuncts import conjunctive_normal_form
from ouzel.logical.expressions import Apply, Attribute, Constant, Element, Expression, references, walk
from ouzel.logical.functions import TO_FLOAT
from ouzel.logical.values import Kind
from ouzel.physical.automaton.lifetimes import is_duration
from ouzel.physical.automaton.substitution import is_static
from ouzel.physical.contract import UnsuitableError
from ouzel.physical.shared.columns import Columns, OfAttribute, OfCondition, attribute_source
from ouzel.physical.shared.intervals import LEAST, MOST, NOTHING, SIGNS, intervals, of_code

SWAPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_KINDS = {
    "=": kernel.EQUAL,
    "!=": kernel.UNEQUAL,
    "<": kernel.LESS,
    "<=": kernel.LESS_EQUAL,
    ">": kernel.MORE,
    ">=": kernel.MORE_EQUAL,
}
_OPERATORS = {"+": kernel.ADD, "-": kernel.SUBTRACT, "*": kernel.MULTIPLY, "/": kernel.DIVIDE}
# A stack is no higher than that, and no longer is a duration that can end.
DEPTH, LONGEST = 16, 2**61
# So far all integers are doubles.
EXACT = 2**53
_MOST_ALTERNATIVES = 16

Places = Mapping[str, int]
"""The places at which runs hold the events of variables."""


@dataclass(frozen=True)
class Test:
    """What is asked of an event: the kind of the question, the columns in it, and constants.

    `column` is one of the event, or the number of a program; `other` one of the event that is held at `variable`,
    which is the comparison at the end of a program.
    """

    kind: int
    column: int
    variable: int = 0
    other: int = 0
    sign: str = ""
    constants: tuple[Constant, ...] = ()
    of: OfAttribute | None = field(default=None, compare=False)

    @property
    def width(self) -> int:
        """How many constants it has in a layout: two bounds, or numbers."""
        return 2 if self.kind in (kernel.RANGE, kernel.LASTS) else len(self.constants)

    @property
    def structure(self) -> tuple[Any, ...]:
        """All of it but the constants."""
        return self.kind, self.column, self.variable, self.other, self.sign, len(self.constants)

    @property
    def is_static(self) -> bool:
        """Whether it is about the event alone."""
        return self.kind == kernel.RANGE

    @property
    def is_equality(self) -> bool:
        """Whether it wants one value of a column of the event."""
        return self.kind == kernel.RANGE and self.sign == "="


Conjunction = tuple[Test, ...]
Alternatives = tuple[Conjunction, ...]
"""Of which one must hold: a condition in disjunctive normal form."""


@dataclass(frozen=True)
class Values:
    """The values of parameters, for each of some queries."""

    count: int
    columns: Mapping[str, Any]

    def of(self, constant: Constant) -> Any:
        """The values of a constant, in all of them."""
        if constant.parameter in self.columns:
            return self.columns[constant.parameter]
        if self.count == 1:
            return [constant.value]
        if type(constant.value) is float:
            return np.full(self.count, constant.value)
        if type(constant.value) is int:
            return np.full(self.count, constant.value, np.int64)
        return [constant.value] * self.count


@dataclass
class Reader:
    """Reads conditions: makes tests of them, columns of what they look at, and programs of arithmetic.

    `parameters` are those of which every query of a set has values of its own.
    """

    columns: Columns
    parameters: frozenset[str] = frozenset()
    programs: dict[tuple[tuple[int, int, int], ...], int] = field(default_factory=dict)

    # ---- conditions --------------------------------------------------------------------------------------

    def alternatives(self, conditions: list[Expression], places: Places) -> Alternatives:
        """Conditions of which all must hold, over the event at hand and those that are held."""
        found: list[Conjunction] = [()]
        for condition in conditions:
            choices = self._choices(condition, places)
            found = [(*one, *choice) for one in found for choice in choices]
            if len(found) > _MOST_ALTERNATIVES:
                raise UnsuitableError(f"more than {_MOST_ALTERNATIVES} alternatives in one condition")
        return tuple(map(_narrowed, found))

    def _choices(self, condition: Expression, places: Places) -> list[Conjunction]:
        """The alternatives of one condition: if it is a choice itself, one for each."""
        try:
            return [self._tests(condition, places)]
        except UnsuitableError:
            options = _options(condition)
            if len(options) > 1 and self._varies(condition):
                return [self._tests(one, places) for one in options]
            if is_static(condition) and not self._varies(condition):
                number = self.columns.number(OfCondition(condition))
                one = Constant(True, condition.type, condition.span)
                yes = OfAttribute("", Kind.BOOLEAN)
                return [(Test(kernel.RANGE, number, sign="=", constants=(one,), of=yes),)]
            raise

    def _varies(self, condition: Expression) -> bool:
        """Whether a condition is another one in every query of a set."""
        return any(isinstance(node, Constant) and node.parameter in self.parameters for node in walk(condition))

    def _tests(self, condition: Expression, places: Places) -> Conjunction:
        if isinstance(condition, Apply) and condition.function.name == "and":
            return tuple(test for one in condition.arguments for test in self._tests(one, places))
        if not isinstance(condition, Apply) or condition.function.name not in _KINDS:
            raise UnsuitableError("a condition is more than a comparison")
        sign, (left, right) = condition.function.name, condition.arguments
        is_turned = not isinstance(right, Constant) and _is_held(left) and not _is_held(right)
        if isinstance(left, Constant) or is_turned:
            sign, left, right = SWAPPED[sign], right, left
        if isinstance(right, Constant) and isinstance(left, Attribute) and not _is_held(left):
            return (self._range(left, sign, right),)
        if isinstance(right, Constant) and is_duration(left):
            return (_lasts(sign, right),)
        if isinstance(left, Attribute) and isinstance(right, Attribute) and not _is_held(left) and _is_held(right):
            return (self._compared(left, sign, right, places),)
        return (self._computed(left, sign, right, places),)

    def _range(self, attribute: Attribute, sign: str, constant: Constant) -> Test:
        if sign not in SIGNS or attribute.missing_in:
            raise UnsuitableError("a comparison that is no range of values")
        of = attribute_source(attribute)
        if constant.type.unit != of.unit or (of.kind is Kind.STRING and sign != "="):
            raise UnsuitableError("a comparison of other units, or of the order of texts")
        if of.unit is not None and constant.parameter in self.parameters:
            raise UnsuitableError("times are parameters")
        return Test(kernel.RANGE, self.columns.number(of), sign=sign, constants=(constant,), of=of)

    def _compared(self, left: Attribute, sign: str, right: Attribute, places: Places) -> Test:
        if left.missing_in or right.missing_in:
            raise UnsuitableError("some types lack an attribute")
        mine, other = attribute_source(left), attribute_source(right)
        if (mine.kind, mine.scale, mine.unit) != (other.kind, other.scale, other.unit):
            return self._computed(left, sign, right, places)
        is_text = mine.kind is Kind.STRING and sign not in ("=", "!=")
        # what is no number differs from all
        if is_text or (mine.kind is Kind.FLOAT and sign == "!="):
            raise UnsuitableError("a comparison of the order of texts, or one that NaN passes")
        numbers = self.columns.number(mine), self.columns.number(other)
        return Test(_KINDS[sign], numbers[0], places[right.variable], numbers[1], sign)

    # ---- arithmetic --------------------------------------------------------------------------------------

    def _computed(self, left: Expression, sign: str, right: Expression, places: Places) -> Test:
        if sign == "!=":
            raise UnsuitableError("a comparison that NaN passes")
        if Kind.FLOAT not in (left.type.kind, right.type.kind):
            raise UnsuitableError("arithmetic of integers")
        steps: list[tuple[int, int, int]] = []
        constants: list[Constant] = []
        for one in (left, right):
            self._steps(one, places, steps, constants)
        if len(steps) > DEPTH:
            raise UnsuitableError("an expression of very many operators")
        program = self.programs.setdefault(tuple(steps), len(self.programs))
        return Test(kernel.COMPUTED, program, _KINDS[sign], 0, sign, tuple(constants))

    def _steps(
        self, value: Expression, places: Places, steps: list[tuple[int, int, int]], constants: list[Constant]
    ) -> None:
        match value:
            case Constant() if value.type.kind in (Kind.FLOAT, Kind.INTEGER):
                if type(value.value) is int and abs(value.value) > EXACT:
                    raise UnsuitableError("a number that no double holds")
                steps.append((kernel.NUMBER, len(constants), 0))
                constants.append(value)
                return
            case Attribute() if not value.missing_in and value.type.kind is Kind.FLOAT:
                steps.append(self._load(value, places, kernel.EVENT_FLOAT, kernel.HELD_FLOAT))
                return
            case Apply(function, (Attribute() as inner,)) if (
                function is TO_FLOAT and inner.type.kind is Kind.INTEGER and not inner.missing_in
            ):
                steps.append(self._load(inner, places, kernel.EVENT_INTEGER, kernel.HELD_INTEGER))
                return
            case Apply(function, (one, other)) if function.name in _OPERATORS and value.type.kind is Kind.FLOAT:
                # a quotient takes what it is given as floats; all else is of floats already
                for part in (one, other):
                    self._steps(part, places, steps, constants)
                steps.append((_OPERATORS[function.name], 0, 0))
                return
        raise UnsuitableError("it computes what shared plans do not")

    def _load(self, value: Attribute, places: Places, event: int, held: int) -> tuple[int, int, int]:
        column = self.columns.number(attribute_source(value))
        return (held, places[value.variable], column) if _is_held(value) else (event, column, 0)


def _narrowed(asks: Conjunction) -> Conjunction:
    """The same where ranges of one column are one: those that lie in all of them."""
    ranges: dict[int, list[Test]] = {}
    for test in asks:
        if test.kind == kernel.RANGE and not test.is_equality:
            ranges.setdefault(test.column, []).append(test)
    found = [test for test in asks if test.kind != kernel.RANGE or test.is_equality]
    for column, tests in ranges.items():
        signs = " ".join(test.sign for test in tests)
        constants = tuple(one for test in tests for one in test.constants)
        found.append(Test(kernel.RANGE, column, sign=signs, constants=constants, of=tests[0].of))
    return tuple(found)


def bounds(test: Test, values: Values, columns: Columns) -> Sequence[Any]:
    """The constants of a test for each of some queries: pairs of bounds, or the bits of numbers."""
    if test.kind == kernel.RANGE:
        assert test.of is not None
        pairs = [
            intervals(test.of, sign, values.of(constant), columns.texts)
            for sign, constant in zip(test.sign.split(), test.constants, strict=True)
        ]
        if len(pairs) == 1:
            return pairs[0]
        lows, highs = zip(*pairs, strict=True)
        if values.count == 1:
            return max(lows), min(highs)
        return np.maximum.reduce(lows), np.minimum.reduce(highs)
    if test.kind == kernel.LASTS:
        return _durations(test.sign, values.of(test.constants[0]))
    return [_numbers(values.of(one)).view(np.int64) for one in test.constants]


def _numbers(values: Any) -> Any:
    if not isinstance(values, np.ndarray):
        if any(isinstance(one, bool) or not isinstance(one, int | float | None) for one in values):
            raise UnsuitableError("a number is computed with something else")
        if any(isinstance(one, int) and abs(one) > EXACT for one in values):
            raise UnsuitableError("a number that no double holds")
        values = np.array([np.nan if one is None else float(one) for one in values])
    if values.dtype.kind == "i" and np.any(np.abs(values) > EXACT):
        raise UnsuitableError("a number that no double holds")
    return values.astype(np.float64)


def _lasts(sign: str, constant: Constant) -> Test:
    if sign not in SIGNS or constant.type.kind is not Kind.INTEGER:
        raise UnsuitableError("a duration that is compared with no number of ticks")
    return Test(kernel.LASTS, 0, sign=sign, constants=(constant,))


def _durations(sign: str, values: Any) -> tuple[Any, Any]:
    if len(values) == 1:
        (value,) = values.tolist() if isinstance(values, np.ndarray) else values
        return NOTHING if value is None else of_code(sign, min(max(value, -LONGEST), LONGEST))
    if not isinstance(values, np.ndarray):  # with nulls, of which nothing is true
        absent = np.array([one is None for one in values])
        low, high = _durations(sign, np.array([one or 0 for one in values], np.int64))
        return np.where(absent, MOST, low), np.where(absent, LEAST, high)
    clipped = np.clip(values, -LONGEST, LONGEST)
    least, most = np.full(len(values), LEAST), np.full(len(values), MOST)
    return {
        "=": (clipped, clipped),
        "<": (least, clipped - 1),
        "<=": (least, clipped),
        ">": (clipped + 1, most),
        ">=": (clipped, most),
    }[sign]


def _is_held(value: Expression) -> bool:
    """Whether a value is one of an event that is held; also if it computes with it."""
    return any(getattr(node, "element", None) is not Element.CURRENT for node in references(value))


def _options(condition: Expression) -> list[Expression]:
    """The literals of which one must hold, if a condition is but that."""
    clauses = conjunctive_normal_form(condition)
    return list(clauses[0]) if len(clauses) == 1 else []
