"""Scalar functions and operators: their type rules and what they compute.

Null follows SQL: a strict function of null is null, AND, OR and NOT follow three-valued logic.  What has no
value in the reals or in 64 bits (x / 0, sqrt(-1), an overflow) is null too, so that no event can stop a run.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ouzel.errors import OuzelError
from ouzel.logical.calendar import PARTS
from ouzel.logical.text_patterns import is_like, like_columns, search, search_columns
from ouzel.logical.type_rules import (
    NUMBERS,
    arithmetic,
    case_type,
    comparable,
    fixed,
    membership,
    minus,
    ordered,
    plus,
    quotient,
    same_number,
    substring_type,
    unified,
)
from ouzel.logical.values import BOOLEAN, FLOAT, INTEGER, STRING, Kind, ValueType

_LEAST_INT, _MOST_INT = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class Function:
    """A function: its name, its type rule, and its value for given arguments.

    `strict` functions are null when any argument is; the others see the nulls.  `columns` computes it for whole
    columns at once, where that is faster than value by value; `arrays` for NumPy arrays without nulls: it
    gives one of values and one of null flags.  `compute` of a registered function that is
    `vectorized` takes arrays; as queries call it, `original` is what the user registered.
    """

    name: str
    result: Callable[[Sequence[ValueType]], ValueType] = field(compare=False)
    compute: Callable[..., Any] = field(compare=False)
    strict: bool = True
    columns: Callable[..., list[Any]] | None = field(default=None, compare=False)
    arrays: Callable[..., tuple[Any, Any]] | None = field(default=None, compare=False)
    vectorized: bool = field(default=False, compare=False)
    original: Callable[..., Any] | None = field(default=None, compare=False)

    def __call__(self, *arguments: Any) -> Any:
        """The function's value."""
        if self.strict and any(argument is None for argument in arguments):
            return None
        return self.compute(*arguments)


# ---- values ----------------------------------------------------------------------------------------------


def _bounded(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Integers have 64 bits: beyond them there is no value."""

    def bounded(*arguments: Any) -> Any:
        result = compute(*arguments)
        return None if isinstance(result, int) and not _LEAST_INT <= result <= _MOST_INT else result

    return bounded


def _promoted(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Arithmetic of an integer and a float is that of floats, as in SQL."""

    def promoted(left: Any, right: Any) -> Any:
        if type(left) is float and type(right) is int:
            right = float(right)
        elif type(left) is int and type(right) is float:
            left = float(left)
        return compute(left, right)

    return promoted


def _defined(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Outside its domain a function has no value."""

    def defined(*arguments: Any) -> Any:
        try:
            return compute(*arguments)
        except (ValueError, ZeroDivisionError, OverflowError):
            return None

    return defined


def _remainder(left: Any, right: Any) -> Any:
    """The remainder with the sign of the dividend, as in SQL and Java."""
    if type(left) is int and type(right) is int:
        return left - right * int_quotient(left, right)
    return math.fmod(left, right)


def int_quotient(left: int, right: int) -> int:
    """Integer division that rounds towards zero."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _and(*values: bool | None) -> bool | None:
    if any(value is False for value in values):
        return False
    return None if any(value is None for value in values) else True


def _or(*values: bool | None) -> bool | None:
    if any(value is True for value in values):
        return True
    return None if any(value is None for value in values) else False


def _in(value: Any, *candidates: Any) -> bool | None:
    if value is None:
        return None
    return _or(*(None if candidate is None else value == candidate for candidate in candidates))


def _case(*values: Any) -> Any:
    for condition, value in zip(values[:-1:2], values[1:-1:2], strict=True):
        if condition is True:
            return value
    return values[-1]


def _substring(text: str, start: int, length: int | None = None) -> str:
    """SQL's substring: positions count from 1, and those before the text count too."""
    first = start - 1
    last = len(text) if length is None else first + max(length, 0)
    return text[max(first, 0) : max(last, 0)]


def _numbers(values: Sequence[Any]) -> Sequence[Any]:
    """The values without those that are no numbers, unless there are no others."""
    return [value for value in values if value == value] or values  # noqa: PLR0124


def least(values: Sequence[Any]) -> Any:
    """The least of some values; one that is no number only if there is no other."""
    return min(_numbers(values))


def greatest(values: Sequence[Any]) -> Any:
    """The greatest of some values; one that is no number only if there is no other."""
    return max(_numbers(values))


def _some(choose: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    """A function of those arguments that are not null."""

    def chosen(*values: Any) -> Any:
        present = [value for value in values if value is not None]
        return choose(present) if present else None

    return chosen


@dataclass(frozen=True)
class Rescale(Function):
    """A coarser unit of time to a finer one; null beyond 64 bits."""

    factor: int = 1


def rescale(factor: int) -> Rescale:
    """A coarser unit of time to a finer one."""
    return Rescale(f"×{factor}", lambda types: types[0], _bounded(lambda value: value * factor), factor=factor)


@dataclass(frozen=True)
class Stretch(Function):
    """A coarser unit of time to a finer one, only to compare: it may go beyond 64 bits."""

    factor: int = 1


def stretch(factor: int) -> Stretch:
    """A coarser unit of time to a finer one, only to compare."""
    return Stretch(f"stretched {factor}", lambda types: types[0], lambda value: value * factor, factor=factor)


TO_FLOAT = Function("float", lambda _types: FLOAT, float)
TO_SIGNED = Function("signed", lambda _types: INTEGER, _bounded(int))
"""An unsigned integer as one with a sign: beyond 2**63 it has no value."""

_TWO_BOOLEANS = fixed(BOOLEAN, (2, None), Kind.BOOLEAN)
_ONE_NUMBER = fixed(FLOAT, 1, *NUMBERS)

BUILT_IN: dict[str, Function] = {
    function.name: function
    for function in (
        Function("and", _TWO_BOOLEANS, _and, strict=False),
        Function("or", _TWO_BOOLEANS, _or, strict=False),
        Function("not", fixed(BOOLEAN, 1, Kind.BOOLEAN), operator.not_),
        # Python compares numbers of all types by value: 2**53 + 1 is not 2.0**53
        Function("=", comparable, operator.eq),
        Function("!=", comparable, operator.ne),
        Function("<", ordered, operator.lt),
        Function("<=", ordered, operator.le),
        Function(">", ordered, operator.gt),
        Function(">=", ordered, operator.ge),
        Function("+", plus, _bounded(_promoted(operator.add))),
        Function("-", minus, _bounded(_promoted(operator.sub))),
        Function("*", arithmetic, _bounded(_promoted(operator.mul))),
        Function("/", quotient, _defined(lambda left, right: float(left) / float(right))),
        Function("%", arithmetic, _defined(_promoted(_remainder))),
        Function("negate", same_number, _bounded(operator.neg)),
        Function("like", fixed(BOOLEAN, (2, 3), Kind.STRING), is_like, columns=like_columns),
        Function("rlike", fixed(BOOLEAN, 2, Kind.STRING), search, columns=search_columns),
        Function("in", membership, _in, strict=False),
        Function("is null", fixed(BOOLEAN, 1), lambda value: value is None, strict=False),
        Function("case", case_type, _case, strict=False),
        Function("coalesce", unified, _some(lambda values: values[0]), strict=False),
        Function("least", unified, _some(least), strict=False),
        Function("greatest", unified, _some(greatest), strict=False),
        Function("abs", same_number, _bounded(abs)),
        Function("floor", fixed(INTEGER, 1, *NUMBERS), _bounded(_defined(math.floor))),
        Function("ceil", fixed(INTEGER, 1, *NUMBERS), _bounded(_defined(math.ceil))),
        Function("sqrt", _ONE_NUMBER, _defined(math.sqrt)),
        Function("ln", _ONE_NUMBER, _defined(math.log)),
        Function("exp", _ONE_NUMBER, _exp),
        Function("lower", fixed(STRING, 1, Kind.STRING), str.lower),
        Function("substring", substring_type, _substring),
        Function("upper", fixed(STRING, 1, Kind.STRING), str.upper),
    )
}


AGGREGATES = ("count", "sum", "avg", "min", "max", "first", "last", "stddev")
# What the syntax tree calls the number of matches.
COUNT_MATCHES = "count(*)"
MATCH_NUMBER = "match_number"
RESERVED = {*BUILT_IN, *AGGREGATES, *PARTS, "date_trunc", MATCH_NUMBER, "start", "end", "between"}

_registered: dict[str, Function] = {}
_RESULTS = {"boolean": BOOLEAN, "integer": INTEGER, "float": FLOAT, "string": STRING}


def register_function(name: str, function: Callable[..., Any], *, returns: str, vectorized: bool = False) -> None:
    """Make a Python function callable from queries; it is null when an argument is.

    It is given what Python calls numbers, strings, dates, datetimes and timedeltas; `returns` is boolean, integer,
    float or string.  One that is `vectorized` is given NumPy arrays instead, of the values of many events without
    a null, and returns an array of as many values, each of which depends on its own row only; what a masked array
    masks is null.

    >>> register_function("double", lambda x: 2 * x, returns="float")
    """
    if not isinstance(name, str):
        raise OuzelError(f"a function: required a name; got {name!r}")
    if name.lower() in RESERVED or not name.isidentifier():
        raise OuzelError(f"a function cannot be called '{name}': the name is taken or is no identifier")
    if not callable(function):
        raise OuzelError(f"function '{name}': required something that can be called; got {function!r}")
    if returns not in tuple(_RESULTS):  # which it may be compared with, whatever it is
        raise OuzelError(f"function '{name}': returns must be one of {', '.join(_RESULTS)}; got {returns!r}")
    result = _RESULTS[returns]
    _registered[name.lower()] = Function(name.lower(), lambda _types: result, function, vectorized=vectorized)


def lookup(name: str) -> Function | None:
    """A function by its name, built in or registered."""
    return BUILT_IN.get(name) or _registered.get(name)


def is_registered(name: str) -> bool:
    """Whether a function is one of the user's own."""
    return name in _registered and name not in BUILT_IN


def registered_in(text: str | None) -> tuple[Function, ...]:
    """The registered functions whose names occur in a text: what another process must be told to compile it.

    All of them, if the text is not known yet.
    """
    if text is None:
        return tuple(_registered.values())
    words = {word.lower() for word in re.findall(r"\w+", text)}
    return tuple(function for name, function in _registered.items() if name in words)


def adopt(functions: Iterable[Function]) -> None:
    """Register functions that another process has sent."""
    _registered.update((function.name, function) for function in functions)


def known_functions() -> list[str]:
    """The names a query may call, for hints."""
    words = [name for name in RESERVED if name.isidentifier()]
    return [*words, *_registered]
