"""What a sample of a table tells: rates, partitions, selectivities; and what explain makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ouzel as oz
from engines.splits import ingested
from ouzel.compile import compile_query
from ouzel.optimizer.sample import can_sample, sampled
from ouzel.physical.statistics import Statistics

COUNT = 60_000


def stream(count: int = COUNT, keys: int = 10, *, shuffled: bool = False) -> pa.Table:
    random = np.random.default_rng(5)
    types = random.choice(["A", "B", "C", "D"], count, p=[0.1, 0.2, 0.3, 0.4])
    columns = {"k": random.integers(0, keys, count), "x": random.integers(0, 100, count)}
    table = pa.table({"ts": np.arange(count), "type": types, **columns})
    return table.take(random.permutation(count)) if shuffled else table


def statistics(text: str, events: pa.Table) -> Statistics:
    table = ingested(events)
    return sampled(compile_query(text, table.schema).plans[0].query, table)


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("count", [3_000, COUNT])
def test_rates_and_selectivities_are_near_what_they_are(count: int, shuffled: bool) -> None:
    text = "PATTERN SEQ(A a, B b, C c) WHERE [k] AND a.x < 50 AND b.x < c.x AND c.x = a.x WITHIN 200"
    found = statistics(text, stream(count, shuffled=shuffled))
    assert found.card("a") == pytest.approx(10, rel=0.3)
    assert found.card("b") == pytest.approx(40, rel=0.3)
    assert found.card("c") == pytest.approx(60, rel=0.3)
    assert found.events == pytest.approx(110, rel=0.3)
    assert found.windows == pytest.approx(count / 200, rel=0.1)
    assert found.partitions == pytest.approx(10, rel=0.5)
    assert found.selectivities["a.x < 50"] == pytest.approx(0.5, rel=0.3)
    assert found.selectivities["b.x < c.x"] == pytest.approx(0.5, rel=0.3)
    assert found.selectivities["c.x = a.x"] < 0.05


def test_a_window_that_is_longer_than_a_sample_is_seen_as_a_whole() -> None:
    found = statistics("PATTERN SEQ(A a, B b) WHERE [k] WITHIN 10000", stream())
    assert found.card("a") == pytest.approx(1_000, rel=0.2)
    assert found.partitions == pytest.approx(10, rel=0.3)


def test_without_a_window_it_is_the_whole_stream() -> None:
    found = statistics("PATTERN SEQ(A a, B b)", stream())
    assert (found.windows, found.partitions) == (1, 1)
    assert found.card("a") == pytest.approx(COUNT / 10, rel=0.2)


def test_a_window_of_events_counts_those_of_a_partition() -> None:
    found = statistics("PATTERN SEQ(A a, B b) WHERE [k] WITHIN 50 events", stream())
    assert found.card("a") + found.card("b") <= 50
    assert found.partitions == 1


def test_conditions_on_times_are_tried_on_events_of_a_window() -> None:
    found = statistics("PATTERN SEQ(A a, B b) WHERE b.ts - a.ts < 50 WITHIN 200", stream())
    assert found.selectivities["b.ts - a.ts < 50"] == pytest.approx(0.25, rel=0.5)


def test_skewed_keys_are_fewer_partitions_than_there_are() -> None:
    keys = np.where(np.arange(COUNT) % 2 == 0, 0, np.arange(COUNT))
    skewed = stream().set_column(2, "k", pa.array(keys))
    assert statistics("PATTERN SEQ(A a, B b) WHERE [k] WITHIN 200", skewed).partitions == pytest.approx(4, rel=0.3)


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_hardly_any_events(rows: int) -> None:
    found = statistics("PATTERN SEQ(A a, B b) WHERE [k] AND a.x < b.x WITHIN 200", stream().slice(0, rows))
    assert found.card("a") <= rows


def test_what_a_sample_must_not_or_cannot_tell() -> None:
    def can(text: str) -> bool:
        return can_sample(compile_query(text, ingested(stream()).schema).plans[-1].query)

    oz.register_function("odd_of_sample", lambda x: x % 2 == 1, returns="boolean")
    assert can("PATTERN SEQ(A a, B b) WHERE a.x < b.x WITHIN 5")
    assert not can("PATTERN SEQ(A a, B b) WHERE odd_of_sample(a.x) WITHIN 5")
    assert not can("PATTERN SEQ(A a, B b) WHERE skip_till_next_match { a.x < b.x } WITHIN 5")


# ---- explain ---------------------------------------------------------------------------------------------


def explained(text: str, **options: Any) -> str:
    return " ".join(oz.query(text).explain(stream(), **options).split())


def test_explain_shows_statistics_and_what_each_engine_would_take() -> None:
    found = explained("PATTERN SEQ(A a, B b, C c) WHERE [k] AND a.x < 50 AND b.x < c.x WITHIN 200")
    assert "statistics in a window, by a sample: " in found
    assert "of 10 partitions a.x < 50 holds for 5" in found
    assert "b.x < c.x holds for " in found
    estimated = found.split(" estimated: ")[1]
    assert all(f"{name} " in estimated for name in ("scan", "automaton", "tree"))


def test_explain_shows_what_other_orders_of_joins_would_cost() -> None:
    text = "PATTERN SEQ(A a, B b, C c) WHERE [k] AND a.x = b.x WITHIN 200"
    found = explained(text, engine="tree")
    assert "records touched and made in a window: " in found
    assert all(f"{name} " in found for name in ("left-deep", "right-deep", "bushy"))
    assert "SEQ ├─ SEQ where a.x = b.x (looked up by x) │ ├─ a │ └─ b └─ c" in found
    turned = explained(text.replace("a.x = b.x", "b.x = c.x"), engine="tree")
    assert "SEQ ├─ a └─ SEQ where b.x = c.x (looked up by x) ├─ b └─ c" in turned


def test_without_events_nothing_is_known() -> None:
    assert "statistics" not in oz.query("PATTERN SEQ(A a, B b) WHERE a.x < b.x WITHIN 5").explain()
