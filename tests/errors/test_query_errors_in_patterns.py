"""What is said of a query that can be read but not understood: negations, closures, strategies and windows."""

from __future__ import annotations

import pytest

import ouzel as oz
from errors.messages import EVENTS, TYPES, check

PARAMS = {"limit": 3, "text": "x", "half": 1.5, "list": [1, 2], "big": 2**64}

NEGATIONS = {
    "a negation at the start without WITHIN": """
        PATTERN SEQ(!(Register a), Exit b)

        the negative component 'a' at the start of the pattern without WITHIN
          line 1, column 15
            PATTERN SEQ(!(Register a), Exit b)
                          ^^^^^^^^^^
          required: WITHIN, which says how long the event must not happen
          hint: add for example WITHIN 1 hour
    """,
    "a negation at the end without WITHIN": """
        PATTERN SEQ(Shelf a, !(Register b))

        the negative component 'b' at the end of the pattern without WITHIN
          line 1, column 24
            PATTERN SEQ(Shelf a, !(Register b))
                                   ^^^^^^^^^^
          required: WITHIN, which says how long the event must not happen
          hint: add for example WITHIN 1 hour
    """,
    "a negative operand of & without WITHIN": """
        PATTERN Shelf & !Register

        '& !Register' without WITHIN
          line 1, column 18
            PATTERN Shelf & !Register
                             ^^^^^^^^
          required: WITHIN, which says how long the event must not happen
          hint: add for example WITHIN 1 hour
    """,
    "a negation at the end of an alternative": """
        PATTERN (Shelf; !Register) | Exit

        the negative component 'Register' at the end of the pattern without WITHIN
          line 1, column 18
            PATTERN (Shelf; !Register) | Exit
                             ^^^^^^^^
          required: WITHIN, which says how long the event must not happen
          hint: add for example WITHIN 1 hour
    """,
    "a negation that an optional component may lay bare": """
        PATTERN SEQ(Shelf? a, !(Register b), Exit c)

        the negative component 'b' at the start of the pattern without WITHIN
          line 1, column 25
            PATTERN SEQ(Shelf? a, !(Register b), Exit c)
                                    ^^^^^^^^^^
          required: WITHIN, which says how long the event must not happen
          hint: add for example WITHIN 1 hour
    """,
    "two negative components in one conjunct": """
        PATTERN SEQ(Shelf a, !(Register b), Exit c, !(Register d), Exit e) WHERE b.tag = d.tag

        a conjunct over two negative components, b and d
          line 1, column 74
            PATTERN SEQ(Shelf a, !(Register b), Exit c, !(Register d), Exit e) WHERE b.tag = d.tag
                                                                                     ^^^^^^^^^^^^^
          required: at most one negative component in a conjunct
          hint: two events that did not happen cannot be compared; compare each with a positive one
    """,
    "negative components only": """
        PATTERN !(Register a) WITHIN 1 hour

        a pattern of negative components only
          line 1, column 9
            PATTERN !(Register a) WITHIN 1 hour
                    ^^^^^^^^^^^^^
          required: at least one component that binds an event
          hint: non-occurrence is told relative to an event: SEQ(A a, !(B b))
    """,
    "a negation of a negation": """
        PATTERN SEQ(Shelf a, !!(Register b), Exit c)

        a negation of a negation
          line 1, column 22
            PATTERN SEQ(Shelf a, !!(Register b), Exit c)
                                 ^^^^^^^^^^^^^^
          required: one '!'
          hint: leave both out
    """,
    "a negation of a sequence": """
        PATTERN SEQ(Shelf a, !(Register b; Register c), Exit d)

        a negation of several components
          line 1, column 22
            PATTERN SEQ(Shelf a, !(Register b; Register c), Exit d)
                                 ^^^^^^^^^^^^^^^^^^^^^^^^^
          required: one component, ANY(…) or alternatives: !(B b), !(ANY(B, C) b), !(B | C)
          hint: feed the group to another query with INTO and negate that type
    """,
    "a negative alternative": """
        PATTERN Shelf | !Register

        a negative component as an alternative of '|'
          line 1, column 17
            PATTERN Shelf | !Register
                            ^^^^^^^^^
          required: alternatives that bind an event
          hint: to rule out both, write !(B | C)
    """,
    "a negative closure": """
        PATTERN SEQ(Shelf a, !(Register+ b[]), Exit c)

        a closure as a negative component 'b'
          line 1, column 32
            PATTERN SEQ(Shelf a, !(Register+ b[]), Exit c)
                                           ^
          required: a negative component without a closure
          hint: one event is enough to refute a match: leave the closure out
    """,
    "a negative component in RETURN": """
        PATTERN SEQ(Shelf a, !(Register b), Exit c) RETURN b.tag

        'b' is a negative component and binds no event
          line 1, column 52
            PATTERN SEQ(Shelf a, !(Register b), Exit c) RETURN b.tag
                                                               ^^^^^
          required: a positive component in RETURN
    """,
}

CLOSURES = {
    "an array without a closure": """
        PATTERN SEQ(Shelf a[], Exit b)

        'a[]' without a closure
          line 1, column 19
            PATTERN SEQ(Shelf a[], Exit b)
                              ^
          required: +, *, ?, {n}, {n,} or {n,m} behind the type
          hint: write Shelf+ a[] or Shelf a
    """,
    "a closure without an array": """
        PATTERN SEQ(Shelf+ a, Exit b)

        the closure variable 'a' without []
          line 1, column 20
            PATTERN SEQ(Shelf+ a, Exit b)
                               ^
          required: a[]
          hint: write Shelf+ a[]
    """,
    "a grouping closure beside &": """
        PATTERN Shelf+ & Exit

        a grouping closure as an operand of '&'
          line 1, column 9
            PATTERN Shelf+ & Exit
                    ^^^^^^
          required: a grouping closure in a sequence: A; B+; C
    """,
    "two grouping closures in a row": """
        PATTERN Shelf+; Register*; Exit

        two grouping closures, 'Shelf' and 'Register', with nothing between them
          line 1, column 17
            PATTERN Shelf+; Register*; Exit
                            ^^^^^^^^^
          required: a component between two grouping closures
          hint: use SASE+ closures: SEQ(A+ a[], B+ b[])
    """,
}

STRATEGIES = {
    "a strategy that leaves out a variable": """
        PATTERN SEQ(Shelf a, Exit b) WHERE skip_till_next_match(a) { a.tag = 1 }

        skip_till_next_match leaves out b
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE skip_till_next_match(a) { a.tag = 1 }
                                               ^^^^^^^^^^^^^^^^^^^^
          required: all variables of the pattern, or none
          hint: a strategy holds for the whole pattern
    """,
    "a strategy with &": """
        PATTERN Shelf & Exit WHERE strict_contiguity { Shelf.tag = Exit.tag }

        strict_contiguity with '&' or a grouping closure
          line 1, column 28
            PATTERN Shelf & Exit WHERE strict_contiguity { Shelf.tag = Exit.tag }
                                       ^^^^^^^^^^^^^^^^^
          required: skip_till_any_match, the default
          hint: for a closure under this strategy write SEQ(T+ a[], …)
    """,
    "partition_contiguity without partitions": """
        PATTERN SEQ(Shelf a, Exit b) WHERE partition_contiguity { a.weight > 1 }

        partition_contiguity without an equivalence test
          line 1, column 36
            PATTERN SEQ(Shelf a, Exit b) WHERE partition_contiguity { a.weight > 1 }
                                               ^^^^^^^^^^^^^^^^^^^^
          required: an equivalence test, [attribute], that forms the partitions
          hint: without partitions the strategy is strict_contiguity
    """,
}

WINDOWS = {
    "a window of no length": """
        PATTERN SEQ(Shelf a, Exit b) WITHIN 0 hours

        a window of no length
          line 1, column 30
            PATTERN SEQ(Shelf a, Exit b) WITHIN 0 hours
                                         ^^^^^^^^^^^^^^
          required: WITHIN a positive length of time
          hint: WITHIN 0 INCLUSIVE takes simultaneous events
    """,
    "a parameter without a value": """
        PATTERN SEQ(Shelf a, Exit b) WITHIN $limt

        the parameter $limt has no value
          line 1, column 37
            PATTERN SEQ(Shelf a, Exit b) WITHIN $limt
                                                ^^^^^
          required: params={'limt': …}; got big, half, limit, list, text
          hint: did you mean 'limit'?
    """,
    "a length that is no number": """
        PATTERN SEQ(Shelf a, Exit b) WITHIN $text

        the parameter $text is 'x'
          line 1, column 37
            PATTERN SEQ(Shelf a, Exit b) WITHIN $text
                                                ^^^^^
          required: a length of time such as '5 minutes', a timedelta, or a number
    """,
    "half an event": """
        PATTERN SEQ(Shelf a, Exit b) WITHIN $half EVENTS

        the parameter $half is 1.5
          line 1, column 37
            PATTERN SEQ(Shelf a, Exit b) WITHIN $half EVENTS
                                                ^^^^^
          required: a whole number of events, at least 1
    """,
}

CASES = NEGATIONS | CLOSURES | STRATEGIES | WINDOWS


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_message(case: str) -> None:
    check(case, lambda query: oz.match(EVENTS, query, types=TYPES, params=PARAMS))
