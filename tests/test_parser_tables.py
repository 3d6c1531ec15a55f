"""The parser's tables that come with the package are those of the grammar."""

from __future__ import annotations

import pytest
from lark import Lark, UnexpectedInput

from ouzel.language import make_tables, parser, tables
from ouzel.language.syntax_errors import describe
from valid_queries import QUERIES

BROKEN = (
    "PATTERN",
    "PATTERN SEQ(A a, B b",
    "PATTERN SEQ(A a, B b) WHERE a.x >",
    "PATTERN SEQ(A a B b)",
    "PATTERN A a WHERE a.x = 'open",
    "PATTERN A a WITHIN RETURN a",
    "PATTERN A a RETURN a.x AS 5",
)


@pytest.fixture(scope="module")
def built() -> Lark:
    return tables.build()


@pytest.fixture(scope="module")
def loaded() -> Lark:
    parser = tables.load()
    assert parser is not None, "tables.json is not up to date: make tables"
    return parser


def test_the_tables_are_those_of_the_grammar(built: Lark) -> None:
    written = tables._read(tables.FILE)
    assert written == make_tables.as_text(make_tables.tables_of(built)), "make tables writes them again"


def test_a_parser_made_of_tables_gives_the_same_tables(loaded: Lark, built: Lark) -> None:
    assert make_tables.tables_of(loaded) == make_tables.tables_of(built)


@pytest.mark.parametrize("query", QUERIES)
def test_the_same_trees(query: str, loaded: Lark, built: Lark) -> None:
    ours, theirs = loaded.parse(query, start=tables.START), built.parse(query, start=tables.START)
    assert ours == theirs
    assert [node.meta.__dict__ for node in ours.iter_subtrees()] == [
        node.meta.__dict__ for node in theirs.iter_subtrees()
    ]


@pytest.mark.parametrize("query", BROKEN)
def test_the_same_errors(query: str, loaded: Lark, built: Lark) -> None:
    assert refusal(query, loaded) == refusal(query, built)


def refusal(query: str, parser: Lark) -> str:
    with pytest.raises(UnexpectedInput) as refused:
        parser.parse(query, start=tables.START)
    return str(describe(query, refused.value))


def test_tables_of_another_grammar_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "stamp", lambda: "another")
    assert tables.load() is None


def test_without_tables_the_parser_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "FILE", "missing.json")
    assert tables.load() is None
    parser.grammar.cache_clear()
    try:
        assert parser.parse_text("PATTERN A; B")[0].pattern is not None
    finally:
        parser.grammar.cache_clear()
