"""How an expression gets into a kernel: written out, as a column computed before, or called.

Every expression has one of these forms, but for numbers that a kernel does not hold (wide decimals, unsigned
integers): what is made of those has one again.  So no expression is a reason for another engine.
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

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
from ouzel.logical.functions import BUILT_IN, TO_FLOAT, TO_SIGNED, Rescale, Stretch
from ouzel.logical.values import Kind, ValueType
from ouzel.physical.compiled.sources import is_register


class Form(Enum):
    """How a kernel has a value."""

    WRITTEN = "computed in the kernel"
    COLUMN = "computed for whole columns before"
    CALLED = "computed by Python, called from the kernel"
    NONE = "not as a number"


COMPARED = ("=", "!=", "<", "<=", ">", ">=")
_ORDERED = ("<", "<=", ">", ">=", "least", "greatest")
_EQUAL = ("=", "!=", "in")
_CHOSEN = ("case", "coalesce")
_WIDE = (Kind.DECIMAL, Kind.UNSIGNED, Kind.OTHER)
_OF_TEXT = ("like", "rlike", "lower", "upper", "substring")
# Decimals of so many digits are integers of 64 bits, and of 128.
NARROW_DIGITS, WIDE_DIGITS = 18, 38
INTEGER_DIGITS = 20
LEAST, MOST = -(2**63), 2**63 - 1


def form_of(expression: Expression) -> Form:
    """The form of an expression; one without variables is a constant."""
    match expression:
        case Constant(value):
            fits = not isinstance(value, int) or LEAST <= value <= MOST
            plain = value is None or isinstance(value, bool | int | float | str)
            return Form.WRITTEN if plain and fits else Form.NONE
        case Attribute() | Aggregate():
            return Form.NONE if expression.type.kind in _WIDE else Form.WRITTEN
        case Moment() | Length():
            return Form.WRITTEN
        case Apply():
            if _is_written(expression):
                return Form.WRITTEN
            if expression.type.kind in _WIDE:
                return Form.NONE
            return Form.COLUMN if reads_one_event(expression) else Form.CALLED
    return Form.NONE


def reads_one_event(expression: Expression) -> bool:
    """Whether all that an expression reads is of one event."""
    nodes = list(references(expression))
    events = {(node.variable, node.element) for node in nodes if isinstance(node, Attribute | Moment)}
    return len(events) == 1 and all(
        isinstance(node, Attribute | Moment) and not is_register(node) for node in nodes
    )


def is_text(*types: ValueType) -> bool:
    """Whether there is a text among some values."""
    return any(value_type.kind is Kind.STRING for value_type in types)


def _is_written(expression: Apply) -> bool:
    """Whether a kernel computes a function of values that it has."""
    function, arguments, name = expression.function, expression.arguments, expression.function.name
    if name == "is null":
        (argument,) = arguments
        return not isinstance(argument, Apply) or form_of(argument) is not Form.NONE
    if not list(references(expression)):
        # it will be a constant
        return expression.type.kind not in _WIDE
    if function in (TO_FLOAT, TO_SIGNED) and isinstance(arguments[0], Attribute):
        # of a decimal the nearest double is no quotient of doubles: a column is converted as a whole
        return not (is_register(arguments[0]) and arguments[0].type.kind is Kind.DECIMAL)
    if isinstance(function, Rescale | Stretch):
        return form_of(arguments[0]) is not Form.NONE
    if function.arrays is not None or function.original is not None or expression.type.kind in _WIDE:
        return False
    if name in _OF_TEXT or (name not in BUILT_IN and function not in (TO_FLOAT, TO_SIGNED)):
        return False
    if is_text(expression.type, *(argument.type for argument in arguments)):
        return _is_text_written(expression)
    if name in COMPARED:
        return _is_comparable(arguments[0], arguments[1])
    if name == "in":
        return all(_is_comparable(arguments[0], one) for one in arguments[1:]) and _is_number(arguments[0])
    return all(map(_is_number, arguments))


def _is_text_written(expression: Apply) -> bool:
    """Texts are compared and chosen by number; what else depends on one event alone is a column."""
    name, arguments = expression.function.name, expression.arguments
    if not all(map(_is_number, arguments)):
        return False
    if name in _EQUAL and all(isinstance(one, Attribute | Constant) for one in arguments):
        return True
    if reads_one_event(expression):
        return False
    # the order of texts is that of those which are known before the kernel runs
    return name in _EQUAL + _CHOSEN or (name in _ORDERED and all(map(_is_known, arguments)))


def _is_known(expression: Expression) -> bool:
    """Whether a text is one of an event, or of the query: not one that a call makes."""
    if isinstance(expression, Apply) and form_of(expression) is Form.WRITTEN:
        return all(map(_is_known, expression.arguments))
    return form_of(expression) is not Form.CALLED


def _is_number(expression: Expression) -> bool:
    return form_of(expression) is not Form.NONE


# ---- registers -------------------------------------------------------------------------------------------


def is_held(expression: Expression, register: ValueType) -> bool:
    """Whether a register of a type can hold a value: a number, or an integer of 64 bits that stands for it."""
    if register.kind not in (Kind.DECIMAL, Kind.UNSIGNED):
        return form_of(expression) is not Form.NONE
    if expression.type.kind is Kind.NULL:
        return True
    if register.kind is Kind.DECIMAL and not (register.digits <= NARROW_DIGITS and register.scale >= 0):
        return False
    if expression.type != register:
        return False
    return isinstance(expression, Attribute) or (isinstance(expression, Apply) and _is_choice(expression))


def _is_choice(expression: Apply) -> bool:
    """Whether it is one of some unsigned integers, which a kernel can tell."""
    name, arguments = expression.function.name, list(expression.arguments)
    if expression.function is not BUILT_IN.get(name) or name not in (*_CHOSEN, "least", "greatest"):
        return False
    conditions = arguments[:-1:2] if name == "case" else []
    chosen = [*arguments[1:-1:2], arguments[-1]] if name == "case" else arguments
    return all(map(_is_number, conditions)) and all(is_held(one, expression.type) for one in chosen)


# ---- comparisons -----------------------------------------------------------------------------------------


def is_exact(left: Expression, right: Expression) -> bool:
    """Whether two numbers are to be compared as decimals or unsigned integers."""
    kinds = (left.type.kind, right.type.kind)
    exact = any(kind in (Kind.DECIMAL, Kind.UNSIGNED) for kind in kinds)
    return exact and left.type.is_number and right.type.is_number


def is_narrow(side: Expression) -> bool:
    """Whether a number is an integer of 64 bits in units of its scale."""
    if side.type.kind is Kind.DECIMAL:
        return isinstance(side, Constant) or (isinstance(side, Attribute) and side.type.digits <= NARROW_DIGITS)
    return side.type.kind is Kind.INTEGER and (isinstance(side, Constant) or _is_number(side))


def are_narrow(left: Expression, right: Expression) -> bool:
    """Whether two numbers are such integers, and the smaller unit divides the larger one not too often."""
    if not is_narrow(left) or not is_narrow(right):
        return False
    is_fixed = isinstance(left, Constant) or isinstance(right, Constant)
    return is_fixed or 10 ** abs(left.type.scale - right.type.scale) <= MOST


def _is_comparable(left: Expression, right: Expression) -> bool:
    if not is_exact(left, right):
        return all(_is_number(side) or _is_whole_constant(side) for side in (left, right))
    if Kind.FLOAT in (left.type.kind, right.type.kind):
        return False
    scale = max(left.type.scale, right.type.scale, 0)
    return are_narrow(left, right) or all(_has_halves(side, scale) for side in (left, right))


def _is_whole_constant(side: Expression) -> bool:
    return isinstance(side, Constant) and isinstance(side.value, int)


def _has_halves(side: Expression, scale: int) -> bool:
    """Whether a number fits into 128 bits at a scale, and is a column, a constant, or at that scale in a run."""
    if isinstance(side, Constant):
        return side.value is not None and abs(Fraction(side.value)) * 10**scale < 2**127
    if is_register(side):
        return side.type.scale == scale
    digits = side.type.digits if side.type.kind is Kind.DECIMAL else INTEGER_DIGITS
    return isinstance(side, Attribute) and digits + scale - side.type.scale <= WIDE_DIGITS
