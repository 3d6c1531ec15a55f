"""Orders of joins change while trees are at work: soon, seldom, and without loss (ZStream 5.3)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ouzel as oz
from engines.splits import in_batches, ingested, whole
from engines.test_tree import ORDERS, QUERIES, TYPES, Events, expected, plan_of
from ouzel.physical.limits import Limits
from ouzel.physical.tree import TreePlan, matching, memory, sampling
from ouzel.physical.tree.orders import order_of
from ouzel.testing.strategies import RandomQuery, streams

SEQUENCE = "PATTERN A a; B b; C c WHERE a.x <= b.x AND b.x <= c.x WITHIN 60"
HEAP = "PATTERN A a & B b & C c WHERE a.x <= b.x AND b.x <= c.x WITHIN 60"


@contextmanager
def ever_other_orders(size: int = matching.ROUND) -> Iterator[None]:
    """Before every round, of at most so many events, another order is taken."""
    names = cycle(ORDERS)

    def orders(plan: TreePlan, _statistics: Any) -> Any:
        name = next(names)
        return tuple(None if one.root is None else order_of(name, one.root) for one in plan.variants)

    always: dict[str, Any] = {"CHANGED": -1.0, "BETTER": -1e9, "FIRST": 0, "STRETCH": 0, "REST": 0}
    with (
        patch.multiple(memory, **always),
        patch.object(TreePlan, "orders", orders),
        patch.object(matching, "ROUND", size),
    ):
        yield


@settings(max_examples=100)
@given(QUERIES, streams(max_events=9), st.lists(st.integers(0, 9), min_size=1, max_size=5), st.booleans())
def test_orders_may_change_after_any_batch(
    query: RandomQuery, events: Events, cuts: list[int], resumed: bool
) -> None:
    expected(query.text, events)
    plan, table = plan_of(query.text, events), ingested(events, types=TYPES)
    with ever_other_orders():
        found = in_batches(plan, table, cuts, resumed=resumed)
    assert found == in_batches(plan, table, [], resumed=False)


@settings(max_examples=100)
@given(QUERIES, streams(max_events=9), st.integers(1, 3))
def test_orders_may_change_after_any_round(query: RandomQuery, events: Events, size: int) -> None:
    expected(query.text, events)
    plan, table = plan_of(query.text, events), ingested(events, types=TYPES)
    with ever_other_orders(size):
        found = whole(plan, table)
    assert found == whole(plan, table)


@settings(max_examples=100)
@given(QUERIES, streams(max_events=9), st.integers(1, 3))
def test_types_that_lack_the_key(query: RandomQuery, events: Events, size: int) -> None:
    lacking = {**TYPES, "C": {"eid": "string", "x": "int64", "y": "int64"}}
    wanted = expected(query.text, events, lacking)
    with ever_other_orders(size):
        assert oz.match(events, query.text, engine="tree", types=lacking) == wanted


def test_copies_of_events_for_matches_of_no_partition_are_not_joined() -> None:
    types = {"A": {"eid": "string", "k": "int64"}, "C": {"eid": "string"}}
    keys = (None, 1, 2, 1)
    events = [{"ts": n, "eid": f"e{n}", "type": "A" if key else "C", "k": key} for n, key in enumerate(keys)]
    query = "PATTERN C c; A a; A b WHERE [k] RETURN a.eid AS a, b.eid AS b"
    with ever_other_orders(1):
        assert oz.match(events, query, engine="tree", types=types) == [{"a": "e1", "b": "e3"}]


# ---- what is seen, and when ------------------------------------------------------------------------------


def stretch(begin: int, count: int, rare: str) -> pa.Table:
    """Events of three types, one of which is rare."""
    random = np.random.default_rng(begin)
    shares = [0.02 if name == rare else 0.49 for name in "ABC"]
    types = np.array(list("ABC"))[random.choice(3, count, p=shares)]
    return pa.table({"ts": np.arange(begin, begin + count), "type": types, "x": random.integers(0, 100, count)})


def changing(count: int) -> pa.Table:
    """First C is rare, then A, then C again."""
    return pa.concat_tables([stretch(k * count, count, rare) for k, rare in enumerate("CAC")])


def in_pieces(matcher: Any, events: pa.Table, size: int) -> list[dict[str, Any]]:
    found = [matcher.push(events.slice(at, size)) for at in range(0, events.num_rows, size)]
    return pa.concat_tables([*found, matcher.finish()]).to_pylist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("query", [SEQUENCE, HEAP])
def test_a_table_is_joined_in_the_order_that_suits_its_part(query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "ROUND", 5_000)
    events, adapted, kept = changing(10_000), oz.Report(), oz.Report()
    found = oz.match(events, query, engine="tree", report=adapted)
    assert found.equals(oz.match(events, query, engine="tree", tuning={"adapt": "off"}, report=kept))
    assert found.equals(oz.match(events, query, engine="tree", tuning={"plan": "left-deep"}))
    assert adapted.counters.switches == 2
    assert kept.counters.switches == 0


@pytest.mark.parametrize(("size", "late"), [(5_000, 0), (1_100, 1)])
def test_many_other_events_change_the_order_at_once_and_fewer_soon(size: int, late: int) -> None:
    at_work = plan_of(SEQUENCE, [{"ts": 1, "type": "A", "x": 1}]).begin(Limits())
    switches: list[int] = []
    for rare in "CCCAAACCC":
        begin = size * len(switches)
        at_work.push(ingested(stretch(begin, size, rare)), begin + size - 1)
        switches.append(at_work.counters.switches)
    assert switches.index(1) == 3 + late
    assert switches.index(2) == 6 + late
    assert switches[-1] == 2


def test_adapt_is_on_or_off() -> None:
    with pytest.raises(oz.OuzelError, match="adapt: required one of on, off; got 'never'"):
        oz.match(stretch(0, 9, "A"), SEQUENCE, engine="tree", tuning={"adapt": "never"})


def test_single_events_are_looked_at_many_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    see = sampling.Sampler.see

    def noted(self: Any, arrivals: Any, *others: Any) -> None:
        seen.append(len(arrivals))
        see(self, arrivals, *others)

    monkeypatch.setattr(sampling.Sampler, "see", noted)
    matcher = oz.matcher(SEQUENCE, stretch(0, 1, "A").schema, engine="tree")
    in_pieces(matcher, stretch(0, 500, "A"), 1)
    assert seen == [64, 128, 256]


def test_time_goes_into_matches_not_into_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """An order that was joined anew for many events is kept for as many."""
    replanted: list[int] = []
    replant = memory.Memory._replant

    def noted(self: Any, end: int) -> int:
        replanted.append(replant(self, end))
        return replanted[-1]

    monkeypatch.setattr(memory.Memory, "_replant", noted)
    monkeypatch.setattr(memory, "BETTER", -1e9)
    monkeypatch.setattr(memory, "CHANGED", -1.0)
    events = stretch(0, 6_000, "A")
    matcher = oz.matcher(SEQUENCE.replace("60", "3000"), events.schema, engine="tree")
    in_pieces(matcher, events.filter(pa.compute.less(events["x"], 40)), 50)
    assert len(replanted) > 3
    assert sum(replanted) <= 2 * 6_000 * 0.4


# ---- matchers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", [SEQUENCE, HEAP, "PATTERN (A a & B b & C c); !A n; B d WITHIN 6"])
def test_a_matcher_goes_on_from_a_snapshot_while_orders_change(query: str) -> None:
    events = stretch(0, 300, "B")
    wanted = oz.match(events, query, engine="reference")
    with ever_other_orders():
        first = oz.matcher(query, events.schema, engine="tree")
        found = [first.push(events.slice(at, 30)) for at in range(0, 150, 30)]
        second = oz.restore(first.snapshot())
        assert second.report.counters == first.report.counters
        found += [second.push(events.slice(at, 30)) for at in range(150, 300, 30)]
        found.append(second.finish())
    assert pa.concat_tables(found).equals(wanted)
    assert second.report.counters.switches > first.report.counters.switches > 2


def test_what_is_known_of_events_is_in_snapshots() -> None:
    """Each part of the stream is matched by another matcher, and yet it is seen that the events have changed."""
    parts = [stretch(2_000 * number, 2_000, rare) for number, rare in enumerate("CCAACC")]
    matcher, switches, found = oz.matcher(SEQUENCE, parts[0].schema, engine="tree"), [], []
    for part in parts:
        found.append(matcher.push(part))
        matcher = oz.restore(matcher.snapshot())
        switches.append(matcher.report.counters.switches)
    found.append(matcher.finish())
    assert switches[1] == 0
    assert switches[3] == 1
    assert switches[5] == 2
    assert pa.concat_tables(found).equals(oz.match(pa.concat_tables(parts), SEQUENCE, engine="tree"))


def test_a_matcher_tells_what_its_engines_did() -> None:
    events = stretch(0, 60, "C")
    limits = oz.Limits(max_matches=10, on_limit="shed")
    matcher = oz.matcher("PATTERN A a; B b WITHIN 50", events.schema, engine="scan", limits=limits)
    matcher.push(events)
    assert matcher.report.counters.made > 0
    assert matcher.report.counters.shed > 0


def test_a_matcher_explains_the_tree_at_work() -> None:
    matcher = oz.matcher(SEQUENCE, stretch(0, 1, "A").schema, engine="tree")
    assert "by a sample" not in matcher.explain()
    drawn = []
    for number, rare in enumerate("CA"):
        matcher.push(stretch(5_000 * number, 5_000, rare))
        text = matcher.explain()
        assert "in a window, by a sample: " in text
        drawn.append(text[text.index("SEQ  where") :].splitlines()[0])
    assert drawn[0].startswith("SEQ  where a.x <= b.x")  # right-deep: what is rare comes first
    assert drawn[1].startswith("SEQ  where b.x <= c.x")
