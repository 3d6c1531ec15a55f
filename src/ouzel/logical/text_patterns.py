"""Patterns of LIKE and RLIKE: what they mean, and which have no meaning.  Neither ever backtracks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_RE2 = "a pattern of RE2, which searches in linear time"
_SYNTAX = "RE2's syntax: https://github.com/google/re2/wiki/Syntax"
_NOT_IN_RE2 = (
    (r"\(\?<?[=!]", "RE2 has no lookahead and no lookbehind: join two conditions with AND"),
    (r"\\[1-9]|\(\?P=|\\k<", "RE2 has no backreferences"),
    (r"[*+?}]\+|\(\?>", "RE2 has no possessive quantifiers and needs none: it never backtracks"),
)


class BadPatternError(Exception):
    """A pattern without a meaning; never leaves the binder, which says where it stands."""

    def __init__(self, message: str, required: str, hint: str | None = None) -> None:
        """Say what is wrong with it."""
        super().__init__(message)
        self.required, self.hint = required, hint


# ---- LIKE ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def like_parts(pattern: str, escape: str | None = None) -> tuple[re.Pattern[str], ...]:
    """What stands between the %s of a pattern, as expressions of a fixed length: _ is any one character.

    >>> [part.pattern for part in like_parts("a_%b", None)]
    ['a.', 'b']
    """
    parts = [""]
    signs = iter(pattern)
    for sign in signs:
        if sign == escape:
            escaped = next(signs, "")
            if not escaped or escaped not in ("%", "_", escape):
                place = f"before '{escaped}'" if escaped else "without a character"
                raise BadPatternError(
                    f"an escape {place} in the pattern of LIKE",
                    f"%, _ or {escape} behind every {escape}",
                    f"an escape that means itself is written twice: {escape * 2}",
                )
            parts[-1] += re.escape(escaped)
        elif sign == "%":
            parts.append("")
        else:
            parts[-1] += "." if sign == "_" else re.escape(sign)
    return tuple(re.compile(part, re.DOTALL) for part in parts)


def check_escape(escape: str) -> None:
    """An escape is one character."""
    if len(escape) != 1:
        raise BadPatternError(f"an escape of {len(escape)} characters", "one character, for example ESCAPE '!'")


@lru_cache(maxsize=1024)
def like_test(pattern: str, escape: str | None = None) -> Callable[[str], bool]:
    """What a pattern says of a text.

    The leftmost place of each part is as good as any other, so that none is ever tried again.
    """
    first, *others = like_parts(pattern, escape)
    if not others:
        return lambda text: first.fullmatch(text) is not None
    *middle, last = others
    if not middle and not last.pattern:
        return lambda text: first.match(text) is not None
    length = len(re.sub(r"\\(.)", r"\1", last.pattern, flags=re.DOTALL))

    def test(text: str) -> bool:
        found = first.match(text)
        for part in middle:
            found = found and part.search(text, found.end())
        start = len(text) - length
        return found is not None and start >= found.end() and last.fullmatch(text, start) is not None

    return test


def is_like(text: str, pattern: str, escape: str | None = None) -> bool | None:
    """SQL's LIKE: % is any text, _ any one character; null for a pattern without a meaning."""
    try:
        return like_test(pattern, escape)(text)
    except BadPatternError:
        return None


def like_columns(texts: Sequence[str | None], *others: Sequence[str | None]) -> list[Any]:
    """The same for every row of columns: the texts, the patterns and perhaps the escapes."""
    if all(len(set(one)) == 1 and one[0] is not None for one in others):
        try:
            test = like_test(*(one[0] for one in others))
        except BadPatternError:
            return [None] * len(texts)
        return [None if text is None else test(text) for text in texts]
    return [None if None in row else is_like(*row) for row in zip(texts, *others, strict=True)]


# ---- RLIKE -----------------------------------------------------------------------------------------------


def check_expression(pattern: str) -> None:
    """Ask RE2 whether it can read an expression."""
    try:
        search_all([""], pattern)
    except (pa.ArrowInvalid, UnicodeEncodeError) as error:
        said = re.sub(r"^.*?[Ii]nvalid regular expression: ", "", str(error)) or "RE2 cannot read it"
        hint = next((hint for sign, hint in _NOT_IN_RE2 if re.search(sign, pattern)), _SYNTAX)
        raise BadPatternError(f"no regular expression: {said}", _RE2, hint) from None


def search_all(texts: Sequence[str | None], pattern: str) -> list[Any]:
    """Which texts hold what a regular expression says; null for null."""
    found = pc.match_substring_regex(pa.array(texts, pa.string()), pattern=pattern)
    return found.to_pylist()  # type: ignore[no-any-return]


def search(text: str, pattern: str) -> Any:
    """Whether a text holds what a regular expression says."""
    return search_all([text], pattern)[0]


def search_columns(texts: Sequence[str | None], patterns: Sequence[str | None]) -> list[Any]:
    """The same for every row of two columns; the pattern is one for all."""
    pattern = patterns[0] if patterns else None
    return [None] * len(texts) if pattern is None else search_all(texts, pattern)
