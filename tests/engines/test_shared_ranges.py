"""Queries of a shared plan that want ranges of values, and no value: they are found by the bounds of these."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.physical.shared.buckets import Buckets

TYPED = "PATTERN A a; B b WHERE a.x >= $low AND a.x < $high AND a.y > 2 RETURN a.x AS x, b.x AS z"
ONE_SIDED = "PATTERN A a WHERE a.x >= $low RETURN a.x AS x"
UNTYPED = oz.stream().where("x >= $low AND x < $high").next(oz.stream().rename(z="x"), where="z > x")


def events(count: int) -> pa.Table:
    rng = np.random.default_rng(3)
    values = [None if one == 7 else float(one) for one in rng.integers(0, 40, count)]
    columns = {
        "ts": range(count),
        "type": rng.choice(["A", "B"], count),
        "x": values,
        "y": rng.integers(0, 9, count),
    }
    return pa.table(columns)


def rows(count: int, first: int = 0) -> list[dict[str, Any]]:
    """Ranges of all widths, the empty one among them, and some without a bound."""
    rng = np.random.default_rng(first)
    lows, widths = rng.integers(-2, 40, count), rng.integers(-1, 12, count)
    found: list[dict[str, Any]] = [
        {"id": first + n, "low": float(low), "high": float(low + width)}
        for n, (low, width) in enumerate(zip(lows.tolist(), widths.tolist(), strict=True))
    ]
    found[0]["high"], found[1]["low"] = None, float("-inf")
    return found


@pytest.mark.parametrize("template", [TYPED, ONE_SIDED, UNTYPED])
def test_ranges_alone(template: Any) -> None:
    given = [{k: v for k, v in row.items() if template != ONE_SIDED or k != "high"} for row in rows(300)]
    with patch.object(Buckets, "sort", autospec=True, side_effect=Buckets.sort) as sort:
        found = oz.match(events(120), oz.queries(template, given)).to_pylist()
    assert sort.called
    for row in given[::7]:
        values = {name: value for name, value in row.items() if name != "id"}
        expected = oz.match(events(120), template, params=values, engine="reference")
        own = [{k: v for k, v in one.items() if k != "id"} for one in found if one["id"] == row["id"]]
        assert own == (expected if isinstance(expected, list) else expected.to_pylist())


def test_ranges_that_come_and_go() -> None:
    table, values = events(160), rows(240)
    wanted = TYPED.replace("a.y > 2", "a.y > 3")
    matcher = oz.matcher(oz.queries(wanted, values[:40]), table.schema)
    found: list[dict[str, Any]] = []
    for step in range(40):
        found += matcher.push(table.slice(4 * step, 4)).to_pylist()
        for row in values[40 + 5 * step : 45 + 5 * step]:
            matcher.add(row["id"], {name: row[name] for name in ("low", "high")})
        if step % 2:
            matcher.remove(values[step]["id"])
    found += matcher.finish().to_pylist()
    lives = {row["id"]: (-1, 10**6) for row in values[:40]}
    for step in range(40):
        since = 4 * step + 3
        lives |= {row["id"]: (since, 10**6) for row in values[40 + 5 * step : 45 + 5 * step]}
        if step % 2:
            lives[values[step]["id"]] = lives[values[step]["id"]][0], since
    valid = [{**row, "since": lives[row["id"]][0], "until": lives[row["id"]][1]} for row in values]
    queries = oz.queries(wanted, valid, valid_from="since", valid_to="until")
    expected = oz.match(table, queries, engine="reference").to_pylist()
    assert sorted(map(repr, found)) == sorted(map(repr, expected))
