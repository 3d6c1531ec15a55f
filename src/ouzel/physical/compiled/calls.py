"""Expressions that no kernel can say are called from it: Python computes them of the numbers that a kernel has.

So a kernel that calls is run by Python, in the thread of who waits for it if functions of the user's are called.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from ouzel.errors import FunctionError
from ouzel.logical.expressions import Apply, Constant, Expression, Variable
from ouzel.logical.values import Kind, ValueType
from ouzel.physical.compiled.fill import is_written, read_again, told
from ouzel.physical.compiled.kernel import OnlyPython
from ouzel.physical.compiled.texts import Texts
from ouzel.physical.compiled.user_calls import calls_users

Compute = Callable[[Sequence[Any]], Any]


@dataclass(frozen=True)
class Call:
    """An expression and what it reads, in the order of arguments: each as a number and a null flag.

    `told` are variables whose events an error names: behind the arguments come the number of each one's type and
    its time.
    """

    expression: Apply
    reads: tuple[Variable, ...]
    told: tuple[str, ...] = ()


@dataclass(frozen=True)
class Collect:
    """Adds a value to a set of them: the number of the set and the value in, that of the larger set out.

    Sets are texts, so that equal ones have one number, which is kept and restored like any other; 0 is the empty
    set, and others have the numbers from 1 on.  Whether the value is a new one comes out, too.
    """

    type: ValueType


class Calls(OnlyPython):
    """The calls of a kernel, by number, with the texts that numbers stand for."""

    def __init__(self, calls: Sequence[Call | Collect], texts: Texts) -> None:
        """Make a function of each."""
        self.functions = [
            _function(call, texts) if isinstance(call, Call) else partial(_collected, texts, call.type)
            for call in calls
        ]
        self.for_users = any(isinstance(call, Call) and calls_users(call.expression) for call in calls)

    def __getitem__(self, number: int) -> Callable[..., tuple[Any, bool]]:
        """A call: numbers and null flags in, a number and a null flag out."""
        return self.functions[number]


def _function(call: Call, texts: Texts) -> Callable[..., tuple[Any, bool]]:
    readers = [_reader(node.type, texts) for node in call.reads]
    compute = _computed(call.expression, {node: place for place, node in enumerate(call.reads)})
    end = 2 * len(readers)
    none = {Kind.BOOLEAN: False, Kind.FLOAT: 0.0}.get(call.expression.type.kind, 0)
    is_text = call.expression.type.kind is Kind.STRING

    def function(*given: Any) -> tuple[Any, bool]:
        pairs = zip(readers, given[0:end:2], given[1:end:2], strict=True)
        values = [None if is_null else read(number) for read, number, is_null in pairs]
        try:
            found = compute(values)
        except FunctionError as error:
            events = zip(call.told, given[end::2], given[end + 1 :: 2], strict=True)
            about = told(error, [(variable, texts.text(name), time) for variable, name, time in events])
            raise about from error.__cause__
        if found is None:
            return none, True
        return texts.number(found) if is_text else found, False

    return function


def _collected(texts: Texts, value_type: ValueType, held: int, value: Any) -> tuple[int, bool]:
    if value_type.kind is Kind.STRING or is_written(value_type):
        # as it is written, for its number may change; what separates words is in none of them
        word = json.dumps(texts.text(value))
    else:
        # of the two zeros, the sum is the positive one; what is no number is one value
        word = repr(float(value) + 0.0) if value_type.kind is Kind.FLOAT else str(int(value))
    words = texts.text(held - 1).split("\n") if held else []
    if word in words:
        return held, False
    return texts.number("\n".join(sorted([*words, word]))) + 1, True


def _reader(value_type: ValueType, texts: Texts) -> Callable[[Any], Any]:
    """How a number becomes the value that it stands for."""
    match value_type.kind:
        case Kind.BOOLEAN:
            return bool
        case Kind.FLOAT:
            return float
        case Kind.STRING:
            return texts.text
        case Kind.UNSIGNED:
            return lambda number: int(number) % 2**64
        case _ if is_written(value_type):
            return lambda number: read_again(texts.text(number), value_type)
        case Kind.DECIMAL:
            return lambda number: Decimal(int(number)).scaleb(-value_type.scale)
    return int


def _computed(expression: Expression, places: dict[Variable, int]) -> Compute:
    """The value of an expression, of the values that it reads."""
    if isinstance(expression, Constant):
        constant = expression.value
        return lambda _values: constant
    if not isinstance(expression, Apply):
        place = places[expression]  # type: ignore[index]
        return lambda values: values[place]
    function, arguments = expression.function, [_computed(one, places) for one in expression.arguments]
    return lambda values: function(*[one(values) for one in arguments])
