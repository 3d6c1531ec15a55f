from __future__ import annotations

import pytest

import ouzel as oz
from semantics.harness import found


def contiguous(pattern: str, events: str, conditions: str = "[id]") -> list[str]:
    return found(f"PATTERN {pattern} WHERE partition_contiguity {{ {conditions} }}", events)


def test_events_of_other_partitions_may_lie_between() -> None:
    assert contiguous("SEQ(A a, B b)", "a1:id=1 a2:id=2 x3:id=3 b4:id=1 b5:id=2") == ["a1 b4", "a2 b5"]


def test_events_of_the_own_partition_may_not() -> None:
    assert contiguous("SEQ(A a, B b)", "a1:id=1 x2:id=1 b3:id=1") == []
    assert contiguous("SEQ(A a, B b)", "a1:id=1 a2:id=1 b3:id=1") == ["a2 b3"]


def test_events_of_no_partition_may_lie_between() -> None:
    assert contiguous("SEQ(A a, B b)", "a1:id=1 x2:id=null b3:id=1") == ["a1 b3"]


def test_an_event_that_fails_a_predicate_breaks_the_run() -> None:
    events = "a1:id=1,x=5 b2:id=1,x=1 b3:id=1,x=9"
    assert contiguous("SEQ(A a, B b)", events, "[id] AND b.x > a.x") == []


def test_partitions_of_two_attributes() -> None:
    events = "a1:id=1,site=x x2:id=1,site=y x3:id=2,site=x b4:id=1,site=x"
    assert contiguous("SEQ(A a, B b)", events, "[id, site]") == ["a1 b4"]
    assert contiguous("SEQ(A a, B b)", events, "[id]") == []


def test_a_partition_of_one_value() -> None:
    events = "a1:name=John x2:name=Ann b3:name=John a4:name=Ann b5:name=Ann"
    assert contiguous("SEQ(A a, B b)", events, "[name='John']") == ["a1 b3"]


def test_a_closure_takes_neighbours_in_its_partition() -> None:
    events = "a1:id=1 a2:id=2 a3:id=1 b4:id=1 x5:id=2 b6:id=2"
    assert contiguous("SEQ(A+ a[], B b)", events) == ["[a1 a3] b4", "[a3] b4"]


def test_a_closure_dies_of_an_event_it_cannot_take() -> None:
    events = "a1:id=1,x=1 a2:id=2,x=0 a3:id=1,x=3 a4:id=1,x=2 b5:id=1"
    assert contiguous("SEQ(A+ a[], B b)", events, "[id] AND a[i].x > a[i-1].x") == ["[a4] b5"]


def test_a_closure_at_the_end_reports_every_prefix() -> None:
    events = "a1:id=1 b2:id=1 b3:id=2 b4:id=1 x5:id=1 b6:id=1"
    assert contiguous("SEQ(A a, B+ b[])", events) == ["a1 [b2 b4]", "a1 [b2]"]


def test_a_closure_that_may_be_empty() -> None:
    events = "a1:id=1 a2:id=2 b3:id=2 c4:id=1 c5:id=2"
    assert contiguous("SEQ(A a, B* b[], C c)", events) == ["a1 [] c4", "a2 [b3] c5"]


def test_alternatives() -> None:
    events = "a1:id=1 a2:id=2 c3:id=2 b4:id=1 d5:id=2 d6:id=1"
    assert contiguous("SEQ(A a, (B b | C c), D d)", events) == ["a1 b4 - d6", "a2 - c3 d5"]
    assert contiguous("SEQ(A a, (B b | C c), D d)", "a1:id=1 b2:id=1 c3:id=1 d4:id=1") == []


def test_it_needs_an_equivalence_test() -> None:
    with pytest.raises(oz.QueryError, match="partition_contiguity without an equivalence test"):
        oz.query("PATTERN SEQ(A a, B b) WHERE partition_contiguity { a.x > 1 }")
