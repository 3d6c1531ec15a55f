from __future__ import annotations

from semantics.harness import found

CLOSURE = "PATTERN SEQ(A+ a[], B b)"


def taken(condition: str, events: str) -> list[str]:
    return found(f"{CLOSURE} WHERE skip_till_next_match {{ {condition} }}", events)


def test_the_first_element() -> None:
    assert taken("a[1].x > 5", "a1:x=9 a2:x=1 b3") == ["[a1 a2] b3"]


def test_a_conjunct_on_the_current_element_alone_applies_to_every_element() -> None:
    events = "a1:x=1 a2:x=9 a3:x=2 a4:x=8 b5"
    for condition in ("a[i].x > 5", "a.x > 5", "NOT (a[i].x <= 5)"):
        assert taken(condition, events) == ["[a2 a4] b5", "[a4] b5"]


def test_the_previous_element_counts_from_the_second_on() -> None:
    events = "a1:x=5 a2:x=3 a3:x=4 b4"
    assert taken("a[i].x > a[i-1].x", events) == ["[a1] b4", "[a2 a3] b4", "[a3] b4"]


def test_the_elements_so_far_count_from_the_second_on() -> None:
    events = "a1:x=4 a2:x=6 a3:x=5 a4:x=9 b5"
    # after 4 and 6 the average is 5: 5 is not above it, 9 is
    assert taken("a[i].x > avg(a[..i-1].x)", events) == [
        "[a1 a2 a4] b5",
        "[a2 a4] b5",
        "[a3 a4] b5",
        "[a4] b5",
    ]


def test_the_number_of_elements_so_far() -> None:
    assert taken("count(a[..i-1]) < 2", "a1 a2 a3 b4") == ["[a1 a2] b4", "[a2 a3] b4", "[a3] b4"]


def test_the_current_element_against_the_first_counts_from_the_second_on() -> None:
    events = "a1:x=5 a2:x=3 a3:x=7 b4"
    assert taken("a[i].x > a[1].x", events) == ["[a1 a3] b4", "[a2 a3] b4", "[a3] b4"]


def test_an_alternative_to_the_previous_element_counts_from_the_second_on_too() -> None:
    query = f"{CLOSURE} WHERE strict_contiguity {{ a[i].x > a[i-1].x OR a[i].y = 1 }}"
    events = "a1:x=5,y=0 a2:x=3,y=1 a3:x=4,y=0 b4"
    assert found(query, events) == ["[a1 a2 a3] b4", "[a2 a3] b4", "[a3] b4"]
    assert found(query, "a1:x=5,y=0 a2:x=3,y=1 a3:x=1,y=0 b4") == ["[a3] b4"]


def test_the_last_element_of_the_finished_closure() -> None:
    events = "a1:x=1 a2:x=9 b3:x=5"
    assert found(f"{CLOSURE} WHERE b.x < a[a.LEN].x", events) == ["[a1 a2] b3", "[a2] b3"]


def test_a_closure_is_complete_when_its_proceed_predicates_hold() -> None:
    events = "a1:x=9 a2:x=1 b3 a4:x=7 b5"
    assert taken("a[a.LEN].x > 5", events) == ["[a1 a2 a4] b5", "[a2 a4] b5", "[a4] b5"]
    assert taken("a.LEN = 2", "a1 b2 a3 b4 a5 b6") == ["[a1 a3] b4", "[a3 a5] b6"]
    assert taken("sum(a[].x) > 9", events) == ["[a1 a2 a4] b5", "[a1 a2] b3"]


def test_proceed_predicates_do_not_stop_the_closure_from_taking() -> None:
    # [a1] is complete and [a1 a2] is not, but the run has taken a2 and cannot go back
    assert taken("sum(a[].x) < 5", "a1:x=1 a2:x=9 b3") == []


def test_the_length_in_a_later_component() -> None:
    assert found(f"{CLOSURE} WHERE b.x = a.LEN", "a1 a2 b3:x=2 b4:x=1") == [
        "[a1 a2] b3",
        "[a1] b4",
        "[a2] b4",
    ]


def test_a_later_component_against_every_element() -> None:
    events = "a1:x=1 a2:x=9 b3:x=5"
    for condition in ("b.x > a[i].x", "b.x > a.x"):
        assert found(f"{CLOSURE} WHERE {condition}", events) == ["[a1] b3"]


def test_a_later_component_against_one_element() -> None:
    events = "a1:x=1 a2:x=9 b3:x=5"
    assert found(f"{CLOSURE} WHERE b.x > a[1].x", events) == ["[a1 a2] b3", "[a1] b3"]


def test_elements_of_two_closures_are_compared_each_with_each() -> None:
    query = "PATTERN SEQ(A+ a[], B+ b[]) WHERE b[i].x > a[i].x"
    assert found(query, "a1:x=1 a2:x=5 b3:x=3 b4:x=9") == [
        "[a1 a2] [b4]",
        "[a1] [b3 b4]",
        "[a1] [b3]",
        "[a1] [b4]",
        "[a2] [b4]",
    ]


def test_a_closure_against_an_earlier_component() -> None:
    query = "PATTERN SEQ(B b, A+ a[]) WHERE skip_till_next_match"
    events = "b1:x=5 a2:x=3 a3:x=7 a4:x=6"
    assert found(f"{query} {{ a[i].x > b.x }}", events) == ["b1 [a3 a4]", "b1 [a3]"]
    assert found(f"{query} {{ a[1].x > b.x }}", events) == ["b1 [a3 a4]", "b1 [a3]"]
    assert found(f"{query} {{ a[1].x < b.x }}", events) == ["b1 [a2 a3 a4]", "b1 [a2 a3]", "b1 [a2]"]


def test_every_element_against_an_aggregate_of_all() -> None:
    # of 1 and 9 the average is 5, and 9 is above 5 + 3
    assert found(f"{CLOSURE} WHERE a[i].x < avg(a[].x) + 3", "a1:x=1 a2:x=9 b3") == ["[a1] b3", "[a2] b3"]


def test_the_time_between_elements() -> None:
    assert taken("a[i].ts - a[i-1].ts < 3", "a1 a3 a6 a8 b9") == [
        "[a1 a3] b9",
        "[a3] b9",
        "[a6 a8] b9",
        "[a8] b9",
    ]


def test_conditions_of_several_kinds_at_once() -> None:
    # a volume that starts high, prices that rise, and a volume that plummets
    condition = "a[1].v > 1000 AND a[i].p > avg(a[..i-1].p) AND b.v < 80% * a[a.LEN].v"
    events = "a1:p=100,v=1010 a2:p=120,v=990 a3:p=121,v=995 a4:p=105,v=900 b5:v=700"
    assert taken(condition, events) == ["[a1 a2 a3] b5"]
    assert taken(condition, events.replace("b5:v=700", "b5:v=800")) == []


def test_a_condition_with_the_first_element_begins_with_the_second_wherever_it_is_decided() -> None:
    query = "PATTERN SEQ(A+ a[], B b) WHERE b.y = 1 OR a[i].x > a[1].x"
    assert found(query, "a1:x=1 a2:x=5 b3:y=0") == ["[a1 a2] b3", "[a1] b3", "[a2] b3"]
