"""What is said of a query that can be read but not understood: indices, aggregates and moments."""

from __future__ import annotations

import pytest

import ouzel as oz
from errors.messages import EVENTS, TYPES, check

INDICES = {
    "an index on a single variable": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a[1].weight > 3

        the index [1] on 'a', which is no closure
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE a[1].weight > 3
                                               ^^^^^^^^^^^
          required: a.attribute
          hint: declare it as a closure: Shelf+ a[]
    """,
    "[i] on a single variable": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a[i].weight > 3

        the index [i] on 'a', which is no closure
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE a[i].weight > 3
                                               ^^^^^^^^^^^
          required: a.attribute
          hint: declare it as a closure: Shelf+ a[]
    """,
    "a[i-1] outside its own closure": """
        PATTERN SEQ(Shelf+ a[], Exit b) WHERE b.weight > a[i-1].weight

        'a[i-1].weight' outside its own closure
          line 1, column 50
            PATTERN SEQ(Shelf+ a[], Exit b) WHERE b.weight > a[i-1].weight
                                                             ^^^^^^^^^^^^^
          required: [i-1] and [..i-1] in conjuncts that are decided while 'a' takes events
          hint: for the finished closure write a[a.LEN] or an aggregate over a[]
    """,
    "a[i-1] in another closure": """
        PATTERN SEQ(Shelf+ a[], Exit+ b[]) WHERE b[i].weight > a[i-1].weight

        'a[i-1].weight' outside its own closure
          line 1, column 56
            PATTERN SEQ(Shelf+ a[], Exit+ b[]) WHERE b[i].weight > a[i-1].weight
                                                                   ^^^^^^^^^^^^^
          required: [i-1] and [..i-1] in conjuncts that are decided while 'a' takes events
          hint: for the finished closure write a[a.LEN] or an aggregate over a[]
    """,
    "a[i-1] beside the finished closure": """
        PATTERN SEQ(Shelf+ a[], Exit b) WHERE a[i-1].weight > avg(a[].weight)

        'a[i-1].weight' outside its own closure
          line 1, column 39
            PATTERN SEQ(Shelf+ a[], Exit b) WHERE a[i-1].weight > avg(a[].weight)
                                                  ^^^^^^^^^^^^^
          required: [i-1] and [..i-1] in conjuncts that are decided while 'a' takes events
          hint: for the finished closure write a[a.LEN] or an aggregate over a[]
    """,
    "a running aggregate outside its own closure": """
        PATTERN SEQ(Shelf+ a[], Exit b) WHERE b.weight > avg(a[..i-1].weight)

        'avg(a[..i-1].weight)' outside its own closure
          line 1, column 50
            PATTERN SEQ(Shelf+ a[], Exit b) WHERE b.weight > avg(a[..i-1].weight)
                                                             ^^^^^^^^^^^^^^^^^^^^
          required: [i-1] and [..i-1] in conjuncts that are decided while 'a' takes events
          hint: for the finished closure write a[a.LEN] or an aggregate over a[]
    """,
    "a[i-1] of a grouping closure": """
        PATTERN Shelf; Register+; Exit WHERE Register[i-1].weight > 1

        the index [i-1] on 'Register', a grouping closure
          line 1, column 38
            PATTERN Shelf; Register+; Exit WHERE Register[i-1].weight > 1
                                                 ^^^^^^^^^^^^^^^^^^^^
          required: an aggregate, or the attribute of every element
          hint: use a SASE+ closure: SEQ(Register+ Register[])
    """,
    "a[i] in RETURN": """
        PATTERN SEQ(Shelf+ a[], Exit b) RETURN a[i].weight

        the index [i] in RETURN
          line 1, column 40
            PATTERN SEQ(Shelf+ a[], Exit b) RETURN a[i].weight
                                                   ^^^^^^^^^^^
          required: a[1], a[a.LEN], a[] or an aggregate
          hint: [i] runs over the elements, in WHERE only
    """,
    "a whole event in WHERE": """
        PATTERN SEQ(Shelf+ a[], Exit b) WHERE a[1] = b.weight

        'a[1]' without an attribute
          line 1, column 39
            PATTERN SEQ(Shelf+ a[], Exit b) WHERE a[1] = b.weight
                                                  ^^^^
          required: a[1].attribute
    """,
    "a list in an expression": """
        PATTERN SEQ(Shelf+ a[], Exit b) RETURN a[].weight + 1

        'a[].weight' is not a single value
          line 1, column 40
            PATTERN SEQ(Shelf+ a[], Exit b) RETURN a[].weight + 1
                                                   ^^^^^^^^^^
          required: a single value in '+'
          hint: aggregate it: avg(a[].x), or name one element: a[1].x
    """,
    "a whole event in an expression": """
        PATTERN SEQ(Shelf a, Exit b) RETURN a + 1

        'a' is not a single value
          line 1, column 37
            PATTERN SEQ(Shelf a, Exit b) RETURN a + 1
                                                ^
          required: a single value in '+'
          hint: name an attribute: a.x
    """,
    "the length of a single variable": """
        PATTERN SEQ(Shelf a, Exit b) WHERE a.LEN > 1

        unknown attribute 'LEN' of Shelf
          line 1, column 38
            PATTERN SEQ(Shelf a, Exit b) WHERE a.LEN > 1
                                                 ^^^
          required: one of shelf, tag, ts, type, weight
          hint: LEN is the length of a closure: T+ a[]
    """,
    "all elements outside an aggregate": """
        PATTERN SEQ(Shelf+ a[], Exit b) WHERE a[].weight > 1

        'a[].weight' outside an aggregate
          line 1, column 39
            PATTERN SEQ(Shelf+ a[], Exit b) WHERE a[].weight > 1
                                                  ^^^^^^^^^^
          required: an aggregate: count, sum, avg, min, max, first, last, stddev
          hint: for every element, write a[i].weight
    """,
}

AGGREGATES = {
    "an aggregate of nothing": """
        PATTERN SEQ(Shelf+ a[], Exit b) WHERE sum() > 1

        sum of nothing
          line 1, column 39
            PATTERN SEQ(Shelf+ a[], Exit b) WHERE sum() > 1
                                                  ^^^^^
          required: sum(a[].attribute), a an array variable
    """,
    "an aggregate of two things": """
        PATTERN SEQ(Shelf+ a[], Exit b) WHERE max(a[].weight, b.weight) > 1

        max of 2 arguments
          line 1, column 39
            PATTERN SEQ(Shelf+ a[], Exit b) WHERE max(a[].weight, b.weight) > 1
                                                  ^^^^^^^^^^^^^^^^^^^^^^^^^
          required: max(a[].attribute), a an array variable
          hint: for several values use greatest
    """,
    "an aggregate of an expression": """
        PATTERN SEQ(Shelf+ a[], Exit b) WHERE sum(a[].weight * 2) > 1

        sum of an expression
          line 1, column 43
            PATTERN SEQ(Shelf+ a[], Exit b) WHERE sum(a[].weight * 2) > 1
                                                      ^^^^^^^^^^^^^^
          required: an attribute of a closure: sum(a[].attribute)
    """,
    "an aggregate of a single event": """
        PATTERN SEQ(Shelf+ a[], Exit b) WHERE sum(b.weight) > 1

        sum of a single event
          line 1, column 43
            PATTERN SEQ(Shelf+ a[], Exit b) WHERE sum(b.weight) > 1
                                                      ^^^^^^^^
          required: a closure: sum(a[].attribute) or sum(a[..i-1].attribute)
    """,
    "an aggregate of one element": """
        PATTERN SEQ(Shelf+ a[], Exit b) WHERE sum(a[1].weight) > 1

        sum of a single event
          line 1, column 43
            PATTERN SEQ(Shelf+ a[], Exit b) WHERE sum(a[1].weight) > 1
                                                      ^^^^^^^^^^^
          required: a closure: sum(a[].attribute) or sum(a[..i-1].attribute)
    """,
    "an aggregate of whole events": """
        PATTERN SEQ(Shelf+ a[], Exit b) WHERE sum(a[]) > 1

        sum of whole events
          line 1, column 43
            PATTERN SEQ(Shelf+ a[], Exit b) WHERE sum(a[]) > 1
                                                      ^^^
          required: an attribute: sum(a[].attribute)
    """,
    "an aggregate of text": """
        PATTERN SEQ(Shelf+ a[], Exit b) WHERE avg(a[].shelf) > 1

        type clash in 'avg'
          line 1, column 39
            PATTERN SEQ(Shelf+ a[], Exit b) WHERE avg(a[].shelf) > 1
                                                  ^^^^^^^^^^^^^^
          required: avg takes numbers; got string
    """,
    "an aggregate of an unknown attribute": """
        PATTERN SEQ(Shelf+ a[], Exit b) WHERE sum(a[].wieght) > 1

        unknown attribute 'wieght' of Shelf
          line 1, column 47
            PATTERN SEQ(Shelf+ a[], Exit b) WHERE sum(a[].wieght) > 1
                                                          ^^^^^^
          required: one of shelf, tag, ts, type, weight
          hint: did you mean 'weight'?
    """,
    "an aggregate of an unknown variable": """
        PATTERN SEQ(Shelf+ a[], Exit b) WHERE sum(c[].weight) > 1

        unknown variable 'c'
          line 1, column 43
            PATTERN SEQ(Shelf+ a[], Exit b) WHERE sum(c[].weight) > 1
                                                      ^
          required: a variable of the pattern: a, b
    """,
    "an aggregate of a negative component": """
        PATTERN SEQ(Shelf a, !(Register b), Exit c) RETURN count(b)

        count of 'b', a negative component, which binds no event
          line 1, column 58
            PATTERN SEQ(Shelf a, !(Register b), Exit c) RETURN count(b)
                                                                     ^
          required: a closure: count(a[].attribute)
    """,
}

MOMENTS = {
    "the start of nothing": """
        PATTERN SEQ(Shelf a, Exit b) WHERE start() > 1

        start takes one variable
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE start() > 1
                                               ^^^^^^^
          required: start(a)
    """,
    "the end of two variables": """
        PATTERN SEQ(Shelf a, Exit b) WHERE end(a, b) > 1

        end takes one variable
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE end(a, b) > 1
                                               ^^^^^^^^^
          required: end(a)
    """,
    "the start of an attribute": """
        PATTERN SEQ(Shelf a, Exit b) WHERE start(a.weight) > 1

        start of something else than one variable
          line 1, column 42
            PATTERN SEQ(Shelf a, Exit b) WHERE start(a.weight) > 1
                                                     ^^^^^^^^
          required: start(variable)
    """,
}

CASES = INDICES | AGGREGATES | MOMENTS


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_message(case: str) -> None:
    check(case, lambda query: oz.match(EVENTS, query, types=TYPES))
