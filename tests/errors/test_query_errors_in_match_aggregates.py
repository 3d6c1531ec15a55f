"""What is said of aggregates over matches: items of OUTPUT AGGREGATE that are none, and count(*) elsewhere."""

from __future__ import annotations

import pytest

import ouzel as oz
from errors.messages import EVENTS, TYPES, check

CASES = {
    "no RETURN": """
        PATTERN Shelf+ a[] OUTPUT AGGREGATE

        OUTPUT AGGREGATE without RETURN
          line 1, column 27
            PATTERN Shelf+ a[] OUTPUT AGGREGATE
                                      ^^^^^^^^^
          required: RETURN with aggregates over matches
          hint: for example RETURN count(*) OUTPUT AGGREGATE
    """,
    "INTO": """
        PATTERN Shelf a RETURN count(*) AS n INTO T OUTPUT AGGREGATE

        INTO 'T' with OUTPUT AGGREGATE
          line 1, column 43
            PATTERN Shelf a RETURN count(*) AS n INTO T OUTPUT AGGREGATE
                                                      ^
          required: RETURN without INTO
          hint: events are made of single matches: leave out INTO, or OUTPUT AGGREGATE
    """,
    "an attribute as an item": """
        PATTERN SEQ(Shelf a, Exit b) RETURN count(*), a.tag OUTPUT AGGREGATE

        'a.tag' is no aggregate over matches
          line 1, column 47
            PATTERN SEQ(Shelf a, Exit b) RETURN count(*), a.tag OUTPUT AGGREGATE
                                                          ^^^^^
          required: count(*), or count, sum, avg, min or max of one attribute of a variable
          hint: WHERE [tag] makes a row for each value of it, and a column for the values
    """,
    "a whole variable as an item": """
        PATTERN SEQ(Shelf a, Exit b) RETURN b OUTPUT AGGREGATE

        'b' is no aggregate over matches
          line 1, column 37
            PATTERN SEQ(Shelf a, Exit b) RETURN b OUTPUT AGGREGATE
                                                ^
          required: count(*), or count, sum, avg, min or max of one attribute of a variable
    """,
    "arithmetic with aggregates": """
        PATTERN SEQ(Shelf a, Exit b) RETURN sum(b.weight) / count(*) AS mean OUTPUT AGGREGATE

        'sum(b.weight) / count(*)' is no aggregate over matches
          line 1, column 37
            PATTERN SEQ(Shelf a, Exit b) RETURN sum(b.weight) / count(*) AS mean OUTPUT AGGREGATE
                                                ^^^^^^^^^^^^^^^^^^^^^^^^
          required: count(*), or count, sum, avg, min or max of one attribute of a variable
          hint: return the aggregates alone, and compute with the columns of the result
    """,
    "a function of a value as an item": """
        PATTERN SEQ(Shelf a, Exit b) RETURN abs(a.weight) OUTPUT AGGREGATE

        'abs(a.weight)' is no aggregate over matches
          line 1, column 37
            PATTERN SEQ(Shelf a, Exit b) RETURN abs(a.weight) OUTPUT AGGREGATE
                                                ^^^^^^^^^^^^^
          required: count(*), or count, sum, avg, min or max of one attribute of a variable
          hint: return the aggregates alone, and compute with the columns of the result
    """,
    "first over matches": """
        PATTERN SEQ(Shelf+ a[], Exit b) RETURN first(a[].weight) OUTPUT AGGREGATE

        'first(a[].weight)' is no aggregate over matches
          line 1, column 40
            PATTERN SEQ(Shelf+ a[], Exit b) RETURN first(a[].weight) OUTPUT AGGREGATE
                                                   ^^^^^^^^^^^^^^^^^
          required: count(*), or count, sum, avg, min or max of one attribute of a variable
    """,
    "an aggregate of nothing over matches": """
        PATTERN SEQ(Shelf a, Exit b) RETURN sum() OUTPUT AGGREGATE

        sum of nothing
          line 1, column 37
            PATTERN SEQ(Shelf a, Exit b) RETURN sum() OUTPUT AGGREGATE
                                                ^^^^^
          required: sum(a.attribute)
    """,
    "an aggregate of two things over matches": """
        PATTERN SEQ(Shelf a, Exit b) RETURN max(a.weight, b.weight) OUTPUT AGGREGATE

        max of 2 arguments
          line 1, column 37
            PATTERN SEQ(Shelf a, Exit b) RETURN max(a.weight, b.weight) OUTPUT AGGREGATE
                                                ^^^^^^^^^^^^^^^^^^^^^^^
          required: max(a.attribute)
          hint: for several values use greatest
    """,
    "an aggregate of an expression over matches": """
        PATTERN SEQ(Shelf a, Exit b) RETURN sum(a.weight + b.weight) OUTPUT AGGREGATE

        sum of an expression
          line 1, column 41
            PATTERN SEQ(Shelf a, Exit b) RETURN sum(a.weight + b.weight) OUTPUT AGGREGATE
                                                    ^^^^^^^^^^^^^^^^^^^
          required: an attribute of a variable: sum(a.attribute)
    """,
    "an aggregate of a negative component over matches": """
        PATTERN SEQ(Shelf a, !(Register n), Exit b) RETURN count(n) OUTPUT AGGREGATE

        count of 'n', a negative component, which binds no event
          line 1, column 58
            PATTERN SEQ(Shelf a, !(Register n), Exit b) RETURN count(n) OUTPUT AGGREGATE
                                                                     ^
          required: a variable: count(a.attribute)
    """,
    "an aggregate of whole events over matches": """
        PATTERN SEQ(Shelf a, Exit b) RETURN sum(a) OUTPUT AGGREGATE

        sum of whole events
          line 1, column 41
            PATTERN SEQ(Shelf a, Exit b) RETURN sum(a) OUTPUT AGGREGATE
                                                    ^
          required: an attribute: sum(a.attribute)
    """,
    "an aggregate of one element over matches": """
        PATTERN SEQ(Shelf+ a[], Exit b) RETURN sum(a[1].weight) OUTPUT AGGREGATE

        sum of 'a[1]' with OUTPUT AGGREGATE
          line 1, column 44
            PATTERN SEQ(Shelf+ a[], Exit b) RETURN sum(a[1].weight) OUTPUT AGGREGATE
                                                       ^^^^^^^^^^^
          required: all events of the closure: sum(a[].attribute)
    """,
    "an aggregate so far over matches": """
        PATTERN SEQ(Shelf+ a[], Exit b) RETURN sum(a[..i-1].weight) OUTPUT AGGREGATE

        sum of 'a[..i-1]' with OUTPUT AGGREGATE
          line 1, column 44
            PATTERN SEQ(Shelf+ a[], Exit b) RETURN sum(a[..i-1].weight) OUTPUT AGGREGATE
                                                       ^^^^^^^^^^^^^^^
          required: all events of the closure: sum(a[].attribute)
    """,
    "an index on a single event": """
        PATTERN SEQ(Shelf a, Exit b) RETURN sum(a[].weight) OUTPUT AGGREGATE

        the index [] on 'a', which is no closure
          line 1, column 41
            PATTERN SEQ(Shelf a, Exit b) RETURN sum(a[].weight) OUTPUT AGGREGATE
                                                    ^^^^^^^^^^
          required: a.attribute
          hint: declare it as a closure: Shelf+ a[]
    """,
    "the sum of text over matches": """
        PATTERN SEQ(Shelf a, Exit b) RETURN sum(a.shelf) OUTPUT AGGREGATE

        type clash in 'sum'
          line 1, column 37
            PATTERN SEQ(Shelf a, Exit b) RETURN sum(a.shelf) OUTPUT AGGREGATE
                                                ^^^^^^^^^^^^
          required: sum takes numbers; got string
    """,
    "the least text over matches": """
        PATTERN SEQ(Shelf a, Exit b) RETURN count(a.shelf), min(a.shelf) OUTPUT AGGREGATE

        type clash in 'min'
          line 1, column 53
            PATTERN SEQ(Shelf a, Exit b) RETURN count(a.shelf), min(a.shelf) OUTPUT AGGREGATE
                                                                ^^^^^^^^^^^^
          required: with OUTPUT AGGREGATE, min takes numbers and times; got string
    """,
    "an unknown variable of an aggregate over matches": """
        PATTERN SEQ(Shelf a, Exit b) RETURN sum(c.weight) OUTPUT AGGREGATE

        unknown variable 'c'
          line 1, column 41
            PATTERN SEQ(Shelf a, Exit b) RETURN sum(c.weight) OUTPUT AGGREGATE
                                                    ^
          required: a variable of the pattern: a, b
    """,
    "an unknown attribute of an aggregate over matches": """
        PATTERN SEQ(Shelf a, Exit b) RETURN sum(a.wieght) OUTPUT AGGREGATE

        unknown attribute 'wieght' of Shelf
          line 1, column 43
            PATTERN SEQ(Shelf a, Exit b) RETURN sum(a.wieght) OUTPUT AGGREGATE
                                                      ^^^^^^
          required: one of shelf, tag, ts, type, weight
          hint: did you mean 'weight'?
    """,
    "two aggregates of one name": """
        PATTERN SEQ(Shelf a, Exit b) RETURN count(*), count(*) OUTPUT AGGREGATE

        two columns of RETURN are called 'count(*)'
          line 1, column 47
            PATTERN SEQ(Shelf a, Exit b) RETURN count(*), count(*) OUTPUT AGGREGATE
                                                          ^^^^^^^^
          required: a name of its own for every column
          hint: name it with AS
    """,
    "an aggregate called as a partition's attribute": """
        PATTERN SEQ(Shelf a, Exit b) WHERE [tag] RETURN count(*) AS tag OUTPUT AGGREGATE

        two columns of RETURN are called 'tag'
          line 1, column 61
            PATTERN SEQ(Shelf a, Exit b) WHERE [tag] RETURN count(*) AS tag OUTPUT AGGREGATE
                                                                        ^^^
          required: a name of its own for every column
          hint: the 'tag' of the partitions is a column, too: choose another name
    """,
    "count(*) of single matches": """
        PATTERN SEQ(Shelf a, Exit b) RETURN count(*)

        count(*) without OUTPUT AGGREGATE
          line 1, column 37
            PATTERN SEQ(Shelf a, Exit b) RETURN count(*)
                                                ^^^^^^^^
          required: count(a[]), which counts the events of the closure a
          hint: the number of matches is RETURN count(*) OUTPUT AGGREGATE
    """,
    "count(*) in an expression": """
        PATTERN SEQ(Shelf a, Exit b) RETURN a.tag + count(*) OUTPUT NON_OVERLAP

        count(*) without OUTPUT AGGREGATE
          line 1, column 45
            PATTERN SEQ(Shelf a, Exit b) RETURN a.tag + count(*) OUTPUT NON_OVERLAP
                                                        ^^^^^^^^
          required: count(a[]), which counts the events of the closure a
          hint: the number of matches is RETURN count(*) OUTPUT AGGREGATE
    """,
    "count(*) in a condition": """
        PATTERN SEQ(Shelf+ a[], Exit b) WHERE count(*) > 3 RETURN count(*) OUTPUT AGGREGATE

        count(*) in WHERE
          line 1, column 39
            PATTERN SEQ(Shelf+ a[], Exit b) WHERE count(*) > 3 RETURN count(*) OUTPUT AGGREGATE
                                                  ^^^^^^^^
          required: count(a[]), which counts the events of the closure a
          hint: the number of matches is RETURN count(*) OUTPUT AGGREGATE
    """,
    "an aggregate of a single event in RETURN": """
        PATTERN SEQ(Shelf a, Exit b) RETURN sum(b.weight)

        sum of a single event
          line 1, column 41
            PATTERN SEQ(Shelf a, Exit b) RETURN sum(b.weight)
                                                    ^^^^^^^^
          required: a closure: sum(a[].attribute) or sum(a[..i-1].attribute)
          hint: for the sum over all matches add OUTPUT AGGREGATE
    """,
    "the last of a single event in RETURN": """
        PATTERN SEQ(Shelf a, Exit b) RETURN last(b.weight)

        last of a single event
          line 1, column 42
            PATTERN SEQ(Shelf a, Exit b) RETURN last(b.weight)
                                                     ^^^^^^^^
          required: a closure: last(a[].attribute) or last(a[..i-1].attribute)
    """,
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_message(case: str) -> None:
    check(case, lambda query: oz.match(EVENTS, query, types=TYPES))
