"""Units of time: how they are spelled and how long they last."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from fractions import Fraction
from math import floor
from numbers import Integral

from ouzel.errors import OuzelError

NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "min": 60 * 10**9,
    "h": 3_600 * 10**9,
    "d": 86_400 * 10**9,
    "w": 7 * 86_400 * 10**9,
}

_SPELLINGS = {
    "ns": ("ns", "nanosecond", "nanoseconds"),
    "us": ("us", "microsecond", "microseconds"),
    "ms": ("ms", "millis", "millisecond", "milliseconds"),
    "s": ("s", "sec", "secs", "second", "seconds"),
    "min": ("min", "mins", "minute", "minutes"),
    "h": ("h", "hr", "hrs", "hour", "hours"),
    "d": ("d", "day", "days"),
    "w": ("w", "week", "weeks"),
}

# "units" are the time column's own (ZStream's `WITHIN 200 units`): no canonical unit stands for them.
CANONICAL: dict[str, str | None] = {
    spelling: unit for unit, spellings in _SPELLINGS.items() for spelling in spellings
} | {"unit": None, "units": None}


_NO_LENGTH = "months and years differ in length: write days, for example 30 days"
# What looks like a unit of time and is none, and what to write.
NO_UNITS = {
    "m": "for minutes write min; months and years differ in length",
    **dict.fromkeys(("mon", "month", "months", "quarter", "quarters", "y", "yr", "year", "years"), _NO_LENGTH),
}

_LENGTH = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)")


def read_length(text: str) -> tuple[Fraction, str | None] | None:
    """A length of time as text, in one unit; None if it is none, or in units of two kinds.

    >>> read_length("1 hour 30 minutes"), read_length("5 units"), read_length("soon")
    ((Fraction(5400000000000, 1), 'ns'), (Fraction(5, 1), None), None)
    """
    parts = _LENGTH.findall(text)
    units = [CANONICAL.get(unit.lower(), "?") for _amount, unit in parts]
    if not parts or "?" in units or _LENGTH.sub("", text).strip():
        return None
    if units == [None]:
        return Fraction(parts[0][0]), None
    if None in units:
        return None
    amounts = [Fraction(amount) for amount, _unit in parts]
    return sum(map(in_ticks, amounts, units, ["ns"] * len(units)), Fraction(0)), "ns"


def in_ticks(amount: Fraction, unit: str | None, tick: str) -> Fraction:
    """Convert a length of time to ticks of a time column.

    >>> in_ticks(Fraction(12), "h", "ms")
    Fraction(43200000, 1)
    >>> in_ticks(Fraction(5), None, "ms")
    Fraction(5, 1)
    """
    return amount if unit is None else amount * NANOSECONDS[unit] / NANOSECONDS[tick]


def length_in_ticks(
    length: int | timedelta | str, tick: str, name: str, whole: Callable[[Fraction], int] = floor
) -> int:
    """A length of time that a caller gave, in ticks: a number of them, a timedelta, or a text.

    A tick that is begun does not count, unless `whole` says so: what is at most 1.5 seconds is at most one second,
    but what is less than that may be one.

    >>> length_in_ticks("10 minutes", "s", "watermark")
    600
    """
    if isinstance(length, timedelta) and length >= timedelta():
        microseconds = length // timedelta(microseconds=1)
        return whole(in_ticks(Fraction(microseconds), "us", tick))
    if isinstance(length, Integral) and not isinstance(length, bool) and length >= 0:
        return int(length)
    if isinstance(length, str) and (found := read_length(length)):
        return whole(in_ticks(*found, tick))
    raise OuzelError(f"{name}: required a length of time such as '10 minutes'; got {length!r}")
