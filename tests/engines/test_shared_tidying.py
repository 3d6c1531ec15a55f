"""What queries that have gone leave behind in a shared plan is forgotten now and then; nothing else changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.physical.shared import matching
from ouzel.physical.shared.served import Served

TEMPLATE = (
    "PATTERN A a; B b; B c WHERE a.k = $key AND b.x > $low AND c.k = a.k WITHIN 30 RETURN a.k AS k, c.x AS x"
)


@contextmanager
def tidy(gone: int, texts: int) -> Iterator[Any]:
    with (
        patch.object(matching, "GONE", gone),
        patch.object(matching, "TEXTS", texts),
        patch.object(Served, "rebuilt", autospec=True, side_effect=Served.rebuilt) as rebuilt,
    ):
        yield rebuilt


def events(count: int) -> pa.Table:
    rng = np.random.default_rng(5)
    keys = [f"k{n}" for n in rng.integers(0, 4, count)]
    types = rng.choice(["A", "B"], count)
    return pa.table({"ts": range(count), "type": types, "k": keys, "x": rng.integers(0, 9, count)})


def values(number: int) -> dict[str, Any]:
    return {"key": f"k{number % 5}", "low": number % 7}


def of_a_set() -> list[Any]:
    """What a set finds whose queries come and go, each other one to return."""
    table = events(200)
    rows = [{"id": number, **values(number)} for number in range(12)]
    matcher = oz.matcher(oz.queries(TEMPLATE, rows), table.schema)
    found = []
    for step in range(50):
        found.append(matcher.push(table.slice(4 * step, 4)).to_pylist())
        matcher.add(100 + step, values(step))
        matcher.remove(step if step < 12 else 100 + step - 12)
        if step % 2:
            matcher.add(step if step < 12 else 100 + step - 12, values(step + 1))
    return [*found, matcher.finish().to_pylist()]


def of_a_list() -> list[Any]:
    """What a list finds from which the longest patterns go."""
    table = events(120)
    texts = [f"PATTERN A a; B b WHERE [k] AND b.x = {n % 9} WITHIN {9 + n} RETURN b.x AS x" for n in range(70)]
    longest = "PATTERN A a; B b; A c; B d WHERE [k] WITHIN 20 RETURN d.x AS x"
    matcher = oz.matcher([*texts, longest], table.schema)
    found = []
    for step in range(30):
        found.append({name: one.to_pylist() for name, one in matcher.push(table.slice(4 * step, 4)).items()})
        matcher.remove(f"query{71 - step}")
    return found


@pytest.mark.parametrize("run", [of_a_set, of_a_list])
@pytest.mark.parametrize(("gone", "texts"), [(-(10**9), 10**9), (-30, 10**9), (10**9, -(10**9))])
def test_nothing_changes(run: Any, gone: int, texts: int) -> None:
    expected = run()
    with tidy(gone, texts) as rebuilt:
        assert run() == expected
    assert rebuilt.called


def test_what_has_gone_is_forgotten() -> None:
    table = events(4)
    matcher = oz.matcher(oz.queries(TEMPLATE, [{"id": -1, **values(1)}]), table.schema)
    matcher.push(table)
    with tidy(100, 10**9) as rebuilt:
        for number in range(500):
            matcher.add(number, {"key": f"key {number}", "low": 1})
            matcher.remove(number)
    assert rebuilt.call_count == 4
    assert "1 queries by 'id'" in matcher.explain()


def test_texts_of_events_are_forgotten() -> None:
    table = events(4)
    matcher = oz.matcher(oz.queries(TEMPLATE, [{"id": 1, **values(1)}]), table.schema)
    with tidy(10**9, 50) as rebuilt:
        for step in range(40):
            keys = [f"{step} {number}" for number in range(10)]
            columns = {"ts": [step] * 10, "type": ["A"] * 10, "k": keys, "x": [1] * 10}
            matcher.push(pa.table(columns).cast(table.schema))
    assert rebuilt.called


def test_a_snapshot_without_the_longest_pattern() -> None:
    table = events(40)
    texts = [f"PATTERN A a; B b WHERE [k] AND b.x = {n % 9} WITHIN 9 RETURN b.x AS x" for n in range(70)]
    longest = "PATTERN A a; B b; A c; B d WHERE [k] WITHIN 20 RETURN d.x AS x"
    matcher = oz.matcher([*texts, longest], table.schema)
    matcher.push(table.slice(0, 20))
    matcher.remove("query71")
    other = oz.restore(matcher.snapshot())
    rest = table.slice(20)
    assert {name: one.to_pylist() for name, one in other.push(rest).items()} == {
        name: one.to_pylist() for name, one in matcher.push(rest).items()
    }
