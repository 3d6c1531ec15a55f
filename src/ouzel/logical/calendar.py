"""Parts of times: year … second, weekday, date_trunc, of ticks in a unit and in a zone.

Arrow says what a zone's clocks show, for single values as for columns, so that all engines agree.  Beyond the
years 1 to 9999 a time has no parts: they are null.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.language.durations import NANOSECONDS

PARTS = ("year", "quarter", "month", "day", "hour", "minute", "second", "weekday")
# The units of date_trunc; those up to the hour are cut off the clock, the others off the calendar.
UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")

_DAY = 86_400
_LENGTHS = {"second": 1, "minute": 60, "hour": 3_600}
# From the first second of the year 1 to the last of the year 9999, less a day, which a zone may add or take.
_FIRST, _LAST = -62_135_596_800 + _DAY, 253_402_300_799 - _DAY

Array = np.ndarray[Any, Any]


def parts(name: str, ticks: Array, unit: str, zone: str | None) -> tuple[Array, Array]:
    """One part of each time, and which are out of range.

    >>> parts("hour", np.array([3_600_000]), "ms", "Europe/Berlin")[0].tolist()
    [2]
    """
    seconds, outside = _clock(ticks, unit, zone)
    return _part(name, seconds), outside


def truncated(to: str, ticks: Array, unit: str, zone: str | None) -> tuple[Array, Array]:
    """The beginning of the second, hour, day, … of each time, in its unit and zone; and which are out of range.

    >>> truncated("hour", np.array([5_400]), "s", None)[0].tolist()
    [3600]
    """
    seconds, outside = _clock(ticks, unit, zone)
    nanoseconds = NANOSECONDS[unit]
    if unit == "d" and to in _LENGTHS:
        return ticks, outside
    if to in _LENGTHS:
        # an hour that a zone's clocks show twice begins twice
        into = seconds % _LENGTHS[to]
        fraction = ticks % (NANOSECONDS["s"] // nanoseconds)
        return ticks - fraction - into * (NANOSECONDS["s"] // nanoseconds), outside
    days = _first_day(to, seconds // _DAY)
    if unit == "d":
        return days, outside
    begins = np.where(outside, 0, days) * _DAY
    if zone is not None:
        local = pa.array(begins, pa.timestamp("s"))
        # where clocks skip midnight, the day begins when they go on
        known = pc.assume_timezone(local, zone, ambiguous="earliest", nonexistent="latest")
        begins = known.cast(pa.int64()).to_numpy()
    with np.errstate(over="ignore"):
        result = begins * (NANOSECONDS["s"] // nanoseconds)
    # a year may begin before the first moment that 64 bits can count
    return result, outside | (result // (NANOSECONDS["s"] // nanoseconds) != begins) | (result > ticks)


def _clock(ticks: Array, unit: str, zone: str | None) -> tuple[Array, Array]:
    """What calendar and clock show, in whole seconds since 1970; and which times are out of range."""
    if unit == "d":
        outside = (ticks < _FIRST // _DAY) | (ticks > _LAST // _DAY)
        return np.where(outside, 0, ticks) * _DAY, outside
    seconds = ticks // (NANOSECONDS["s"] // NANOSECONDS[unit])
    outside = (seconds < _FIRST) | (seconds > _LAST)
    seconds = np.where(outside, 0, seconds)
    if zone is not None:
        local = pc.local_timestamp(pa.array(seconds, pa.timestamp("s", zone)))
        seconds = local.cast(pa.int64()).to_numpy()
    return seconds, outside


def _part(name: str, seconds: Array) -> Any:
    days = seconds // _DAY
    match name:
        case "hour":
            return seconds // 3_600 % 24
        case "minute":
            return seconds // 60 % 60
        case "second":
            return seconds % 60
        case "weekday":
            return (days + 3) % 7 + 1  # the first day of 1970 was a Thursday
    year, month, day = _date(days)
    return {"year": year, "quarter": (month + 2) // 3, "month": month, "day": day}[name]


def _first_day(unit: str, days: Array) -> Any:
    """The first day of the week, month, quarter or year of a day."""
    if unit == "day":
        return days
    if unit == "week":
        return days - (days + 3) % 7
    year, month, _day = _date(days)
    first = {"month": month, "quarter": (month - 1) // 3 * 3 + 1, "year": month * 0 + 1}[unit]
    return _days(year, first)


def _date(days: Array) -> tuple[Array, Array, Array]:
    """Year, month and day of a number of days since 1970, counting years from March: leap days come last."""
    days = days + 719_468
    era, in_era = days // 146_097, days % 146_097
    of_era = (in_era - in_era // 1_460 + in_era // 36_524 - in_era // 146_096) // 365
    in_year = in_era - (365 * of_era + of_era // 4 - of_era // 100)
    from_march = (5 * in_year + 2) // 153
    month = (from_march + 2) % 12 + 1
    return of_era + era * 400 + (month <= 2), month, in_year - (153 * from_march + 2) // 5 + 1


def _days(year: Array, month: Array) -> Any:
    """The number of days from 1970 to the first of a month."""
    year = year - (month <= 2)
    era, of_era = year // 400, year % 400
    in_year = (153 * ((month + 9) % 12) + 2) // 5
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + in_year - 719_468
