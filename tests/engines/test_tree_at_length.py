"""Trees over many events: records that go, texts and partitions that are forgotten, and limits on all of it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.physical.tree import matching, memory

PLANS = ("left-deep", "right-deep")


def stream(count: int, seed: int = 2) -> pa.Table:
    """Events of three types; half of them have one key."""
    random = np.random.default_rng(seed)
    keys = np.where(random.random(count) < 0.5, 0, random.integers(1, 60, count))
    return pa.table(
        {
            "ts": np.arange(count),
            "type": random.choice(list("ABC"), count),
            "k": keys,
            "x": random.integers(0, 6, count),
        }
    )


def pushed(query: str, events: pa.Table, size: int, *, again: bool = False, **options: object) -> oz.Report:
    """What a matcher reports of events in pieces, which may be restored after each."""
    matcher = oz.matcher(query, events.schema, engine="tree", **options)  # type: ignore[arg-type]
    for begin in range(0, len(events), size):
        matcher.push(events.slice(begin, size))
        matcher = oz.restore(matcher.snapshot()) if again else matcher
    matcher.finish()
    return matcher.report


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("pattern", ["A a; B b; C c", "A a & B b & C c"])
def test_positions_of_other_partitions_end_no_search_among_equal_values(pattern: str, plan: str) -> None:
    events = stream(900)
    looked_up, compared = (
        f"PATTERN {pattern} WHERE [k] AND {equal} WITHIN 20 EVENTS RETURN a.ts AS a, b.ts AS b, c.ts AS c"
        for equal in ("a.x = b.x", "a.x <= b.x AND a.x >= b.x")
    )
    found = oz.match(events, looked_up, engine="tree", tuning={"plan": plan})
    assert found.num_rows > 100
    assert found.equals(oz.match(events, compared, engine="tree"))


def test_texts_that_are_forgotten_are_still_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "SPARE", 16)
    count, apart = 1_200, 31
    names = [f"n{n}" for n in range(count)]
    for n in range(apart, count):
        if n % 3 == 1:
            names[n] = names[n - apart]
    events = pa.table({"ts": range(count), "type": list("ABC") * (count // 3), "name": names})
    query = "PATTERN A a; B b; C c WHERE a.name = b.name WITHIN 40"
    assert pushed(query, events, 10).matches == oz.match(events, query, engine="scan").num_rows > 1_000


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("window", ["30", "30 EVENTS"])
def test_records_outside_of_the_window_go(window: str, plan: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "SPARE", 64)
    monkeypatch.setattr(matching, "ROUND", 256)
    peaks = []
    for count in (8_000, 24_000):
        report = oz.Report()
        query = f"PATTERN A a; B b; C c WHERE [k] AND a.x + b.x + c.x = 16 WITHIN {window}"
        oz.match(stream(count), query, engine="tree", tuning={"plan": plan}, report=report)
        peaks.append(report.counters.peak)
    assert peaks[1] < 1.5 * peaks[0]


# ---- limits ----------------------------------------------------------------------------------------------


def test_a_matcher_goes_on_elsewhere_though_its_window_has_more_matches_than_records_are_allowed() -> None:
    events, query = stream(600), "PATTERN A a; B b; C c WITHIN 60"
    limits = oz.Limits(max_nodes=900)
    whole = pushed(query, events, 50, limits=limits).matches
    assert pushed(query, events, 50, again=True, limits=limits).matches == whole


def test_what_does_not_fit_when_a_matcher_goes_on_is_an_error_that_says_so() -> None:
    events = stream(600)
    matcher = oz.matcher("PATTERN A a; B b; C c WHERE a.x + b.x + c.x = 16", events.schema, engine="tree")
    matcher.push(events)
    narrow = oz.matcher(
        "PATTERN A a; B b; C c WHERE a.x + b.x + c.x = 16",
        events.schema,
        engine="tree",
        limits=oz.Limits(max_nodes=700),
    )
    with pytest.raises(oz.OuzelError, match="more than 700 "):
        narrow.restore(matcher.snapshot())


def test_records_that_are_too_old_are_not_counted() -> None:
    events, query = stream(20_000), "PATTERN A a; B b; C c WITHIN 60"
    limits = oz.Limits(max_nodes=1_500, on_limit="shed")
    report = pushed(query, events, 50, limits=limits)
    assert report.counters.shed == 0
    assert report.matches == oz.match(events, query, engine="scan").num_rows


@pytest.mark.parametrize("limit", ["max_nodes", "max_runs"])
def test_all_operators_share_what_is_allowed(limit: str) -> None:
    query = "PATTERN A a; B b; C c; A d WHERE a.x + b.x + c.x + d.x = 22 WITHIN 60"
    events, report = stream(2_000), oz.Report()
    oz.match(events, query, engine="tree", tuning={"plan": "left-deep"}, report=report)
    most = report.counters.peak * 9 // 10
    limits = oz.Limits(max_nodes=most) if limit == "max_nodes" else oz.Limits(max_runs=most)
    with pytest.raises(oz.OuzelError, match="more than "):
        oz.match(events, query, engine="tree", tuning={"plan": "left-deep"}, limits=limits)


def test_matches_of_no_partition_that_are_shed_are_counted() -> None:
    schema = pa.schema({"ts": "int64", "type": "string", "k": "int64"})
    limits = oz.Limits(max_matches=5, on_limit="shed")
    types = {"A": ["k"], "C": []}
    matcher = oz.matcher("PATTERN A a; C c; A b WHERE [k] WITHIN 50", schema, types=types, limits=limits)
    rows = [{"ts": n, "type": "AC"[n % 2], "k": 1 if n % 2 == 0 else None} for n in range(40)]
    found = [matcher.push(pa.Table.from_pylist(rows[n : n + 4], schema)).num_rows for n in range(0, 40, 4)]
    assert max(found) == 5
    assert found[-1] == 5
    assert matcher.report.counters.shed_matches > 0


# ---- samples ---------------------------------------------------------------------------------------------


def test_registered_functions_are_not_called_for_samples() -> None:
    def fits(x: int, y: int, key: int, other: int) -> bool:
        assert key == other, "events of two partitions were brought together"
        return x < y

    oz.register_function("fits_in_one", fits, returns="boolean")
    events = stream(300)
    query = "PATTERN A a; B b; C c WHERE [k] AND fits_in_one(a.x, b.x, a.k, b.k) WITHIN 20"
    assert oz.match(events, query, engine="tree").equals(oz.match(events, query, engine="automaton"))


def test_times_as_far_apart_as_can_be_are_sampled() -> None:
    random = np.random.default_rng(0)
    times = np.linspace(-9e18, 9e18, 30_000).astype(np.int64)
    events = pa.table(
        {"ts": times, "type": random.choice(list("ABC"), 30_000), "x": random.integers(0, 1_000, 30_000)}
    )
    query = oz.query("PATTERN A a; B b; C c WHERE a.x = 1 AND b.x = 2 AND c.x = 3 WITHIN 9223372036854775807")
    assert "estimated" in query.explain(events)
    assert oz.match(events, query).equals(oz.match(events, query, engine="automaton"))


def test_optional_components_are_not_combined_to_find_out_that_they_are_too_many() -> None:
    optional = "; ".join(f"A? a{n}" for n in range(60))
    query = oz.query(f"PATTERN ({optional}; C c) & B b WITHIN 5")
    assert "not tree: " in query.explain()
