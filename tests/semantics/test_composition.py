from __future__ import annotations

from semantics.harness import found, rows

PAIRS = "QUERY pairs PATTERN SEQ(A a, B b) RETURN a.eid AS first, b.eid AS last INTO P"
# without overlap, so that there are few of them
APART = f"{PAIRS} OUTPUT NON_OVERLAP"


def after(pattern: str, events: str, producer: str = PAIRS) -> list[str]:
    return found(f"{producer} QUERY q PATTERN {pattern}", events, of="q")


def test_matches_become_events_of_another_query() -> None:
    assert after("P p", "a1 b2 b3") == ["(a1 b2)", "(a1 b3)"]
    assert found(f"{PAIRS} QUERY q PATTERN P p", "a1 b2", of="pairs") == ["a1 b2"]


def test_what_follows_a_composite_event_starts_after_its_end() -> None:
    assert after("SEQ(P p, C c)", "a1 b2 c3") == ["(a1 b2) c3"]
    assert after("SEQ(P p, C c)", "a1 c2 b3") == []
    assert after("SEQ(P p, C c)", "a1 b2 c2") == []


def test_what_precedes_a_composite_event_ends_before_its_start() -> None:
    assert after("SEQ(C c, P p)", "c1 a2 b3") == ["c1 (a2 b3)"]
    assert after("SEQ(C c, P p)", "a1 c2 b3") == []


def test_composite_events_precede_each_other_if_their_intervals_do() -> None:
    assert after("SEQ(P p, P q)", "a1 b2 a3 b4") == ["(a1 b2) (a3 b4)"]
    assert after("SEQ(P p, P q)", "a1 b2 a2 b3") == []


def test_conjunctions_of_composite_events() -> None:
    assert after("P & C", "a1 c2 b3") == ["(a1 b3) c2"]
    assert after("P p & P q", "a1 b2 b3") == ["(a1 b2) (a1 b3)", "(a1 b3) (a1 b2)"]


def test_a_match_starts_and_ends_with_its_composite_events() -> None:
    query = f"{PAIRS} QUERY q PATTERN SEQ(P p, C c) RETURN start(p), end(p), end(c) - start(p) AS lasting"
    assert rows(query, "a1 b3 c7", of="q") == [{"start(p)": 1, "end(p)": 3, "lasting": 6}]
    (match,) = rows(f"{PAIRS} QUERY q PATTERN SEQ(C c, P p)", "c1 a3 b7", of="q")
    assert (match["start"], match["end"]) == (1, 7)


def test_the_window_counts_from_the_start_of_a_composite_event() -> None:
    assert after("SEQ(P p, C c) WITHIN 3", "a1 b2 c3 c4") == ["(a1 b2) c3"]
    assert after("P p WITHIN 3", "a1 b3 b4") == ["(a1 b3)"]
    assert after("P & C WITHIN 3", "a1 b3 c4") == []


def test_a_composite_event_refutes_a_match_if_all_of_it_lies_between() -> None:
    assert after("SEQ(C c, !(P p), D d)", "c1 a2 b3 d4") == []
    assert after("SEQ(C c, !(P p), D d)", "a1 c2 b3 d4") == ["c2 d4"]
    assert after("SEQ(C c, !(P p), D d)", "c1 a2 d3 b4") == ["c1 d3"]


def test_closures_of_composite_events() -> None:
    query = "SEQ(P+ p[], C c) WHERE skip_till_next_match { }"
    assert after(query, "a1 b2 a3 b4 c5", APART) == ["[(a1 b2) (a3 b4)] c5", "[(a3 b4)] c5"]
    assert after("C; P+; D", "c1 a2 b3 a4 b5 d6", APART) == ["c1 [(a2 b3) (a4 b5)] d6"]


def test_the_columns_of_return_are_attributes() -> None:
    query = """
        QUERY sums PATTERN SEQ(A{2} a[], B b) WHERE strict_contiguity { [id] }
            RETURN a[1].id AS id, sum(a[].x) AS total INTO S
        QUERY q PATTERN SEQ(S s, S t) WHERE s.total < t.total AND [id]
            RETURN t.total - s.total AS rise, s.id"""
    events = "a1:id=7,x=1 a2:id=7,x=2 b3:id=7 a4:id=7,x=5 a5:id=7,x=6 b6:id=7 a7:id=8,x=9 a8:id=8,x=9 b9:id=8"
    assert rows(query, events, of="sums") == [
        {"id": 7, "total": 3},
        {"id": 7, "total": 11},
        {"id": 8, "total": 18},
    ]
    assert rows(query, events, of="q") == [{"rise": 8, "id": 7}]


def test_queries_form_chains_in_any_order_of_writing() -> None:
    query = f"""
        QUERY third PATTERN SEQ(R r, D d)
        QUERY second PATTERN SEQ(P p, C c) RETURN p.first AS first, c.eid AS last INTO R
        {PAIRS}"""
    assert found(query, "a1 b2 c3 d4", of="third") == ["(a1 c3) d4"]
    assert found(query, "a1 b2 d3 c4", of="third") == []


def test_several_queries_may_read_one_type() -> None:
    query = f"{PAIRS} QUERY q PATTERN SEQ(P p, C c) QUERY r PATTERN SEQ(P p, D d)"
    assert found(query, "a1 b2 c3 d4", of="q") == ["(a1 b2) c3"]
    assert found(query, "a1 b2 c3 d4", of="r") == ["(a1 b2) d4"]


def test_a_query_may_read_two_composite_types() -> None:
    query = f"{PAIRS} QUERY s PATTERN SEQ(C c, D d) RETURN c.eid AS c INTO R QUERY q PATTERN SEQ(P p, R r)"
    assert found(query, "a1 b2 c3 d4", of="q") == ["(a1 b2) (c3)"]
    assert found(query, "a1 c2 b3 d4", of="q") == []


def test_a_query_of_composite_types_only_sees_only_these() -> None:
    strict = "SEQ(P p, P q) WHERE strict_contiguity { }"
    assert after(strict, "a1 b2 x3 a4 b5", APART) == ["(a1 b2) (a4 b5)"]
    assert after("SEQ(P p, P q) WITHIN 2 EVENTS", "a1 b2 x3 x4 a5 b6", APART) == ["(a1 b2) (a5 b6)"]


def test_a_query_of_primitive_and_composite_types_sees_both() -> None:
    strict = "SEQ(P p, C c) WHERE strict_contiguity { }"
    assert after(strict, "a1 b2 c3") == ["(a1 b2) c3"]
    assert after(strict, "a1 b2 x3 c4") == []


def test_a_query_that_does_not_mention_a_composite_type_does_not_see_it() -> None:
    strict = "SEQ(B b, C c) WHERE strict_contiguity { }"
    assert after(strict, "a1 b2 c3") == ["b2 c3"]
    assert after("SEQ(A a, C c) WITHIN 3 EVENTS", "a1 b2 c3") == ["a1 c3"]


def test_composite_events_count_in_the_stream_that_sees_them() -> None:
    # a1, b2 and the pair of them, c3: the pair and b2 are over before c3
    assert after("SEQ(P p, C c) WITHIN 2 EVENTS", "a1 b2 c3") == []
    assert after("SEQ(P p, C c) WITHIN 3 EVENTS", "a1 b2 c3") == ["(a1 b2) c3"]


def test_tie_breaking_columns_order_composite_events_too() -> None:
    events = "a1:seq=1 b1:seq=2 c1:seq=3"
    assert found(f"{PAIRS} QUERY q PATTERN SEQ(P p, C c)", events, of="q", order=["ts", "seq"]) == ["(a1 b1) c1"]
