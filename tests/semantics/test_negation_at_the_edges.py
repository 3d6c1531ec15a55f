from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.runtimes.rows import rows_to_arrow
from semantics.harness import found, line, stream

START = "PATTERN SEQ(!(B b), A a, C c)"
END = "PATTERN SEQ(A a, C c, !(B b))"


def test_at_the_start_the_interval_is_from_end_minus_window_to_the_first_event() -> None:
    refuting = [t for t in range(3, 13) if not found(f"{START} WITHIN 5", f"b{t} a8 c10")]
    assert refuting == [6, 7]


def test_at_the_end_the_interval_is_from_the_last_event_to_start_plus_window() -> None:
    refuting = [t for t in range(9) if not found(f"{END} WITHIN 5", f"b{t} a1 c3")]
    assert refuting == [4, 5]


def test_an_inclusive_window_takes_its_bounds_in() -> None:
    refuting = [t for t in range(3, 13) if not found(f"{START} WITHIN 5 INCLUSIVE", f"b{t} a8 c10")]
    assert refuting == [5, 6, 7]
    refuting = [t for t in range(9) if not found(f"{END} WITHIN 5 INCLUSIVE", f"b{t} a1 c3")]
    assert refuting == [4, 5, 6]


def test_around_a_single_event() -> None:
    assert found("PATTERN SEQ(!(B b), A a) WITHIN 5", "a1 b2 a6 a7") == ["a1", "a7"]
    assert found("PATTERN SEQ(A a, !(B b)) WITHIN 5", "a1 a2 b6 a7") == ["a1", "a7"]
    assert found("PATTERN !B; A; !B2 WITHIN 5", "a1") == ["a1"]


def test_at_both_ends() -> None:
    query = "PATTERN SEQ(!(B b), A a, !(C c)) WITHIN 3"
    assert found(query, "c1 a2 b3") == ["a2"]
    assert found(query, "b1 a2") == found(query, "a2 c3") == []


def test_where_the_stream_ends_nothing_more_will_refute() -> None:
    assert found(f"{END} WITHIN 5", "a1 c3") == ["a1 c3"]


def test_it_must_satisfy_the_conjuncts_that_mention_it() -> None:
    for pattern, events in ((START, "b1:x={} a2:x=5 c3:x=5"), (END, "a1:x=5 c2:x=5 b3:x={}")):
        for condition in ("b.x > 5", "b.x > a.x", "b.x > c.x"):
            query = f"{pattern} WHERE {condition} WITHIN 5"
            assert found(query, events.format(3)) != []
            assert found(query, events.format(7)) == []


def test_only_in_the_own_partition() -> None:
    query = "PATTERN SEQ(A a, !(B b)) WHERE [id] WITHIN 5"
    assert found(query, "a1:id=1 a2:id=2 b3:id=2") == ["a1"]


def test_several_types() -> None:
    for negative in ("!(B b), !(C c)", "!(ANY(B, C) n)", "!(B | C)"):
        query = f"PATTERN SEQ(A a, {negative}) WITHIN 3"
        assert found(query, "a1 a5 b6 a9 c10") == ["a1"]
        query = f"PATTERN SEQ({negative}, A a) WITHIN 3"
        assert found(query, "b1 a2 c4 a5 a9") == ["a9"]


def test_behind_a_closure_every_prefix_has_its_own_interval() -> None:
    query = "PATTERN SEQ(A+ a[], !(B b)) WITHIN 5"
    assert found(query, "a1 b2 a3") == ["[a1 a3]", "[a3]"]


def test_beside_an_empty_closure_the_nearest_component_that_bound_an_event_counts() -> None:
    assert found("PATTERN SEQ(A a, B* b[], !(N n)) WITHIN 5", "a1 n2 b3") == ["a1 [b3]"]
    assert found("PATTERN SEQ(!(N n), B* b[], A a) WITHIN 5", "b1 n2 a3") == ["[b1] a3"]


def test_the_bounds_of_a_window_of_events() -> None:
    query = "PATTERN SEQ(!(B b), A a, C c) WITHIN 3 EVENTS"
    assert found(query, "b1 a2 c3") == []
    assert found(query, "b1 x2 a3 c4") == ["a3 c4"]
    query = "PATTERN SEQ(A a, !(B b)) WITHIN 3 EVENTS"
    assert found(query, "a1 x2 b3") == []
    assert found(query, "a1 x2 x3 b4") == ["a1"]


def test_tie_breaking_columns_decide_what_comes_before_the_start() -> None:
    query = "PATTERN SEQ(!(B b), A a) WITHIN 5"
    assert found(query, "b1:seq=1 a1:seq=2") == ["a1"]
    assert found(query, "b1:seq=1 a1:seq=2", order=["ts", "seq"]) == []


@pytest.mark.parametrize("options", [{}, {"speculation": "inf"}, {"engine": "reference"}], ids=str)
@pytest.mark.parametrize(
    ("pattern", "waiting", "standing"),
    [
        ("SEQ(A a, !(N n), B? b)", "a1 -", "a1 b3"),
        ("SEQ(A a, !(N n), B* b[])", "a1 []", "a1 [b3]"),
        ("SEQ(A a, C? c, !(N n), B? b, !(M m), D? d)", "a1 - - -|a1 - b3 -", "a1 - - d4|a1 - b3 d4"),
        ("A a; ((!N; B b) | C c)", "", "a1 b3 -"),
        ("A a; ((B b; !N) | D d)", "a1 b3 -", "a1 - d4"),
        ("A a & (!N; B b)", "", "a1 b3"),
    ],
)
def test_only_matches_that_a_later_event_may_refute_wait_for_their_window(
    pattern: str, waiting: str, standing: str, options: dict[str, Any]
) -> None:
    events, _warned = rows_to_arrow(stream("a1 b3 d4"))
    types = {name: ["eid"] for name in "ABCDNM"}
    matcher = oz.matcher(f"PATTERN {pattern} WITHIN 10", events.schema, types=types, time_unit="s", **options)
    assert matched_by(matcher, events, 5) == standing
    assert matched_by(matcher, events.slice(0, 0), 11) == waiting
    assert matcher.finish().num_rows == 0


def matched_by(matcher: oz.Matcher, events: pa.Table, until: int) -> str:
    rows = matcher.push(events, until).to_pylist()
    return "|".join(sorted(line({k: v for k, v in row.items() if k not in ("op", "match_id")}) for row in rows))


@pytest.mark.parametrize(("pattern", "where"), [(START, "start"), (END, "end")])
def test_it_needs_a_window(pattern: str, where: str) -> None:
    with pytest.raises(oz.QueryError, match=f"'b' at the {where} of the pattern without WITHIN"):
        oz.query(pattern)


@pytest.mark.parametrize(
    "pattern",
    ["(A; !B) | C", "A & !(B | C)", "(!B; A) & C", "SEQ(A a, !(N n), B* b[])", "SEQ(A* a[], !(N n), B b)"],
)
def test_what_may_come_to_stand_at_an_edge_needs_a_window(pattern: str) -> None:
    with pytest.raises(oz.QueryError, match="without WITHIN"):
        oz.query(f"PATTERN {pattern}")
    assert oz.query(f"PATTERN {pattern} WITHIN 1 hour").names
