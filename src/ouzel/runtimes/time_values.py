"""Times as Python, NumPy and pandas have them: the Arrow type that holds each, and one for all of them."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, tzinfo
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.language.durations import NANOSECONDS
from ouzel.logical.values import finer

TIMES = (date, time, timedelta, np.datetime64, np.timedelta64)
_ARROW_UNITS = ("s", "ms", "us", "ns")
# NumPy's units that Arrow does not have, and the next finer one that it has.
_COARSE = {"Y": "D", "M": "D", "W": "D", "D": "D", "h": "s", "m": "s"}


def without_numpy(value: Any) -> Any:
    """A time of NumPy's as one of Python's, unless it counts nanoseconds; None if it is none."""
    if not isinstance(value, np.datetime64 | np.timedelta64):
        return value
    if np.isnat(value):
        return None
    unit, _count = np.datetime_data(value.dtype)
    if isinstance(value, np.timedelta64) and unit in ("Y", "M"):  # which have no length
        return value
    wanted = _COARSE.get(unit, unit)
    wanted = "us" if wanted in ("s", "ms") or (wanted == "D" and isinstance(value, np.timedelta64)) else wanted
    same = value.astype(f"{'datetime64' if isinstance(value, np.datetime64) else 'timedelta64'}[{wanted}]")
    found = same.item()
    return found if isinstance(found, date | timedelta) else same


def time_type(value: Any) -> pa.DataType | None:
    """The type of a time; None if Arrow has none, as for times of day with a zone."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        unit, count = np.datetime_data(value.dtype)
        make = pa.timestamp if isinstance(value, np.datetime64) else pa.duration
        return make(unit) if unit in _ARROW_UNITS and count == 1 else None
    if isinstance(value, datetime):
        unit = "ns" if getattr(value, "nanosecond", 0) else "us"
        return pa.timestamp(unit, _name(value.tzinfo))
    if isinstance(value, timedelta):
        return pa.duration("ns" if getattr(value, "nanoseconds", 0) else "us")
    if isinstance(value, time):
        return None if value.tzinfo is not None else pa.time64("us")
    return pa.date32()


def common_time_type(types: set[pa.DataType]) -> pa.DataType:
    """One type for times of one kind: dates beside moments are midnights, moments of several zones are in UTC."""
    units = {arrow.unit for arrow in types if not pa.types.is_date(arrow)}
    if len(types) == 1 or not units:
        return next(iter(types))
    finest = reduce(finer, units)
    moments = [arrow for arrow in types if pa.types.is_timestamp(arrow)]
    if not moments:
        return pa.duration(finest)
    zones = {arrow.tz for arrow in moments}
    return pa.timestamp(finest, zones.pop() if len(zones) == 1 else "UTC")


def moment_type(values: list[datetime | None], classes: set[type]) -> pa.DataType | None:
    """The type of moments, None if some have a zone and some do not; quicker than to ask for the type of each."""
    zones = {id(value.tzinfo): value.tzinfo for value in values if value is not None}
    if len(zones) > 1 and None in zones.values():
        return None
    # pandas counts nanoseconds beside
    fine = any(hasattr(one, "nanosecond") for one in classes)
    unit = "ns" if fine and any(getattr(value, "nanosecond", 0) for value in values) else "us"
    return common_time_type({pa.timestamp(unit, _name(zone)) for zone in zones.values()})


def _name(zone: tzinfo | None) -> str | None:
    return None if zone is None else pa.lib.tzinfo_to_string(zone)


def watermark_ticks(moment: Any, arrow: pa.DataType) -> int | None:
    """The first time of a type that is not before a moment, in ticks; an integer is that already.

    None if the moment is none, or has a zone where those of the type do not, or none where they do.

    >>> (
    ...     watermark_ticks(datetime(1970, 1, 2, 12), pa.date32()),
    ...     watermark_ticks(date(1970, 1, 2), pa.timestamp("s")),
    ... )
    (2, 86400)
    """
    moment = without_numpy(moment.as_py() if isinstance(moment, pa.Scalar) else moment)
    if isinstance(moment, int | np.integer) and not isinstance(moment, bool):
        return int(moment)
    is_moment = isinstance(moment, date | np.datetime64) and moment == moment  # noqa: PLR0124 - NaT is not
    held = time_type(moment) if is_moment and pa.types.is_temporal(arrow) else None
    if held is None or _zone(held) != _zone(arrow):
        return None
    ticks = pa.scalar(moment, held).cast(pa.int32() if pa.types.is_date(held) else pa.int64()).as_py()
    return int(-(-ticks * NANOSECONDS[_unit(held)] // NANOSECONDS[_unit(arrow)]))


def _zone(arrow: pa.DataType) -> bool:
    return pa.types.is_timestamp(arrow) and arrow.tz is not None


def _unit(arrow: pa.DataType) -> str:
    return "d" if pa.types.is_date(arrow) else str(arrow.unit)
