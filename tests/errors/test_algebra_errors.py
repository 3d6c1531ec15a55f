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
        "query 2 of the list: required a text, an expression of the algebra, an automaton, or a set of queries; "
        "got int",
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
