"""Bringing two or more arguments to one type: numbers, units of time, and constants written as text."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ouzel.language.durations import NANOSECONDS, in_ticks
from ouzel.language.tree import Duration
from ouzel.logical.expressions import Apply, Constant, Expression
from ouzel.logical.functions import TO_FLOAT, rescale
from ouzel.logical.type_rules import TypeClash
from ouzel.logical.values import FLOAT, INTEGER, Kind, ValueType, finer

_TIMES = (Kind.TIMESTAMP, Kind.DURATION)


def unify(arguments: list[Expression], tick: str) -> list[Expression]:
    """Bring arguments to one type where that loses nothing; `tick` is the time column's unit.

    What cannot be unified is left as it is: the function's own type rule then says what is wrong.
    """
    kinds = [argument.type for argument in arguments if not _is_duration(argument)]
    time = next((one for one in kinds if one.kind in _TIMES), None)
    number = any(one.is_number for one in kinds)
    arguments = [_constant_beside(argument, time, number, tick) for argument in arguments]
    types = [argument.type for argument in arguments]
    if any(value_type.kind is Kind.FLOAT for value_type in types):
        return [to_float(argument) for argument in arguments]
    units = [value_type.unit for value_type in types if value_type.kind in _TIMES and value_type.unit]
    if len(set(units)) > 1:
        finest = units[0]
        for unit in units:
            finest = finer(finest, unit)
        return [to_unit(argument, finest) for argument in arguments]
    return arguments


def to_float(argument: Expression) -> Expression:
    """An integer as a double; anything else as it is."""
    if argument.type.kind is not Kind.INTEGER:
        return argument
    if isinstance(argument, Constant):
        return Constant(float(argument.value), FLOAT, argument.span)
    return Apply(TO_FLOAT, (argument,), FLOAT, argument.span)


def to_unit(argument: Expression, unit: str) -> Expression:
    """A time in a finer unit."""
    held = argument.type.unit
    if argument.type.kind not in _TIMES or held is None or held == unit:
        return argument
    factor = NANOSECONDS[held] // NANOSECONDS[unit]
    value_type = replace(argument.type, unit=unit)
    if isinstance(argument, Constant):
        return Constant(argument.value * factor, value_type, argument.span)
    return Apply(rescale(factor), (argument,), value_type, argument.span)


def _is_duration(argument: Expression) -> bool:
    """Whether an argument is a length of time as written, which has no unit of its own yet."""
    return isinstance(argument, Constant) and isinstance(argument.value, Duration)


def _constant_beside(argument: Expression, time: ValueType | None, number: bool, tick: str) -> Expression:
    """Read a constant in the light of what it stands beside: a time, or a number."""
    if not isinstance(argument, Constant):
        return argument
    if isinstance(argument.value, str) and time is not None and time.kind is Kind.TIMESTAMP:
        return _timestamp(argument, time)
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
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise TypeClash(f"a time such as '2026-01-31 12:00:00'; got '{text}'") from None
    if (moment.tzinfo is not None) and like.zone is None:
        raise TypeClash(f"a time without a zone, as the column has none; got '{text}'")
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=_zone(like.zone))
    nanoseconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000
    if like.unit == "d" and moment.time() == datetime.min.time():
        days = (date.fromisoformat(text[:10]) - date(1970, 1, 1)).days
        return Constant(days, ValueType(Kind.TIMESTAMP, "d"), argument.span)
    unit = finer(like.unit or "ns", "us")
    return Constant(nanoseconds // NANOSECONDS[unit], ValueType(Kind.TIMESTAMP, unit, like.zone), argument.span)


def _zone(name: str | None) -> tzinfo:
    """Arrow names a zone by its database name or by its offset (+02:00)."""
    if name is None:
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        pass
    try:
        return datetime.strptime(name, "%z").tzinfo or UTC
    except ValueError:
        raise TypeClash(f"a time of a known zone; the column's is '{name}'") from None
