"""What users of other systems write, and what is said to them."""

from __future__ import annotations

import pytest

import ouzel as oz
from ouzel.logical.functions import RESERVED
from ouzel.logical.known_elsewhere import _INSTEAD, instead_of

PAIR = "PATTERN SEQ(A a, B b)"
ORDER = "matches come in the order in which they end"
NAMES = "names stand in backticks, texts in quotes"
HINTS = {
    f"{PAIR} WHERE a.x = 1 ORDER BY b.ts": ORDER,
    f"{PAIR} ORDER BY b.ts": ORDER,
    f"{PAIR} WITHIN 5 hours ORDER BY b.ts": ORDER,
    f"{PAIR} RETURN a.x ORDER BY x": ORDER,
    f"{PAIR} RETURN a.x LIMIT 5": "all matches are reported: cut the result instead",
    f'{PAIR} WHERE "a"."x" = 1': NAMES,
    f"{PAIR} WHERE 'a'.x = 1": NAMES,
    f'{PAIR} WHERE a."x" = 1': NAMES,
    f'{PAIR} WHERE ["x"]': NAMES,
    f'{PAIR} RETURN a."x"': NAMES,
    f"{PAIR} WITHIN 5 m": "for minutes write min; months and years differ in length",
    f"{PAIR} WITHIN 2 months": "months and years differ in length: write days, for example 30 days",
    f"{PAIR} WHERE b.ts - a.ts < 5 m": "minutes are min; months and years differ in length: write days",
    f"{PAIR} WHERE b.ts - a.ts < INTERVAL '5' MINUTE": "a length of time is written 5 minutes",
    f"{PAIR} WHERE b.ts > date '2026-01-31'": "a time is written as a text: a.ts > '2026-01-31 12:00'",
    f"{PAIR} WHERE cast(a.x AS int) = 1": "values have the types of their columns: cast the column",
    f"{PAIR} WHERE extract(hour FROM a.ts) = 1": "the parts of a time are functions: hour(a.ts)",
    "SELECT * FROM events": "a query begins with PATTERN, and RETURN says what to report",
    "MATCH_RECOGNIZE (PARTITION BY x": "a query begins with PATTERN; PARTITION BY x is WHERE [x]",
    f"{PAIR} MEASURES a.x AS x": "what to report stands behind RETURN",
    f"{PAIR} WITHIN 5 hours MEASURES a.x": "what to report stands behind RETURN",
    f"{PAIR} AFTER MATCH SKIP PAST LAST ROW": "what a run may skip is said by a strategy",
    f"{PAIR} ONE ROW PER MATCH": "a match is one row",
    f"{PAIR} ALL ROWS PER MATCH": "a match is one row",
    f"{PAIR} DEFINE b AS b.x > 1": "conditions stand in WHERE, those on closures too",
    f"{PAIR} PARTITION BY x": "an equivalence test partitions the stream: WHERE [attribute]",
    f"{PAIR} WHERE now() > a.ts": "a query knows the times of its events alone",
    f"{PAIR} WHERE dateadd(a.ts, 5) > b.ts": "write a.ts + 5 minutes",
    f"{PAIR} WHERE DATEDIFF(b.ts, a.ts) > 5": "write b.ts - a.ts, and compare it with a length of time",
    f"{PAIR} WHERE concat(a.x, a.y) = 'xy'": "there is none: register one of your own",
    f"{PAIR} WHERE length(a.x) > 5": "for the length of a text register a function",
    f"{PAIR} WHERE prev(a.x) > 5": "the element before a[i] of a closure is a[i-1]",
    f"{PAIR} WHERE dayofweek(a.ts) = 1": "write weekday(a.ts), 1 for Monday to 7",
}


@pytest.mark.parametrize("query", HINTS)
def test_hints(query: str) -> None:
    with pytest.raises(oz.QueryError) as error:
        oz.query(query)
    assert (error.value.hint or "").startswith(HINTS[query])


def test_hour_of_a_text() -> None:
    with pytest.raises(oz.QueryError) as error:
        oz.match([{"ts": 1, "type": "A", "at": "2026-01-31"}], "PATTERN A a WHERE hour(a.at) = 1")
    assert error.value.hint == "cast the column to timestamp, with its zone if it has one"


def test_nothing_is_said_of_functions_that_there_are() -> None:
    assert not {name for name in RESERVED if instead_of(name)}


def test_no_function_has_two_hints() -> None:
    assert len(_INSTEAD) == len({name.lower() for name in _INSTEAD})


@pytest.mark.parametrize("condition", ["a.x == 3", "a.x = 3", "a.x <> 3", "a.x != 3"])
def test_signs_of_other_languages_that_are_ours_too(condition: str) -> None:
    assert oz.query(f"PATTERN A a WHERE {condition}").names == ("query1",)
