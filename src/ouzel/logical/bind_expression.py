"""Stage 2: an expression as written becomes one with every name resolved and every type checked."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.errors import did_you_mean
from ouzel.language import tree
from ouzel.language.durations import read_length
from ouzel.logical.bind_reference import ReferenceBinder
from ouzel.logical.bind_time import TIME_FUNCTIONS, time_function
from ouzel.logical.coercion import unify, unify_chosen, unify_compared
from ouzel.logical.expressions import Apply, Attribute, Constant, Events, Expression, Moment
from ouzel.logical.functions import (
    AGGREGATES,
    BUILT_IN,
    COUNT_MATCHES,
    MATCH_NUMBER,
    is_registered,
    known_functions,
    lookup,
)
from ouzel.logical.known_elsewhere import instead_of
from ouzel.logical.parameters import LENGTH_OF_TIME, literal, parameter_list, parameter_value
from ouzel.logical.text_patterns import BadPatternError, check_escape, check_expression, like_parts
from ouzel.logical.type_rules import TypeClash, WrongCount
from ouzel.logical.user_functions import Place, prepared
from ouzel.logical.values import BOOLEAN, Kind, ValueType

# What looks like a function of values, and is none, or is bound in its own way.
_SPECIAL = {*AGGREGATES, tree.COUNT_DISTINCT, COUNT_MATCHES, MATCH_NUMBER}
_SPECIAL |= {*TIME_FUNCTIONS, "start", "end", "between"}
_COMPARED = ("=", "!=", "<", "<=", ">", ">=", "in")
_UNIFIED = ("+", "-", "/")
_CHOSEN = ("coalesce", "least", "greatest")
_WORDS = {
    "negate": "-",
    "is null": "IS NULL",
    "like": "LIKE",
    "rlike": "RLIKE",
    "in": "IN",
    "case": "CASE",
    "between": "BETWEEN",
}


@dataclass
class ExpressionBinder(ReferenceBinder):
    """Binds expressions over the variables of one pattern."""

    def bind(self, written: tree.Expression) -> Expression:
        """Bind an expression."""
        match written:
            case tree.Reference():
                return self.reference(written)
            case tree.Call():
                return self._special(written) if written.function in _SPECIAL else self._call(written)
            case tree.Literal():
                return literal(self.source, written)
            case tree.Parameter():
                return parameter_value(self.source, written, self.parameters)
        return self.fail(
            "an equivalence test inside another predicate",
            written.span,
            required="[attribute] as a conjunct of WHERE",
            hint="join it to the other predicates with AND, or compare the attributes one by one",
        )

    def _special(self, written: tree.Call) -> Expression:
        """Bind a call of what is no function of values."""
        function = written.function
        if function == "between":
            value, low, high = written.arguments
            both = (tree.Call(">=", (value, low), written.span), tree.Call("<=", (value, high), written.span))
            bound = tuple(self._call(one, "BETWEEN") for one in both)
            return Apply(BUILT_IN["and"], bound, BOOLEAN, written.span)
        if function in ("start", "end"):
            return self.moment(written)
        if function in TIME_FUNCTIONS:
            arguments = [unify([self.bind(one)], self.schema.time.tick)[0] for one in written.arguments]
            self._check_scalars(arguments, function)
            return time_function(written, arguments, self.schema, self.source)
        if function == COUNT_MATCHES:
            self.fail(
                f"count(*) {'without OUTPUT AGGREGATE' if self.in_return else 'in WHERE'}",
                written.span,
                required="count(a[]), which counts the events of the closure a",
                hint="the number of matches is RETURN count(*) OUTPUT AGGREGATE",
            )
        if function == MATCH_NUMBER:
            self.fail(
                f"match_number() {'inside an expression' if self.in_return else 'in WHERE'}",
                written.span,
                required="match_number() as a column of RETURN",
                hint="compute with the column of the result" if self.in_return else None,
            )
        return self.aggregate(written)

    # ---- functions ---------------------------------------------------------------------------------------

    def _call(self, written: tree.Call, word: str | None = None) -> Expression:
        """Bind a call; `word` is what it goes by in messages, if not by its own name."""
        function = lookup(written.function)
        if function is None:
            hint = instead_of(written.function) or did_you_mean(written.function, known_functions())
            self.fail(
                f"unknown function '{written.function}'",
                written.span,
                required="a built-in function or one registered with oz.register_function",
                hint=hint,
            )
        if written.function == "in":
            arguments = [value for one in written.arguments for value in self._spread(one)]
        else:
            arguments = [self.bind(one) for one in written.arguments]
        self._check_scalars(arguments, written.function)
        try:
            arguments = self._unified(written.function, arguments)
            result = function.result([argument.type for argument in arguments])
        except TypeClash as clash:
            word = word or _WORDS.get(written.function, written.function)
            word = word.upper() if word in ("and", "or", "not") else word
            what = "wrong number of arguments of" if isinstance(clash, WrongCount) else "type clash in"
            self.fail(f"{what} '{word}'", written.span, required=f"{word} takes {clash}")
        if written.function in ("like", "rlike"):
            self._check_pattern(written.function, arguments)
        if is_registered(written.function):
            place = Place(self.query, self.source, written.span, self.schema.time)
            function = prepared(function, [one.type for one in arguments], result, place)
        return Apply(function, tuple(arguments), result, written.span)

    def _check_pattern(self, function: str, arguments: list[Expression]) -> None:
        """A pattern that is known must have a meaning."""
        pattern, *escapes = arguments[1:]
        at = pattern
        if function == "rlike" and not isinstance(pattern, Constant):
            self.fail(
                "a pattern of RLIKE that differs from event to event",
                pattern.span,
                required="a text or a parameter: RLIKE '^x'",
                hint="LIKE takes patterns from attributes",
            )
        try:
            for at in escapes:
                if isinstance(at, Constant) and at.value is not None:
                    check_escape(at.value)
            at, known = pattern, [one.value for one in arguments[1:] if isinstance(one, Constant)]
            if len(known) == len(arguments) - 1 and None not in known:
                (check_expression if function == "rlike" else like_parts)(*known)
        except BadPatternError as wrong:
            self.fail(str(wrong), at.span, required=wrong.required, hint=wrong.hint)

    def _spread(self, written: tree.Expression) -> list[Expression]:
        """Bind an argument of IN; a list parameter (IN $xs) is spread out."""
        if isinstance(written, tree.Parameter):
            values = parameter_list(self.source, written, self.parameters)
            if values is not None:
                return list(values)
        return [self.bind(written)]

    def _unified(self, function: str, arguments: list[Expression]) -> list[Expression]:
        tick = self.schema.time.tick
        arguments = self._lengths_read(function, arguments)
        if function == "case":
            # conditions stand at even places before the last; all the others are the values of branches
            last = len(arguments) - 1
            branches = [k for k in range(len(arguments)) if k % 2 == 1 or k == last]
            values = unify_chosen([arguments[k] for k in branches], tick)
            for k, value in zip(branches, values, strict=True):
                arguments[k] = value
            self._check_branches(arguments, branches)
        elif function in _COMPARED:
            arguments = unify_compared(arguments, tick)
        elif function in _UNIFIED:
            arguments = unify(arguments, tick)
        elif function in _CHOSEN:
            arguments = unify_chosen(arguments, tick)
        elif function == "is null" or function not in BUILT_IN:
            # what is only looked at, or goes to a function of the user's, stays as it is
            arguments = [one for argument in arguments for one in unify_compared([argument], tick)]
        else:
            arguments = [one for argument in arguments for one in unify([argument], tick)]
        if function in _CHOSEN and arguments:
            first = next((a.type for a in arguments if not a.type.is_open), arguments[0].type)
            for argument in arguments:
                BUILT_IN["="].result((first, argument.type))
        return arguments

    def _lengths_read(self, function: str, arguments: list[Expression]) -> list[Expression]:
        """A text beside a length of time is one, too: `b.ts - a.ts < $d`; beside a time, if it reads as one."""
        others = [one for one in arguments if _text(one) is None]
        if len(others) == len(arguments):
            return arguments
        must = function in (*_COMPARED, *_UNIFIED) and any(map(self._is_length, others))
        may = function in ("+", "-") and any(
            one.type.kind is Kind.TIMESTAMP or self._is_time_of_event(one) for one in others
        )
        if not must and not may:
            return arguments
        read: list[Expression] = []
        for one in arguments:
            text = _text(one)
            length = read_length(text) if text is not None else None
            if length is not None:
                one = Constant(tree.Duration(*length), ValueType(Kind.DURATION), one.span)  # noqa: PLW2901
            elif text is not None and must:
                raise TypeClash(f"{LENGTH_OF_TIME}; got {text!r}")
            read.append(one)
        return read

    def _is_length(self, argument: Expression) -> bool:
        """Whether an argument is a length of time: also the difference of two integer times."""
        if isinstance(argument, Apply) and argument.function.name in ("abs", "negate"):
            return self._is_length(argument.arguments[0])
        if isinstance(argument, Apply) and argument.function.name == "-":
            return argument.type.kind is Kind.DURATION or all(map(self._is_time_of_event, argument.arguments))
        return argument.type.kind is Kind.DURATION

    def _is_time_of_event(self, argument: Expression) -> bool:
        own = isinstance(argument, Attribute) and argument.column == self.schema.time.name
        return (own or isinstance(argument, Moment)) and not argument.type.is_open

    def _check_branches(self, arguments: list[Expression], branches: list[int]) -> None:
        for k, argument in enumerate(arguments):
            if k not in branches:
                BUILT_IN["not"].result((argument.type,))
        known = [arguments[k].type for k in branches if not arguments[k].type.is_open]
        for value_type in known[1:]:
            BUILT_IN["="].result((known[0], value_type))

    def _check_scalars(self, arguments: list[Expression], function: str) -> None:
        for argument in arguments:
            if not isinstance(argument, Events):
                continue
            self.fail(
                f"'{self.source[argument.span.start : argument.span.end]}' is not a single value",
                argument.span,
                required=f"a single value in '{_WORDS.get(function, function)}'",
                hint=f"aggregate it: avg({argument.variable}[].x), or name one element: {argument.variable}[1].x"
                if argument.type.kind is Kind.LIST
                else f"name an attribute: {argument.variable}.x",
            )


def _text(argument: Expression) -> str | None:
    return argument.value if isinstance(argument, Constant) and isinstance(argument.value, str) else None
