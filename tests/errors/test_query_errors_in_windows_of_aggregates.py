"""What is said of EVERY, the windows of aggregates: where it cannot stand, and what it cannot take."""

from __future__ import annotations

from datetime import date

import pytest

import ouzel as oz
from errors.messages import EVENTS, TYPES, check

# ---- what cannot be read ---------------------------------------------------------------------------------

SYNTAX = {
    "EVERY without AGGREGATE": """
        PATTERN A a RETURN count(*) AS n OUTPUT EVERY 1 hour

        unexpected 'EVERY'
          line 1, column 41
            PATTERN A a RETURN count(*) AS n OUTPUT EVERY 1 hour
                                                    ^^^^^
          required: ALL, NON_OVERLAP or AGGREGATE
          hint: windows of time belong to aggregates over matches: RETURN count(*) OUTPUT AGGREGATE EVERY 1 hour
    """,
    "EVERY of all matches": """
        PATTERN A a RETURN count(*) AS n OUTPUT ALL EVERY 1 hour

        unexpected 'EVERY'
          line 1, column 45
            PATTERN A a RETURN count(*) AS n OUTPUT ALL EVERY 1 hour
                                                        ^^^^^
          required: the end of the query
          hint: windows of time belong to aggregates over matches: RETURN count(*) OUTPUT AGGREGATE EVERY 1 hour
    """,
    "EVERY of matches apart": """
        PATTERN A a RETURN count(*) AS n OUTPUT NON_OVERLAP EVERY 1 hour

        unexpected 'EVERY'
          line 1, column 53
            PATTERN A a RETURN count(*) AS n OUTPUT NON_OVERLAP EVERY 1 hour
                                                                ^^^^^
          required: the end of the query
          hint: windows of time belong to aggregates over matches: RETURN count(*) OUTPUT AGGREGATE EVERY 1 hour
    """,
    "EVERY without OUTPUT": """
        PATTERN A a RETURN count(*) AS n EVERY 1 hour

        unexpected 'EVERY'
          line 1, column 34
            PATTERN A a RETURN count(*) AS n EVERY 1 hour
                                             ^^^^^
          required: ',', INTO, OUTPUT or the end of the query
          hint: windows of time belong to aggregates over matches: RETURN count(*) OUTPUT AGGREGATE EVERY 1 hour
    """,
    "a misspelt EVERY": """
        PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVRY 1 hour

        unexpected 'EVRY'
          line 1, column 51
            PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVRY 1 hour
                                                              ^^^^
          required: EVERY or the end of the query
          hint: did you mean 'EVERY'?
    """,
    "a length without EVERY": """
        PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE 1 hour

        unexpected '1 hour'
          line 1, column 51
            PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE 1 hour
                                                              ^^^^^^
          required: EVERY or the end of the query
          hint: write OUTPUT AGGREGATE EVERY 1 hour
    """,
    "PER for EVERY": """
        PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE PER 1 hour

        unexpected 'PER'
          line 1, column 51
            PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE PER 1 hour
                                                              ^^^
          required: EVERY or the end of the query
          hint: write OUTPUT AGGREGATE EVERY 1 hour
    """,
    "EVERY without a length": """
        PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY

        the query ends too early
          line 1, column 56
            PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY
                                                                   ^
          required: a number or a parameter $x
          hint: for example EVERY 1 hour
    """,
    "EVERY without a number": """
        PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY hour

        unexpected 'hour'
          line 1, column 57
            PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY hour
                                                                    ^^^^
          required: a number or a parameter $x
          hint: for example EVERY 1 hour
    """,
    "EVERY with a negative number": """
        PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY -1 hour

        unexpected '-'
          line 1, column 57
            PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY -1 hour
                                                                    ^
          required: a number or a parameter $x
          hint: for example EVERY 1 hour
    """,
    "EVERY with commas": """
        PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 1 hour, 30 min

        unexpected ','
          line 1, column 63
            PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 1 hour, 30 min
                                                                          ^
          required: the end of the query
          hint: the parts of a length follow each other: 1 hour 30 minutes
    """,
    "EVERY with an unknown unit": """
        PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 1 huor

        unknown unit of time 'huor'
          line 1, column 59
            PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 1 huor
                                                                      ^^^^
          required: ns, us, ms, s, min, hours, days, weeks or units
          hint: did you mean 'hour'?
    """,
    "EVERY month": """
        PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 1 month

        unknown unit of time 'month'
          line 1, column 59
            PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 1 month
                                                                      ^^^^^
          required: ns, us, ms, s, min, hours, days, weeks or units
          hint: months and years differ in length: write days, for example 30 days
    """,
    "EVERY with a number of events": """
        PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 100 EVENTS

        EVERY with a number of events
          line 1, column 51
            PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 100 EVENTS
                                                              ^^^^^^^^^^^^^^^^
          required: EVERY a length of time
          hint: for example EVERY 1 hour; WITHIN 100 EVENTS says how far a match may reach
    """,
    "EVERY with a number of event": """
        PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 100 EVENT

        the query ends too early
          line 1, column 66
            PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 100 EVENT
                                                                             ^
          required: a component such as A a, !(B b) or ANY(B, C) d
          hint: windows of aggregates have a length of time: EVERY 1 hour
    """,
    "EVERY with INCLUSIVE": """
        PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 1 hour INCLUSIVE

        unexpected 'INCLUSIVE'
          line 1, column 64
            PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 1 hour INCLUSIVE
                                                                           ^^^^^^^^^
          required: the end of the query
          hint: a window begins where the one before it ends: leave out INCLUSIVE
    """,
    "EVERY and NON_OVERLAP": """
        PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 1 hour NON_OVERLAP

        unexpected 'NON_OVERLAP'
          line 1, column 64
            PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 1 hour NON_OVERLAP
                                                                           ^^^^^^^^^^^
          required: the end of the query
          hint: aggregates are over all matches: OUTPUT AGGREGATE
    """,
    "NON_OVERLAP behind AGGREGATE": """
        PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE NON_OVERLAP

        unexpected 'NON_OVERLAP'
          line 1, column 51
            PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE NON_OVERLAP
                                                              ^^^^^^^^^^^
          required: EVERY or the end of the query
          hint: aggregates are over all matches: OUTPUT AGGREGATE
    """,
    "WHERE behind EVERY": """
        PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 5 WHERE a.x = 1

        WHERE behind OUTPUT
          line 1, column 59
            PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 5 WHERE a.x = 1
                                                                      ^^^^^
          required: each of PATTERN, WHERE, WITHIN, RETURN, OUTPUT once and in this order
          hint: move WHERE before OUTPUT
    """,
    "WITHIN behind EVERY": """
        PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 1 hour WITHIN 5

        WITHIN behind OUTPUT
          line 1, column 64
            PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 1 hour WITHIN 5
                                                                           ^^^^^^
          required: each of PATTERN, WHERE, WITHIN, RETURN, OUTPUT once and in this order
          hint: move WITHIN before OUTPUT
    """,
    "a second OUTPUT behind EVERY": """
        PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 5 OUTPUT ALL

        a second OUTPUT
          line 1, column 59
            PATTERN A a RETURN count(*) AS n OUTPUT AGGREGATE EVERY 5 OUTPUT ALL
                                                                      ^^^^^^
          required: each of PATTERN, WHERE, WITHIN, RETURN, OUTPUT once and in this order
    """,
}

# ---- what has no meaning ---------------------------------------------------------------------------------

MEANING = {
    "windows of no length": """
        PATTERN Shelf a RETURN count(*) OUTPUT AGGREGATE EVERY 0 hours

        a window of no length
          line 1, column 50
            PATTERN Shelf a RETURN count(*) OUTPUT AGGREGATE EVERY 0 hours
                                                             ^^^^^^^^^^^^^
          required: EVERY a positive length of time
          hint: for example EVERY 1 hour
    """,
    "windows that end between two ticks": """
        PATTERN Shelf a RETURN count(*) OUTPUT AGGREGATE EVERY 1500 us

        windows that end between two ticks
          line 1, column 50
            PATTERN Shelf a RETURN count(*) OUTPUT AGGREGATE EVERY 1500 us
                                                             ^^^^^^^^^^^^^
          required: a whole number of ticks of the time column, which counts ms
          hint: for example EVERY 2 ms
    """,
    "windows too long to be counted": """
        PATTERN Shelf a RETURN count(*) OUTPUT AGGREGATE EVERY 400000000000 weeks

        a window too long to be counted
          line 1, column 50
            PATTERN Shelf a RETURN count(*) OUTPUT AGGREGATE EVERY 400000000000 weeks
                                                             ^^^^^^^^^^^^^^^^^^^^^^^^
          required: at most 9223372036854775807 ticks of the time column, which counts ms
    """,
    "an aggregate called as the start of a window": """
        PATTERN Shelf a RETURN count(*) AS window_start OUTPUT AGGREGATE EVERY 1 hour

        two columns of RETURN are called 'window_start'
          line 1, column 36
            PATTERN Shelf a RETURN count(*) AS window_start OUTPUT AGGREGATE EVERY 1 hour
                                               ^^^^^^^^^^^^
          required: a name of its own for every column
          hint: the 'window_start' of the windows is a column, too: choose another name
    """,
    "windows without RETURN": """
        PATTERN Shelf a OUTPUT AGGREGATE EVERY 1 hour

        OUTPUT AGGREGATE without RETURN
          line 1, column 24
            PATTERN Shelf a OUTPUT AGGREGATE EVERY 1 hour
                                   ^^^^^^^^^
          required: RETURN with aggregates over matches
          hint: for example RETURN count(*) OUTPUT AGGREGATE
    """,
    "windows with INTO": """
        PATTERN Shelf a RETURN count(*) AS n INTO T OUTPUT AGGREGATE EVERY 1 hour

        INTO 'T' with OUTPUT AGGREGATE
          line 1, column 43
            PATTERN Shelf a RETURN count(*) AS n INTO T OUTPUT AGGREGATE EVERY 1 hour
                                                      ^
          required: RETURN without INTO
          hint: events are made of single matches: leave out INTO, or OUTPUT AGGREGATE
    """,
    "a parameter of EVERY without a value": """
        PATTERN Shelf a RETURN count(*) OUTPUT AGGREGATE EVERY $d

        the parameter $d has no value
          line 1, column 56
            PATTERN Shelf a RETURN count(*) OUTPUT AGGREGATE EVERY $d
                                                                   ^^
          required: params={'d': …}
    """,
}


@pytest.mark.parametrize("case", SYNTAX.values(), ids=SYNTAX)
def test_syntax(case: str) -> None:
    check(case, oz.query)


@pytest.mark.parametrize("case", MEANING.values(), ids=MEANING)
def test_meaning(case: str) -> None:
    check(case, lambda query: oz.match(EVENTS, query, types=TYPES))


def test_a_partition_called_as_the_columns_of_windows() -> None:
    text = "PATTERN A a WHERE [window_end] RETURN count(*) OUTPUT AGGREGATE EVERY 5"
    with pytest.raises(oz.QueryError) as error:
        oz.match([{"ts": 1, "type": "A", "window_end": 3}], text)
    assert str(error.value) == (
        "partitions by 'window_end' with EVERY\n"
        "  line 1, column 65\n"
        f"    {text}\n"
        f"    {' ' * 64}^^^^^^^\n"
        "  required: partitions by attributes that are not called as the columns of windows: window_start, "
        "window_end\n"
        "  hint: rename the column, or leave out EVERY"
    )


def test_a_day_is_the_shortest_window_of_dates() -> None:
    events = [{"ts": date(2026, 1, 1), "type": "A"}]
    with pytest.raises(oz.QueryError, match=r"which counts d\n  hint: for example EVERY 1 d$"):
        oz.match(events, "PATTERN A a RETURN count(*) OUTPUT AGGREGATE EVERY 1 hour")
    assert len(oz.match(events, "PATTERN A a RETURN count(*) OUTPUT AGGREGATE EVERY 24 hours")) == 1


@pytest.mark.parametrize("value", [0, "0 s", -5])
def test_a_parameter_of_no_length(value: object) -> None:
    with pytest.raises(oz.QueryError, match="a window of no length"):
        oz.match(EVENTS, "PATTERN Shelf a RETURN count(*) OUTPUT AGGREGATE EVERY $d", params={"d": value})


def test_what_counts_ticks_is_known_only_with_events() -> None:
    oz.query("PATTERN A a RETURN count(*) OUTPUT AGGREGATE EVERY 5 ns")
