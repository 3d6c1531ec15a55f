"""Zones of times, as Arrow names them: by their names in the database, or by their offsets (+02:00)."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def zone_of(name: str) -> tzinfo | None:
    """A zone by its name or offset; None if Python knows neither.

    >>> zone_of("+02:00"), zone_of("Atlantis")
    (datetime.timezone(datetime.timedelta(seconds=7200)), None)
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        pass
    try:
        return datetime.strptime(name, "%z").tzinfo or UTC
    except ValueError:
        return None
