"""What a scan keeps of an endless stream is in proportion to what is live."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.compile import compile_query
from ouzel.logical.columns import needed_columns
from ouzel.physical.limits import Limits
from ouzel.physical.memory import chunks
from ouzel.physical.memory import growing as arrays_that_grow
from ouzel.physical.memory.chunks import Chunks
from ouzel.physical.memory.growing import Growing, Numbers
from ouzel.physical.memory.key_numbers import KeyNumbers
from ouzel.physical.scan import ScanPlan
from ouzel.physical.scan import memory as scan_memory
from ouzel.physical.scan.matching import ScanMatching
from ouzel.physical.scan.shape import EQUIVALENCES
from ouzel.runtimes.ingest import ingest
from ouzel.runtimes.quarantine import Report
from ouzel.runtimes.reading import Reading

BATCH = 200


def stream(begin: int) -> pa.Table:
    """A batch of events, one a tick: every key and every text occurs in a few of them that are near each other."""
    ticks = np.arange(begin, begin + BATCH)
    types = np.array(list("AABACB"))[ticks % 6]
    texts = [f"text {tick // 8}" for tick in ticks]
    return pa.table({"ts": ticks, "type": types, "k": ticks // 10, "j": ticks % 5, "s": texts, "x": ticks % 7})


def after_many_batches(text: str, equivalence: str = "combined", count: int = 60) -> tuple[ScanMatching, int]:
    """A scan that went through a long stream, and the matches it found."""
    first = ingest(stream(0), Reading(), Report())[0]
    (plan,) = compile_query(text, first.schema, {}).plans
    at_work = ScanPlan.of(plan.query, equivalence).begin(Limits())
    matches = 0
    with patch.object(scan_memory, "SPARE", 64):
        for begin in range(0, count * BATCH, BATCH):
            table = ingest(stream(begin), Reading(), Report())[0].select(needed_columns([plan.query]))
            matches += len(at_work.push(table, begin + BATCH)[0].matches)
    return at_work, matches


def kept(at_work: ScanMatching) -> int:
    memory = at_work.memory
    return len(memory.retained) + len(memory.stacks) + memory.keys.count + len(memory.values.texts)


@pytest.mark.parametrize(
    "query",
    [
        "PATTERN SEQ(A a, B b) WITHIN 20",
        "PATTERN SEQ(A a, B b, C c) WHERE [k] WITHIN 20",
        "PATTERN SEQ(A a, !(C c), B b) WHERE [k] WITHIN 20",
        "PATTERN SEQ(!(C c), A a, B b) WHERE [s] WITHIN 20",
        "PATTERN SEQ(A a, B b, !(C c)) WHERE [k] WITHIN 20",
        "PATTERN SEQ(A a, B b, !(C c)) WHERE [k] WITHIN 20 OUTPUT NON_OVERLAP",
        "PATTERN SEQ(A a, B b) WHERE [j] WITHIN 20 EVENTS",
        "PATTERN SEQ(A a, B b, !(C c)) WHERE [j] WITHIN 20 EVENTS",
        "PATTERN SEQ(A a, B b) WHERE a.s = b.s OR a.x > b.x + 5 WITHIN 20",
    ],
)
def test_what_is_kept_does_not_grow_with_the_stream(query: str) -> None:
    at_work, matches = after_many_batches(query)
    assert matches > 100
    # a batch, what may have gone unnoticed, and what had gone when it was last looked for
    assert kept(at_work) < 3 * BATCH + 4 * 64


@pytest.mark.parametrize("equivalence", EQUIVALENCES)
def test_keys_of_each_test_are_forgotten(equivalence: str) -> None:
    at_work, matches = after_many_batches("PATTERN SEQ(A a, B b) WHERE [k, s] WITHIN 20", equivalence)
    assert matches > 100
    assert kept(at_work) < 3 * BATCH + 4 * 64


def test_without_a_window_only_what_can_be_the_last_event_goes() -> None:
    at_work, matches = after_many_batches("PATTERN SEQ(A a, C c) WHERE a.x = c.x + 1 AND a.j = 9", count=10)
    assert matches == 0
    assert len(at_work.memory.retained) == 0
    at_work, _matches = after_many_batches("PATTERN SEQ(A a, C c) WHERE a.x = c.x + 9", count=10)
    assert len(at_work.memory.retained) == len(at_work.memory.stacks) == 1001


def test_an_event_of_which_nothing_can_come_is_not_kept() -> None:
    at_work, matches = after_many_batches("PATTERN SEQ(D d, A a, B b)", count=10)
    assert (matches, kept(at_work)) == (0, 1)


def test_few_bytes_are_kept_of_an_event() -> None:
    at_work, _matches = after_many_batches(
        "PATTERN SEQ(A a, D d) WHERE [k] WITHIN 1 hour RETURN a.ts AS t, a.k AS k"
    )
    retained, pools = at_work.memory.retained, at_work.memory.stacks
    # time and key are in the arrays already
    assert retained.rows.chunks.tables == []
    arrays = [retained.intervals.ends, retained.numbers, retained.codes, *pools.levels[0].values()]
    assert sum(one.data.itemsize for one in arrays) == 8 + 4 + 1 + 4 + 4


# ---- the parts -------------------------------------------------------------------------------------------


@given(st.lists(st.lists(st.booleans(), max_size=9), max_size=6), st.integers(1, 4))
def test_arrays_and_chunks_keep_what_is_flagged(rounds: list[list[bool]], most: int) -> None:
    growing, held, expected = Growing(np.int64), Chunks(), list[int]()
    with patch.object(chunks, "_MOST", most):
        for number, flags in enumerate(rounds):
            new = [10 * number + k for k in range(len(flags))]
            growing.extend(np.array(new, np.int64))
            # every other row of the table is one to keep
            table = pa.table({"n": pa.array([value for one in new for value in (-1, one)], pa.int64())})
            held.add(table, np.arange(1, 2 * len(new), 2))
            expected += new
            keep = np.array([flags[k % len(flags)] if flags else True for k in range(len(expected))], np.bool_)
            numbers = Numbers(keep)
            places = np.arange(-1, len(expected))
            numbers.renumber(places)
            growing.keep(keep)
            held.keep(keep)
            expected = [one for one, flag in zip(expected, keep, strict=True) if flag]
            assert growing.values.tolist() == expected
            rows = held.taken(np.arange(len(expected)))
            assert [value for table in rows for value in table.column("n").to_pylist()] == expected
            assert [place for place in places.tolist() if place >= 0] == list(range(len(expected)))
            assert places[0] == -1


@given(st.lists(st.tuples(st.integers(0, 5_000), st.floats(0, 1)), max_size=6))
def test_arrays_drop_what_came_first(rounds: list[tuple[int, float]]) -> None:
    growing, expected = Growing(np.int32), list[int]()
    with patch.object(arrays_that_grow, "_BLOCK", 100):
        for count, share in rounds:
            new = list(range(count))
            growing.extend(np.array(new, np.int32))
            expected += new
            dropped = round(share * len(expected))
            growing.drop(dropped)
            expected = expected[dropped:]
            assert growing.values.tolist() == expected


@given(st.lists(st.tuples(st.lists(st.integers(-(2**63), 2**63 - 1), unique=True), st.booleans()), max_size=6))
def test_keys_have_the_same_numbers_whether_they_are_integers_or_texts(
    rounds: list[tuple[list[int], bool]],
) -> None:
    integers = KeyNumbers(pa.schema({"k": pa.int64()}))
    texts = KeyNumbers(pa.schema({"k": pa.string()}))
    for keys, forget in rounds:
        found: Any = integers.number(pa.table({"k": pa.array(keys, pa.int64())}))
        assert found.tolist() == texts.number(pa.table({"k": pa.array(map(str, keys), pa.string())})).tolist()
        assert integers.keys(found).column("k").to_pylist() == keys
        if forget:
            kept = np.arange(0, integers.count, 2)
            integers.keep(kept)
            texts.keep(kept)
        assert [str(key) for key in integers.keys().column("k").to_pylist()] == texts.keys().column(
            "k"
        ).to_pylist()
