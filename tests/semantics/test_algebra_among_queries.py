"""Lists of texts and expressions, connected by INTO; parameters; and what an expression is as a query."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

import ouzel as oz
from semantics.algebra import A, B, S
from semantics.harness import rows, stream

TEXT = "PATTERN SEQ(A a, B b) RETURN a.x AS x, b.x AS y"
EVENTS = stream("a1:x=1 b2:x=2 b3:x=3")
NEXT = A.select("x").next(B.select("x").rename(y="x"))


def test_a_list_gives_a_dict_in_its_order() -> None:
    found = oz.match(EVENTS, [NEXT.named("algebra"), TEXT, f"QUERY text {TEXT}", A.select("x")])
    assert list(found) == ["algebra", "query2", "text", "query4"]
    assert found["algebra"] == [{"x": 1, "y": 2, "start": 1, "end": 2}]
    assert found["text"] == found["query2"] == [{"x": 1, "y": 2}, {"x": 1, "y": 3}]


@pytest.mark.parametrize("query", [[NEXT], [TEXT], (oz.query(NEXT),)])
def test_a_list_of_one_gives_a_dict(query: object) -> None:
    assert list(oz.match(EVENTS, query)) == ["query1"]  # type: ignore[arg-type]
    assert list(oz.matcher(query, pa.Table.from_pylist(EVENTS).schema).finish()) == ["query1"]  # type: ignore[arg-type]
    assert list(oz.match([], query)) == ["query1"]  # type: ignore[arg-type]


def test_an_expression_alone_gives_a_table() -> None:
    assert oz.match(EVENTS, NEXT) == oz.match(EVENTS, oz.query(NEXT)) == [{"x": 1, "y": 2, "start": 1, "end": 2}]
    assert oz.match([], NEXT) == []


def test_a_text_of_several_queries_in_a_list() -> None:
    assert list(oz.match(EVENTS, [f"QUERY a {TEXT} QUERY b {TEXT}", NEXT])) == ["a", "b", "query3"]


def test_a_text_reads_what_an_expression_makes() -> None:
    text = "QUERY late PATTERN SEQ(P p, B b) RETURN p.x AS x, p.y AS y, b.x AS z, start(p) AS since"
    found = rows([text, NEXT.into("P")], EVENTS, of="late")
    assert found == [{"x": 1, "y": 2, "z": 3, "since": 1}]


def test_an_expression_reads_what_a_text_makes() -> None:
    found = rows([oz.stream("P").where("y > 2").named("late"), f"{TEXT} INTO P"], EVENTS, of="late")
    assert found == [{"x": 1, "y": 3, "start": 1, "end": 3}]


def test_an_expression_reads_what_an_expression_makes() -> None:
    late = oz.stream("P").next(B.select("x").rename(z="x")).named("late")
    assert rows([late, NEXT.into("P")], EVENTS, of="late") == [{"x": 1, "y": 2, "z": 3, "start": 1, "end": 3}]


def test_composite_events_are_no_part_of_all_events() -> None:
    assert len(oz.match(EVENTS, [S.named("all"), NEXT.into("P")])["all"]) == len(EVENTS)


def test_parameters() -> None:
    expression = A.where("x >= $least").extend(y="x * $factor").select("y")
    assert rows(expression, EVENTS, params={"least": 1, "factor": 5}) == [{"y": 5, "start": 1, "end": 1}]
    query = oz.query(expression, {"least": 2, "factor": 5})
    assert oz.match(EVENTS, query) == []
    assert oz.match(EVENTS, query.with_params(least=0)) == [{"y": 5, "start": 1, "end": 1}]


def test_parameters_of_a_list() -> None:
    both = [oz.query(A.where("x > $p").select("x"), {"p": 0}), oz.query(B.where("x > $q").select("x"), {"q": 2})]
    assert [len(one) for one in oz.match(EVENTS, both).values()] == [1, 1]
    assert [len(one) for one in oz.match(EVENTS, both, params={"q": 9}).values()] == [1, 0]


def test_the_text_of_an_expression_is_a_query_too() -> None:
    text = oz.query(NEXT).text
    assert oz.match(EVENTS, text) == oz.match(EVENTS, NEXT)
    assert repr(oz.query(text)) == "oz.query((π[x](A) ; ρ[x ↦ y](π[x](B))))"


def test_frames_keep_their_dtypes() -> None:
    frame = pd.DataFrame(
        {
            "ts": pd.to_datetime(["2026-01-01", "2026-01-02"]),
            "type": ["A", "B"],
            "x": pd.array([1, None], "Int32"),
            "c": pd.Categorical(["u", "v"]),
        }
    )
    found = oz.match(frame, A.select("x", "c").prefixed("a").next(B.select("x").extend(n="1")))
    assert found.dtypes.astype(str).to_dict() == {
        "a.x": "Int32",
        "a.c": "category",
        "x": "Int32",
        "n": "int64",
        "start": "datetime64[ns]",
        "end": "datetime64[ns]",
    } or found.dtypes.astype(str)["start"].startswith("datetime64")


def test_snapshots_know_the_expression() -> None:
    schema = pa.schema({"ts": "int64", "type": "string", "x": "int64"})
    snapshot = oz.matcher(NEXT, schema).snapshot()
    oz.matcher(NEXT, schema).restore(snapshot)
    with pytest.raises(oz.StateError, match=r"expression: .*, now σ\[x > 1\]\(A\)"):
        oz.matcher(A.where("x > 1"), schema).restore(snapshot)
