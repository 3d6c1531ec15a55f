"""Comparisons as source: by value, whatever the types of the numbers and the units of the times.

Two integers, two floats, two texts are compared as they are.  In between, helpers of the kernels find the order of
two values without bringing them to one type, in which one of them might not fit.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ouzel.logical.expressions import Apply, Attribute, Constant, Expression
from ouzel.logical.functions import Stretch
from ouzel.logical.values import INTEGER, STRING, Kind
from ouzel.physical.compiled.forms import LEAST, MOST, are_narrow, is_exact, is_text
from ouzel.physical.compiled.sources import Limb, is_register
from ouzel.physical.compiled.value import Value

if TYPE_CHECKING:
    from ouzel.physical.compiled.emit import Emitter, Rows

SIGNS = {"=": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
# What the order of two values, -1, 0 or 1, says of a comparison; 2 says that they have none.
_BY_ORDER = {"=": "{0} == 0", "!=": "{0} != 0", "<": "{0} == -1", "<=": "{0} <= 0", ">": "{0} == 1"}
_BY_ORDER[">="] = "{0} == 0 or {0} == 1"

_EXACT_FLOAT = 2**53


def comparison(
    emitter: Emitter, name: str, left: Expression, right: Expression, rows: Rows, known: Value | None = None
) -> Value:
    """Write a comparison; `known` is the value of the left side, if that is written already."""
    if is_exact(left, right):
        return _exact(emitter, name, left, right, rows)
    (one, first), (other, second) = _unstretched(left), _unstretched(right)

    def value(expression: Expression, held: Value | None = None) -> Value:
        return held if held is not None else emitter.value(expression, rows)

    beyond = _beyond(one) or -_beyond(other)
    if beyond:
        return _fixed(emitter, name, beyond, value(other if _beyond(one) else one))
    values = value(one, known), value(other)
    if first != second:
        return _scaled(emitter, name, values, (first, second))
    kinds = {found.kind for found in values}
    if kinds == {Kind.INTEGER, Kind.FLOAT} and not any(found.null == "True" for found in values):
        return _mixed(emitter, name, (one, other), values)
    text = f"{values[0].text} {SIGNS[name]} {values[1].text}"
    if name in _MIRRORED and is_text(one.type, other.type):
        text = emitter.precedes(values[0].text, name, values[1].text, STRING)
    return emitter.assigned(text, emitter.null_of(values), Kind.BOOLEAN)


def _unstretched(expression: Expression) -> tuple[Expression, int]:
    """What is compared in a finer unit, and how many of these it counts."""
    if isinstance(expression, Apply) and isinstance(expression.function, Stretch):
        return expression.arguments[0], expression.function.factor
    return expression, 1


def _beyond(expression: Expression) -> int:
    """The sign of a whole constant that no integer of 64 bits reaches; 0 for everything else."""
    if not isinstance(expression, Constant) or not isinstance(expression.value, int):
        return 0
    return (expression.value > MOST) - (expression.value < LEAST)


def _fixed(emitter: Emitter, name: str, order: int, *values: Value) -> Value:
    """A comparison whose result is known, unless a value is null."""
    holds = {"=": False, "!=": True, "<": order < 0, "<=": order < 0, ">": order > 0, ">=": order > 0}[name]
    return Value(str(holds), emitter.null_of(values), Kind.BOOLEAN)


def _ordered(emitter: Emitter, name: str, call: str, values: tuple[Value, Value], *, swapped: bool) -> Value:
    order = emitter.assigned(call, None, Kind.INTEGER).text
    name = _MIRRORED.get(name, name) if swapped else name
    return emitter.assigned(_BY_ORDER[name].format(order), emitter.null_of(values), Kind.BOOLEAN)


def _scaled(emitter: Emitter, name: str, values: tuple[Value, Value], factors: tuple[int, int]) -> Value:
    """Two integers that count different units, one of them a multiple of the other."""
    swapped = factors[0] < factors[1]
    coarse, fine = values[::-1] if swapped else values
    factor = emitter.operands.constant(max(factors) // min(factors))
    return _ordered(emitter, name, f"order_scaled({coarse.text}, {factor}, {fine.text})", values, swapped=swapped)


def _mixed(
    emitter: Emitter, name: str, sides: tuple[Expression, Expression], values: tuple[Value, Value]
) -> Value:
    """An integer beside a float."""
    swapped = values[0].kind is Kind.FLOAT
    whole, real = values[::-1] if swapped else values
    side = sides[swapped]
    if isinstance(side, Constant) and abs(side.value) <= _EXACT_FLOAT:
        texts = [f"float({found.text})" if found is whole else found.text for found in values]
        return emitter.assigned(f" {SIGNS[name]} ".join(texts), emitter.null_of(values), Kind.BOOLEAN)
    return _ordered(emitter, name, f"order_mixed({whole.text}, {real.text})", values, swapped=swapped)


# ---- decimals and unsigned integers ----------------------------------------------------------------------


def _exact(emitter: Emitter, name: str, left: Expression, right: Expression, rows: Rows) -> Value:
    """Integers and decimals, as integers of one scale: of 64 bits, or of 128 where they may need more."""
    scale = max(left.type.scale, right.type.scale, 0)
    if are_narrow(left, right):
        return _narrow(emitter, name, _at_scale(left, scale), _at_scale(right, scale), rows)
    (high, low), (other_high, other_low) = (_halves(emitter, side, scale, rows) for side in (left, right))
    null = emitter.null_of((high, other_high))
    if name in ("=", "!="):
        same = f"{high.text} == {other_high.text} and {low.text} == {other_low.text}"
        return emitter.assigned(same if name == "=" else f"not ({same})", null, Kind.BOOLEAN)
    text = (
        f"{high.text} {name[0]} {other_high.text} or "
        f"({high.text} == {other_high.text} and {low.text} {name} {other_low.text})"
    )
    return emitter.assigned(text, null, Kind.BOOLEAN)


def _at_scale(side: Expression, scale: int) -> tuple[Expression, int]:
    """What is compared, and how many units of the scale it counts; a constant counts them singly."""
    if not isinstance(side, Constant):
        return side, 10 ** (scale - side.type.scale)
    return Constant(int(Fraction(side.value) * 10**scale), INTEGER, side.span), 1


def _narrow(
    emitter: Emitter, name: str, left: tuple[Expression, int], right: tuple[Expression, int], rows: Rows
) -> Value:
    (one, first), (other, second) = left, right
    if isinstance(other, Constant) and first > second:
        return _against_whole(emitter, name, one, divmod(other.value, first), rows)
    if isinstance(one, Constant) and second > first:
        return _against_whole(emitter, _MIRRORED.get(name, name), other, divmod(one.value, second), rows)
    if first == second:
        beyond = _beyond(one) or -_beyond(other)
        if beyond:
            return _fixed(emitter, name, beyond, _number(emitter, other if _beyond(one) else one, rows))
        values = _number(emitter, one, rows), _number(emitter, other, rows)
        text = f"{values[0].text} {SIGNS[name]} {values[1].text}"
        return emitter.assigned(text, emitter.null_of(values), Kind.BOOLEAN)
    return _scaled(emitter, name, (_number(emitter, one, rows), _number(emitter, other, rows)), (first, second))


def _against_whole(emitter: Emitter, name: str, side: Expression, limit: tuple[int, int], rows: Rows) -> Value:
    """A comparison with a constant between two integers, or on one: with the one below, or the next."""
    below, rest = limit
    if rest and name in ("=", "!="):
        return Value(str(name == "!="), emitter.null_of((_number(emitter, side, rows),)), Kind.BOOLEAN)
    above = below + 1 if rest and name in ("<", ">=") else below
    return _narrow(emitter, name, (side, 1), (Constant(above, INTEGER, side.span), 1), rows)


def _number(emitter: Emitter, side: Expression, rows: Rows) -> Value:
    """An integer, or a decimal as the integer that counts its last digits."""
    if isinstance(side, Attribute) and side.type.kind is Kind.DECIMAL:
        return rows.cell(side, side.column, side.type, emitter)
    return emitter.value(side, rows)


def _halves(emitter: Emitter, side: Expression, scale: int, rows: Rows) -> tuple[Value, Value]:
    """The high and the low half of a number of 128 bits, which compare as pairs."""
    if isinstance(side, Constant):
        whole = int(Fraction(side.value) * 10**scale)
        halves = whole >> 64, (whole & (2**64 - 1)) - 2**63
        high, low = (Value(emitter.operands.constant(half), None, Kind.INTEGER) for half in halves)
        return high, low
    assert isinstance(side, Attribute)
    if is_register(side):
        held = rows.cell(side, side.column, side.type, emitter)
        above = "0" if side.type.kind is Kind.UNSIGNED else f"{held.text} >> 63"
        low = emitter.assigned(f"{held.text} ^ {emitter.operands.constant(LEAST)}", held.null, Kind.INTEGER)
        return emitter.assigned(above, held.null, Kind.INTEGER), low
    factor = 10 ** (scale - side.type.scale)
    parts = (Limb(side.column, factor, is_low) for is_low in (False, True))
    high, low = (rows.cell(side, part, INTEGER, emitter) for part in parts)
    return high, low
