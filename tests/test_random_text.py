"""Whatever the text, a query is either understood or refused with a QueryError, and soon."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ouzel as oz
from valid_queries import QUERIES

SECONDS = 60.0  # no text takes seconds: this tells a hang from a busy machine

TOKENS = re.compile(r"\s+|[^\W\d]\w*|\d+(?:\.\d+)?|'[^']*'|.")
WORDS = sorted({token for query in QUERIES for token in TOKENS.findall(query)} | {"'", '"', "`", "/*", "⁵", "$"})
SIGNS = sorted(set("".join(QUERIES)) | set("\"'`\\\t\r\x00\ud800\u200b٣"))


def refused_or_understood(text: str) -> str | None:
    """The message if the text is refused, None if it is a query."""
    begun = time.perf_counter()
    refusal = None
    try:
        oz.query(text)
    except oz.QueryError as error:
        refusal = error
    assert time.perf_counter() - begun < SECONDS
    if refusal is None:
        return None
    assert refusal.span is None or 0 <= refusal.span.start <= refusal.span.end <= len(text)
    assert str(refusal)
    return str(refusal)


@pytest.mark.parametrize("query", QUERIES)
def test_queries_to_begin_with(query: str) -> None:
    assert refused_or_understood(query) is None


@given(st.text())
def test_any_text(text: str) -> None:
    refused_or_understood(text)
    refused_or_understood("PATTERN " + text)


@given(st.text(st.sampled_from(SIGNS)))
def test_characters_of_the_language(text: str) -> None:
    refused_or_understood("PATTERN A a WHERE " + text)


@given(st.lists(st.sampled_from(WORDS), max_size=30), st.sampled_from(["", " "]))
def test_words_of_the_language(words: list[str], space: str) -> None:
    refused_or_understood(space.join(words))
    refused_or_understood("PATTERN " + " ".join(words))


@st.composite
def changed(draw: st.DrawFn, parts: list[str], new: st.SearchStrategy[str]) -> str:
    """The parts, some of them left out, doubled, exchanged, or with something new between them."""
    parts = list(parts)
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, len(parts) - 1))
        other = draw(st.integers(0, len(parts) - 1))
        change = draw(st.sampled_from(["leave out", "insert", "exchange", "double"]))
        if change == "leave out" and len(parts) > 1:
            del parts[at]
        elif change == "insert":
            parts.insert(at, draw(new))
        elif change == "exchange":
            parts[at], parts[other] = parts[other], parts[at]
        else:
            parts[at:at] = parts[at:other]
    return "".join(parts)


@given(st.sampled_from(QUERIES).flatmap(lambda query: changed(list(query), st.sampled_from(SIGNS))))
def test_queries_with_other_characters(text: str) -> None:
    refused_or_understood(text)


@given(st.sampled_from(QUERIES).flatmap(lambda query: changed(TOKENS.findall(query), st.sampled_from(WORDS))))
def test_queries_with_other_words(text: str) -> None:
    refused_or_understood(text)


@given(st.sampled_from(QUERIES), st.integers(0, 200), st.sampled_from(QUERIES), st.integers(0, 200))
def test_the_start_of_one_query_and_the_end_of_another(one: str, start: int, other: str, end: int) -> None:
    refused_or_understood(one[:start] + other[end:])


# ---- much of one thing -----------------------------------------------------------------------------------

MUCH = 10_000
NESTED = {
    "parentheses in WHERE": "PATTERN A a WHERE " + "(" * MUCH + "a.x = 1" + ")" * MUCH,
    "parentheses in the pattern": "PATTERN " + "(" * MUCH + "A a" + ")" * MUCH,
    "SEQ": "PATTERN " + "SEQ(" * MUCH + "A a" + ")" * MUCH,
    "NOT": "PATTERN A a WHERE " + "NOT " * MUCH + "a.x = 1",
    "!": "PATTERN " + "!" * MUCH + "A a",
    "-": "PATTERN A a WHERE a.x = " + "- " * MUCH + "1",
    "calls": "PATTERN A a WHERE " + "abs(" * MUCH + "a.x" + ")" * MUCH + " = 1",
    "CASE": "PATTERN A a WHERE " + "CASE WHEN a.x = 1 THEN " * 2_000 + "a.x" + " END" * 2_000 + " = 1",
}
OPEN = {
    "parentheses": "PATTERN A a WHERE " + "(" * MUCH,
    "components": "PATTERN " + "(" * MUCH,
    "brackets": "PATTERN A a WHERE " + "[" * MUCH,
    "braces": "PATTERN A a WHERE " + "{" * MUCH,
    "quotes": "PATTERN A a WHERE a.x = " + "'" * 100_001,
    "a string": "PATTERN A a WHERE a.x = '" + "x" * 100_000,
    "a comment": "PATTERN A a /*" + "*" * 100_000,
    "spaces": "PATTERN A a WHERE a.x =" + " " * 200_000,
}
LONG = {
    "AND": "PATTERN A a WHERE " + " AND ".join(["a.x = 1"] * 2_000),
    "OR": "PATTERN A a WHERE " + " OR ".join(["a.x = 1"] * 2_000),
    "components": "PATTERN SEQ(" + ", ".join(f"A a{n}" for n in range(1_000)) + ")",
    "alternatives": "PATTERN " + " | ".join(f"A a{n}" for n in range(1_000)),
    "conjunctions": "PATTERN " + " & ".join(f"A a{n}" for n in range(1_000)),
    "types": "PATTERN ANY(" + ", ".join(f"A{n}" for n in range(2_000)) + ") a",
    "columns": "PATTERN A a RETURN " + ", ".join(f"a.x AS x{n}" for n in range(2_000)),
    "queries": "PATTERN A a " * 1_000,
    "queries that feed each other": " ".join(f"PATTERN T{n} a RETURN a.x INTO T{n + 1}" for n in range(500)),
    "lengths": "PATTERN A a WITHIN " + "1 hour " * 2_000,
    "equivalence tests": "PATTERN A a WHERE [" + ", ".join(f"x{n}" for n in range(2_000)) + "]",
    "equalities": "PATTERN SEQ(A a, B b) WHERE " + " AND ".join(f"a.x{n} = b.x{n}" for n in range(500)),
    "a string": "PATTERN A a WHERE a.x = '" + "x" * 200_000 + "'",
    "a comment": "PATTERN A a --" + "-" * 200_000,
    "a list": "PATTERN A a WHERE a.x IN (" + ", ".join(map(str, range(2_000))) + ")",
}
HUGE = {
    "an integer": "PATTERN A a WHERE a.x = " + "9" * MUCH,
    "a number": "PATTERN A a WHERE a.x = 1." + "9" * MUCH,
    "an exponent": "PATTERN A a WHERE a.x = 1e" + "9" * MUCH,
    "a length": "PATTERN A a WITHIN " + "9" * MUCH,
    "a closure": "PATTERN A^" + "9" * MUCH,
    "a superscript": "PATTERN A" + "⁹" * MUCH,
    "a counted closure": "PATTERN SEQ(A{1," + "9" * MUCH + "} a[], B b)",
    "an index": "PATTERN A+ a[] WHERE a[" + "1" * MUCH + "].x = 1",
    "a chain of comparisons": "PATTERN A a WHERE a.x" + " = 1" * MUCH,
    "a sum": "PATTERN A a WHERE a.x = 1" + " + 1" * MUCH,
    "a product": "PATTERN A a WHERE a.x = 1" + " * 1" * MUCH,
    "a percentage": "PATTERN A a WHERE a.x = " + "9" * MUCH + "%",
    "a duration": "PATTERN A a WHERE a.x = " + "9" * MUCH + " hours",
    "a normal form": "PATTERN A a WHERE " + " OR ".join(["(a.x = 1 AND a.y = 2 AND a.s = 't')"] * 40),
    "a normal form of few": "PATTERN A a WHERE " + " OR ".join([f"({' AND '.join(['a.x = 1'] * 2_500)})"] * 2),
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_long_queries_are_understood(text: str) -> None:
    assert refused_or_understood(text) is None


@pytest.mark.parametrize("text", [*NESTED.values(), *OPEN.values(), *HUGE.values()], ids=[*NESTED, *OPEN, *HUGE])
def test_what_is_too_much_is_refused(text: str) -> None:
    assert refused_or_understood(text) is not None


@pytest.mark.parametrize("text", NESTED.values(), ids=NESTED)
def test_nesting_is_refused_as_such(text: str) -> None:
    assert str(refused_or_understood(text)).startswith("the query nests too deeply\n")


def test_a_number_too_small_to_be_told_from_zero() -> None:
    refused_or_understood("PATTERN A a WITHIN 1e-99999999 hours")
