"""What closures bind may stay in pieces of the match store: nobody can tell from the result."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.physical.automaton import expand
from ouzel.physical.compiled import kernel, share
from ouzel.physical.match_table import Many, Pieces


@pytest.fixture
def in_pieces() -> Iterator[None]:
    with patch.object(expand, "MANY", 0), patch.object(expand, "LONG", 0):
        yield


TABLE = pa.table(
    {
        "ts": np.arange(60),
        "k": np.arange(60) % 2,
        "x": pa.array([None if n % 11 == 0 else (n * 37) % 50 for n in range(60)], pa.int16()),
        "f": np.arange(60) / 4,
        "t": [f"text {n % 5}" for n in range(60)],
        "flag": [n % 3 == 0 for n in range(60)],
    }
)
RETURNS = (
    "a[].ts AS a, b.ts AS b",
    "a[].x AS x, a[].f AS f, a[].t AS t, a[].flag AS flag",
    "a[] AS a, b AS b",
    "a[1].x AS x, a[a.LEN].f AS f, a.LEN AS length",
    "sum(a[].x) AS total, count(DISTINCT a[].t) AS texts, min(a[].f) AS least",
)


@pytest.mark.usefixtures("in_pieces")
@pytest.mark.parametrize("returned", RETURNS)
@pytest.mark.parametrize("strategy", ["skip_till_next_match", "partition_contiguity"])
@pytest.mark.parametrize("output", ["", "OUTPUT NON_OVERLAP"])
def test_every_kind_of_result(returned: str, strategy: str, output: str) -> None:
    query = f"""PATTERN SEQ(T+ a[], T b) WHERE {strategy} {{ [k] AND a[i].f > a[i-1].f AND b.f % 3 > 1 }}
        WITHIN 9 EVENTS RETURN {returned} {output}"""
    with patch.object(Pieces, "ends", autospec=True, side_effect=Pieces.ends) as asked:
        found = oz.match(TABLE, query, engine="automaton", type=None)
    assert asked.called
    assert found.num_rows > 3
    assert found.equals(oz.match(TABLE, query, engine="reference", type=None))


@pytest.mark.usefixtures("in_pieces")
def test_closures_that_are_empty_or_in_an_alternative_that_was_not_chosen() -> None:
    events = [{"ts": n, "type": "ABBCADBC"[n % 8], "x": n} for n in range(24)]
    for pattern in ("SEQ(A a, B* b[], C c)", "SEQ(A a, (B+ b[] | D d), C c)"):
        query = f"PATTERN {pattern} WITHIN 9 RETURN a.x AS a, b[].x AS b, b[1].x AS first, c.x AS c"
        found = oz.match(events, query, engine="automaton")
        assert found == oz.match(events, query, engine="reference")
        assert len(found) > 3


@pytest.mark.parametrize("least", [0, 10**9])  # compiled or not
@pytest.mark.parametrize("threads", [1, 3])
def test_pieces_are_what_rows_would_be(least: int, threads: int) -> None:
    random = np.random.default_rng(7)
    edges = np.concatenate([[0], np.cumsum(random.integers(0, 4, 50))])
    lengths = random.integers(1, 6, edges[-1]).astype(np.int32)
    begins = random.integers(0, 94, edges[-1]).astype(np.int32)
    rows = random.permutation(100)
    written = [rows[b : b + n] for b, n in zip(begins, lengths, strict=True)]
    offsets = np.concatenate([[0], np.cumsum(lengths)])[edges]
    values = random.random(100)
    with patch.object(kernel, "COMPILE_FROM", least), patch.object(share, "PARALLEL_FROM", 0):
        pieces = Pieces(rows, begins, lengths, edges)
        many = Many(offsets, pieces, np.zeros(50, np.bool_))
        assert (
            pieces.copied(values, threads).tolist()
            == np.concatenate([values[b : b + n] for b, n in zip(begins, lengths, strict=True)]).tolist()
        )
        assert many.rows.tolist() == np.concatenate(written).tolist()
        other = random.permutation(1000)
        assert many.numbered(other).rows.tolist() == other[many.rows].tolist()
    full = np.flatnonzero(np.diff(offsets) > 0)
    plain = Many(offsets, many.rows, many.unbound)
    assert [one.tolist() for one in many.ends(full)] == [one.tolist() for one in plain.ends(full)]
