"""What is said of a query that can be read but not understood: values of the wrong type."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ouzel as oz
from errors.messages import check

EVENTS = pa.table(
    {
        "ts": [1, 2, 3],
        "type": ["Shelf", "Register", "Exit"],
        "tag": [1, 1, 1],
        "shelf": ["s", None, None],
        "weight": [1.0, 2.0, 3.0],
        "ok": [True, False, True],
        "at": pa.array([0, 1, 2], pa.timestamp("s")),
        "parts": [[1], [2], [3]],
    }
)
TYPES = {
    "Shelf": ["tag", "shelf", "weight", "ok", "at", "parts"],
    "Register": ["tag", "weight"],
    "Exit": ["tag", "weight"],
}
PARAMS = {"limit": 3, "text": "x", "half": 1.5, "list": [1, 2], "big": 2**64}

COMPARISONS = {
    "a number and text": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a.weight = 'heavy'

        type clash in '='
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE a.weight = 'heavy'
                                               ^^^^^^^^^^^^^^^^^^
          required: = takes two values of one type; got float and string
    """,
    "text and a number": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a.shelf < 3

        type clash in '<'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE a.shelf < 3
                                               ^^^^^^^^^^^
          required: < takes two values of one type; got string and integer
    """,
    "the order of booleans": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a.ok < TRUE

        type clash in '<'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE a.ok < TRUE
                                               ^^^^^^^^^^^
          required: < takes values that have an order; got boolean
    """,
    "a list": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a.parts = 1

        type clash in '='
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE a.parts = 1
                                               ^^^^^^^^^^^
          required: = takes two values of one type; got Arrow's list<item: int64> and integer
    """,
    "text that is no time": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a.at > 'yesterday'

        type clash in '>'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE a.at > 'yesterday'
                                               ^^^^^^^^^^^^^^^^^^
          required: > takes a time such as '2026-01-31 12:00:00'; got 'yesterday'
    """,
    "a time with a zone": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a.at > '2026-01-31T12:00:00+02:00'

        type clash in '>'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE a.at > '2026-01-31T12:00:00+02:00'
                                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          required: > takes a time without a zone, as the column has none; got '2026-01-31T12:00:00+02:00'
    """,
    "a time and a number": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a.at > 3

        type clash in '>'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE a.at > 3
                                               ^^^^^^^^
          required: > takes two values of one type; got timestamp and integer
    """,
    "IN a list of mixed types": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a.weight IN (1, 'x')

        type clash in 'IN'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE a.weight IN (1, 'x')
                                               ^^^^^^^^^^^^^^^^^^^^
          required: IN takes two values of one type; got float and string
    """,
    "LIKE on a number": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a.weight LIKE 'x%'

        type clash in 'LIKE'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE a.weight LIKE 'x%'
                                               ^^^^^^^^^^^^^^^^^^
          required: LIKE takes string; got float
    """,
    "an equivalence test with another type": """
        PATTERN SEQ(Shelf a, Exit b) WHERE [tag = 'x']

        type clash in the equivalence test [tag]
          line 1, column 43
            PATTERN SEQ(Shelf a, Exit b) WHERE [tag = 'x']
                                                      ^^^
          required: = takes two values of one type; got integer and string
    """,
    "a parameter of another type": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a.weight > $text

        type clash in '>'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE a.weight > $text
                                               ^^^^^^^^^^^^^^^^
          required: > takes two values of one type; got float and string
    """,
    "BETWEEN text": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a.weight BETWEEN 'a' AND 'b'

        type clash in 'BETWEEN'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE a.weight BETWEEN 'a' AND 'b'
                                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          required: BETWEEN takes two values of one type; got float and string
    """,
    "an equivalence test of lists": """
        PATTERN SEQ(Shelf a, Exit b) WHERE [parts]

        type clash in the equivalence test [parts]
          line 1, column 37
            PATTERN SEQ(Shelf a, Exit b) WHERE [parts]
                                                ^^^^^
          required: numbers, strings, booleans or times; got Arrow's list<item: int64>
    """,
    "a list outside IN": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a.weight > $list

        the parameter $list is of type list
          line 1, column 47
            PATTERN SEQ(Shelf a, Exit b) WHERE a.weight > $list
                                                          ^^^^^
          required: a number, string, boolean, date, time, timedelta or None; a list behind IN
    """,
}

OPERATIONS = {
    "text in a sum": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a.shelf + 1 > 2

        type clash in '+'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE a.shelf + 1 > 2
                                               ^^^^^^^^^^^
          required: + takes numbers; got string and integer
    """,
    "a sum of times": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a.at + a.at > a.at

        type clash in '+'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE a.at + a.at > a.at
                                               ^^^^^^^^^^^
          required: + takes numbers; got timestamp and timestamp
    """,
    "minus text": """
        PATTERN SEQ(Shelf a, Exit b) WHERE -a.shelf > 2

        type clash in '-'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE -a.shelf > 2
                                               ^^^^^^^^
          required: - takes integer or float or duration; got string
    """,
    "NOT of a number": """
        PATTERN SEQ(Shelf a, Exit b) WHERE NOT a.weight

        type clash in 'NOT'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE NOT a.weight
                                               ^^^^^^^^^^^^
          required: NOT takes boolean; got float
    """,
    "a condition that is a number": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a.weight

        'a.weight' is no condition
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE a.weight
                                               ^^^^^^^^
          required: something true or false; got float
    """,
    "branches of different types": """
        PATTERN SEQ(Shelf a, Exit b) RETURN CASE WHEN a.ok THEN 1 ELSE 'x' END

        type clash in 'CASE'
          line 1, column 37
            PATTERN SEQ(Shelf a, Exit b) RETURN CASE WHEN a.ok THEN 1 ELSE 'x' END
                                                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          required: CASE takes two values of one type; got integer and string
    """,
    "a branch without a condition": """
        PATTERN SEQ(Shelf a, Exit b) RETURN CASE WHEN a.weight THEN 1 ELSE 2 END

        type clash in 'CASE'
          line 1, column 37
            PATTERN SEQ(Shelf a, Exit b) RETURN CASE WHEN a.weight THEN 1 ELSE 2 END
                                                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          required: CASE takes boolean; got float
    """,
    "an equivalence test beside OR": """
        PATTERN SEQ(Shelf a, Exit b) WHERE [tag] OR a.weight > 1

        an equivalence test inside another predicate
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE [tag] OR a.weight > 1
                                               ^^^^^
          required: [attribute] as a conjunct of WHERE
          hint: join it to the other predicates with AND, or compare the attributes one by one
    """,
}

FUNCTIONS = {
    "text for a number": """
        PATTERN SEQ(Shelf a, Exit b) WHERE sqrt(a.shelf) > 1

        type clash in 'sqrt'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE sqrt(a.shelf) > 1
                                               ^^^^^^^^^^^^^
          required: sqrt takes integer or float; got string
    """,
    "a number for text": """
        PATTERN SEQ(Shelf a, Exit b) WHERE lower(a.weight) = 'x'

        type clash in 'lower'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE lower(a.weight) = 'x'
                                               ^^^^^^^^^^^^^^^
          required: lower takes string; got float
    """,
    "text for a position": """
        PATTERN SEQ(Shelf a, Exit b) WHERE substring(a.shelf, 'x') = 'x'

        type clash in 'substring'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE substring(a.shelf, 'x') = 'x'
                                               ^^^^^^^^^^^^^^^^^^^^^^^
          required: substring takes integer; got string
    """,
    "too many arguments": """
        PATTERN SEQ(Shelf a, Exit b) WHERE abs(a.weight, 1) = 1

        wrong number of arguments of 'abs'
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE abs(a.weight, 1) = 1
                                               ^^^^^^^^^^^^^^^^
          required: abs takes 1 argument; got 2
    """,
}

PARAMETERS = {
    "a percentage of text": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a.weight > $text%

        the parameter $text is 'x'
          line 1, column 47
            PATTERN SEQ(Shelf a, Exit b) WHERE a.weight > $text%
                                                          ^^^^^^
          required: a number
    """,
    "a list in an equivalence test": """
        PATTERN SEQ(Shelf a, Exit b) WHERE [tag = $list]

        the parameter $list is of type list
          line 1, column 43
            PATTERN SEQ(Shelf a, Exit b) WHERE [tag = $list]
                                                      ^^^^^
          required: a number, string, boolean, date, time, timedelta or None; a list behind IN
    """,
    "an integer beyond 64 bits": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a.tag = $big

        the parameter $big is beyond 64 bits
          line 1, column 44
            PATTERN SEQ(Shelf a, Exit b) WHERE a.tag = $big
                                                       ^^^^
          required: from -9223372036854775808 to 9223372036854775807
          hint: pass a Decimal, which is compared with all its digits
    """,
}

CASES = COMPARISONS | OPERATIONS | FUNCTIONS | PARAMETERS


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_message(case: str) -> None:
    check(case, lambda query: oz.match(EVENTS, query, types=TYPES, params=PARAMS))
