"""What there is not in the events of an expression is told with data, or before, where that can be known."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz

EVENTS = pa.table(
    {
        "ts": [1, 2],
        "type": ["Stock", "News"],
        "name": ["IBM", "IBM"],
        "price": [10, 11],
        "vol": [1.5, 2.5],
        "place": [{"city": "Soria"}, None],
    }
)
S, N = oz.stream("Stock"), oz.stream("News")
P = S.select("price")


BOUND: list[tuple[Any, str]] = [
    (
        S.where("prise > 1"),
        """
        where: unknown attribute 'prise'
          line 1, column 1
            prise > 1
            ^^^^^
          required: an attribute of the stream: name, price, vol, place
          hint: did you mean 'price'?
        """,
    ),
    (
        P.prefixed("S1").where("price > 1"),
        """
        where: unknown attribute 'price'
          line 1, column 1
            price > 1
            ^^^^^
          required: an attribute of the stream: S1.price
          hint: did you mean 'S1.price'?
        """,
    ),
    (
        S.select("name", "price")
        .rename(p="price", **{"p.last": "name"})
        .fold(S.select("price").rename(p="price"), where="p > p.last"),
        """
        fold: 'p.last' may be the attribute of that name, or the value of 'p' before this iteration
          line 1, column 5
            p > p.last
                ^^^^^^
          required: a name of one meaning
          hint: for the attribute write `p.last`, in backticks; for the value before, rename that
        """,
    ),
    (
        S.where("place.city = 'Soria'"),
        """
        where: unknown attribute 'place.city'
          line 1, column 1
            place.city = 'Soria'
            ^^^^^^^^^^
          required: an attribute of the stream: name, price, vol, place
          hint: 'place' is one value: make a column of what is in it
        """,
    ),
    (
        S.where("price.last > 1"),
        """
        where: 'price.last', where there is no event before
          line 1, column 1
            price.last > 1
            ^^^^^^^^^^
          required: x.last only in where= and step= of a fold
          hint: for the value itself write price
        """,
    ),
    (
        P.next(P, where="price > price.last"),
        """
        next: 'price.last', where there is no event before
          line 1, column 9
            price > price.last
                    ^^^^^^^^^^
          required: x.last only in where= and step= of a fold
          hint: for the value itself write price
        """,
    ),
    (
        P.fold(P, step=lambda s: s.extend(d="1").where("d.last > 1")),
        """
        step: 'd.last' of an attribute that a step adds
          line 1, column 1
            d.last > 1
            ^^^^^^
          required: an attribute of the left operand: price
          hint: extend the left operand: extend(d='…'), which is its first value
        """,
    ),
    (
        S.where("price"),
        """
        where: 'price' is no condition
          line 1, column 1
            price
            ^^^^^
          required: something true or false; got integer
        """,
    ),
    (
        S.where("price = 'x'"),
        """
        type clash in '='
          line 1, column 1
            price = 'x'
            ^^^^^^^^^^^
          required: = takes two values of one type; got integer and string
        """,
    ),
    (
        S.where("[name]"),
        """
        an equivalence test in the algebra
          line 1, column 1
            [name]
            ^^^^^^
          required: a comparison of attributes
          hint: compare those of both sides: firm = company, or company = company.last in a fold
        """,
    ),
    (
        S.where("price[i] > 1"),
        """
        the index [i] in the algebra
          line 1, column 1
            price[i] > 1
            ^^^^^^^^
          required: the name of an attribute
          hint: the value before this iteration of a fold is price.last
        """,
    ),
    (
        S.where("sum(price) > 1"),
        """
        the aggregate 'sum' in the algebra
          line 1, column 1
            sum(price) > 1
            ^^^^^^^^^^
          required: a function of attributes
          hint: add up in a fold: extend(n='1').fold(…, step=lambda s: s.extend(n='n.last + 1'))
        """,
    ),
    (
        S.where("end(price) > 1"),
        """
        end() in the algebra
          line 1, column 1
            end(price) > 1
            ^^^^^^^^^^
          required: attributes, or duration(): the times of events cannot be read (Cayuga 2)
        """,
    ),
    (
        S.where("duration(price) > 1"),
        """
        duration() takes no arguments
          line 1, column 1
            duration(price) > 1
            ^^^^^^^^^^^^^^^
          required: duration(), how long the event at hand lasts
        """,
    ),
    (
        S.where("duration() > 'soon'"),
        """
        type clash in '>'
          line 1, column 1
            duration() > 'soon'
            ^^^^^^^^^^^^^^^^^^^
          required: > takes a length of time such as '5 minutes'; got 'soon'
        """,
    ),
    (
        S.select("prise"),
        """
        select: unknown attribute 'prise'
          required: an attribute of the stream: name, price, vol, place
          hint: did you mean 'price'?
        """,
    ),
    (
        S.rename(p="prise"),
        """
        rename: unknown attribute 'prise'
          required: an attribute of the stream: name, price, vol, place
          hint: did you mean 'price'?
        """,
    ),
    (
        S.rename(price="vol"),
        """
        rename: two attributes would be called 'price'
          required: a name of its own for every attribute
          hint: rename the other one too, or select without it; the attributes are name, price, vol, place
        """,
    ),
    (
        P.union(S.select("vol")),
        """
        union: 'price' is no attribute of the right operand
          required: the same attributes on both sides; the right has vol
          hint: select or rename, so that the names are the same
        """,
    ),
    (
        P.union(S.select("name").rename(price="name")),
        """
        union: type clash: 'price' differs between both sides
          required: one type of value; got integer and string
          hint: give one of them another name with rename, or replace its value with extend
        """,
    ),
    (
        P.fold(S.select("price", "vol")),
        """
        fold: 'vol' of the right operand is no attribute of the left one
          required: a left operand that has every attribute of the right one, for the first iteration; it has price
          hint: extend it: extend(vol='…'), or select on the right what you need
        """,
    ),
    (
        P.fold(S.select("name").rename(price="name")),
        """
        fold: type clash: 'price' differs between both sides
          required: one type of value; got integer and string
          hint: give one of them another name with rename, or replace its value with extend
        """,
    ),
    (
        S.select("price", "vol").fold(P, step=lambda s: s.select("price")),
        """
        fold: the step drops 'vol'
          required: a step that keeps every attribute of the left operand
          hint: select it too: price, vol
        """,
    ),
    (
        P.fold(P, step=lambda s: s.extend(price="'x'")),
        """
        fold, before and after the step: type clash: 'price' differs between both sides
          required: one type of value; got integer and string
          hint: give one of them another name with rename, or replace its value with extend
        """,
    ),
    (
        P.rename(start="price"),
        """
        the attribute 'start' in the result of 'query1'
          required: an attribute that is not called as a column of the result: start, end
          hint: give it another name: rename(x='start')
        """,
    ),
    (
        P.where("price > $least"),
        """
        the parameter $least has no value
          line 1, column 9
            price > $least
                    ^^^^^^
          required: params={'least': …}
        """,
    ),
    (
        [P.named("x"), P.named("x")],
        """
        two queries are called 'x'
          required: a name of its own for every query
        """,
    ),
    (
        [P.into("T"), N.select("price").into("T")],
        """
        INTO 'T', which is another query's INTO already
          required: a new type
          hint: choose another name
        """,
    ),
    (
        [oz.stream("U").into("T"), "PATTERN T t RETURN t.price AS price INTO U"],
        """
        queries that feed each other: T → U → T
          required: a graph without cycles
          hint: a query cannot read what is made from its own matches
        """,
    ),
    (
        '{"ouzel": "expression", "queries": [{"algebra": ["twist", ["events", "A"]]}]}',
        """
        a document of queries that cannot be read
          required: one that Ouzel has written: the text of oz.query(…)
        """,
    ),
]


@pytest.mark.parametrize(
    ("query", "message"), BOUND, ids=[message.split("\n")[1].strip() for _q, message in BOUND]
)
def test_expressions_that_do_not_fit(query: Any, message: str) -> None:
    with pytest.raises(oz.QueryError) as error:
        oz.match(EVENTS, query)
    assert str(error.value) == dedent(message).strip()


def test_a_type_that_is_not_declared() -> None:
    with pytest.raises(oz.QueryError, match=r"stream: unknown event type 'Stok'\n  required: one of Stock\n"):
        oz.match({"Stock": EVENTS}, oz.stream("Stok"))


def test_types_of_all_events_that_differ() -> None:
    tables = {"A": [{"ts": 1, "x": 1}], "B": [{"ts": 1, "x": "one"}]}
    with pytest.raises(oz.QueryError, match=r"stream\(\): 'x' differs between the types of events"):
        oz.match(tables, oz.stream())


def test_what_is_wrong_without_data_is_told_at_once() -> None:
    with pytest.raises(oz.QueryError, match="select: unknown attribute 'vol'"):
        oz.query(P.select("vol"))


def test_a_list_says_which_query_cannot_be_read() -> None:
    with pytest.raises(oz.QueryError) as error:
        oz.match(EVENTS, [P, "PATTERN"])
    assert error.value.__notes__ == ["in query 2 of the list"]


def test_events_that_end_before_they_start() -> None:
    events = [{"start": 3, "end": 2, "x": 1}, {"start": None, "end": 2, "x": 1}, {"start": 1, "end": 2, "x": 1}]
    with pytest.raises(oz.DataError, match="row 0, column 'start': the event starts at 3, after its end 2"):
        oz.match(events[:1], oz.stream(), time=("start", "end"))
    report = oz.Report()
    found = oz.match(events, oz.stream(), time=("start", "end"), on_bad="quarantine", report=report)
    assert found == [{"x": 1, "start": 1, "end": 2}]
    assert [row["problem"] for row in report.quarantined] == [
        "column 'start': the event starts at 3, after its end 2",
        "column 'start': the event has no start",
    ]


def test_columns_of_an_interval_of_two_types() -> None:
    table = pa.table({"start": [1], "end": pa.array([1], pa.timestamp("s"))})
    with pytest.raises(
        oz.SchemaError, match="time columns 'start' and 'end': required one type; got int64 and time"
    ):
        oz.match(table, oz.stream(), time=("start", "end"))
