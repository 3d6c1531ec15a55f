"""Stage 1, the whole of it: the text of a program in, syntax trees of its queries out."""

from __future__ import annotations

from functools import lru_cache

from ouzel.language.document import Written, is_document, read_document
from ouzel.language.parser import parse_text


@lru_cache(maxsize=64)
def parse(source: str) -> tuple[Written, ...]:
    """Parse a file of queries or a document of them.

    Of texts seen lately the trees are known, and as trees never change, they are the same.

    >>> [query.pattern.items[0].types[0].text for query in parse("PATTERN A; B WITHIN 5")]
    ['A']
    """
    return read_document(source) if is_document(source) else parse_text(source)
