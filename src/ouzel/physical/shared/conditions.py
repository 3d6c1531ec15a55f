"""Conditions as tests that are data; an UnsuitableError says why one cannot be had so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ouzel.kernels import shared_tests as kernel
from ouzel.logical.conjuncts import conjunctive_normal_form
from ouzel.logical.expressions import Apply, Attribute, Constant, Element, Expression, references, walk
from ouzel.logical.functions import TO_FLOAT
from ouzel.logical.values import Kind
from ouzel.physical.automaton.lifetimes import is_duration
from ouzel.physical.automaton.substitution import is_static
from ouzel.physical.contract import UnsuitableError
from ouzel.physical.shared.columns import Columns, OfAttribute, OfCondition, attribute_source
from ouzel.physical.shared.intervals import SIGNS
from ouzel.physical.shared.questions import EXACT, Alternatives, Conjunction, Test

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
# A stack is no higher than that.
DEPTH = 16
_MOST_ALTERNATIVES = 16

Places = Mapping[str, int]
"""The places at which runs hold the events of variables."""


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
        if attribute.missing_in:
            raise UnsuitableError(f"some types lack '{attribute.name}'")
        if sign not in SIGNS:
            raise UnsuitableError(f"'{attribute.name}' is compared by {sign}, which is no range of values")
        of = attribute_source(attribute)
        if of.kind is Kind.STRING and sign != "=":
            raise UnsuitableError(f"'{attribute.name}' is compared by the order of texts")
        if constant.type.unit != of.unit:
            raise UnsuitableError(f"'{attribute.name}' is compared with another unit of time")
        if of.unit is not None and constant.parameter in self.parameters:
            raise UnsuitableError("times are parameters")
        return Test(kernel.RANGE, self.columns.number(of), sign=sign, constants=(constant,), of=of)

    def _compared(self, left: Attribute, sign: str, right: Attribute, places: Places) -> Test:
        if left.missing_in or right.missing_in:
            raise UnsuitableError(f"some types lack '{left.name if left.missing_in else right.name}'")
        mine, other = attribute_source(left), attribute_source(right)
        if (mine.kind, mine.scale, mine.unit) != (other.kind, other.scale, other.unit):
            return self._computed(left, sign, right, places)
        if mine.kind is Kind.STRING and sign not in ("=", "!="):
            raise UnsuitableError(f"'{left.name}' is compared by the order of texts")
        if mine.kind is Kind.FLOAT and sign == "!=":  # what is no number differs from all
            raise UnsuitableError(f"'{left.name}' is compared by !=, which NaN passes")
        numbers = self.columns.number(mine), self.columns.number(other)
        return Test(_KINDS[sign], numbers[0], places[right.variable], numbers[1], sign)

    # ---- arithmetic --------------------------------------------------------------------------------------

    def _computed(self, left: Expression, sign: str, right: Expression, places: Places) -> Test:
        if sign == "!=" or Kind.FLOAT not in (left.type.kind, right.type.kind):
            raise UnsuitableError(_why_not_computed(left, sign, right))
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


def _why_not_computed(left: Expression, sign: str, right: Expression) -> str:
    """Why a comparison is none of floats that are computed, and nothing simpler."""
    sides = left, right
    read = [node for side in sides for node in references(side) if isinstance(node, Attribute)]
    computed = [
        node for side in sides for node in walk(side) if isinstance(node, Apply) and node.function is not TO_FLOAT
    ]
    if not read:
        return "a comparison looks at no attribute"
    if not computed and any(isinstance(side, Constant) for side in sides):
        return f"'{read[0].name}' of an event before the last is compared with a constant"
    if not computed and all(map(_is_held, sides)):
        return "events before the last are compared with each other"
    # values of several types are brought to one
    if not computed or any(node.function.name not in _OPERATORS for node in computed):
        return "it computes what shared plans do not"
    return "arithmetic of integers" if sign != "!=" else "what is computed is compared by !="


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


def _lasts(sign: str, constant: Constant) -> Test:
    if sign not in SIGNS or constant.type.kind is not Kind.INTEGER:
        raise UnsuitableError("a duration that is compared with no number of ticks")
    return Test(kernel.LASTS, 0, sign=sign, constants=(constant,))


def _is_held(value: Expression) -> bool:
    """Whether a value is one of an event that is held; also if it computes with it."""
    return any(getattr(node, "element", None) is not Element.CURRENT for node in references(value))


def _options(condition: Expression) -> list[Expression]:
    """The literals of which one must hold, if a condition is but that."""
    clauses = conjunctive_normal_form(condition)
    return list(clauses[0]) if len(clauses) == 1 else []
