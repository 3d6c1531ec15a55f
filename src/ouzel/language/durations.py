"""Units of time: how they are spelled and how long they last."""

from __future__ import annotations

from fractions import Fraction

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


def in_ticks(amount: Fraction, unit: str | None, tick: str) -> Fraction:
    """Convert a length of time to ticks of a time column.

    >>> in_ticks(Fraction(12), "h", "ms")
    Fraction(43200000, 1)
    >>> in_ticks(Fraction(5), None, "ms")
    Fraction(5, 1)
    """
    return amount if unit is None else amount * NANOSECONDS[unit] / NANOSECONDS[tick]
