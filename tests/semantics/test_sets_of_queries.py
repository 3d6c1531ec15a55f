"""A set of queries: a template and rows of values; all matches in one table, with the id in front."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ouzel as oz

EVENTS = [{"ts": n, "type": "AB"[n % 2], "x": n} for n in range(8)]
PAIRS = "PATTERN A; B WHERE B.x <= $most AND A.x >= $least WITHIN 4 RETURN A.x AS a, B.x AS b"
ROWS = [{"id": "p", "most": 5, "least": 0}, {"id": "q", "most": 3, "least": 2}]
A, B = oz.stream("A"), oz.stream("B")
NEXT = A.prefixed("a").next(B.prefixed("b"), where="b.x > $d + a.x")


def test_a_table_with_the_id_in_front() -> None:
    found = oz.match(EVENTS, oz.queries(PAIRS, ROWS))
    assert [(row["id"], row["a"], row["b"]) for row in found] == [
        *[("p", 0, 1), ("p", 0, 3), ("p", 2, 3), ("q", 2, 3), ("p", 2, 5), ("p", 4, 5)]
    ]


@pytest.mark.parametrize("make", [pa.Table.from_pylist, pd.DataFrame, pl.DataFrame])
def test_rows_come_as_any_kind_of_table(make: Any) -> None:
    assert oz.match(EVENTS, oz.queries(PAIRS, make(ROWS))) == oz.match(EVENTS, oz.queries(PAIRS, ROWS))


@pytest.mark.parametrize("template", [PAIRS, NEXT], ids=["text", "algebra"])
def test_each_query_finds_what_it_finds_alone(template: Any) -> None:
    rows = [{"id": n, "most": 7 - n, "least": n, "d": n} for n in range(4)]
    found = oz.match(EVENTS, oz.queries(template, rows))
    for row in rows:
        own = [{k: v for k, v in one.items() if k != "id"} for one in found if one["id"] == row["id"]]
        names = ("most", "least") if template is PAIRS else ("d",)
        assert own == oz.match(EVENTS, template, params={name: row[name] for name in names})


def test_among_others_in_a_list() -> None:
    found = oz.match(EVENTS, [oz.queries(PAIRS, ROWS), "PATTERN A; B WITHIN 2 RETURN A.x"])
    assert list(found) == ["query1", "query2"]
    assert found["query1"] == oz.match(EVENTS, oz.queries(PAIRS, ROWS))
    assert found["query2"] == [{"x": 0}, {"x": 2}, {"x": 4}, {"x": 6}]


def test_sets_and_others_in_a_list_have_their_own_values() -> None:
    sets = [oz.queries(PAIRS, ROWS), oz.queries(NEXT, [{"id": 1, "d": 2}])]
    found = oz.match(EVENTS, [*sets, A.where("x = $x")], params={"x": 4})
    assert [found["query1"], found["query2"]] == [oz.match(EVENTS, one) for one in sets]
    assert found["query3"] == [{"x": 4, "start": 4, "end": 4}]


def test_what_all_share_is_said_beside() -> None:
    template = "PATTERN A; B WHERE B.x <= $most AND A.x >= $least RETURN A.x AS a"
    rows = [{"id": 1, "most": 1}]
    assert oz.match(EVENTS, oz.queries(template, rows), params={"least": 0}) == [{"id": 1, "a": 0}]


def test_matches_are_events_for_others() -> None:
    made = oz.queries(
        "PATTERN A; B WHERE B.x <= $most WITHIN 2 RETURN A.x AS a INTO T", [{"rule": 7, "most": 1}], id="rule"
    )
    assert oz.match(EVENTS, [made, "PATTERN T RETURN T.rule, T.a"])["query2"] == [{"rule": 7, "a": 0}]


def test_queries_are_valid_for_some_time() -> None:
    rows = [{"id": "p", "since": 2, "until": 6}, {"id": "q", "since": None, "until": None}]
    pairs = oz.queries("PATTERN A; B WITHIN 2 RETURN A.x AS a", rows, valid_from="since", valid_to="until")
    found = oz.match(EVENTS, pairs)
    assert [row["a"] for row in found if row["id"] == "p"] == [2, 4]
    assert [row["a"] for row in found if row["id"] == "q"] == [0, 2, 4, 6]


def test_what_waits_when_its_time_is_over_is_never_reported() -> None:
    rows = [{"id": until, "until": until} for until in (4, 6, 7)]
    alone = oz.queries("PATTERN A a; !(C c) WITHIN 5 RETURN a.x", rows, valid_to="until")
    found = oz.match(EVENTS, alone, types={name: ["x"] for name in "ABC"})
    assert [(row["id"], row["x"]) for row in found] == [(6, 0), (7, 0), (7, 2)]


def test_an_empty_set_finds_nothing_of_the_same_columns() -> None:
    rows = pa.table({"id": pa.array([], "string"), "most": pa.array([], "int64"), "least": pa.array([], "int64")})
    found = oz.match(pa.Table.from_pylist(EVENTS), oz.queries(PAIRS, rows))
    assert found.schema == pa.schema({"id": "string", "a": "int64", "b": "int64"})
    assert found.num_rows == 0


def test_a_null_is_compared_as_null() -> None:
    rows = [{"id": 1, "most": None, "least": 0}, {"id": 2, "most": 1, "least": 0}]
    assert oz.match(EVENTS, oz.queries(PAIRS, rows)) == [{"id": 2, "a": 0, "b": 1}]


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "two queries": (lambda: oz.queries("PATTERN A PATTERN B", ROWS), "template: required one query; got 2"),
    "no template": (lambda: oz.queries(7, ROWS), "template: required a text or an expression"),  # type: ignore[arg-type]
    "no id": (lambda: oz.queries(PAIRS, ROWS, id="rule"), "id: required a column of the parameters"),
    "twice": (lambda: oz.queries(PAIRS, ROWS + ROWS[:1]), "got 'p' twice"),
    "null id": (lambda: oz.queries(PAIRS, [{"id": None, "most": 1, "least": 1}]), "got 1 nulls"),
    "totals": (
        lambda: oz.match(EVENTS, oz.queries("PATTERN A RETURN count(*) AS n OUTPUT AGGREGATE", ROWS)),
        "OUTPUT AGGREGATE in a set",
    ),
    "a column called so": (
        lambda: oz.match(EVENTS, oz.queries("PATTERN A RETURN A.x AS id", ROWS)),
        "'id' is the id of the queries and a column",
    ),
    "no value": (
        lambda: oz.match(EVENTS, oz.queries("PATTERN A WHERE A.x = $y", ROWS)),
        r"\$y of the set has no value",
    ),
    "two values": (
        lambda: oz.match(EVENTS, oz.queries(PAIRS, ROWS), params={"most": 1}),
        "'most' has a value of its own in every query",
    ),
    "a bad row": (
        lambda: oz.match(EVENTS, oz.queries("PATTERN A; B WITHIN $w", [{"id": 1, "w": 2}, {"id": 2, "w": -2}])),
        "a window of no length",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said(case: str) -> None:
    act, message = WRONG[case]
    with pytest.raises(oz.OuzelError, match=message):
        act()


def test_a_window_bounds_a_single_event_that_lasts() -> None:
    events = [{"s": 1, "e": 9, "type": "A", "x": 1}, {"s": 8, "e": 9, "type": "A", "x": 1}]
    alone = oz.queries("PATTERN A a WHERE a.x = $p WITHIN 5 RETURN start(a) AS s", [{"id": 1, "p": 1}])
    assert oz.match(events, alone, time=("s", "e")) == [{"id": 1, "s": 8}]


@pytest.mark.parametrize("values", [[2.5, 2**70], [1, "a"], [2**70, 1]])
def test_values_that_fit_no_type_are_refused(values: list[Any]) -> None:
    with pytest.raises(oz.OuzelError, match=r"^parameters: row 1, column 'p'|^parameters: row 0, column 'p'"):
        oz.queries(A.where("x < $p"), [{"id": place, "p": value} for place, value in enumerate(values)])


def test_many_queries_that_look_at_very_many_columns() -> None:
    events = [{"ts": n, "type": "A", **{f"c{k}": n for k in range(70)}} for n in range(3)]
    texts = [f"PATTERN A a WHERE a.c{k} > 1 RETURN a.c{k} AS x" for k in range(70)]
    texts += [f"PATTERN A a WHERE a.c0 * a.c0 + {k} > 2 RETURN a.c0 AS x" for k in range(70)]
    assert oz.match(events, texts) == {f"query{k + 1}": oz.match(events, one) for k, one in enumerate(texts)}


def test_a_null_beside_a_duration() -> None:
    rows = [{"id": 1, "p": 3}, {"id": 2, "p": None}]
    pairs = oz.queries(A.next(B.rename(y="x"), where="duration() < $p"), rows)
    assert {row["id"] for row in oz.match(EVENTS, pairs)} == {1}
