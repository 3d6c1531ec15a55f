"""What Lark says about text it cannot read, in words that help the author of the query.

What was required comes from the terminals that the parser would have taken; the hint from a list of common slips
(slips.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from difflib import get_close_matches

from lark import UnexpectedInput

from ouzel.errors import QueryError, Span, did_you_mean
from ouzel.language.slips import EXAMPLE, FOREIGN_SIGNS, QUOTE, SLIPS, STRATEGIES

_CLAUSES = ("PATTERN", "WHERE", "WITHIN", "RETURN", "OUTPUT")
# Keywords in the order in which a message names them.
_KEYWORDS: tuple[str, ...] = (
    "NOT",
    "LIKE",
    "RLIKE",
    "ESCAPE",
    "IN",
    "BETWEEN",
    "IS",
    "AND",
    "OR",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
)
_KEYWORDS += ("NULL", "ALL", "NON_OVERLAP", "AGGREGATE", "EVERY", "AS", "INTO", "EVENTS", "INCLUSIVE", "QUERY")
_KEYWORDS += ("PATTERN", "EVENT", "WHERE", "WITHIN", "RETURN", "OUTPUT")

# ---- what was required -----------------------------------------------------------------------------------

# How each terminal is called in a message; what is not here goes by its own name.
_WORDS = {"LPAR": "'('", "RPAR": "')'", "LSQB": "'['", "RSQB": "']'", "LBRACE": "'{'", "RBRACE": "'}'"}
_WORDS |= {"TYPE": "an event type", "NAME": "a name", "ATTRIBUTE": "an attribute name", "INT": "a whole number"}
_WORDS |= {"INDEX": "an index such as 1, i, i-1", "COMPARISON": "a comparison", "PARAMETER": "a parameter $x"}
_CONSTANTS = {"INT", "NUMBER", "PERCENT", "DURATION", "STRING", "TRUE", "FALSE", "NULL"}
_CONSTANTS |= {"PARAMETER", "PARAMETER_PERCENT"}
_OPERANDS = _CONSTANTS | {"CASE", "NAME", "LPAR", "MINUS", "PLUS", "LSQB", "NOT"}
_OPERATORS = {
    "PLUS",
    "MINUS",
    "TIMES",
    "DIVIDE",
    "MODULO",
    "COMPARISON",
    "LIKE",
    "RLIKE",
    "ESCAPE",
    "IN",
    "BETWEEN",
    "IS",
}
_OPERATORS |= {"AND", "OR", "NOT", "LPAR", "DOT", "LSQB"}
_CLOSURES = {"PLUS", "TIMES", "QMARK", "LBRACE", "CIRCUMFLEX", "SUPERSCRIPT"}
_AMOUNTS = {"NUMBER", "INT", "PARAMETER"}
_COMPONENT = "a component such as A a, !(B b) or ANY(B, C) d"
_COMPONENTS = {"TYPE", "ANY", "SEQ", "LPAR", "NEGATE"}
_ENDS = {"QUERY", "PATTERN", "EVENT", "$END"}
# Where several terminals mean one thing, its name says more than theirs: if all of the first set could stand
# there, the words stand for the second.
_GROUPS = (
    ({"TYPE", "SEQ"}, _COMPONENTS, _COMPONENT),
    ({"CASE", "STRATEGY"}, {*_OPERANDS, "STRATEGY"}, "a predicate, [attribute] or a strategy"),
    ({"CASE", "STRING"}, {*_OPERANDS, "TIMES", "DISTINCT"}, "an expression"),
    ({"STRING"}, {*_CONSTANTS, "MINUS"}, "a constant or a parameter $x"),
    ({"TIMES", "DIVIDE"}, _OPERATORS, "an operator"),
    ({"VBAR", "NAME"}, {"NAME"}, "a variable"),
    ({"TIMES", "QMARK"}, _CLOSURES, "a closure"),
    ({"AMPERSAND", "VBAR"}, {"AMPERSAND", "VBAR", "SEMICOLON", "LSQB"}, "an operator (; & |)"),
    ({"EVENTS", "NAME"}, {"NAME"}, "a unit of time"),
    ({"NUMBER", "$END"}, _AMOUNTS, ""),
    ({"DOT", "RSQB"}, {"DOT"}, ""),
    ({"TIMES", "ATTRIBUTE"}, {"TIMES"}, ""),
    ({"NUMBER"}, _AMOUNTS, "a number or a parameter $x"),
    ({"$END", "SEMICOLON"}, {"SEMICOLON"}, ""),
    ({"WHERE"}, {"WHERE", "WITHIN", "RETURN", "OUTPUT"}, "a clause such as WHERE"),
)


def _required(names: frozenset[str]) -> str | None:
    """Name what could have stood there."""
    if names == _ENDS:
        return "a query: PATTERN or EVENT, then a pattern"
    words = ["','"] if "COMMA" in names else []
    for present, replaced, meaning in _GROUPS:
        if names >= present:
            names -= replaced
            words += [meaning] if meaning else []
    end = ["the end of the query"] if "$END" in names else []
    names -= _ENDS | {"COMMA"} if end else {"COMMA"}
    words += sorted(_WORDS.get(name, name) for name in names if name not in _KEYWORDS)
    words += [keyword for keyword in _KEYWORDS if keyword in names] + end
    return " or ".join(filter(None, (", ".join(words[:-1]), *words[-1:]))) or None


@dataclass(frozen=True)
class _Place:
    """Where the text ceases to be a query: what stands there, what could, and what is open.

    `clauses` are the clauses that have begun, each with the end of its keyword; `brackets` those not closed yet.
    """

    source: str
    span: Span
    names: frozenset[str]
    clauses: tuple[tuple[str, int], ...]
    brackets: tuple[int, ...]

    @property
    def text(self) -> str:
        return self.source[self.span.start : self.span.end]

    @property
    def before(self) -> str:
        """The text before it, as far back as a slip may reach."""
        clause = self.clauses[-1][1] if self.clauses else 0
        return self.source[max(clause - 20, self.span.start - 200, 0) : self.span.start].rstrip()

    def last(self, word: str) -> Span:
        """The span of a word that ends the text before."""
        end = len(self.source[: self.span.start].rstrip())
        return Span(end - len(word), end)

    def error(self, message: str, span: Span, required: str | None, hint: str | None = None) -> QueryError:
        return QueryError(message, self.source, span, required=required, hint=hint)


def describe(source: str, error: UnexpectedInput) -> QueryError:
    """Turn a parser error into a QueryError with place, requirement and hint."""
    place = _place(source, error)
    return _unclosed(place) or _unknown_strategy(place) or _wrong_clause(place) or _unexpected(place)


def describe_alone(source: str, error: UnexpectedInput) -> QueryError:
    """The same for a predicate or a value by itself, of which no clause is a part."""
    place = replace(_place(source, error), clauses=(("WHERE", 0),))
    found = _unclosed(place)
    if found is not None:
        return found
    found = _unexpected(place)
    words = [
        one for one in (place.text.upper(), source.lstrip().partition(" ")[0].upper()) if one in _CLAUSES
    ] or [""]
    hint = f"leave out {words[0]}: a predicate stands here by itself" if words[0] else found.hint
    said = [
        None if one is None else one.replace("the query", "the text") for one in (found.message, found.required)
    ]
    return QueryError(said[0] or "", source, found.span, required=said[1], hint=hint)


_TOKENS = re.compile(
    r"'(?:[^']|'')*+'|\"(?:[^\"]|\"\")*+\"|‘[^’]*’|“[^”]*”|`(?:[^`]|``)++`(?!`)|--[^\n]*|/\*(?:.|\n)*?\*/"
    r"|(?P<bracket>[()\[\]{}])|(?P<word>[$.]?[^\W\d]\w*)"
)


def _place(source: str, error: UnexpectedInput) -> _Place:
    token = getattr(error, "token", None)
    if token is not None and token.type == "$END":
        start = end = len(source.rstrip())
    else:
        start = getattr(error, "pos_in_stream", 0)
        end = token.end_pos if token is not None else start + 1
    # Where nothing fits, Lark's lexer tries every terminal; INDEX would swallow half a line.
    if token is not None and token.type in ("INDEX", "ATTRIBUTE"):
        end = start + max(1, len(re.split(r"\W", source[start : start + 100])[0]))
    for sign in FOREIGN_SIGNS if start < end else ():
        found = source.find(sign, max(0, start - len(sign) + 1), start + len(sign))
        if found >= 0:
            start, end = found, found + len(sign)
            break
    clauses: list[tuple[str, int]] = []
    brackets: list[int] = []
    for one in _TOKENS.finditer(source, 0, start):
        word = (one["word"] or "").upper().replace("EVENT", "PATTERN")
        if word in _CLAUSES and not brackets:
            clauses.append((word, one.end()))
        elif one["bracket"] in ("(", "[", "{"):
            brackets.append(one.start())
        elif one["bracket"] and brackets:
            brackets.pop()
    could = getattr(error, "accepts", None) or getattr(error, "expected", None) or ()
    names = frozenset(name.lstrip("_") for name in could)
    return _Place(source, Span(start, end), names, tuple(clauses), tuple(brackets))


def _unclosed(place: _Place) -> QueryError | None:
    """A string, a name in backticks or a comment that goes on to the end."""
    source, start = place.source, place.span.start
    comment = source.find("/*", max(0, start - 1), start + 2)
    if comment >= 0:
        return place.error("a comment without an end", Span(comment, comment + 2), "a closing */")
    quote = source[start : start + 1]
    if not quote or quote not in "'\"‘“`" or _TOKENS.match(source, start):
        return None
    if re.match(r"``(?!`)", source[start : start + 3]):
        return place.error("a name without characters", Span(start, start + 2), "a name between the backticks")
    kind, closing = ("name" if quote == "`" else "string"), {"‘": "’", "“": "”"}.get(quote, quote)
    hint = QUOTE if quote == "'" else None
    return place.error(f"a {kind} without an end", Span(start, len(source)), f"a closing {closing}", hint)


def _unknown_strategy(place: _Place) -> QueryError | None:
    """`WHERE name { … }` or `WHERE name(a, b[]) { … }`, with a name that is no strategy."""
    clause, begin = place.clauses[-1] if place.clauses else ("", 0)
    head = re.match(r"\s*([^\W\d][\w\s-]*?)\s*(\([^(){}]*\)\s*)?\{", place.source[begin : begin + 200])
    if clause != "WHERE" or head is None or place.span.start >= begin + head.end():
        return None
    if head[1].lower() in STRATEGIES:
        return None
    span = Span(begin + head.start(1), begin + head.end(1))
    hint = did_you_mean(re.sub(r"[\s-]+", "_", head[1]), STRATEGIES)
    return place.error(f"unknown strategy {_shown(head[1])}", span, f"one of {', '.join(STRATEGIES)}", hint)


def _wrong_clause(place: _Place) -> QueryError | None:
    """A clause that comes too late or twice, or whose keyword is misspelt and was taken for a name."""
    clauses = [clause for clause, _end in place.clauses]
    word, span = place.text.upper(), place.span
    name = re.search(r"[^\W\d]\w*$", place.before)
    if name is not None and "$END" in place.names:
        last = place.last(name[0])
        meant = get_close_matches(name[0].upper(), _CLAUSES[1:], n=1, cutoff=0.75)
        if place.clauses[-1:] == ((name[0].upper(), last.end),):
            word, span = clauses.pop(), last
            if clauses and _CLAUSES.index(word) > _CLAUSES.index(clauses[-1]):
                required = _COMPONENT if clauses[-1] == "PATTERN" else "an expression"
                sign = re.findall(r"\w+|\S", place.source[: last.start].rstrip()[-30:])[-1]
                return place.error(f"unexpected '{name[0]}'", last, required, f"leave out the '{sign}' before it")
        elif meant and clauses[-1:] in (["PATTERN"], ["WITHIN"]):
            required = f"one of {', '.join(_CLAUSES[1:])}"
            return place.error(f"unknown clause '{name[0]}'", last, required, f"did you mean '{meant[0]}'?")
    late = word in _CLAUSES[1:] and clauses and _CLAUSES.index(word) <= _CLAUSES.index(clauses[-1])
    if not late or place.brackets:
        return None
    second = word == clauses[-1]
    required = f"each of {', '.join(_CLAUSES)} once and in this order"
    hint = None if second else f"move {word} before {clauses[-1]}"
    return place.error(f"a second {word}" if second else f"{word} behind {clauses[-1]}", span, required, hint)


def _unexpected(place: _Place) -> QueryError:
    """Anything else that does not belong there."""
    clause = place.clauses[-1][0] if place.clauses else ""
    span, hint = place.span, _general_hint(place, clause)
    for key in ("WHERE" if clause == "RETURN" else "", clause, ""):
        for before, at, slip in reversed(SLIPS.get(key, ())):
            found = re.search(f"(?:{before})$", place.before, re.IGNORECASE)
            if found and re.fullmatch(at, place.text, re.IGNORECASE | re.DOTALL):
                hint, span = slip, place.last(found[1]) if found.re.groups else place.span
    text = place.source[span.start : span.end]
    message = f"unexpected {_shown(text)}" if text else "the query ends too early"
    return place.error(message, span, _required(place.names), hint)


def _general_hint(place: _Place, clause: str) -> str | None:
    text, names = place.text, place.names
    if len(text) == 1 and not text.isprintable():
        return "delete this character, which cannot be seen"
    if place.brackets and names & {"RPAR", "RSQB", "RBRACE"} and (not text or text.upper() in _CLAUSES):
        opened = QueryError("", place.source, Span(place.brackets[-1], place.brackets[-1]))
        return f"'{place.source[place.brackets[-1]]}' in line {opened.line}, column {opened.column} is not closed"
    if text in (")", "]", "}") and not place.brackets:
        return f"nothing is open that '{text}' could close"
    if text.isidentifier() and place.source[: place.span.start].endswith(("'", '"', "’", "”")):
        return QUOTE
    if not text.isidentifier() and text not in (",", ";"):
        return None
    meant = did_you_mean(text, [word for word in _KEYWORDS if word in names]) if len(text) > 2 else None
    if meant:
        return meant
    if names == _ENDS and not clause:
        return EXAMPLE
    if clause == "PATTERN" and "VBAR" in names:
        return f"components are separated by '{',' if place.brackets else ';'}'"
    if clause == "RETURN" and "COMMA" in names:
        return "columns are separated by ','; a column's name stands behind AS"
    return "predicates are joined with AND" if clause == "WHERE" and names & {"AND", "$END"} else None


def _shown(text: str) -> str:
    if len(text) == 1 and not text.isprintable():
        return f"U+{ord(text):04X}"
    text = " ".join(text[:100].split())
    text = text if len(text) <= 30 else f"{text[:30]}…"
    return text if text.startswith(("'", '"', "‘", "“")) else f"'{text}'"
