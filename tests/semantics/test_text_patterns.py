"""LIKE and RLIKE: what they match, on every engine, in linear time."""

from __future__ import annotations

import time
from itertools import product
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from semantics.everywhere import everywhere
from semantics.harness import found, value


def is_like(text: str, pattern: str, escape: str | None = None, **params: Any) -> Any:
    events = [{"ts": 1, "type": "A", "s": text}]
    ending = "" if escape is None else " ESCAPE $e"
    query = f"PATTERN A a RETURN a.s LIKE $p{ending} AS v"
    return oz.match(events, query, params={"p": pattern} | ({"e": escape} if escape is not None else {}))[0]["v"]


def test_like_takes_linear_time() -> None:
    began = time.perf_counter()
    assert is_like("a" * 5_000, "%a" * 25 + "%b") is False
    assert is_like("a" * 5_000, "%a_" * 25 + "%b") is False
    assert is_like("a" * 5_000 + "b", "%a" * 25 + "%b") is True
    assert time.perf_counter() - began < 2


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "%",
        "_",
        "%%",
        "a",
        "a%",
        "%a",
        "%a%",
        "a_",
        "_a%",
        "%a_b",
        "a%b",
        "ab%ba",
        "%_%_",
        "a.b",
        "%[a]",
        "a b",
        "%\n",
    ],
)
@pytest.mark.parametrize("engine", ["scan", "reference"])
def test_like_means_what_sql_says(pattern: str, engine: str) -> None:
    """Against a definition by recursion."""

    def means(text: str, rest: str) -> bool:
        if not rest:
            return not text
        if rest[0] == "%":
            return any(means(text[k:], rest[1:]) for k in range(len(text) + 1))
        return bool(text) and rest[0] in ("_", text[0]) and means(text[1:], rest[1:])

    texts = ["".join(letters) for n in range(5) for letters in product("ab", repeat=n)]
    texts += ["a\n", "\na", "ä", "aä", "🦆b", "a.b", "a b", "[a]"]
    events = [{"ts": n, "type": "A", "s": text} for n, text in enumerate(texts)]
    query = "PATTERN A a WHERE a.s LIKE $p RETURN a.s"
    rows = oz.match(events, query, params={"p": pattern}, engine=engine)
    assert [row["s"] for row in rows] == [text for text in texts if means(text, pattern)]


def test_characters_are_code_points_newlines_among_them() -> None:
    assert is_like("a\nb", "a_b") is True
    assert is_like("a\n\nb", "a%b") is True
    assert is_like("🦆", "_") is True
    assert is_like("a.b", "a.b") is True
    assert is_like("axb", "a.b") is False
    assert is_like("a\\b", "a\\b") is True


def test_escape() -> None:
    assert is_like("50%", "50!%", "!") is True
    assert is_like("50x", "50!%", "!") is False
    assert is_like("a_b!", "a!_b!!", "!") is True
    assert is_like("a\\b", "a\\\\b", "\\") is True
    assert is_like("%", "%%", "%") is True
    assert value("a.s LIKE '50!%' ESCAPE '!'", "a1:s=50%") is True
    assert value("a.s NOT LIKE '50!%' escape '!'", "a1:s=50%") is False


def test_a_pattern_may_be_the_attribute_itself() -> None:
    assert found("PATTERN A a WHERE a.s LIKE a.s ESCAPE '!'", "a1:s=x a2:s=x!y a3:s=null a4:s=%") == ["a1", "a4"]


def test_a_pattern_may_be_an_attribute() -> None:
    pair = "PATTERN SEQ(A a, B b) WHERE a.s LIKE b.s"
    assert found(pair, "a1:s=hello b2:s=h%o b3:s=h_o") == ["a1 b2"]
    # an escape without anything to escape has no meaning: null, for no event may stop a run
    events = "a1:s=h% b2:s=h!% b3:s=h!"
    assert found(pair + " ESCAPE '!'", events) == ["a1 b2"]
    assert found("PATTERN SEQ(A a, B b) WHERE a.s NOT LIKE b.s ESCAPE '!'", events) == []


def test_rlike_searches() -> None:
    assert value("a.s RLIKE 'l+'", "a1:s=hello") is True
    assert value("a.s rlike '^l+$'", "a1:s=hello") is False
    assert value("a.s NOT RLIKE '^h.*o$'", "a1:s=hello") is False
    assert value("lower(a.s) RLIKE '^h'", "a1:s=HELLO") is True
    assert value("a.s RLIKE '(?i)HELLO'", "a1:s=hello") is True
    assert value("'abc' RLIKE 'b'", "a1:s=hello") is True
    assert value("a.s RLIKE 'x'", "a1:s=null") is None
    assert value("a.s RLIKE NULL", "a1:s=x") is None


def test_rlike_takes_linear_time() -> None:
    began = time.perf_counter()
    events = [{"ts": 1, "type": "A", "s": "a" * 5_000}]
    assert oz.match(events, "PATTERN A a WHERE a.s RLIKE '^(a+)+b$'") == []
    assert time.perf_counter() - began < 2


@pytest.mark.parametrize(
    "condition",
    [
        "a.s LIKE 'x!_%' ESCAPE '!'",
        "a.s NOT LIKE '%1'",
        "a.s RLIKE 'x_?[12]'",
        "a.s NOT RLIKE $p",
        "upper(a.s) RLIKE 'X'",
    ],
)
@pytest.mark.parametrize(("engine", "pattern"), [("scan", "SEQ(A a, B b)"), ("automaton", "SEQ(A a, B+ b[])")])
def test_on_every_engine(condition: str, engine: str, pattern: str) -> None:
    texts = ["x_1", "x1", None, "y", "x_2", "", "x\n1", "x_1"]
    events = pa.table({"ts": list(range(8)), "type": list("AAAAAABB"), "s": texts})
    query = f"PATTERN {pattern} WHERE {condition} WITHIN 10 RETURN a.s, a.ts AS at, a.s RLIKE '1$' AS one"
    assert everywhere(query, events, runs_on=engine, params={"p": "^x"} if "$p" in condition else {})
