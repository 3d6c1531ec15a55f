"""What Lark says about text it cannot read, in words that help the author of the query."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lark import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from ouzel.errors import QueryError, Span, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

_STRATEGIES = ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match")
_CLAUSES = ("WHERE", "WITHIN", "RETURN", "OUTPUT", "INTO", "PATTERN", "EVENT", "QUERY", "AS")

# How each terminal is called in a message; what is not here goes by its own name.
_WORDS = {
    "TYPE": "an event type",
    "NAME": "a name",
    "ATTRIBUTE": "an attribute name",
    "INDEX": "an index such as 1, i, i-1",
    "INT": "a whole number",
    "NUMBER": "a number",
    "PERCENT": "a percentage",
    "DURATION": "a length of time",
    "STRING": "a string",
    "PARAMETER": "a parameter $x",
    "STRATEGY": "a strategy",
    "COMPARISON": "a comparison (= != < <= > >=)",
    "NEGATE": "'!'",
    "SUPERSCRIPT": "a closure count",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "COMMA": "','",
    "DOT": "'.'",
    "SEMICOLON": "';'",
    "VBAR": "'|'",
    "AMPERSAND": "'&'",
    "CIRCUMFLEX": "'^n'",
    "QMARK": "'?'",
    "PLUS": "'+'",
    "MINUS": "'-'",
    "TIMES": "'*'",
    "DIVIDE": "'/'",
    "MODULO": "'%'",
    "$END": "the end of the text",
}
# Operators and literals crowd a message without helping it: an operand or an operator says it all.
_OPERANDS = frozenset(
    ("INT", "NUMBER", "PERCENT", "DURATION", "STRING", "PARAMETER", "PARAMETER_PERCENT", "TRUE", "FALSE")
    + ("NULL", "CASE", "NAME", "LPAR", "MINUS", "PLUS")
)
_OPERATORS = frozenset(
    ("PLUS", "MINUS", "TIMES", "DIVIDE", "MODULO", "COMPARISON", "LIKE", "IN", "BETWEEN", "IS", "AND")
    + ("OR", "NOT")
)
_QUANTIFIERS = frozenset(("PLUS", "TIMES", "QMARK", "LBRACE", "CIRCUMFLEX", "SUPERSCRIPT"))


# Where nothing fits, Lark's lexer tries every terminal; these would swallow half a line.
_GREEDY = frozenset(("INDEX", "ATTRIBUTE"))


def describe(source: str, error: UnexpectedInput) -> QueryError:
    """Turn a parser error into a QueryError with place, requirement and hint."""
    if isinstance(error, UnexpectedToken) and error.token.type != "$END":
        token = error.token
        if token.type in _GREEDY:
            return _unreadable(source, token.start_pos or 0, error.accepts or error.expected)
        span = Span(token.start_pos or 0, token.end_pos or 0)
        return QueryError(
            f"unexpected '{_shortened(str(token))}'",
            source,
            span,
            required=_required(error.accepts or error.expected),
            hint=_hint(source, span, str(token), error.accepts or error.expected),
        )
    if isinstance(error, UnexpectedCharacters):
        at = error.pos_in_stream or 0
        return _unreadable(source, at, error.allowed or set())
    expected = error.accepts or error.expected if isinstance(error, UnexpectedToken) else ()
    if isinstance(error, UnexpectedEOF):
        expected = error.expected
    end = len(source.rstrip())
    return QueryError("the query ends too early", source, Span(end, end), required=_required(expected or ()))


def _unreadable(source: str, at: int, allowed: Iterable[str]) -> QueryError:
    """A character that begins no word: an unclosed string or comment, or simply a foreign sign."""
    rest = source[at:]
    if rest[0] in "'\"‘“":
        closing = {"‘": "’", "“": "”"}.get(rest[0], rest[0])
        return QueryError(
            "a string without an end",
            source,
            Span(at, len(source)),
            required=f"a closing {closing}",
            hint="a quote inside a string is written twice: 'it''s'" if rest[0] == "'" else None,
        )
    if rest.startswith("/*"):
        return QueryError("a comment without an end", source, Span(at, at + 2), required="a closing */")
    identifier = re.match(r"[^\W\d]\w*", rest)
    length = identifier.end() if identifier else 1
    word = "->" if rest.startswith("->") else rest[:length]
    span = Span(at, at + length)
    return QueryError(
        f"unexpected '{_shortened(rest[:length])}'",
        source,
        span,
        required=_required(allowed),
        hint=_hint(source, span, word, allowed),
    )


def _required(terminals: Iterable[str]) -> str | None:
    """Name what could have stood there, the many kinds of operand and operator as one word each."""
    names = {terminal.lstrip("_") for terminal in terminals}
    words: set[str] = set()
    if {"STRING", "CASE"} <= names:
        words.add("an expression")
        names -= _OPERANDS
        if "LSQB" in names:
            words.add("'[' for an equivalence test")
        names -= {"LSQB", "NOT"}
    if {"TIMES", "DIVIDE"} <= names:
        words.add("an operator")
        names -= _OPERATORS
    if names >= _QUANTIFIERS:
        words.add("a closure (+ * ? {n,m} ^n)")
        names -= _QUANTIFIERS
    words |= {_WORDS.get(name, name) for name in names if name not in ("WHITESPACE", "COMMENT")}
    return _one_of(sorted(words, key=lambda word: (word.isupper(), word)))


def _one_of(words: list[str]) -> str | None:
    if not words:
        return None
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def _hint(source: str, span: Span, word: str, expected: Iterable[str]) -> str | None:
    """Guess at the common slips: a misspelt keyword or strategy, a missing comma, other languages' signs."""
    names = {terminal.lstrip("_") for terminal in expected}
    before = source[: span.start].rstrip()
    if word == "{":
        name = before.split("(")[0].split()[-1] if before.split("(")[0].split() else ""
        return did_you_mean(name, _STRATEGIES) or f"the strategies are {', '.join(_STRATEGIES)}"
    if word in ("->", "=>", "-") and "SEMICOLON" in names:
        return "a sequence is written SEQ(A a, B b) or A; B"
    if {"COMMA", "RPAR"} <= names and word.isidentifier() and word.upper() not in _CLAUSES:
        return "separate components with a comma"
    if word.isidentifier():
        candidates = [clause for clause in _CLAUSES if clause in names]
        return did_you_mean(word, candidates)
    return None


def _shortened(text: str) -> str:
    return text if len(text) <= 30 else text[:30] + "…"
