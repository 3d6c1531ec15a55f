"""Registered functions that are but arithmetic, as expressions: then engines compile them like any other.

What a function does is read from its bytecode; nothing is run.  Only what means the same in an expression is read:
sums, differences and products of doubles, of integers only where the result is what the function returns (what is
beyond 64 bits is null either way), quotients by constants, comparisons, and choices by these.  Whatever else a
function does, it is called.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

from ouzel.errors import Span
from ouzel.logical.expressions import Apply, Constant, Expression, walk
from ouzel.logical.functions import BUILT_IN, TO_FLOAT
from ouzel.logical.values import BOOLEAN, FLOAT, INTEGER, NULL, Kind, ValueType

_SKIPPED = {"RESUME", "NOP", "CACHE", "PRECALL", "PUSH_NULL", "EXTENDED_ARG", "TO_BOOL"}
_JUMPS = {"POP_JUMP_FORWARD_IF_FALSE", "POP_JUMP_FORWARD_IF_TRUE", "POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE"}
_KEEPING = {"JUMP_IF_FALSE_OR_POP", "JUMP_IF_TRUE_OR_POP"}
_COMPARED = {"==": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_UNUSUAL = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)
# So many instructions are gone through, on all ways together.
_MOST_STEPS = 400
_ABS = object()


class UnreadableError(Exception):
    """A function does what no expression says, or not in the same way."""


def inlined(expression: Expression) -> Expression:
    """An expression with the registered functions in it written out, as far as they can be read."""
    if not isinstance(expression, Apply):
        return expression
    expression = replace(expression, arguments=tuple(map(inlined, expression.arguments)))
    original = expression.function.original
    if (
        original is None
        or expression.function.vectorized
        or any(isinstance(one, Apply) for one in expression.arguments)
    ):
        return expression
    try:
        body = _Reader(original, expression.arguments, expression.span).read(expression.type)
    except UnreadableError:
        return expression
    return _strict(body, expression)


def _strict(body: Expression, call: Apply) -> Expression:
    """With a null argument it is null, whether or not it would have been looked at."""
    variables = [one for one in call.arguments if not isinstance(one, Constant)]
    missing = [Apply(BUILT_IN["is null"], (one,), BOOLEAN, call.span) for one in variables]
    test = missing[0] if len(missing) == 1 else Apply(BUILT_IN["or"], tuple(missing), BOOLEAN, call.span)
    chosen = test, Constant(None, NULL, call.span), body
    return Apply(BUILT_IN["case"], chosen, call.type, call.span) if missing else body


@dataclass
class _Reader:
    """Goes through a function's instructions, with expressions in the place of values."""

    function: Callable[..., Any]
    arguments: Sequence[Expression]
    span: Span
    steps: int = 0

    def read(self, result: ValueType) -> Expression:
        """What the function returns."""
        function = self.function
        code = getattr(function, "__code__", None)
        if not isinstance(function, FunctionType) or code is None or code.co_flags & _UNUSUAL:
            raise UnreadableError
        if code.co_argcount != len(self.arguments) or code.co_kwonlyargcount:
            raise UnreadableError
        if code.co_freevars or code.co_cellvars:
            raise UnreadableError
        if any(one.type.kind not in (Kind.BOOLEAN, Kind.INTEGER, Kind.FLOAT) for one in self.arguments):
            raise UnreadableError
        instructions = list(dis.get_instructions(function))
        places = {one.offset: place for place, one in enumerate(instructions)}
        names = dict(zip(code.co_varnames, self.arguments, strict=False))
        return self._run(instructions, places, 0, [], names, result)

    def _run(
        self,
        instructions: list[dis.Instruction],
        places: dict[int, int],
        place: int,
        stack: list[Any],
        names: dict[str, Any],
        result: ValueType,
    ) -> Expression:
        """The value from an instruction on; where ways part, both are gone."""

        def go_on(at: int, values: list[Any]) -> Expression:
            return self._run(instructions, places, at, list(values), dict(names), result)

        while True:
            self.steps += 1
            if self.steps > _MOST_STEPS:
                raise UnreadableError
            one = instructions[place]
            place += 1
            if one.opname in _JUMPS | _KEEPING:
                condition = self._condition(stack.pop())
                target = places[one.argval]
                kept = [*stack, condition] if one.opname in _KEEPING else stack
                jumped, stayed = go_on(target, kept), go_on(place, stack)
                ways = (jumped, stayed) if "IF_TRUE" in one.opname else (stayed, jumped)
                return Apply(BUILT_IN["case"], (condition, *ways), result, self.span)
            if one.opname == "JUMP_FORWARD":
                place = places[one.argval]
            elif one.opname == "RETURN_VALUE":
                return self._returned(stack.pop(), result)
            elif one.opname == "RETURN_CONST":
                return self._returned(self._constant(one.argval), result)
            else:
                self._step(one, stack, names)

    def _step(self, one: dis.Instruction, stack: list[Any], names: dict[str, Any]) -> None:
        """Move values, or compute one of those on the stack."""
        match one.opname:
            case name if name in _SKIPPED:
                pass
            case "LOAD_FAST" if one.argval in names:
                stack.append(names[one.argval])
            case "LOAD_FAST_LOAD_FAST" if all(name in names for name in one.argval):
                stack.extend(names[name] for name in one.argval)
            case "STORE_FAST":
                names[one.argval] = stack.pop()
            case "LOAD_CONST":
                stack.append(self._constant(one.argval))
            case "COPY" if one.arg:
                stack.append(stack[-one.arg])
            case "SWAP" if one.arg:
                stack[-1], stack[-one.arg] = stack[-one.arg], stack[-1]
            case "POP_TOP":
                stack.pop()
            case _:
                self._compute(one, stack)

    def _compute(self, one: dis.Instruction, stack: list[Any]) -> None:
        match one.opname:
            case "LOAD_GLOBAL" if one.argval == "abs":
                if getattr(self.function, "__globals__", {}).get("abs", builtins.abs) is not abs:
                    raise UnreadableError
                stack.append(_ABS)
            case "CALL" if one.arg == 1 and len(stack) > 1 and stack[-2] is _ABS:
                argument = stack.pop()
                stack[-1] = self._applied("abs", argument)
            case "UNARY_NEGATIVE":
                stack.append(self._applied("negate", stack.pop()))
            case "UNARY_NOT":
                stack.append(Apply(BUILT_IN["not"], (self._condition(stack.pop()),), BOOLEAN, self.span))
            case "BINARY_OP":
                right, left = stack.pop(), stack.pop()
                stack.append(self._computed(one.argrepr.removesuffix("="), left, right))
            case "COMPARE_OP":
                right, left = stack.pop(), stack.pop()
                sign = str(one.argval).removeprefix("bool(").removesuffix(")")
                stack.append(self._compared(sign, left, right))
            case _:
                raise UnreadableError

    # ---- values ------------------------------------------------------------------------------------------

    def _constant(self, value: Any) -> Constant:
        types = {bool: BOOLEAN, int: INTEGER, float: FLOAT}
        fits = type(value) in types and math.isfinite(value) and abs(value) <= 2**53
        if not fits:
            raise UnreadableError
        return Constant(value, types[type(value)], self.span)

    def _number(self, value: Any) -> Expression:
        """A number that is what it is in Python: not an integer that may have been beyond 64 bits."""
        if value is _ABS or value.type.kind not in (Kind.INTEGER, Kind.FLOAT) or _may_overflow(value):
            raise UnreadableError
        return value  # type: ignore[no-any-return]

    def _condition(self, value: Any) -> Expression:
        if value is _ABS or value.type.kind is not Kind.BOOLEAN:
            raise UnreadableError
        return value  # type: ignore[no-any-return]

    def _applied(self, name: str, value: Any) -> Expression:
        number = self._number(value)
        return Apply(BUILT_IN[name], (number,), number.type, self.span)

    def _computed(self, name: str, left: Any, right: Any) -> Expression:
        sides = [self._number(left), self._number(right)]
        real = any(side.type.kind is Kind.FLOAT for side in sides)
        divides = name == "/" and left.type.kind is Kind.FLOAT and isinstance(right, Constant) and right.value != 0
        if name not in ("+", "-", "*") and not divides:
            raise UnreadableError
        if real:
            sides = [self._float(side) for side in sides]
        return Apply(BUILT_IN[name], tuple(sides), FLOAT if real else INTEGER, self.span)

    def _compared(self, sign: str, left: Any, right: Any) -> Expression:
        if sign not in _COMPARED:
            raise UnreadableError
        return Apply(BUILT_IN[_COMPARED[sign]], (self._number(left), self._number(right)), BOOLEAN, self.span)

    def _float(self, value: Expression) -> Expression:
        if value.type.kind is Kind.FLOAT:
            return value
        if isinstance(value, Constant):
            return Constant(float(value.value), FLOAT, value.span)
        return Apply(TO_FLOAT, (value,), FLOAT, self.span)

    def _returned(self, value: Any, result: ValueType) -> Expression:
        """A value of the type that the function was registered with; of any other, a call says what is wrong."""
        if value is _ABS or (value.type.kind is Kind.BOOLEAN) is not (result.kind is Kind.BOOLEAN):
            raise UnreadableError
        if result.kind is Kind.FLOAT:
            return self._float(self._number(value))
        if value.type.kind is not result.kind:
            raise UnreadableError
        return value  # type: ignore[no-any-return]


def _may_overflow(value: Expression) -> bool:
    computed = (one for one in walk(value) if isinstance(one, Apply) and one.type.kind is Kind.INTEGER)
    return value.type.kind is Kind.INTEGER and any(one.function.name != "case" for one in computed)
