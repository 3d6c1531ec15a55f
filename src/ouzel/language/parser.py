"""Stage 1: query text in, syntax tree out; whatever is wrong with the text comes out as a QueryError."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any, cast

from lark import Lark, UnexpectedInput
from lark.exceptions import VisitError

from ouzel.errors import QueryError, Span
from ouzel.language import tables, tree
from ouzel.language.builder import Builder, too_deep
from ouzel.language.syntax_errors import describe, describe_alone
from ouzel.language.tables import ALONE, START
from ouzel.language.uncollected import uncollected

MAX_TEXT = 1_000_000
MAX_DEPTH = 120


@cache
def grammar() -> Lark:
    """The parser, made once."""
    return tables.load() or tables.build()


def parse_text(source: str) -> tuple[tree.Query, ...]:
    """Parse a file of queries.

    >>> [query.pattern.items[0].types[0].text for query in parse_text("PATTERN A; B WITHIN 5")]
    ['A']
    """
    _check(source, "query")
    with uncollected(source):
        return cast("tuple[tree.Query, ...]", _parsed(source, START))


@lru_cache(maxsize=1_024)
def parse_alone(source: str) -> tree.Expression:
    """Parse a predicate or a value by itself; of texts seen lately the tree is known.

    >>> parse_alone("price > 10").function
    '>'
    """
    _check(source, "expression")
    return cast("tree.Expression", _parsed(source, ALONE))


def _check(source: str, what: str) -> None:
    """Refuse what no parser should see."""
    if len(source) > MAX_TEXT:
        raise QueryError(f"the {what} text has {len(source):,} characters", required=f"at most {MAX_TEXT:,}")
    half = re.search(r"[\ud800-\udfff]", source)
    if half is not None:
        printable = source.encode("utf-8", "replace").decode()
        message = f"U+{ord(half[0]):04X}, half of a character"
        raise QueryError(message, printable, Span(*half.span()), required="whole characters")


def _parsed(source: str, start: str) -> Any:
    try:
        parsed = grammar().parse(source, start=start)
    except UnexpectedInput as error:
        raise (describe_alone if start == ALONE else describe)(source, error) from None
    place = too_deep(parsed, MAX_DEPTH)
    if place is not None:
        raise QueryError(
            f"the {'expression' if start == ALONE else 'query'} nests too deeply",
            source,
            place,
            required=f"at most {MAX_DEPTH} levels of parentheses and operators",
        )
    try:
        return Builder(source).transform(parsed)
    except VisitError as error:
        raise error.orig_exc from None
