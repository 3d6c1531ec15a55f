"""What is said of text that is no query: strategies, windows and results."""

from __future__ import annotations

import pytest

import ouzel as oz
from errors.messages import check

STRATEGIES = {
    "a misspelt strategy": """
        PATTERN SEQ(A a, B b) WHERE skip_til_next_match(a, b) { a.x = 1 }

        unknown strategy 'skip_til_next_match'
          line 1, column 29
            PATTERN SEQ(A a, B b) WHERE skip_til_next_match(a, b) { a.x = 1 }
                                        ^^^^^^^^^^^^^^^^^^^
          required: one of strict_contiguity, partition_contiguity, skip_till_next_match, skip_till_any_match
          hint: did you mean 'skip_till_next_match'?
    """,
    "a strategy in other words": """
        PATTERN SEQ(A a, B b) WHERE skip till next match { a.x = 1 }

        unknown strategy 'skip till next match'
          line 1, column 29
            PATTERN SEQ(A a, B b) WHERE skip till next match { a.x = 1 }
                                        ^^^^^^^^^^^^^^^^^^^^
          required: one of strict_contiguity, partition_contiguity, skip_till_next_match, skip_till_any_match
          hint: did you mean 'skip_till_next_match'?
    """,
    "a foreign strategy": """
        PATTERN SEQ(A a, B b) WHERE greedy { a.x = 1 }

        unknown strategy 'greedy'
          line 1, column 29
            PATTERN SEQ(A a, B b) WHERE greedy { a.x = 1 }
                                        ^^^^^^
          required: one of strict_contiguity, partition_contiguity, skip_till_next_match, skip_till_any_match
    """,
    "a strategy without braces": """
        PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) a.x = 1

        unexpected 'a'
          line 1, column 56
            PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) a.x = 1
                                                                   ^
          required: '{'
          hint: the predicates of a strategy stand in braces
    """,
    "braces without a strategy": """
        PATTERN SEQ(A a, B b) WHERE { a.x = 1 }

        unexpected '{'
          line 1, column 29
            PATTERN SEQ(A a, B b) WHERE { a.x = 1 }
                                        ^
          required: a predicate, [attribute] or a strategy
          hint: name a strategy before the braces, or leave them out
    """,
    "braces not closed": """
        PATTERN SEQ(A a, B b) WHERE strict_contiguity { a.x = 1

        the query ends too early
          line 1, column 56
            PATTERN SEQ(A a, B b) WHERE strict_contiguity { a.x = 1
                                                                   ^
          required: '}'
          hint: '{' in line 1, column 47 is not closed
    """,
    "two strategies": """
        PATTERN A a WHERE strict_contiguity { a.x = 1 } WHERE strict_contiguity { a.y = 1 }

        a query has one strategy
          line 1, column 55
            PATTERN A a WHERE strict_contiguity { a.x = 1 } WHERE strict_contiguity { a.y = 1 }
                                                                  ^^^^^^^^^^^^^^^^^
          required: no second strategy
          hint: put all predicates between the braces of the first one
    """,
}

WINDOWS = {
    "WITHIN without a length": """
        PATTERN A; B WITHIN

        the query ends too early
          line 1, column 20
            PATTERN A; B WITHIN
                               ^
          required: a number or a parameter $x
          hint: for example WITHIN 12 hours or WITHIN 100 EVENTS
    """,
    "an unknown unit": """
        PATTERN A; B WITHIN 3 fortnights

        unknown unit of time 'fortnights'
          line 1, column 23
            PATTERN A; B WITHIN 3 fortnights
                                  ^^^^^^^^^^
          required: ns, us, ms, s, min, hours, days, weeks, units or EVENTS
    """,
    "a misspelt unit": """
        PATTERN A; B WITHIN 3 minuts

        unknown unit of time 'minuts'
          line 1, column 23
            PATTERN A; B WITHIN 3 minuts
                                  ^^^^^^
          required: ns, us, ms, s, min, hours, days, weeks, units or EVENTS
          hint: did you mean 'minutes'?
    """,
    "EVENT for EVENTS": """
        PATTERN A; B WITHIN 3 EVENT

        the query ends too early
          line 1, column 28
            PATTERN A; B WITHIN 3 EVENT
                                       ^
          required: a component such as A a, !(B b) or ANY(B, C) d
          hint: a number of events is written WITHIN 100 EVENTS
    """,
    "half an event": """
        PATTERN A; B WITHIN 1.5 EVENTS

        WITHIN 1.5 EVENTS
          line 1, column 14
            PATTERN A; B WITHIN 1.5 EVENTS
                         ^^^^^^^^^^^^^^^^^
          required: a whole number of events, at least 1
    """,
    "no event": """
        PATTERN A; B WITHIN 0 EVENTS

        WITHIN 0 EVENTS
          line 1, column 14
            PATTERN A; B WITHIN 0 EVENTS
                         ^^^^^^^^^^^^^^^
          required: a whole number of events, at least 1
    """,
}

RESULTS = {
    "RETURN of nothing": """
        PATTERN A a RETURN

        the query ends too early
          line 1, column 19
            PATTERN A a RETURN
                              ^
          required: an expression
    """,
    "a name for RETURN *": """
        PATTERN A a RETURN * AS x

        unexpected 'AS'
          line 1, column 22
            PATTERN A a RETURN * AS x
                                 ^^
          required: ',', INTO, OUTPUT or the end of the query
          hint: a.* makes several columns, called a_x, a_y, …: name single ones with AS
    """,
    "an aggregate of a.*": """
        PATTERN A a RETURN sum(a.*)

        unexpected '*'
          line 1, column 26
            PATTERN A a RETURN sum(a.*)
                                     ^
          required: an attribute name
          hint: a.* stands in RETURN alone; count(*) counts matches, count(a[]) events
    """,
    "a missing comma in RETURN": """
        PATTERN A a RETURN a.x a.y

        unexpected 'a'
          line 1, column 24
            PATTERN A a RETURN a.x a.y
                                   ^
          required: ',', an operator, AS, INTO, OUTPUT or the end of the query
          hint: columns are separated by ','; a column's name stands behind AS
    """,
    "a quoted column name": """
        PATTERN A a RETURN a.x AS 'the x'

        unexpected 'the x'
          line 1, column 27
            PATTERN A a RETURN a.x AS 'the x'
                                      ^^^^^^^
          required: a name
          hint: a name with other characters than letters, digits and _ stands in backticks: `my name`
    """,
    "INTO without RETURN": """
        PATTERN A a INTO T

        unexpected 'INTO'
          line 1, column 13
            PATTERN A a INTO T
                        ^^^^
          required: an operator (; & |), a clause such as WHERE or the end of the query
          hint: INTO belongs to RETURN: RETURN a.x AS x INTO T
    """,
    "an unknown output": """
        PATTERN A a OUTPUT NONOVERLAP

        unexpected 'NONOVERLAP'
          line 1, column 20
            PATTERN A a OUTPUT NONOVERLAP
                               ^^^^^^^^^^
          required: ALL, NON_OVERLAP or AGGREGATE
          hint: did you mean 'NON_OVERLAP'?
    """,
    "aggregates of matches apart": """
        PATTERN A a RETURN count(*) OUTPUT NON_OVERLAP AGGREGATE

        unexpected 'AGGREGATE'
          line 1, column 48
            PATTERN A a RETURN count(*) OUTPUT NON_OVERLAP AGGREGATE
                                                           ^^^^^^^^^
          required: the end of the query
          hint: aggregates are over all matches: OUTPUT AGGREGATE
    """,
}

CASES = STRATEGIES | WINDOWS | RESULTS


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_message(case: str) -> None:
    check(case, oz.query)
