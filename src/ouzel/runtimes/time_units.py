"""Integer times whose unit was not said: do they look like milliseconds?"""

from __future__ import annotations

import warnings
from typing import Any

from ouzel.errors import OuzelWarning, outer_level
from ouzel.logical.schema import TimeColumn
from ouzel.logical.values import Kind

# As seconds, from March 1973 to November 2286; as milliseconds, from the second day of 1970 to its April.  Smaller
# numbers are left alone: they are more often counters than times.
LEAST_SECONDS, MOST_SECONDS = 10**8, 10**10
# The end of the year 9999 in milliseconds; in microseconds, a day of 1978.
LEAST_MICROSECONDS = 253_402_300_800_000
# As nanoseconds, a day of 1978 as well.
LEAST_NANOSECONDS = LEAST_MICROSECONDS * 1000


def likely_unit(least: int, most: int) -> str:
    """The unit that times in this range seem to have.

    >>> likely_unit(1_700_000_000, 1_700_003_600), likely_unit(1, 3)
    ('s', 'ms')
    """
    if least >= LEAST_SECONDS and most <= MOST_SECONDS:
        return "s"
    if least >= LEAST_NANOSECONDS:
        return "ns"
    return "us" if least >= LEAST_MICROSECONDS else "ms"


def warn_of_unit(least: int, most: int, time: TimeColumn) -> None:
    """Warn where integers, taken for milliseconds, are no times that anybody meant."""
    unit = likely_unit(least, most)
    if time.type.kind is not Kind.INTEGER or unit == "ms":
        return
    where = "within months of 1970" if unit == "s" else "past the year 9999"
    name = {"s": "seconds", "us": "microseconds", "ns": "nanoseconds"}[unit]
    warnings.warn(
        f"the times in '{time.name}' are taken for milliseconds, and all are {where}; they look like {name}\n"
        f"  hint: say time_unit='{unit}', or time_unit='ms' if they are milliseconds",
        OuzelWarning,
        stacklevel=outer_level(),
    )


def warn_of_times(times: Any, time: TimeColumn) -> None:
    """The same for an array of times: all look like another unit only if the first of them does."""
    if len(times) and likely_unit(int(times[0]), int(times[0])) != "ms":
        warn_of_unit(int(times.min()), int(times.max()), time)
