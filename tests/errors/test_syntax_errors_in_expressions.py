"""What is said of text that is no query: predicates and operands."""

from __future__ import annotations

import pytest

import ouzel as oz
from errors.messages import check

PREDICATES = {
    "no predicate": """
        PATTERN A a WHERE

        the query ends too early
          line 1, column 18
            PATTERN A a WHERE
                             ^
          required: a predicate, [attribute] or a strategy
    """,
    "a missing AND": """
        PATTERN A a WHERE a.x = 3 a.y = 4

        unexpected 'a'
          line 1, column 27
            PATTERN A a WHERE a.x = 3 a.y = 4
                                      ^
          required: an operator, a clause such as WHERE or the end of the query
          hint: predicates are joined with AND
    """,
    "a comma for AND": """
        PATTERN A a WHERE a.x = 3, a.y = 4

        unexpected ','
          line 1, column 26
            PATTERN A a WHERE a.x = 3, a.y = 4
                                     ^
          required: a clause such as WHERE or the end of the query
          hint: predicates are joined with AND
    """,
    "a misspelt AND": """
        PATTERN A a WHERE a.x = 3 ADN a.y = 4

        unexpected 'ADN'
          line 1, column 27
            PATTERN A a WHERE a.x = 3 ADN a.y = 4
                                      ^^^
          required: an operator, a clause such as WHERE or the end of the query
          hint: did you mean 'AND'?
    """,
    "&& for AND": """
        PATTERN A a WHERE a.x = 3 && a.y = 4

        unexpected '&&'
          line 1, column 27
            PATTERN A a WHERE a.x = 3 && a.y = 4
                                      ^^
          required: an operator, a clause such as WHERE or the end of the query
          hint: write AND
    """,
    "|| for OR": """
        PATTERN A a WHERE a.x = 3 || a.y = 4

        unexpected '||'
          line 1, column 27
            PATTERN A a WHERE a.x = 3 || a.y = 4
                                      ^^
          required: an operator, a clause such as WHERE or the end of the query
          hint: write OR
    """,
    "=== for =": """
        PATTERN A a WHERE a.x === 3

        unexpected '==='
          line 1, column 23
            PATTERN A a WHERE a.x === 3
                                  ^^^
          required: an expression
          hint: equality is written =
    """,
    "=< for <=": """
        PATTERN A a WHERE a.x =< 3

        unexpected '=<'
          line 1, column 23
            PATTERN A a WHERE a.x =< 3
                                  ^^
          required: an expression
          hint: write <=
    """,
    "a torn !=": """
        PATTERN A a WHERE a.x ! = 3

        unexpected '='
          line 1, column 25
            PATTERN A a WHERE a.x ! = 3
                                    ^
          required: LIKE, RLIKE, IN or BETWEEN
          hint: inequality is written !=
    """,
    "a parenthesis not closed": """
        PATTERN A a WHERE (a.x = 3 OR a.y = 4 WITHIN 3 hours

        unexpected 'WITHIN'
          line 1, column 39
            PATTERN A a WHERE (a.x = 3 OR a.y = 4 WITHIN 3 hours
                                                  ^^^^^^
          required: ')'
          hint: '(' in line 1, column 19 is not closed
    """,
    "a parenthesis too many": """
        PATTERN A a WHERE a.x = 3)

        unexpected ')'
          line 1, column 26
            PATTERN A a WHERE a.x = 3)
                                     ^
          required: a clause such as WHERE or the end of the query
          hint: nothing is open that ')' could close
    """,
    "IN without parentheses": """
        PATTERN A a WHERE a.x IN [1, 2]

        unexpected '['
          line 1, column 26
            PATTERN A a WHERE a.x IN [1, 2]
                                     ^
          required: '(' or a parameter $x
          hint: a list is written IN (1, 2, 3), a parameter IN $xs
    """,
    "BETWEEN without AND": """
        PATTERN A a WHERE a.x BETWEEN 1, 2

        unexpected ','
          line 1, column 32
            PATTERN A a WHERE a.x BETWEEN 1, 2
                                           ^
          required: AND
          hint: write BETWEEN 1 AND 2
    """,
    "IS without NULL": """
        PATTERN A a WHERE a.x IS 3

        unexpected '3'
          line 1, column 26
            PATTERN A a WHERE a.x IS 3
                                     ^
          required: NOT or NULL
          hint: IS tests for null; anything else is compared with = or !=
    """,
    "CASE without END": """
        PATTERN A a WHERE CASE WHEN a.x = 1 THEN 2 ELSE 3 = 3

        the query ends too early
          line 1, column 54
            PATTERN A a WHERE CASE WHEN a.x = 1 THEN 2 ELSE 3 = 3
                                                                 ^
          required: END
    """,
}

OPERANDS = {
    "a string without an end": """
        PATTERN A a WHERE a.x = 'abc

        a string without an end
          line 1, column 25
            PATTERN A a WHERE a.x = 'abc
                                    ^^^^
          required: a closing '
          hint: a quote inside a string is written twice: 'it''s'
    """,
    "a quote inside a string": """
        PATTERN A a WHERE a.x = 'it's'

        unexpected 's'
          line 1, column 29
            PATTERN A a WHERE a.x = 'it's'
                                        ^
          required: an operator, a clause such as WHERE or the end of the query
          hint: a quote inside a string is written twice: 'it''s'
    """,
    "a name without an end": """
        PATTERN A a WHERE a.`x y = 3

        a name without an end
          line 1, column 21
            PATTERN A a WHERE a.`x y = 3
                                ^^^^^^^^
          required: a closing `
    """,
    "a comment without an end": """
        PATTERN A a /* WHERE a.x = 3

        a comment without an end
          line 1, column 13
            PATTERN A a /* WHERE a.x = 3
                        ^^
          required: a closing */
    """,
    "a number for an attribute": """
        PATTERN A a WHERE a.1 = 3

        unexpected '1'
          line 1, column 21
            PATTERN A a WHERE a.1 = 3
                                ^
          required: an attribute name
    """,
    "an unknown index": """
        PATTERN A+ a[] WHERE a[2].x = 1

        unknown index [2] of 'a'
          line 1, column 23
            PATTERN A+ a[] WHERE a[2].x = 1
                                  ^^^
          required: a[1], a[i], a[i-1], a[..i-1], a[a.LEN] or a[]
    """,
    "a foreign parameter": """
        PATTERN A a WHERE a.x = :x

        unexpected ':'
          line 1, column 25
            PATTERN A a WHERE a.x = :x
                                    ^
          required: an expression
          hint: a parameter is written $name
    """,
    "a function of *": """
        PATTERN A+ a[] WHERE sum(*) > 3

        sum of *
          line 1, column 22
            PATTERN A+ a[] WHERE sum(*) > 3
                                 ^^^^^^
          required: count(*), the number of matches, or a function of values
          hint: name an attribute: sum(a.x)
    """,
    "more than * in count": """
        PATTERN A+ a[] RETURN count(*.x) OUTPUT AGGREGATE

        unexpected '.'
          line 1, column 30
            PATTERN A+ a[] RETURN count(*.x) OUTPUT AGGREGATE
                                         ^
          required: ')'
    """,
    "a function without its argument": """
        PATTERN A a WHERE abs(

        the query ends too early
          line 1, column 23
            PATTERN A a WHERE abs(
                                  ^
          required: an expression or ')'
          hint: '(' in line 1, column 22 is not closed
    """,
    "an integer beyond 64 bits": """
        PATTERN A a WHERE a.x = 9223372036854775808

        an integer beyond 64 bits
          line 1, column 25
            PATTERN A a WHERE a.x = 9223372036854775808
                                    ^^^^^^^^^^^^^^^^^^^
          required: at most 9223372036854775807
          hint: write 9223372036854775808.0, which is compared with all its digits
    """,
    "an integer far beyond 64 bits": """
        PATTERN A a WHERE a.x > -9223372036854775809

        an integer beyond 64 bits
          line 1, column 26
            PATTERN A a WHERE a.x > -9223372036854775809
                                     ^^^^^^^^^^^^^^^^^^^
          required: at most 9223372036854775807
          hint: write 9223372036854775809.0, which is compared with all its digits
    """,
    "the largest integer but one behind an operator": """
        PATTERN A a WHERE 1 = a.x - 9223372036854775808

        an integer beyond 64 bits
          line 1, column 29
            PATTERN A a WHERE 1 = a.x - 9223372036854775808
                                        ^^^^^^^^^^^^^^^^^^^
          required: at most 9223372036854775807
          hint: write 9223372036854775808.0, which is compared with all its digits
    """,
    "a window beyond 64 bits": """
        PATTERN A a OUTPUT AGGREGATE EVERY 99999999999999999999 hours

        an integer beyond 64 bits
          line 1, column 36
            PATTERN A a OUTPUT AGGREGATE EVERY 99999999999999999999 hours
                                               ^^^^^^^^^^^^^^^^^^^^
          required: at most 9223372036854775807
          hint: without a length there is no bound: leave the clause out
    """,
    "a number beyond double precision": """
        PATTERN A a WHERE a.x = 1e309

        a number beyond double precision
          line 1, column 25
            PATTERN A a WHERE a.x = 1e309
                                    ^^^^^
          required: at most 1.797e308
    """,
}

EQUIVALENCE_TESTS = {
    "an equivalence test of a reference": """
        PATTERN SEQ(A a, B b) WHERE [a.x]

        a variable in the equivalence test [a.x]
          line 1, column 30
            PATTERN SEQ(A a, B b) WHERE [a.x]
                                         ^^^
          required: an attribute that all events of the match share
          hint: an equivalence test names the attribute alone: [x]
    """,
    "an equivalence test with an inequality": """
        PATTERN A a WHERE [x > 3]

        an equivalence test with '>'
          line 1, column 22
            PATTERN A a WHERE [x > 3]
                                 ^
          required: [attribute] or [attribute = constant]
          hint: write the comparison as a predicate of its own
    """,
    "an equivalence test of two attributes": """
        PATTERN A a WHERE [x = y]

        unexpected 'y'
          line 1, column 24
            PATTERN A a WHERE [x = y]
                                   ^
          required: a constant or a parameter $x
    """,
    "an equivalence test not closed": """
        PATTERN A a WHERE [x WITHIN 3 hours

        unexpected 'WITHIN'
          line 1, column 22
            PATTERN A a WHERE [x WITHIN 3 hours
                                 ^^^^^^
          required: ',', ']' or a comparison
          hint: '[' in line 1, column 19 is not closed
    """,
}

CASES = PREDICATES | OPERANDS | EQUIVALENCE_TESTS


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_message(case: str) -> None:
    check(case, oz.query)
