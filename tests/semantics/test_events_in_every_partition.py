"""Events whose type lacks an attribute of an equivalence test are in every partition: every engine agrees."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ouzel as oz
from ouzel.physical.compiled import share
from semantics.everywhere import everywhere
from semantics.harness import found, tables

TYPES = {
    "A": {"eid": "string", "k": "int64", "m": "int64"},
    "B": {"eid": "string", "k": "int64"},  # lacks m
    "C": {"eid": "string", "m": "int64"},  # lacks k
    "D": {"eid": "string"},  # lacks both
}
PATTERNS = (
    "SEQ(A a, C c, B b)",
    "SEQ(D d, ANY(A, D) a)",
    "SEQ(C c, B b, ANY(A, D)? d)",
    "SEQ(ANY(B, D)+ b[], ANY(A, C) a)",
    "SEQ(D d, !(ANY(A, B) n), D e)",
    "SEQ(!(A n), C+ c[], D d)",
    "SEQ(C c, D d, !(B n))",
    "SEQ((B b | D d), C c)",
)
STRATEGIES = ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match")
WINDOWS = ("WITHIN 6", "WITHIN 4 EVENTS")
TESTS = ("[k]", "[k, m]", "[k = 1]", "[m] AND [k = 2]")
EVENTS = st.lists(
    st.fixed_dictionaries(
        {
            "ts": st.integers(0, 7),
            "type": st.sampled_from("ABCDZ"),
            "k": st.sampled_from((1, 1, 2, None)),
            "m": st.sampled_from((1, 2, 2, None)),
        }
    ),
    min_size=2,
    max_size=9,
)


@settings(max_examples=300)
@given(
    st.sampled_from(PATTERNS),
    st.sampled_from(STRATEGIES),
    st.sampled_from(TESTS),
    st.sampled_from(WINDOWS),
    st.sampled_from(("", "OUTPUT NON_OVERLAP")),
    EVENTS,
)
def test_random_events(
    pattern: str, strategy: str, tests: str, window: str, output: str, events: list[dict[str, Any]]
) -> None:
    query = f"PATTERN {pattern} WHERE {strategy} {{ {tests} }} {window} {output}"
    events = [{**event, "eid": f"e{number}"} for number, event in enumerate(events)]
    types = TYPES | {"Z": {"eid": "string", "k": "int64", "m": "int64"}}
    expected = oz.match(events, query, types=types, engine="reference")
    assert oz.match(events, query, types=types, engine="automaton") == expected


def test_a_match_of_no_partition_is_found_once() -> None:
    query = "PATTERN SEQ(X x, X y, A? a) WHERE [id]"
    assert found(query, tables("x1 x2 a3:id=1 a4:id=2 a5:id=3")) == ["x1 x2 -", "x1 x2 a3", "x1 x2 a4", "x1 x2 a5"]


def test_copies_of_an_event_are_one_in_the_order_of_results() -> None:
    query = "PATTERN SEQ(C c, B b, A? a) WHERE strict_contiguity { [k] } RETURN c.eid AS c, b.eid AS b"
    events = [{"ts": 1, "type": "C", "eid": "c"}]
    events += [{"ts": 3, "type": "B", "k": key, "eid": f"b{key}"} for key in (2, 1, 3)]
    rows = everywhere(query, events, types=TYPES | {"C": {"eid": "string"}})
    assert rows == [{"c": "c", "b": f"b{key}"} for key in (1, 2, 3)]


def test_totals_count_it_once() -> None:
    query = "PATTERN SEQ(X x, X y, A? a) WHERE [id] RETURN count(*) AS n OUTPUT AGGREGATE"
    rows = everywhere(query, tables("x1 x2 a3:id=1 a4:id=2"), runs_on="automaton")
    assert sorted(row["n"] for row in rows) == [1, 1, 1]


def test_copies_that_do_not_fit_are_an_error() -> None:
    events = [{"ts": n, "type": "AX"[n % 2], "id": n} for n in range(20_000)]
    query = "PATTERN SEQ(X x, A a) WHERE skip_till_next_match { [id] } WITHIN 5"
    with pytest.raises(oz.OuzelError, match=r"events, each in every partition .* would not fit"):
        oz.match(events, query, types={"X": ["ts"], "A": ["ts", "id"]}, limits=oz.Limits(max_memory="1 GB"))


@pytest.mark.parametrize("pattern", ["SEQ(X x, A a)", "SEQ(X+ x[], !(N n), A a)"])
def test_compiled_and_by_threads(pattern: str) -> None:
    events = [{"ts": n, "type": "AXBAN"[n * 7 % 5], "id": n % 3} for n in range(60)]
    query = f"PATTERN {pattern} WHERE skip_till_next_match {{ [id] }} WITHIN 9"
    types = {"X": ["ts"], "N": ["ts"], "A": ["ts", "id"], "B": ["ts", "id"]}
    expected = everywhere(query, events, compiled="automaton", types=types)
    with patch.object(share, "PARALLEL_FROM", 0):
        assert oz.match(events, query, types=types, threads=3) == expected


def test_a_partition_that_opens_later_makes_no_earlier_events_match() -> None:
    query = "PATTERN SEQ(A? a, D+ d[]) WHERE strict_contiguity { [k] } RETURN d[].eid AS d"
    events: list[dict[str, Any]] = [
        {"ts": 0, "type": "A", "k": 1, "m": 1, "eid": "a0"},
        {"ts": 0, "type": "D", "eid": "d0"},
        {"ts": 1, "type": "D", "eid": "d1"},
    ]
    later = {"ts": 2, "type": "A", "k": 2, "m": 1, "eid": "a2"}
    found = everywhere(query, events, types=TYPES)
    assert {"d": ["d0", "d1"]} in found
    assert everywhere(query, [*events, later], types=TYPES) == found
