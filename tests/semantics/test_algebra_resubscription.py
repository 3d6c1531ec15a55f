"""What is not linear-plus runs as queries that read each other's results, of which one is told (Cayuga 3.5)."""

from __future__ import annotations

import pyarrow as pa

import ouzel as oz
from semantics.algebra import A, B, C, S, given
from semantics.harness import stream

EVENTS = stream("a1:x=1,y=1,z=1 b2:x=1,y=2,z=1 c3:x=1,y=1,z=3")
NESTED = A.select("x").next(B.select("y").next(C.select("z")), where="z > x")


def test_a_sequence_on_the_right() -> None:
    assert given(NESTED, "a1:x=1 b2:y=2 c3:z=0 b4:y=4 c5:z=5") == ["1 4 5 [1, 5]"]


def test_the_sequence_on_the_right_starts_after_the_left() -> None:
    assert given(NESTED, "b1:y=1 a2:x=1 c3:z=5") == []


def test_the_sequence_that_ends_first_is_taken() -> None:
    assert given(NESTED, "a1:x=1 b2:y=2 b3:y=3 c4:z=5 c6:z=6") == ["1 2 5 [1, 4]", "1 3 5 [1, 4]"]


def test_a_fold_over_sequences() -> None:
    pairs = A.select("x").next(B.select("y"))
    assert given(pairs.fold(pairs, step="x > x.last"), "a1:x=1 b2:y=2 a3:x=3 b4:y=4") == ["3 4 [1, 4]"]


def test_a_fold_on_the_right() -> None:
    rise = B.select("y").fold(B.select("y"), step="y > y.last")
    assert given(A.select("x").next(rise), "a1:x=1 b2:y=2 b3:y=3 b4:y=4") == ["1 3 [1, 3]"]


def test_twice_nested() -> None:
    deep = A.select("x").next(B.select("y").next(C.select("z").next(A.select("x").rename(w="x"))))
    assert given(deep, "a1:x=1 b2:y=2 c3:z=3 a4:x=4") == ["1 2 3 4 [1, 4]"]


def test_only_the_query_itself_is_told() -> None:
    assert oz.query(NESTED).names == ("query1",)
    assert list(oz.match(EVENTS, [NESTED.named("n"), S])) == ["n", "query2"]
    table = pa.Table.from_pylist(EVENTS)
    matcher = oz.matcher(NESTED, table.schema)
    matcher.push(table)
    assert matcher.names == ("query1",)
    assert matcher.finish().to_pylist() == [{"x": 1, "y": 2, "z": 3, "start": 1, "end": 3}]
    assert matcher.report.matches == 1


def test_explain_tells_of_its_parts() -> None:
    told = oz.query(NESTED).explain()
    assert "query query1, operand 1\n" in told
    assert "as events of type query1, operand 1, for the query that reads them" in told
    assert "(π[x](A) ;[z > x] `query1, operand 1`)" in told


def test_names_that_are_taken_are_left_alone() -> None:
    taken = S.named("query1, operand 1")
    assert list(oz.match(EVENTS, [NESTED, taken])) == ["query1", "query1, operand 1"]
