"""Stage 1, second half: Lark's parse tree becomes our syntax tree (tree.py)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from lark import Token, Tree
from lark.tree import Meta
from lark.visitors import v_args

from ouzel.errors import Span, did_you_mean
from ouzel.language import tree
from ouzel.language.durations import CANONICAL, NO_UNITS
from ouzel.language.expression_builder import ExpressionBuilder, joined, span_of
from ouzel.language.names import one_line, unquote

_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_MAX_COUNT = 1_000_000
_CLAUSES = ("WHERE", "WITHIN", "RETURN", "OUTPUT")
_UNITS = ["ns", "us", "ms", "s", "min", "hours", "days", "weeks", "units"]

Length = tuple[Fraction | tree.Parameter, str | None]
"""A part of a length of time: how many of a unit, None for the time column's own."""


@v_args(meta=True)
class Builder(ExpressionBuilder):
    """The rest of the grammar: queries, patterns and clauses."""

    # ---- queries -----------------------------------------------------------------------------------------

    def start(self, meta: Meta, queries: list[tree.Query]) -> tuple[tree.Query, ...]:
        if not queries:
            self.fail(
                "the text holds no query",
                Span(0, 0),
                required="a query: PATTERN or EVENT, then a pattern",
                hint="for example: PATTERN SEQ(Shelf a, Exit b) WHERE [tag_id] WITHIN 12 hours",
            )
        return tuple(queries)

    def query(self, meta: Meta, parts: list[Any]) -> tree.Query:
        name = parts.pop(0) if isinstance(parts[0], tree.Name) else None
        pattern = parts.pop(0)
        clauses: dict[str, Any] = {}
        conditions: list[tree.Expression] = []
        strategy: tree.StrategyClause | None = None
        for kind, value in parts:
            if kind == "where":
                if value[0] is not None and strategy is not None:
                    self.fail(
                        "a query has one strategy",
                        value[0].span,
                        required="no second strategy",
                        hint="put all predicates between the braces of the first one",
                    )
                strategy = value[0] or strategy
                conditions += [value[1]] if value[1] is not None else []
            else:
                clauses[kind] = value
        items, into = clauses.get("return", ((), None))
        output, every = clauses.get("output", (None, None))
        return tree.Query(
            name=name,
            pattern=pattern,
            strategy=strategy,
            where=joined("and", conditions) if conditions else None,
            within=clauses.get("within"),
            items=items,
            into=into,
            non_overlap=output is not None and output.type == "NON_OVERLAP",
            aggregate=span_of(output) if output is not None and output.type == "AGGREGATE" else None,
            every=every,
            span=span_of(meta),
            source=self.source,
        )

    def alone(self, meta: Meta, parts: list[tree.Expression]) -> tree.Expression:
        return parts[0]

    # ---- patterns ----------------------------------------------------------------------------------------

    def sequence(self, meta: Meta, items: list[tree.Pattern]) -> tree.Pattern:
        return tree.Sequence(tuple(items), span_of(meta))

    def seq(self, meta: Meta, items: list[tree.Pattern]) -> tree.Pattern:
        return tree.Sequence(tuple(_mark_in_seq(item) for item in items), span_of(meta))

    def either(self, meta: Meta, items: list[tree.Pattern]) -> tree.Pattern:
        return tree.Disjunction(tuple(items), span_of(meta))

    def both(self, meta: Meta, items: list[tree.Pattern]) -> tree.Pattern:
        return tree.Conjunction(tuple(items), span_of(meta))

    def negation(self, meta: Meta, parts: list[Any]) -> tree.Pattern:
        return tree.Negation(parts[1], span_of(meta))

    def any_of(self, meta: Meta, types: list[tree.Name]) -> list[tree.Name]:
        return types

    def group(self, meta: Meta, parts: list[tree.Pattern]) -> tree.Pattern:
        return parts[0]

    def element(self, meta: Meta, parts: list[Any]) -> tree.Pattern:
        primary, rest = parts[0], parts[1:]
        quantifier = next((part for part in rest if isinstance(part, tree.Quantifier)), None)
        variable, array = next((part for part in rest if isinstance(part, tuple)), (None, False))
        if isinstance(primary, list):
            types = tuple(primary)
        elif isinstance(primary, tree.Name):
            types = (primary,)
        else:
            return self._group_element(primary, quantifier, variable)
        return tree.Component(types, variable, array, quantifier, span_of(meta))

    def _group_element(
        self, pattern: tree.Pattern, quantifier: tree.Quantifier | None, variable: tree.Name | None
    ) -> tree.Pattern:
        if quantifier is not None:
            self.fail(
                f"a closure '{quantifier.symbol}' over a group in parentheses",
                quantifier.span,
                required="a closure over a single type or ANY(…)",
                hint="write the closure on each component, or feed the group to another query with INTO",
            )
        if variable is not None:
            self.fail(
                f"a variable '{variable.text}' for a group in parentheses",
                variable.span,
                required="a variable behind a single type or ANY(…)",
                hint="give each component inside the parentheses a variable of its own",
            )
        return pattern

    def variable(self, meta: Meta, parts: list[Any]) -> tuple[tree.Name, bool]:
        return tree.Name(unquote(str(parts[0])), span_of(parts[0])), len(parts) > 1

    def array(self, meta: Meta, parts: list[Any]) -> bool:
        return True

    def one_or_more(self, meta: Meta, parts: list[Token]) -> tree.Quantifier:
        return tree.Quantifier(1, None, "+", span_of(meta))

    def zero_or_more(self, meta: Meta, parts: list[Token]) -> tree.Quantifier:
        return tree.Quantifier(0, None, "*", span_of(meta))

    def optional(self, meta: Meta, parts: list[Token]) -> tree.Quantifier:
        return tree.Quantifier(0, 1, "?", span_of(meta))

    def exactly(self, meta: Meta, parts: list[Token]) -> tree.Quantifier:
        count = self._count(parts[0], least=1)
        return tree.Quantifier(count, count, f"{{{count}}}", span_of(meta))

    def at_least(self, meta: Meta, parts: list[Token]) -> tree.Quantifier:
        count = self._count(parts[0], least=0)
        return tree.Quantifier(count, None, f"{{{count},}}", span_of(meta))

    def between_counts(self, meta: Meta, parts: list[Token]) -> tree.Quantifier:
        least, most = self._count(parts[0], least=0), self._count(parts[1], least=1)
        if least > most:
            self.fail(
                f"a closure {{{least},{most}}} whose least count is above its greatest",
                span_of(meta),
                required="{n,m} with n <= m",
                hint=f"write {{{most},{least}}}",
            )
        return tree.Quantifier(least, most, f"{{{least},{most}}}", span_of(meta))

    def successive(self, meta: Meta, parts: list[Token]) -> tree.Quantifier:
        count = self._count(parts[0], least=1)
        return tree.Quantifier(count, count, f"^{count}", span_of(meta), successive=True)

    def _count(self, token: Token, *, least: int) -> int:
        digits = str(token).translate(_SUPERSCRIPT)
        count = int(digits) if len(digits) < 10 else _MAX_COUNT + 1
        if not least <= count <= _MAX_COUNT:
            self.fail(
                f"a closure count of {digits[:20]}",
                span_of(token),
                required=f"a whole number from {least} to {_MAX_COUNT:,}",
            )
        return count

    def type(self, meta: Meta, parts: list[Token]) -> tree.Name:
        return tree.Name(unquote(str(parts[0])), span_of(parts[0]))

    # ---- clauses -----------------------------------------------------------------------------------------

    def where_strategy(self, meta: Meta, parts: list[Any]) -> tuple[str, Any]:
        return "where", (parts[0], parts[1] if len(parts) > 1 else None)

    def where_plain(self, meta: Meta, parts: list[Any]) -> tuple[str, Any]:
        return "where", (None, parts[0])

    def strategy(self, meta: Meta, parts: list[Any]) -> tree.StrategyClause:
        names = tuple(name for name, _array in parts[1:])
        return tree.StrategyClause(tree.Strategy(str(parts[0]).lower()), names, span_of(parts[0]))

    def within_events(self, meta: Meta, parts: list[Any]) -> tuple[str, tree.Within]:
        amount = parts[0]
        if isinstance(amount, Fraction):
            if amount.denominator != 1 or amount < 1:
                self.fail(
                    f"WITHIN {float(amount):g} EVENTS",
                    span_of(meta),
                    required="a whole number of events, at least 1",
                )
            amount = int(amount)
        return "within", tree.Within((), amount, parts[-1] is True, span_of(meta))

    def within_time(self, meta: Meta, parts: list[Any]) -> tuple[str, tree.Within]:
        lengths = tuple(part for part in parts if part is not True)
        return "within", tree.Within(lengths, None, parts[-1] is True, span_of(meta))

    def length(self, meta: Meta, parts: list[Any]) -> Length:
        return parts[0], self._unit(parts[1], "WITHIN", [*_UNITS, "EVENTS"]) if len(parts) > 1 else None

    def tumbling_length(self, meta: Meta, parts: list[Any]) -> Length:
        return parts[0], self._unit(parts[1], "OUTPUT", _UNITS) if len(parts) > 1 else None

    def _unit(self, token: Token, clause: str, units: list[str]) -> str | None:
        """The unit that a word means; where it is the keyword of a clause, that stands in the wrong place."""
        unit, word = str(token).lower(), str(token).upper()
        if word in _CLAUSES[: _CLAUSES.index(clause) + 1]:
            self.fail(
                f"a second {word}" if word == clause else f"{word} behind {clause}",
                span_of(token),
                required=f"each of PATTERN, {', '.join(_CLAUSES)} once and in this order",
                hint=f"move {word} before {clause}" if word != clause else None,
            )
        if unit not in CANONICAL:
            self.fail(
                f"unknown unit of time '{token}'",
                span_of(token),
                required=f"{', '.join(units[:-1])} or {units[-1]}",
                hint=NO_UNITS.get(unit) or did_you_mean(unit, [*CANONICAL, *map(str.lower, units)]),
            )
        return CANONICAL[unit]

    def amount(self, meta: Meta, parts: list[Token]) -> Fraction | tree.Parameter:
        token = parts[0]
        if token.type == "PARAMETER":
            return tree.Parameter(str(token)[1:], percent=False, span=span_of(token))
        # by way of its shortest decimal form: 1e-999999999 as a fraction would fill the memory
        return Fraction(str(self.number(token, hint="without a length there is no bound: leave the clause out")))

    def inclusive(self, meta: Meta, parts: list[Token]) -> bool:
        return True

    def return_clause(self, meta: Meta, parts: list[Any]) -> tuple[str, Any]:
        into = parts.pop() if isinstance(parts[-1], tree.Name) else None
        return "return", (tuple(parts), into)

    def item(self, meta: Meta, parts: list[Any]) -> tree.Item:
        expression = parts[0]
        text = one_line(self.source[expression.span.start : expression.span.end])
        return tree.Item(expression, parts[1] if len(parts) > 1 else None, text, span_of(meta))

    def every(self, meta: Meta, parts: list[Any]) -> tree.Every:
        return tree.Every(self.reference(meta, parts[:-1]) if len(parts) > 1 else None, span_of(meta))

    def into(self, meta: Meta, parts: list[tree.Name]) -> tree.Name:
        return parts[0]

    def output(self, meta: Meta, parts: list[Any]) -> tuple[str, tuple[Token, tree.Tumbling | None]]:
        return "output", (parts[0], parts[1] if len(parts) > 1 else None)

    def tumbling(self, meta: Meta, parts: list[Length]) -> tree.Tumbling:
        return tree.Tumbling(tuple(parts), span_of(meta))

    def tumbling_events(self, meta: Meta, parts: list[Any]) -> tree.Tumbling:
        self.fail(
            "EVERY with a number of events",
            span_of(meta),
            required="EVERY a length of time",
            hint="for example EVERY 1 hour; WITHIN 100 EVENTS says how far a match may reach",
        )


def _mark_in_seq(item: tree.Pattern) -> tree.Pattern:
    """Note that a component stands directly in SEQ( ): there a bare `B+` is SASE+'s closure."""
    return replace(item, in_seq=True) if isinstance(item, tree.Component) else item


def too_deep(node: Tree[Token], limit: int) -> Span | None:
    """Where a parse tree nests deeper than a limit, if it does; found without recursion."""
    nodes = [(node, 1)]
    while nodes:
        parent, depth = nodes.pop()
        # a sum of n terms becomes n calls, each inside the next
        depth += len(parent.children) // 2 if parent.data == "arithmetic" else 0
        if depth > limit:
            return span_of(parent.meta)
        nodes += [(child, depth + 1) for child in reversed(parent.children) if isinstance(child, Tree)]
    return None
