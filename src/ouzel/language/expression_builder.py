"""Stage 1: expressions of Lark's parse tree become those of our syntax tree (tree.py)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NoReturn

from lark import Token, Transformer
from lark.tree import Meta
from lark.visitors import v_args

from ouzel.errors import QueryError, Span
from ouzel.language import tree
from ouzel.language.durations import CANONICAL
from ouzel.language.names import unquote

_COMPARISONS = {"==": "=", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">="}
_OPERATORS = frozenset(("and", "or", "not", "like", "rlike", "in", "between", "case", "negate"))
_INDICES = {
    "": tree.Index.ALL,
    "1": tree.Index.FIRST,
    "i": tree.Index.CURRENT,
    "i-1": tree.Index.PREVIOUS,
    "..i-1": tree.Index.SO_FAR,
}
_MAX_INT = 2**63 - 1
_MAX_CHAIN = 20
_MAX_DIGITS = 100


def span_of(node: Token | Meta | Any) -> Span:
    """The place of a token or a parse tree node."""
    if getattr(node, "empty", False):
        return Span(0, 0)
    return Span(node.start_pos or 0, node.end_pos or 0)


@v_args(meta=True)
class ExpressionBuilder(Transformer[Token, Any]):
    """One method per rule of the grammar; each returns a node of tree.py."""

    def __init__(self, source: str) -> None:
        """Keep the source: errors quote it."""
        super().__init__(visit_tokens=False)
        self.source = source

    def fail(self, message: str, span: Span, **details: str | None) -> NoReturn:
        """Raise a QueryError at a place."""
        raise QueryError(message, self.source, span, **details)

    def name(self, meta: Meta, parts: list[Token]) -> tree.Name:
        return tree.Name(unquote(str(parts[0])), span_of(parts[0]))

    def any_true(self, meta: Meta, parts: list[Any]) -> tree.Expression:
        return joined("or", parts)

    def all_true(self, meta: Meta, parts: list[Any]) -> tree.Expression:
        return joined("and", parts)

    def not_true(self, meta: Meta, parts: list[Any]) -> tree.Expression:
        return tree.Call("not", (parts[1],), span_of(meta))

    def comparison(self, meta: Meta, parts: list[Any]) -> tree.Expression:
        operands, signs = parts[::2], [_operator(sign) for sign in parts[1::2]]
        if len(operands) > _MAX_CHAIN:
            self.fail(
                f"a chain of {len(signs)} comparisons",
                span_of(meta),
                required=f"at most {_MAX_CHAIN - 1} in a row",
            )
        pairs = [(k, k + 1, sign) for k, sign in enumerate(signs)]
        if set(signs) == {"="}:
            # a = b = c says that all are equal, also a and c where b is negative (ZStream's Query 2)
            pairs = [(j, k, "=") for j in range(len(operands)) for k in range(j + 1, len(operands))]
        calls = [
            tree.Call(sign, (operands[j], operands[k]), _span(operands[j], operands[k])) for j, k, sign in pairs
        ]
        return joined("and", calls)

    def like(self, meta: Meta, parts: list[Any]) -> tree.Expression:
        return _maybe_not("like", parts, span_of(meta))

    def rlike(self, meta: Meta, parts: list[Any]) -> tree.Expression:
        return _maybe_not("rlike", parts, span_of(meta))

    def in_list(self, meta: Meta, parts: list[Any]) -> tree.Expression:
        return _maybe_not("in", parts, span_of(meta))

    def in_parameter(self, meta: Meta, parts: list[Any]) -> tree.Expression:
        token = parts.pop()
        parts.append(tree.Parameter(str(token)[1:], percent=False, span=span_of(token)))
        return _maybe_not("in", parts, span_of(meta))

    def between(self, meta: Meta, parts: list[Any]) -> tree.Expression:
        return _maybe_not("between", parts, span_of(meta))

    def is_null(self, meta: Meta, parts: list[Any]) -> tree.Expression:
        negated = len(parts) > 2
        call = tree.Call("is null", (parts[0],), span_of(meta))
        return tree.Call("not", (call,), span_of(meta)) if negated else call

    def equivalence(self, meta: Meta, parts: list[tree.Same]) -> tree.Expression:
        return tree.Equivalence(tuple(parts), span_of(meta))

    def same(self, meta: Meta, parts: list[Any]) -> tree.Same:
        if len(parts) == 1:
            return tree.Same(parts[0], None)
        if _operator(parts[1]) != "=":
            self.fail(
                f"an equivalence test with '{parts[1]}'",
                span_of(parts[1]),
                required="[attribute] or [attribute = constant]",
                hint="write the comparison as a predicate of its own",
            )
        return tree.Same(parts[0], parts[2])

    def negative(self, meta: Meta, parts: list[Any]) -> tree.Expression:
        found = self.sign(meta, parts)
        if not isinstance(found, tree.Literal):
            self.fail("a minus before what is no number", span_of(meta), required="a number behind it")
        return found

    def arithmetic(self, meta: Meta, parts: list[Any]) -> tree.Expression:
        result = parts[0]
        for k in range(1, len(parts), 2):
            result = tree.Call(str(parts[k]), (result, parts[k + 1]), _span(result, parts[k + 1]))
        return result  # type: ignore[no-any-return]

    def sign(self, meta: Meta, parts: list[Any]) -> tree.Expression:
        operand = parts[1]
        if parts[0].type == "PLUS":
            return operand  # type: ignore[no-any-return]
        if isinstance(operand, tree.Literal) and type(operand.value) in (int, float):
            return tree.Literal(-operand.value, span_of(meta))  # type: ignore[operator]
        if isinstance(operand, tree.Literal) and isinstance(operand.value, tree.Duration):
            return tree.Literal(replace(operand.value, amount=-operand.value.amount), span_of(meta))
        return tree.Call("negate", (operand,), span_of(meta))

    def call(self, meta: Meta, parts: list[Any]) -> tree.Expression:
        name = unquote(str(parts[0])).lower()
        if name in _OPERATORS or not name.isidentifier():
            self.fail(
                f"unknown function '{name}'",
                span_of(parts[0]),
                required="a built-in function or one registered with oz.register_function",
                hint=None if name == "negate" else f"{name.upper()} is an operator, written beside its operands",
            )
        return tree.Call(name, tuple(parts[1:]), span_of(meta))

    def call_of_matches(self, meta: Meta, parts: list[Token]) -> tree.Expression:
        name = unquote(str(parts[0])).lower()
        if name != "count":
            self.fail(
                f"{name} of *",
                span_of(meta),
                required="count(*), the number of matches, or a function of values",
                hint=f"name an attribute: {name}(a.x)" if name.isidentifier() else None,
            )
        return tree.Call("count(*)", (), span_of(meta))

    def call_of_distinct(self, meta: Meta, parts: list[Any]) -> tree.Expression:
        name = unquote(str(parts[0])).lower()
        if name != "count":
            self.fail(f"{name} of distinct values", span_of(meta), required="count(distinct a[].attribute)")
        return tree.Call(tree.COUNT_DISTINCT, (parts[1],), span_of(meta))

    def parenthesised(self, meta: Meta, parts: list[Any]) -> tree.Expression:
        return replace(parts[0], span=span_of(meta))  # type: ignore[no-any-return]

    def case(self, meta: Meta, parts: list[Any]) -> tree.Expression:
        # flattened to case(condition, value, …, otherwise)
        body = parts[1:-1]
        subject = body.pop(0) if not isinstance(body[0], tuple) else None
        otherwise = body.pop() if not isinstance(body[-1], tuple) else tree.Literal(None, span_of(meta))
        arguments: list[tree.Expression] = []
        for condition, value in body:
            test = condition
            if subject is not None:
                test = tree.Call("=", (subject, condition), condition.span)
            arguments += [test, value]
        return tree.Call("case", (*arguments, otherwise), span_of(meta))

    def when(self, meta: Meta, parts: list[Any]) -> tuple[Any, Any]:
        return parts[0], parts[1]

    def index(self, meta: Meta, parts: list[Token]) -> tuple[str, Span]:
        return (str(parts[0]) if parts else ""), span_of(meta)

    def reference(self, meta: Meta, parts: list[Any]) -> tree.Reference:
        variable = tree.Name(unquote(str(parts[0])), span_of(parts[0]))
        index = next((self._index(variable, *part) for part in parts[1:] if isinstance(part, tuple)), None)
        tokens = [part for part in parts[1:] if isinstance(part, Token)]
        attribute = self.path(meta, tokens) if tokens else None
        return tree.Reference(variable, index or tree.Index.NONE, attribute, span_of(meta))

    def path(self, meta: Meta, tokens: list[Token]) -> tree.Name:
        parts = tuple(tree.Name(unquote(str(token)), span_of(token)) for token in tokens)
        if len(parts) == 1:
            return parts[0]
        return tree.Name(".".join(part.text for part in parts), parts[0].span.to(parts[-1].span), parts)

    def _index(self, variable: tree.Name, text: str, span: Span) -> tree.Index:
        compact = re.sub(r"\s", "", text).lower()
        owner, _dot, last = text.rpartition(".")
        is_own = not owner or unquote(owner.strip()).lower() == variable.text.lower()
        if last.strip().lower() == "len" and is_own:
            return tree.Index.LAST
        if compact not in _INDICES:
            name = variable.written
            self.fail(
                f"unknown index [{text}] of '{name}'",
                span,
                required=f"{name}[1], {name}[i], {name}[i-1], {name}[..i-1], {name}[{name}.LEN] or {name}[]",
            )
        return _INDICES[compact]

    def parameter(self, meta: Meta, parts: list[Token]) -> tree.Expression:
        token = parts[0]
        return tree.Parameter(str(token)[1:].rstrip("%"), token.type == "PARAMETER_PERCENT", span_of(token))

    def literal(self, meta: Meta, parts: list[Token]) -> tree.Literal:
        token = parts[0]
        text, span = str(token), span_of(token)
        match token.type:
            case "STRING":
                quote = text[-1]
                return tree.Literal(text[1:-1].replace(quote * 2, quote), span)
            case "TRUE" | "FALSE":
                return tree.Literal(token.type == "TRUE", span)
            case "NULL":
                return tree.Literal(None, span)
            case "PERCENT":
                return tree.Literal(float(self._exact(text[:-1], span) / 100), span)
            case "DURATION":
                digits = re.match(r"[\d.]+", text)
                amount = digits.group() if digits else "0"
                unit = CANONICAL[text[len(amount) :].strip().lower()]
                return tree.Literal(tree.Duration(self._exact(amount, span), unit), span)
        if token.type == "INT" and text == str(_MAX_INT + 1):
            return tree.Literal(_MAX_INT + 1, span)  # behind a minus it fits; else whoever binds it refuses it
        return tree.Literal(self.number(token), span)

    def _exact(self, digits: str, span: Span) -> Fraction:
        if len(digits) > _MAX_DIGITS:
            self.fail(f"a number of {len(digits)} digits", span, required=f"at most {_MAX_DIGITS}")
        return Fraction(digits)

    def number(self, token: Token, hint: str | None = None) -> int | float:
        text = str(token)
        if token.type == "INT":
            value: int | float = int(text) if len(text) < 20 else _MAX_INT + 1
            if value > _MAX_INT:
                raise beyond_64_bits(self.source, span_of(token), hint)
            return value
        value = float(text) if len(text) < 400 else math.inf
        if math.isinf(value):
            self.fail("a number beyond double precision", span_of(token), required="at most 1.797e308")
        return value


def beyond_64_bits(source: str, span: Span, hint: str | None = None) -> QueryError:
    """What is wrong with an integer of the text that is too large."""
    number = source[span.start : span.end]
    if hint is None and len(number) <= _MAX_DIGITS:
        hint = f"write {number}.0, which is compared with all its digits"
    return QueryError(
        "an integer beyond 64 bits",
        source,
        span,
        required=f"at most {_MAX_INT}",
        hint=hint,
    )


def _operator(token: Token) -> str:
    return _COMPARISONS.get(str(token), str(token))


def _span(first: tree.Expression, last: tree.Expression) -> Span:
    return first.span.to(last.span)


def joined(function: str, arguments: Sequence[tree.Expression]) -> tree.Expression:
    """Apply AND or OR, flat, and to nothing where there is but one argument."""
    if len(arguments) == 1:
        return arguments[0]
    return tree.Call(function, tuple(arguments), _span(arguments[0], arguments[-1]))


def _maybe_not(function: str, parts: list[Any], span: Span) -> tree.Expression:
    arguments = tuple(part for part in parts if not isinstance(part, Token))
    call = tree.Call(function, arguments, span)
    return tree.Call("not", (call,), span) if len(arguments) < len(parts) else call
