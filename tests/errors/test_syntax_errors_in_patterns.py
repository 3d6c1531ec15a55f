"""What is said of text that is no query: components, operators and closures."""

from __future__ import annotations

import pytest

import ouzel as oz
from errors.messages import check

COMPONENTS = {
    "nothing behind PATTERN": """
        PATTERN

        the query ends too early
          line 1, column 8
            PATTERN
                   ^
          required: a component such as A a, !(B b) or ANY(B, C) d
    """,
    "nothing behind a semicolon": """
        PATTERN A;

        the query ends too early
          line 1, column 11
            PATTERN A;
                      ^
          required: a component such as A a, !(B b) or ANY(B, C) d
    """,
    "no component": """
        PATTERN SEQ()

        unexpected ')'
          line 1, column 13
            PATTERN SEQ()
                        ^
          required: a component such as A a, !(B b) or ANY(B, C) d
    """,
    "a missing comma": """
        PATTERN SEQ(Shelf a Exit b)

        unexpected 'Exit'
          line 1, column 21
            PATTERN SEQ(Shelf a Exit b)
                                ^^^^
          required: ',', an operator (; & |) or ')'
          hint: components are separated by ','
    """,
    "a comma too many": """
        PATTERN SEQ(Shelf a, Exit b,)

        unexpected ')'
          line 1, column 29
            PATTERN SEQ(Shelf a, Exit b,)
                                        ^
          required: a component such as A a, !(B b) or ANY(B, C) d
    """,
    "a missing semicolon": """
        PATTERN Shelf a Exit b

        unexpected 'Exit'
          line 1, column 17
            PATTERN Shelf a Exit b
                            ^^^^
          required: an operator (; & |), a clause such as WHERE or the end of the query
          hint: components are separated by ';'
    """,
    "a comma outside SEQ": """
        PATTERN Shelf a, Exit b

        unexpected ','
          line 1, column 16
            PATTERN Shelf a, Exit b
                           ^
          required: a clause such as WHERE or the end of the query
          hint: a sequence is written SEQ(A a, B b) or A; B
    """,
    "SEQ without a parenthesis": """
        PATTERN SEQ Shelf a, Exit b

        unexpected 'Shelf'
          line 1, column 13
            PATTERN SEQ Shelf a, Exit b
                        ^^^^^
          required: '('
          hint: write SEQ(A a, B b)
    """,
    "a parenthesis not closed": """
        PATTERN SEQ(Shelf a, Exit b WHERE a.x = 1

        unexpected 'WHERE'
          line 1, column 29
            PATTERN SEQ(Shelf a, Exit b WHERE a.x = 1
                                        ^^^^^
          required: ',' or ')'
          hint: '(' in line 1, column 12 is not closed
    """,
    "a parenthesis too many": """
        PATTERN SEQ(Shelf a, Exit b))

        unexpected ')'
          line 1, column 29
            PATTERN SEQ(Shelf a, Exit b))
                                        ^
          required: a clause such as WHERE or the end of the query
          hint: nothing is open that ')' could close
    """,
    "a variable inside ANY": """
        PATTERN ANY(Shelf a, Exit b)

        unexpected 'a'
          line 1, column 19
            PATTERN ANY(Shelf a, Exit b)
                              ^
          required: ',' or ')'
          hint: the variable stands behind the parenthesis: ANY(A, B) a
    """,
    "a quoted type": """
        PATTERN 'Shelf' a

        unexpected 'Shelf'
          line 1, column 9
            PATTERN 'Shelf' a
                    ^^^^^^^
          required: a component such as A a, !(B b) or ANY(B, C) d
          hint: a name with other characters than letters, digits and _ stands in backticks: `my name`
    """,
    "an attribute in the pattern": """
        PATTERN Shelf.tag_id

        unexpected '.'
          line 1, column 14
            PATTERN Shelf.tag_id
                         ^
          required: a variable, a closure, an operator (; & |), a clause such as WHERE or the end of the query
          hint: attributes stand in WHERE and RETURN
    """,
}

OPERATORS = {
    "an arrow": """
        PATTERN Shelf -> Exit

        unexpected '->'
          line 1, column 15
            PATTERN Shelf -> Exit
                          ^^
          required: a variable, a closure, an operator (; & |), a clause such as WHERE or the end of the query
          hint: a sequence is written SEQ(A a, B b) or A; B
    """,
    "followed by": """
        PATTERN Shelf followed by Exit

        unexpected 'followed'
          line 1, column 15
            PATTERN Shelf followed by Exit
                          ^^^^^^^^
          required: an operator (; & |), a clause such as WHERE or the end of the query
          hint: a sequence is written SEQ(A a, B b) or A; B
    """,
    "&& in a pattern": """
        PATTERN Shelf && Exit

        unexpected '&&'
          line 1, column 15
            PATTERN Shelf && Exit
                          ^^
          required: a component such as A a, !(B b) or ANY(B, C) d
          hint: both, in any order, are written A & B
    """,
    "AND in a pattern": """
        PATTERN Shelf AND Exit

        unexpected 'AND'
          line 1, column 15
            PATTERN Shelf AND Exit
                          ^^^
          required: an operator (; & |), a clause such as WHERE or the end of the query
          hint: both, in any order, are written A & B
    """,
    "|| in a pattern": """
        PATTERN Shelf || Exit

        unexpected '||'
          line 1, column 15
            PATTERN Shelf || Exit
                          ^^
          required: a component such as A a, !(B b) or ANY(B, C) d
          hint: either of them is written A | B
    """,
    "OR in a pattern": """
        PATTERN Shelf OR Exit

        unexpected 'OR'
          line 1, column 15
            PATTERN Shelf OR Exit
                          ^^
          required: an operator (; & |), a clause such as WHERE or the end of the query
          hint: either of them is written A | B
    """,
    "NOT in a pattern": """
        PATTERN SEQ(Shelf a, NOT(Register b), Exit c)

        unexpected '('
          line 1, column 25
            PATTERN SEQ(Shelf a, NOT(Register b), Exit c)
                                    ^
          required: ',', a variable, a closure, an operator (; & |) or ')'
          hint: a negative component is written !(B b)
    """,
}

CLOSURES = {
    "two closures": """
        PATTERN SEQ(Shelf+* a[], Exit b)

        unexpected '*'
          line 1, column 19
            PATTERN SEQ(Shelf+* a[], Exit b)
                              ^
          required: ',', a variable, an operator (; & |) or ')'
          hint: a component has one closure
    """,
    "a closure behind the variable": """
        PATTERN SEQ(Shelf a[]+, Exit b)

        unexpected '+'
          line 1, column 22
            PATTERN SEQ(Shelf a[]+, Exit b)
                                 ^
          required: ',', an operator (; & |) or ')'
          hint: a closure stands behind the type, and its variable has empty brackets: A+ a[]
    """,
    "an index in the pattern": """
        PATTERN SEQ(Shelf+ a[1], Exit b)

        unexpected '1'
          line 1, column 22
            PATTERN SEQ(Shelf+ a[1], Exit b)
                                 ^
          required: ']'
          hint: a closure stands behind the type, and its variable has empty brackets: A+ a[]
    """,
    "a count without a lower bound": """
        PATTERN SEQ(Shelf{,3} a[], Exit b)

        unexpected ','
          line 1, column 19
            PATTERN SEQ(Shelf{,3} a[], Exit b)
                              ^
          required: a whole number
          hint: write {0,m} for at most m
    """,
    "a count that is no number": """
        PATTERN SEQ(Shelf{n} a[], Exit b)

        unexpected 'n'
          line 1, column 19
            PATTERN SEQ(Shelf{n} a[], Exit b)
                              ^
          required: a whole number
    """,
    "a count of zero": """
        PATTERN SEQ(Shelf{0} a[], Exit b)

        a closure count of 0
          line 1, column 19
            PATTERN SEQ(Shelf{0} a[], Exit b)
                              ^
          required: a whole number from 1 to 1,000,000
    """,
    "a count upside down": """
        PATTERN SEQ(Shelf{5,2} a[], Exit b)

        a closure {5,2} whose least count is above its greatest
          line 1, column 18
            PATTERN SEQ(Shelf{5,2} a[], Exit b)
                             ^^^^^
          required: {n,m} with n <= m
          hint: write {2,5}
    """,
    "a closure over a group": """
        PATTERN SEQ((Shelf a, Exit b)+, Exit c)

        a closure '+' over a group in parentheses
          line 1, column 30
            PATTERN SEQ((Shelf a, Exit b)+, Exit c)
                                         ^
          required: a closure over a single type or ANY(…)
          hint: write the closure on each component, or feed the group to another query with INTO
    """,
    "a variable for a group": """
        PATTERN (Shelf a; Exit b) c

        a variable 'c' for a group in parentheses
          line 1, column 27
            PATTERN (Shelf a; Exit b) c
                                      ^
          required: a variable behind a single type or ANY(…)
          hint: give each component inside the parentheses a variable of its own
    """,
}

CASES = COMPONENTS | OPERATORS | CLOSURES


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_message(case: str) -> None:
    check(case, oz.query)
