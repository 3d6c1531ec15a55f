"""A snapshot brings back parameters of every kind, and refuses a matcher that reads events otherwise."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ouzel as oz

NUMBERS = pa.schema(
    {"ts": pa.int64(), "type": pa.string(), "kind": pa.string(), "seq": pa.int64(), "x": pa.float64()}
)
TIMES = pa.schema({"ts": pa.int64(), "type": pa.string(), "at": pa.timestamp("ns", "UTC")})
AT = pd.Timestamp("2026-01-02T03:04:05.000000006", tz="UTC")

IN, MORE, WITHIN, BEFORE = "a.x IN $p", "a.x > $p", "b.ts - a.ts < $p", "a.at < $p"
PARAMETERS: list[tuple[str, Any]] = [
    (IN, (1, 2)),
    (IN, {1, 2, 3.0}),
    (IN, frozenset([1])),
    (IN, [1, 2.5]),
    (IN, [1, None]),
    (IN, [Decimal("7.1"), Decimal("3.25"), Decimal(1)]),
    (MORE, Fraction(1, 3)),
    (MORE, Decimal("0.10")),
    (MORE, np.float32(0.5)),
    (MORE, np.int8(-1)),
    (MORE, float("-inf")),
    (WITHIN, timedelta(minutes=5)),
    (WITHIN, pd.Timedelta(5, "min")),
    (WITHIN, pd.Timedelta(5_000_001, "ns")),
    (WITHIN, np.timedelta64(5, "m")),
    (BEFORE, datetime(2026, 1, 3, tzinfo=UTC)),
    (BEFORE, AT),
    (BEFORE, date(2026, 1, 3)),
    (BEFORE, "2026-01-03"),
    (BEFORE, np.datetime64("2026-01-03T00:00:00")),
]


@pytest.mark.parametrize(("condition", "value"), PARAMETERS, ids=repr)
def test_parameters_come_back(condition: str, value: Any) -> None:
    query = f"PATTERN SEQ(A a, B b) WHERE {condition} WITHIN 100 RETURN a.ts AS a, b.ts AS b"
    rows: list[dict[str, Any]]
    if condition == BEFORE:
        schema, rows = TIMES, [{"at": AT - pd.Timedelta(n, "ns")} for n in range(4)]
    else:
        schema, rows = NUMBERS, [{"x": float(n)} for n in range(4)]
    rows = [{"ts": n, "type": "AABA"[n], **row} for n, row in enumerate(rows)]
    events = pa.Table.from_pylist(rows, schema)
    at_once = oz.match(events, query, params={"p": value})
    matcher = oz.matcher(query, schema, params={"p": value})
    matcher.push(events.slice(0, 2))
    again = oz.restore(matcher.snapshot())
    other = oz.matcher(query, schema, params={"p": value})
    other.restore(again.snapshot())
    for one in (again, other):
        found = pa.concat_tables([one.push(events.slice(2)), one.finish()])
        assert found.to_pylist() == at_once.to_pylist() != []


def test_nanoseconds_of_a_parameter_count() -> None:
    query = "PATTERN A a WHERE a.at < $p RETURN a.ts AS a"
    before = oz.matcher(query, TIMES, params={"p": AT}).snapshot()
    other = oz.matcher(query, TIMES, params={"p": AT + pd.Timedelta(1, "ns")})
    with pytest.raises(oz.StateError, match=r"parameters: p='.*00006.*', now p='.*00007"):
        other.restore(before)


QUERY = "PATTERN SEQ(A a, B b) WHERE a.x > 0 WITHIN 100 RETURN a.x AS x"


@pytest.mark.parametrize(
    ("reading", "difference"),
    [
        ({"order": ["ts", "seq"]}, "order: none, now seq"),
        ({"order": "arrival"}, "order: none, now arrival of events"),
        ({"type": "kind"}, "type column: type, now kind"),
        ({"time": "seq"}, "time: ts, now seq"),
        ({"time_unit": "s"}, "time unit: ms, now s"),
    ],
)
def test_events_that_are_read_otherwise_are_refused(reading: dict[str, Any], difference: str) -> None:
    before = oz.matcher(QUERY, NUMBERS).snapshot()
    with pytest.raises(oz.StateError, match="required one of the same query; got another\n  ") as caught:
        oz.matcher(QUERY, NUMBERS, **reading).restore(before)
    assert difference in str(caught.value)
    again = oz.restore(oz.matcher(QUERY, NUMBERS, **reading).snapshot())
    oz.matcher(QUERY, NUMBERS, **reading).restore(again.snapshot())


def test_what_is_the_same_said_otherwise_is_accepted() -> None:
    before = oz.matcher(QUERY, NUMBERS, order=["ts", "seq"], time_unit="ms", type="type").snapshot()
    oz.matcher(QUERY, NUMBERS, order=["ts", "seq"]).restore(before)


def test_several_queries_say_it_once() -> None:
    text = f"QUERY p {QUERY};\nQUERY q {QUERY}"
    before = oz.matcher(text, NUMBERS).snapshot()
    with pytest.raises(oz.StateError) as caught:
        oz.matcher(text, NUMBERS, order=["ts", "seq"]).restore(before)
    assert str(caught.value).count("order: none, now seq") == 1
