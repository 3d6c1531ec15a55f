"""Bringing two or more arguments to one type: numbers, units of time, and constants written as text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from fractions import Fraction
from functools import reduce

from ouzel.errors import Span
from ouzel.language.durations import NANOSECONDS, in_ticks
from ouzel.language.tree import Duration
from ouzel.logical.expressions import Apply, Constant, Expression
from ouzel.logical.functions import TO_FLOAT, TO_SIGNED, Function, rescale, stretch
from ouzel.logical.type_rules import TypeClash
from ouzel.logical.values import FLOAT, INTEGER, Kind, ValueType, decimal_of, finer
from ouzel.logical.zones import zone_of

_TIMES = (Kind.TIMESTAMP, Kind.DURATION, Kind.TIME)
_COUNTED = (Kind.INTEGER, Kind.UNSIGNED, Kind.DECIMAL)


def unify(arguments: list[Expression], tick: str) -> list[Expression]:
    """Bring arguments to one type where that loses nothing; `tick` is the time column's unit.

    Decimals become doubles.  What cannot be unified is left as it is: the function's own type rule then says what
    is wrong.
    """
    arguments = [as_number(argument) for argument in _settled(arguments, tick)]
    if _have_floats(arguments):
        return [to_float(argument) for argument in arguments]
    finest = _finest(arguments)
    return [to_unit(argument, finest) for argument in arguments] if finest else arguments


def unify_chosen(arguments: list[Expression], tick: str) -> list[Expression]:
    """Bring arguments to one type of which one is chosen: unsigned integers stay beside integers."""
    settled = _settled(arguments, tick)
    if {argument.type.kind for argument in settled} <= {Kind.UNSIGNED, Kind.INTEGER, Kind.NULL}:
        return settled
    return unify(arguments, tick)


def unify_compared(arguments: list[Expression], tick: str) -> list[Expression]:
    """Bring arguments to types that can be compared by value: numbers may differ, units of time may not.

    Beside an integer or a decimal a constant is as exact as it was written.  Beside a column of doubles,
    decimals are rounded to doubles, as in SQL: 7.1 is no double.
    """
    arguments = _settled(arguments, tick)
    finest = _finest(arguments)
    if finest:
        return [to_unit(argument, finest, stretch) for argument in arguments]
    if not _have_floats(arguments):
        return arguments
    if not any(argument.type.kind is Kind.FLOAT and not isinstance(argument, Constant) for argument in arguments):
        arguments = [_exact(argument) for argument in arguments] if _has_counted(arguments) else arguments
    if _have_floats(arguments):
        return [to_float(a) if a.type.kind is Kind.DECIMAL else a for a in arguments]
    return arguments


def as_number(argument: Expression) -> Expression:
    """A decimal as a double, an unsigned integer as one with a sign; anything else as it is."""
    if argument.type.kind is Kind.DECIMAL:
        return to_float(argument)
    if argument.type.kind is Kind.UNSIGNED:
        return Apply(TO_SIGNED, (argument,), INTEGER, argument.span)
    return argument


def to_float(argument: Expression) -> Expression:
    """An integer or decimal as a double; anything else as it is."""
    if argument.type.kind not in _COUNTED:
        return argument
    if isinstance(argument, Constant):
        return Constant(float(argument.value), FLOAT, argument.span, argument.exact, argument.parameter)
    return Apply(TO_FLOAT, (argument,), FLOAT, argument.span)


def _have_floats(arguments: list[Expression]) -> bool:
    return Kind.FLOAT in [argument.type.kind for argument in arguments]


def _has_counted(arguments: list[Expression]) -> bool:
    return any(argument.type.kind in _COUNTED and not isinstance(argument, Constant) for argument in arguments)


def _exact(argument: Expression) -> Expression:
    """A constant as a decimal; 7.1 means seven and a tenth, as written, where a double is a little more."""
    if not isinstance(argument, Constant) or argument.type.kind is not Kind.FLOAT:
        return argument
    if not math.isfinite(argument.value):
        return argument
    value = argument.exact if argument.exact is not None else Decimal(repr(argument.value))
    return replace(decimal_constant(value, argument.span), parameter=argument.parameter)


def decimal_constant(value: Decimal, span: Span) -> Constant:
    """A decimal as a constant of its type: an integer, if it is whole."""
    ratio = Fraction(value)
    if ratio.denominator == 1 and -(2**63) <= ratio.numerator < 2**63:
        return Constant(ratio.numerator, INTEGER, span)
    _sign, digits, exponent = value.as_tuple()
    scale = max(-exponent, 0) if isinstance(exponent, int) else 0
    return Constant(value, decimal_of(max(len(digits), value.adjusted() + 1 + scale, 1), scale), span)


def _finest(arguments: list[Expression]) -> str | None:
    """The finest of several units of time, None where there are not several."""
    units = {one.type.unit for one in arguments if one.type.unit is not None and one.type.kind in _TIMES}
    return reduce(finer, units) if len(units) > 1 else None


def to_unit(argument: Expression, unit: str, convert: Callable[[int], Function] = rescale) -> Expression:
    """A time in a finer unit."""
    held = argument.type.unit
    if argument.type.kind not in _TIMES or held is None or held == unit:
        return argument
    factor = NANOSECONDS[held] // NANOSECONDS[unit]
    value_type = replace(argument.type, unit=unit)
    if isinstance(argument, Constant):
        return Constant(argument.value * factor, value_type, argument.span)
    return Apply(convert(factor), (argument,), value_type, argument.span)


def _settled(arguments: list[Expression], tick: str) -> list[Expression]:
    """The arguments with constants read in the light of what they stand beside."""
    if not any(map(_is_read, arguments)):
        return arguments
    kinds = [argument.type for argument in arguments if not _is_duration(argument)]
    time = next((one for one in kinds if one.kind in _TIMES), None)
    number = any(one.is_number for one in kinds)
    return [_constant_beside(argument, time, number, tick) for argument in arguments]


def _is_read(argument: Expression) -> bool:
    """Whether what an argument means depends on what it stands beside."""
    return isinstance(argument, Constant) and isinstance(argument.value, str | Duration)


def _is_duration(argument: Expression) -> bool:
    """Whether an argument is a length of time as written, which has no unit of its own yet."""
    return isinstance(argument, Constant) and isinstance(argument.value, Duration)


def _constant_beside(argument: Expression, time: ValueType | None, number: bool, tick: str) -> Expression:
    """Read a constant in the light of what it stands beside: a time, or a number."""
    if not isinstance(argument, Constant):
        return argument
    if isinstance(argument.value, str) and time is not None and time.kind is not Kind.DURATION:
        return _timestamp(argument, time) if time.kind is Kind.TIMESTAMP else _time_of_day(argument)
    if isinstance(argument.value, Duration):
        unit = time.unit if time is not None else None
        return _ticks(argument, tick) if number and time is None else _duration(argument, unit or "ns")
    return argument


def _duration(argument: Constant, unit: str) -> Constant:
    """A length of time as a whole number of nanoseconds, or of the column's unit if it is given in that."""
    written: Duration = argument.value
    if written.unit is None:
        return Constant(_whole(argument, written.amount), ValueType(Kind.DURATION, unit), argument.span)
    nanoseconds = in_ticks(written.amount, written.unit, "ns")
    if (nanoseconds / NANOSECONDS[unit]).denominator == 1:
        return Constant(int(nanoseconds / NANOSECONDS[unit]), ValueType(Kind.DURATION, unit), argument.span)
    return Constant(_whole(argument, nanoseconds), ValueType(Kind.DURATION, "ns"), argument.span)


def _ticks(argument: Constant, tick: str) -> Constant:
    """A length of time beside a number: in ticks of the integer time column."""
    written: Duration = argument.value
    amount = in_ticks(written.amount, written.unit, tick)
    if amount.denominator == 1:
        return Constant(int(amount), INTEGER, argument.span)
    return Constant(float(amount), FLOAT, argument.span)


def _whole(argument: Constant, amount: object) -> int:
    value = float(amount)  # type: ignore[arg-type]
    if not math.isfinite(value) or value != int(value):
        raise TypeClash(f"a whole number of time units; got {argument.value.amount}")
    return int(value)


def _timestamp(argument: Constant, like: ValueType) -> Constant:
    """A string beside a timestamp is one, in ISO 8601."""
    text = argument.value.strip()
    whole, below = _fraction(text)
    try:
        moment = datetime.fromisoformat(whole)
    except ValueError:
        raise TypeClash(f"a time such as '2026-01-31 12:00:00'; got '{text}'") from None
    if (moment.tzinfo is not None) and like.zone is None:
        raise TypeClash(f"a time without a zone, as the column has none; got '{text}'")
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=_zone(like.zone))
    seconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    if like.unit == "d" and moment.time() == datetime.min.time() and not below:
        days = (date.fromisoformat(text[:10]) - date(1970, 1, 1)).days
        return Constant(days, ValueType(Kind.TIMESTAMP, "d"), argument.span)
    # nanoseconds only where they are needed: they count no further than to the year 2262
    unit = finer(like.unit or "ns", "ns" if below % 1000 else "us")
    ticks = (seconds * 10**9 + below) // NANOSECONDS[unit]
    return Constant(ticks, ValueType(Kind.TIMESTAMP, unit, like.zone), argument.span)


def _time_of_day(argument: Constant) -> Constant:
    """A string beside a time of day is one."""
    text = argument.value.strip()
    whole, below = _fraction(text)
    try:
        moment = time.fromisoformat(whole)
    except ValueError:
        raise TypeClash(f"a time of day such as '12:00:00'; got '{text}'") from None
    seconds = (moment.hour * 60 + moment.minute) * 60 + moment.second
    return Constant(seconds * 10**9 + below, ValueType(Kind.TIME, "ns"), argument.span)


def _fraction(text: str) -> tuple[str, int]:
    """A time without the fraction of its second, and that in nanoseconds: Python reads microseconds only."""
    found = re.search(r"[.,](\d+)", text)
    if found is None:
        return text, 0
    digits = found[1].rstrip("0")
    if len(digits) > 9:
        raise TypeClash(f"a time with at most nine digits behind the second; got '{text}'")
    return text[: found.start()] + text[found.end() :], int(digits.ljust(9, "0"))


def _zone(name: str | None) -> tzinfo:
    found = UTC if name is None else zone_of(name)
    if found is None:
        raise TypeClash(f"a time of a known zone; the column's is '{name}'")
    return found
