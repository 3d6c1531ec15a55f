"""Names and stretches of query text, as a query writes them."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[^\W\d⁰¹²³⁴⁵⁶⁷⁸⁹][^\W⁰¹²³⁴⁵⁶⁷⁸⁹]*")
# Texts and names in quotes stay as they are; what is between words becomes one space.
_SPACE = re.compile(
    r"'(?:[^']|'')*+'|\"(?:[^\"]|\"\")*+\"|‘[^’]*’|“[^”]*”|`(?:[^`]|``)*+`"
    r"|(?P<space>(?:\s|\ufeff|--[^\n]*|/\*(?:.|\n)*?\*/)+)"
)


def unquote(text: str) -> str:
    """A name without its backticks.

    >>> unquote("`a``b`"), unquote("x")
    ('a`b', 'x')
    """
    return text[1:-1].replace("``", "`") if text.startswith("`") else text


def quoted(name: str) -> str:
    """A name as a query writes it: in backticks, unless it is a plain word.

    >>> quoted("x"), quoted("my `name`")
    ('x', '`my ``name```')
    """
    return name if _PLAIN.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def one_line(text: str) -> str:
    """A stretch of query text without line breaks, comments and needless spaces.

    >>> one_line("a.x  =  'x  y' -- why")
    "a.x = 'x  y'"
    """
    if text.isprintable() and "  " not in text and "--" not in text and "/*" not in text:
        return text.strip()  # no other character stands for a space
    return _SPACE.sub(lambda found: " " if found["space"] else found[0], text).strip()
