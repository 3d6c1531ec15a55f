"""An engine is chosen by what the events of a table are like, where that makes a difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ouzel as oz
from engines.splits import ingested
from ouzel.compile import compile_query
from ouzel.optimizer import Plan, fit, fitted

ALL = {"scan", "automaton", "tree"}
# each C would try all pairs of A and B, of which a tree keeps the few that are equal
TEXT = "PATTERN SEQ(A a, B b, C c) WHERE a.x = b.x WITHIN {} RETURN a.ts AS a, b.ts AS b, c.ts AS c"


def stream(count: int = 40_000) -> pa.Table:
    random = np.random.default_rng(5)
    types = random.choice(["A", "B", "C"], count, p=[0.1, 0.1, 0.8])
    return pa.table({"ts": np.arange(count), "type": types, "x": random.integers(0, 5_000, count)})


def plan_of(text: str, events: pa.Table, engine: str = "auto") -> tuple[Plan, Plan]:
    table = ingested(events)
    plan = compile_query(text, table.schema, None, engine).plans[0]
    return plan, fitted(plan, table)


def test_a_tree_is_taken_where_a_scan_would_try_much_for_nothing() -> None:
    before, after = plan_of(TEXT.format(2_000), stream())
    assert (before.engine, after.engine) == ("scan", "tree")
    assert after.estimates[0][0] == "tree"
    ((name, why),) = after.passed_over
    assert name == "scan"
    assert "times as long for these events" in why


def test_explain_shows_the_choice_that_match_takes() -> None:
    text = " ".join(oz.query(TEXT.format(2_000)).explain(stream()).split())
    assert "engine tree: " in text
    assert "not scan: by estimate it takes " in text


def test_what_is_chosen_finds_the_same() -> None:
    events = stream(20_000)
    query = TEXT.format(600)
    assert oz.match(events, query).equals(oz.match(events, query, engine="scan"))


@pytest.mark.parametrize(
    ("text", "count", "engine"),
    [
        (TEXT.format(2_000), 10_000, "auto"),  # too few events
        (TEXT.format(20), 40_000, "auto"),  # too little to do
        (TEXT.format(2_000), 40_000, "scan"),  # it was asked for
        ("PATTERN SEQ(A a, B b) WHERE skip_till_next_match { a.x = b.x } WITHIN 2000", 40_000, "auto"),
    ],
)
def test_nothing_is_looked_at_where_there_is_no_choice(
    text: str, count: int, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sampled(*_arguments: Any, **_options: Any) -> None:
        raise AssertionError("events were looked at")

    monkeypatch.setattr(fit, "sampled", sampled)
    before, after = plan_of(text, stream(count), engine)
    assert after is before


@pytest.mark.parametrize("every", ["", " EVERY 100"])
@pytest.mark.parametrize(("pattern", "engines"), [("A a & B b & C c", {"tree"}), ("A a; B b; C c", ALL)])
def test_explain_shows_what_is_known_of_events_that_are_added_up(
    pattern: str, engines: set[str], every: str
) -> None:
    events = [{"ts": n, "type": "ABC"[n % 3], "x": n} for n in range(300)]
    query = f"PATTERN {pattern} WHERE a.x < b.x WITHIN 30 RETURN count(*) AS n OUTPUT AGGREGATE{every}"
    text = oz.query(query).explain(events)
    assert "in a window, by a sample: 10 a, 10 b, 10 c" in text
    assert "a.x < b.x  holds for " in text
    names = {one.split()[0] for one in text.partition("estimated: ")[2].partition("\n")[0].split(", ")}
    assert names == engines
    assert ("records touched and made in a window: " in text) is ("&" in pattern)
