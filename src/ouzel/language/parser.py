"""Stage 1: query text in, syntax tree out; whatever is wrong with the text comes out as a QueryError."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import cast

from lark import Lark, UnexpectedInput
from lark.exceptions import VisitError

from ouzel.errors import QueryError, Span
from ouzel.language import tables, tree
from ouzel.language.builder import Builder, too_deep
from ouzel.language.syntax_errors import describe
from ouzel.language.uncollected import uncollected

MAX_TEXT = 1_000_000
MAX_DEPTH = 120


@cache
def grammar() -> Lark:
    """The parser, made once."""
    return tables.load() or tables.build()


@lru_cache(maxsize=64)
def parse(source: str) -> tuple[tree.Query, ...]:
    """Parse a file of queries; of texts seen lately the tree is known, and as trees never change, it is the same.

    >>> [query.pattern.items[0].types[0].text for query in parse("PATTERN A; B WITHIN 5")]
    ['A']
    """
    if len(source) > MAX_TEXT:
        raise QueryError(f"the query text has {len(source):,} characters", required=f"at most {MAX_TEXT:,}")
    half = re.search(r"[\ud800-\udfff]", source)
    if half is not None:
        printable = source.encode("utf-8", "replace").decode()
        message = f"U+{ord(half[0]):04X}, half of a character"
        raise QueryError(message, printable, Span(*half.span()), required="whole characters")
    with uncollected(source):
        return _parsed(source)


def _parsed(source: str) -> tuple[tree.Query, ...]:
    try:
        parsed = grammar().parse(source)
    except UnexpectedInput as error:
        raise describe(source, error) from None
    place = too_deep(parsed, MAX_DEPTH)
    if place is not None:
        raise QueryError(
            "the query nests too deeply",
            source,
            place,
            required=f"at most {MAX_DEPTH} levels of parentheses and operators",
        )
    try:
        return cast("tuple[tree.Query, ...]", Builder(source).transform(parsed))
    except VisitError as error:
        raise error.orig_exc from None
