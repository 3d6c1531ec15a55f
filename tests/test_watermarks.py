"""Watermarks: moments of any kind let time pass in a matcher, up to the first time that is not before them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ouzel as oz

DAY = 24 * 3600
DATES, SECONDS, ZONED = pa.date32(), pa.timestamp("s"), pa.timestamp("us", "Europe/Berlin")
NOON = datetime(1970, 1, 3, 12)


def matcher(arrow: pa.DataType) -> oz.Matcher:
    return oz.matcher("PATTERN A a RETURN a.ts", pa.schema({"ts": arrow, "type": pa.string()}))


@pytest.mark.parametrize(
    ("arrow", "moment", "ticks"),
    [
        (DATES, date(1970, 1, 3), 2),
        (DATES, datetime(1970, 1, 3), 2),
        (DATES, NOON, 3),
        (DATES, np.datetime64("1970-01-03"), 2),
        (DATES, pd.Timestamp("1970-01-03"), 2),
        (DATES, 2, 2),
        (pa.date64(), date(1970, 1, 3), 2),
        (DATES, date(1969, 12, 30), -2),
        (DATES, datetime(1969, 12, 30, 1), -1),
        (SECONDS, NOON, 2 * DAY + DAY // 2),
        (SECONDS, NOON + timedelta(milliseconds=1), 2 * DAY + DAY // 2 + 1),
        (SECONDS, date(1970, 1, 3), 2 * DAY),
        (SECONDS, np.datetime64(1, "ns"), 1),
        (SECONDS, pa.scalar(5, SECONDS), 5),
        (pa.timestamp("ns"), pd.Timestamp(7), 7),
        (ZONED, datetime(1970, 1, 1, 5, tzinfo=timezone(timedelta(hours=5))), 0),
        (ZONED, pd.Timestamp(1_500, tz="UTC"), 2),
        (pa.int64(), 5, 5),
        (pa.int64(), np.int32(5), 5),
    ],
)
def test_moments(arrow: pa.DataType, moment: Any, ticks: int) -> None:
    one = matcher(arrow)
    one.advance(moment)
    assert one.now == ticks


def test_what_is_before_a_watermark_is_final() -> None:
    one = matcher(DATES)
    events = pa.table({"ts": [date(1970, 1, 2), date(1970, 1, 3)], "type": ["A", "A"]}, schema=one.schema)
    assert one.push(events, date(1970, 1, 3)).to_pylist() == [{"ts": date(1970, 1, 2)}]
    assert one.advance(NOON).to_pylist() == [{"ts": date(1970, 1, 3)}]


@pytest.mark.parametrize(
    ("arrow", "moment"),
    [
        (DATES, "1970-01-03"),
        (DATES, datetime(1970, 1, 3, tzinfo=UTC)),
        (SECONDS, datetime(1970, 1, 3, tzinfo=UTC)),
        (ZONED, NOON),
        (ZONED, date(1970, 1, 3)),
        (SECONDS, pd.NaT),
        (SECONDS, np.datetime64("NaT")),
        (SECONDS, None),
        (SECONDS, True),
        (pa.int64(), NOON),
        (pa.int64(), 1.5),
    ],
)
def test_what_is_no_moment_of_the_column(arrow: pa.DataType, moment: Any) -> None:
    one = matcher(arrow)
    with pytest.raises(oz.OuzelError) as error:
        one.advance(moment)
    assert str(error.value) == f"advance: required a time as in the column 'ts', {one.time.arrow}; got {moment!r}"


def test_a_moment_that_cannot_be_counted() -> None:
    with pytest.raises(oz.OuzelError, match="advance: required a time of 64 bits; got 9999-01-01 00:00:00"):
        matcher(pa.timestamp("ns")).advance(datetime(9999, 1, 1))
