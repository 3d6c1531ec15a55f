"""What is said of text that is no query: beginnings, clauses out of place, and odd text."""

from __future__ import annotations

import re

import pytest

import ouzel as oz
from errors.messages import check

BEGINNINGS = {
    "only a comment": """
        -- PATTERN SEQ(A a, B b)

        the text holds no query
          line 1, column 1
            -- PATTERN SEQ(A a, B b)
            ^
          required: a query: PATTERN or EVENT, then a pattern
          hint: for example: PATTERN SEQ(Shelf a, Exit b) WHERE [tag_id] WITHIN 12 hours
    """,
    "SQL": """
        SELECT * FROM events WHERE x = 1

        unexpected 'SELECT'
          line 1, column 1
            SELECT * FROM events WHERE x = 1
            ^^^^^^
          required: a query: PATTERN or EVENT, then a pattern
          hint: a query begins with PATTERN, and RETURN says what to report
    """,
    "a pattern without PATTERN": """
        SEQ(A a, B b)

        unexpected 'SEQ'
          line 1, column 1
            SEQ(A a, B b)
            ^^^
          required: a query: PATTERN or EVENT, then a pattern
          hint: for example: PATTERN SEQ(Shelf a, Exit b) WHERE [tag_id] WITHIN 12 hours
    """,
    "a misspelt PATTERN": """
        PATERN SEQ(A a, B b)

        unexpected 'PATERN'
          line 1, column 1
            PATERN SEQ(A a, B b)
            ^^^^^^
          required: a query: PATTERN or EVENT, then a pattern
          hint: did you mean 'PATTERN'?
    """,
    "QUERY without a name": """
        QUERY PATTERN SEQ(A a, B b)

        unexpected 'SEQ'
          line 1, column 15
            QUERY PATTERN SEQ(A a, B b)
                          ^^^
          required: PATTERN or EVENT
          hint: a name stands behind QUERY: QUERY name PATTERN …
    """,
}

CLAUSES = {
    "a misspelt WHERE": """
        PATTERN A; B WHRE A.x = 1

        unknown clause 'WHRE'
          line 1, column 14
            PATTERN A; B WHRE A.x = 1
                         ^^^^
          required: one of WHERE, WITHIN, RETURN, OUTPUT
          hint: did you mean 'WHERE'?
    """,
    "a misspelt RETURN": """
        PATTERN A; B WITHIN 3 hours RETRUN A.x

        unexpected 'RETRUN'
          line 1, column 29
            PATTERN A; B WITHIN 3 hours RETRUN A.x
                                        ^^^^^^
          required: INCLUSIVE, RETURN, OUTPUT or the end of the query
          hint: did you mean 'RETURN'?
    """,
    "a misspelt unit and clause": """
        PATTERN A; B WITHIN 3 RETRUN A.x

        unknown clause 'RETRUN'
          line 1, column 23
            PATTERN A; B WITHIN 3 RETRUN A.x
                                  ^^^^^^
          required: one of WHERE, WITHIN, RETURN, OUTPUT
          hint: did you mean 'RETURN'?
    """,
    "WHERE behind WITHIN": """
        PATTERN A a WITHIN 3 WHERE a.x = 1

        WHERE behind WITHIN
          line 1, column 22
            PATTERN A a WITHIN 3 WHERE a.x = 1
                                 ^^^^^
          required: each of PATTERN, WHERE, WITHIN, RETURN, OUTPUT once and in this order
          hint: move WHERE before WITHIN
    """,
    "RETURN before WHERE": """
        PATTERN A a RETURN a.x WHERE a.x = 1

        WHERE behind RETURN
          line 1, column 24
            PATTERN A a RETURN a.x WHERE a.x = 1
                                   ^^^^^
          required: each of PATTERN, WHERE, WITHIN, RETURN, OUTPUT once and in this order
          hint: move WHERE before RETURN
    """,
    "a second WITHIN": """
        PATTERN A a WITHIN 3 hours WITHIN 4 hours

        a second WITHIN
          line 1, column 28
            PATTERN A a WITHIN 3 hours WITHIN 4 hours
                                       ^^^^^^
          required: each of PATTERN, WHERE, WITHIN, RETURN, OUTPUT once and in this order
    """,
    "a semicolon before WITHIN": """
        PATTERN A a;
        WITHIN 3 hours

        unexpected 'WITHIN'
          line 2, column 1
            WITHIN 3 hours
            ^^^^^^
          required: a component such as A a, !(B b) or ANY(B, C) d
          hint: leave out the ';' before it
    """,
    "a semicolon before WHERE": """
        PATTERN A a; WHERE a.x = 1

        unexpected '.'
          line 1, column 21
            PATTERN A a; WHERE a.x = 1
                                ^
          required: an operator (; & |), a clause such as WHERE or the end of the query
          hint: behind ';' the pattern goes on: leave the ';' out
    """,
    "AND before WITHIN": """
        PATTERN A a WHERE a.x = 1 AND WITHIN 3 hours

        unexpected 'WITHIN'
          line 1, column 31
            PATTERN A a WHERE a.x = 1 AND WITHIN 3 hours
                                          ^^^^^^
          required: an expression
          hint: leave out the 'AND' before it
    """,
    "HAVING": """
        PATTERN A+ a[] HAVING count(a[]) > 3

        unexpected 'HAVING'
          line 1, column 16
            PATTERN A+ a[] HAVING count(a[]) > 3
                           ^^^^^^
          required: an operator (; & |), a clause such as WHERE or the end of the query
          hint: conditions stand in WHERE, those on closures too: WHERE count(a[]) > 3
    """,
    "GROUP BY": """
        PATTERN SEQ(A a, B b) GROUP BY x

        unexpected 'GROUP'
          line 1, column 23
            PATTERN SEQ(A a, B b) GROUP BY x
                                  ^^^^^
          required: an operator (; & |), a clause such as WHERE or the end of the query
          hint: an equivalence test partitions the stream: WHERE [attribute]
    """,
    "a foreign comment": """
        PATTERN SEQ(A a, B b) # and so on

        unexpected '#'
          line 1, column 23
            PATTERN SEQ(A a, B b) # and so on
                                  ^
          required: a variable, a closure, an operator (; & |), a clause such as WHERE or the end of the query
          hint: a comment is written -- … or /* … */
    """,
}

CASES = BEGINNINGS | CLAUSES


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_message(case: str) -> None:
    check(case, oz.query)


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_no_text_at_all(text: str) -> None:
    with pytest.raises(oz.QueryError, match=r"^the text holds no query\n") as error:
        oz.query(text)
    assert error.value.hint == "for example: PATTERN SEQ(Shelf a, Exit b) WHERE [tag_id] WITHIN 12 hours"


@pytest.mark.parametrize(("sign", "code"), [("\x00", "U+0000"), ("\u200b", "U+200B"), ("\x1b", "U+001B")])
def test_a_character_that_cannot_be_seen(sign: str, code: str) -> None:
    with pytest.raises(oz.QueryError, match=rf"^unexpected {re.escape(code)}\n") as error:
        oz.query(f"PATTERN A{sign} a")
    assert error.value.column == 10
    assert error.value.hint == "delete this character, which cannot be seen"


def test_the_line_counts_from_the_start_of_the_text() -> None:
    with pytest.raises(oz.QueryError) as error:
        oz.query("PATTERN SEQ(\r\n\tShelf a\r\n\tExit b)\r\nWITHIN 12 hours")
    assert (error.value.line, error.value.column, error.value.source_line) == (3, 2, " Exit b)")
    assert str(error.value).splitlines()[1:4] == ["  line 3, column 2", "     Exit b)", "     ^^^^"]


def test_text_that_is_too_long() -> None:
    with pytest.raises(oz.QueryError) as error:
        oz.query("PATTERN A " * 100_001)
    assert str(error.value) == "the query text has 1,000,010 characters\n  required: at most 1,000,000"


def test_text_that_is_no_text() -> None:
    with pytest.raises(
        oz.OuzelError, match=r"^query: required a text, an expression of the algebra, a set of queries, or a list of these; got int$"
    ):
        oz.query(3)  # type: ignore[arg-type]
