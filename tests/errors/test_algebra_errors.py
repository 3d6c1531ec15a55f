"""What is wrong with an expression of the algebra is told as for a text: what, where, what was required, hints."""

from __future__ import annotations

from collections.abc import Callable
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
DEEP: Any = S
for _ in range(118):
    DEEP = DEEP.where("price > 1")


def many() -> Any:
    wide = S
    for _ in range(14):
        wide = wide.union(wide)
    return wide


# ---- arguments: refused at once ----------------------------------------------------------------------------

ARGUMENTS: list[tuple[Callable[[], Any], str]] = [
    (lambda: oz.stream(5), "stream: required a name; got 5"),  # type: ignore[arg-type]
    (lambda: oz.stream(""), "stream: required a name; got ''"),
    (
        lambda: S.where(1),  # type: ignore[arg-type]
        "where: required an expression as text; got 1\n"
        "  hint: write numbers and texts as in a query: '1', \"'IBM'\"",
    ),
    (lambda: S.where(None), "where: required an expression as text; got None"),  # type: ignore[arg-type]
    (
        lambda: S.extend(n=1),  # type: ignore[arg-type]
        "extend(n=…): required an expression as text; got 1\n"
        "  hint: write numbers and texts as in a query: '1', \"'IBM'\"",
    ),
    (S.extend, "extend: required names and expressions, extend(name='expression'); got none"),
    (S.select, "select: required the names of attributes; got none"),
    (lambda: S.select("name", "name"), "select: required each attribute once; got 'name' twice"),
    (lambda: S.select("name", 3), "select: required a name; got 3"),  # type: ignore[arg-type]
    (S.rename, "rename: required new names and old ones, rename(new='old'); got none"),
    (lambda: S.rename(a="name", b="name"), "rename: required each attribute once; got 'name' twice"),
    (lambda: S.prefixed("\n"), "prefixed: required a name; got '\\n'"),
    (
        lambda: S.next("News"),  # type: ignore[arg-type]
        "next: required a stream, oz.stream(…); got 'News'\n  hint: write oz.stream('News')",
    ),
    (lambda: S.fold(3), "fold: required a stream, oz.stream(…); got 3"),  # type: ignore[arg-type]
    (
        lambda: S.union(N.into("T")),
        "union: required a stream without a name; got one that is made into 'T'\n"
        "  hint: read its results: oz.stream('T')",
    ),
    (
        lambda: S.named("x").where("price > 1"),
        "named: required last, when the expression is whole; got another operator behind it",
    ),
    (
        lambda: S.into("x").where("price > 1"),
        "into: required last, when the expression is whole; got another operator behind it",
    ),
    (
        lambda: S.fold(S, step=3),  # type: ignore[arg-type]
        "fold(step=…): required a condition as text, or a function of a stream; got 3",
    ),
    (
        lambda: S.fold(S, step=lambda _s: "price > 1"),  # type: ignore[arg-type, return-value]
        "fold(step=…): required a function that returns a stream; got 'price > 1'",
    ),
    (
        lambda: S.fold(S, step=lambda s: s.rename(p="price")),
        "fold(step=…): required where, extend and select of the stream that the step is given; "
        "got ρ[price ↦ p](·)",
    ),
    (
        lambda: S.fold(S, step=lambda _s: S.where("price > 1")),
        "fold(step=…): required where, extend and select of the stream that the step is given; "
        "got σ[price > 1](Stock)",
    ),
    (lambda: bool(S), "a stream is neither true nor false\n  hint: join streams with union, next or fold"),
    (lambda: DEEP.where("price > 1").where("price > 1"), "an expression nests 121 deep: required 120 at most"),
    (many, "an expression of 16,383 operators: required 10,000 at most"),
    (
        lambda: oz.match(EVENTS, [S, 5]),
        "query 2 of the list: required a text, an expression of the algebra, or a list of these; got int",
    ),
    (
        lambda: oz.match(EVENTS, []),
        "query: required a text, an expression of the algebra, or a list of these; got an empty list",
    ),
    (
        lambda: oz.query([oz.query(P.where("price > $p"), {"p": 1}), oz.query(P.where("price < $p"), {"p": 2})]),
        "params: 'p' is 1 in one query of the list and 2 in another\n  hint: give the parameters different names",
    ),
    (
        lambda: oz.match(EVENTS, S, time=("ts", "ts")),
        "time: required the name of a column, or of two: ('start', 'end'); got ('ts', 'ts')",
    ),
    (
        lambda: oz.match(EVENTS, S, time=("price", "ts"), order="arrival"),
        "order: not to be had where events last, time=('price', 'ts'): these are ordered by when they end\n"
        "  hint: leave out order",
    ),
]


@pytest.mark.parametrize(("call", "message"), ARGUMENTS, ids=[message[:50] for _call, message in ARGUMENTS])
def test_arguments(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(oz.OuzelError) as error:
        call()
    assert str(error.value) == message


# ---- predicates: read at once ------------------------------------------------------------------------------

PREDICATES = [
    """
    price >

    the text ends too early
      line 1, column 8
        price >
               ^
      required: an expression
    """,
    """
    WHERE price > 1

    unexpected 'price'
      line 1, column 7
        WHERE price > 1
              ^^^^^
      required: an operator or the end of the text
      hint: leave out WHERE: a predicate stands here by itself
    """,
    """
    price > 1 WITHIN 5

    unexpected 'WITHIN'
      line 1, column 11
        price > 1 WITHIN 5
                  ^^^^^^
      required: the end of the text
      hint: leave out WITHIN: a predicate stands here by itself
    """,
    """
    price > 1 vol > 2

    unexpected 'vol'
      line 1, column 11
        price > 1 vol > 2
                  ^^^
      required: an operator or the end of the text
      hint: predicates are joined with AND
    """,
    """
    name = 'IBM

    a string without an end
      line 1, column 8
        name = 'IBM
               ^^^^
      required: a closing '
      hint: a quote inside a string is written twice: 'it''s'
    """,
    """
    (price > 1

    the text ends too early
      line 1, column 11
        (price > 1
                  ^
      required: ')'
      hint: '(' in line 1, column 1 is not closed
    """,
]


def said(error: pytest.ExceptionInfo[oz.QueryError]) -> str:
    return str(error.value)


@pytest.mark.parametrize("case", PREDICATES)
def test_predicates_that_cannot_be_read(case: str) -> None:
    predicate, message = dedent(case).strip().split("\n\n", 1)
    with pytest.raises(oz.QueryError) as error:
        S.where(predicate)
    assert said(error) == message


def test_a_predicate_that_is_too_long() -> None:
    with pytest.raises(oz.QueryError, match="the expression text has 1,000,010 characters"):
        S.where(" " * 1_000_009 + "x")


# ---- what there is not: told with data, or before where that can be known ----------------------------------

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
    assert said(error) == dedent(message).strip()


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
