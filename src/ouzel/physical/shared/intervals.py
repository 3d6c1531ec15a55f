"""Comparisons with constants as intervals of codes: the lowest and the highest, or an empty one for nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ouzel.logical.values import Kind
from ouzel.physical.compiled.texts import Texts
from ouzel.physical.contract import UnsuitableError
from ouzel.physical.shared.columns import OfAttribute, float_code, float_codes

LEAST, MOST = -(2**63), 2**63 - 1
NOTHING = MOST, LEAST
SIGNS = ("=", "<", "<=", ">", ">=")


def intervals(column: OfAttribute, sign: str, values: Sequence[Any] | Any, texts: Texts) -> tuple[Any, Any]:
    """The intervals of codes for which `column sign value` holds, for each of some values; of one, two numbers."""
    if len(values) == 1:
        (value,) = values.tolist() if isinstance(values, np.ndarray) else values
        return interval(column, sign, value, texts)
    quick = _quick(column, sign, values)
    if quick is not None:
        return quick
    pairs: dict[Any, tuple[int, int]] = {}
    low, high = np.empty(len(values), np.int64), np.empty(len(values), np.int64)
    listed = values.tolist() if isinstance(values, np.ndarray) else values
    for place, value in enumerate(listed):
        key = type(value), value
        if key not in pairs:
            pairs[key] = interval(column, sign, value, texts)
        low[place], high[place] = pairs[key]
    return low, high


def interval(column: OfAttribute, sign: str, value: Any, texts: Texts) -> tuple[int, int]:
    """The interval of one value."""
    if value is None:
        return NOTHING
    if column.kind is Kind.STRING:
        if not isinstance(value, str) or sign != "=":
            raise UnsuitableError(f"texts are compared by {sign}, which shared plans leave to others")
        number = texts.number(value)
        return number, number
    if column.kind is Kind.BOOLEAN:
        if not isinstance(value, bool):
            raise UnsuitableError("a boolean is compared with something else")
        return _of_integers(sign, Fraction(int(value)))
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction):
        raise UnsuitableError(f"a number is compared with a {type(value).__name__}")
    if isinstance(value, float) and math.isnan(value):
        return NOTHING
    if column.kind is Kind.INTEGER and type(value) is int and LEAST < value < MOST:
        return of_code(sign, value)
    if column.kind is Kind.FLOAT:
        # a decimal beside doubles is rounded to one
        return _of_floats(sign, float(value) if isinstance(value, Decimal) else value)
    if isinstance(value, float) and math.isinf(value):
        holds = (sign in ("<", "<=")) == (value > 0) and sign != "="
        return (LEAST, MOST) if holds else NOTHING
    exact = Fraction(value) if not isinstance(value, float) else Fraction(Decimal(repr(value)))
    return _of_integers(sign, exact * 10**column.scale)


def _of_integers(sign: str, value: Fraction) -> tuple[int, int]:
    floor, ceiling = math.floor(value), math.ceil(value)
    low, high = {
        "=": (floor, floor) if floor == ceiling else NOTHING,
        "<": (LEAST, ceiling - 1),
        "<=": (LEAST, floor),
        ">": (floor + 1, MOST),
        ">=": (ceiling, MOST),
    }[sign]
    if low > MOST or high < LEAST:
        return NOTHING
    return max(low, LEAST), min(high, MOST)


def _of_floats(sign: str, value: Any) -> tuple[int, int]:
    """The same for floats: those next to a number that is none itself."""
    if isinstance(value, float):
        return of_code(sign, float_code(value))
    exact = Fraction(value)
    try:
        nearest = float(exact)
    except OverflowError:
        nearest = math.copysign(math.inf, exact)
    below = above = nearest
    if math.isinf(nearest) or Fraction(nearest) != exact:
        is_above = nearest > exact if math.isinf(nearest) else Fraction(nearest) > exact
        below = math.nextafter(nearest, -math.inf) if is_above else nearest
        above = nearest if is_above else math.nextafter(nearest, math.inf)
    low, high = float_code(below), float_code(above)
    if low != high:
        # between two floats: it equals none
        return {"<": (LEAST, low), "<=": (LEAST, low), ">": (high, MOST), ">=": (high, MOST)}.get(sign, NOTHING)
    return of_code(sign, low)


def of_code(sign: str, code: int) -> tuple[int, int]:
    """The interval of a code that has others on both sides."""
    if sign == "=":
        return code, code
    if sign in ("<", "<="):
        return LEAST, code if sign == "<=" else code - 1
    return code if sign == ">=" else code + 1, MOST


def _quick(column: OfAttribute, sign: str, values: Any) -> tuple[Any, Any] | None:
    """The same for many numbers of the column's own kind at once."""
    if not isinstance(values, np.ndarray):
        return None
    if column.kind is Kind.FLOAT and values.dtype.kind == "f":
        codes = float_codes(values)
        absent = np.isnan(values)
    elif column.kind is Kind.INTEGER and values.dtype.kind == "i":
        codes, absent = values.astype(np.int64), None
        if sign in ("<", ">") and (np.any(codes == LEAST) or np.any(codes == MOST)):
            return None
    else:
        return None
    least, most = np.full(len(codes), LEAST), np.full(len(codes), MOST)
    low, high = {
        "=": (codes, codes),
        "<": (least, codes - 1),
        "<=": (least, codes),
        ">": (codes + 1, most),
        ">=": (codes, most),
    }[sign]
    if absent is not None and absent.any():
        low, high = np.where(absent, MOST, low), np.where(absent, LEAST, high)
    return low, high
