"""Constants: literals of the text and values passed for `$x`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np

from ouzel.errors import QueryError, Span, did_you_mean, listed
from ouzel.language import tree
from ouzel.language.document import Written
from ouzel.language.durations import NANOSECONDS, read_length
from ouzel.language.expression_builder import beyond_64_bits
from ouzel.language.set_tree import QuerySet
from ouzel.logical.expressions import Constant
from ouzel.logical.values import BOOLEAN, FLOAT, INTEGER, NULL, STRING, UNKNOWN, Kind, ValueType

ROWS = "rows "
"""How the names begin under which the rows of sets of queries travel among values: no parameter is called so."""


def constant(value: Any, span: Span) -> Constant:
    """A Python value as a constant of its type."""
    match value:
        case None:
            return Constant(None, NULL, span)
        case bool():
            return Constant(value, BOOLEAN, span)
        case int():
            return Constant(value, INTEGER, span)
        case float():
            return Constant(value, FLOAT, span)
        case str():
            return Constant(value, STRING, span)
        case tree.Duration():
            return Constant(value, ValueType(Kind.DURATION), span)
        case Decimal():
            return Constant(float(value), FLOAT, span, exact=value if value.is_finite() else None)
        case Fraction():
            return Constant(float(value), FLOAT, span)
        case timedelta() | np.timedelta64():
            return Constant(_length(value), ValueType(Kind.DURATION), span)
        case datetime() | date():
            return Constant(value.isoformat(), STRING, span)
    if isinstance(value, np.datetime64):
        # as a text: NumPy counts nanoseconds, and Python does not
        return constant(None if np.isnat(value) else str(value), span)
    if hasattr(value, "item"):  # a NumPy scalar
        return constant(value.item(), span)
    raise TypeError(type(value).__name__)


def literal(source: str, written: tree.Literal) -> Constant:
    """A literal as a constant; a number with all its digits."""
    if type(written.value) is int and written.value >= 2**63:
        raise beyond_64_bits(source, written.span)
    found = constant(written.value, written.span)
    if isinstance(written.value, float):
        with suppress(InvalidOperation):  # a percentage, or a number in parentheses
            return replace(found, exact=Decimal(source[written.span.start : written.span.end]))
    return found


def parameter_value(source: str, written: tree.Parameter, parameters: Mapping[str, Any] | None) -> Constant:
    """The value passed for a parameter; without values (a query that has met no data) its type is unknown."""
    if parameters is None:
        return Constant(None, UNKNOWN, written.span)
    value = _passed(source, written, parameters)
    if written.percent:
        return Constant(float(_number(source, written, value) / 100), FLOAT, written.span)
    found = _checked(source, written, f"the parameter ${written.name} is", value)
    return replace(found, parameter=written.name)


def parameter_list(
    source: str, written: tree.Parameter, parameters: Mapping[str, Any] | None
) -> list[Constant] | None:
    """The values of a list parameter; None if it is no list."""
    value = (parameters or {}).get(written.name)
    if isinstance(value, list | tuple | set | frozenset):
        return [_checked(source, written, f"the parameter ${written.name} holds a value", one) for one in value]
    return None


def _checked(source: str, written: tree.Parameter, said: str, value: Any) -> Constant:
    try:
        result = constant(value, written.span)
    except (TypeError, ValueError):
        raise QueryError(
            f"{said} of type {type(value).__name__}",
            source,
            written.span,
            required="a number, string, boolean, date, time, timedelta or None; a list behind IN",
        ) from None
    if isinstance(result.value, int) and not -(2**63) <= result.value < 2**63:
        limits = f"from {-(2**63)} to {2**63 - 1}"
        hint = "pass a Decimal, which is compared with all its digits"
        raise QueryError(f"{said} beyond 64 bits", source, written.span, required=limits, hint=hint)
    return result


def parameter_amount(source: str, written: tree.Parameter, parameters: Mapping[str, Any]) -> tree.Duration:
    """The value of `WITHIN $T`: a number in the time column's unit, a timedelta, or a text."""
    value = _passed(source, written, parameters)
    try:
        if isinstance(value, timedelta | np.timedelta64):
            return _length(value)
        if (read := read_length(value) if isinstance(value, str) else None) is not None:
            return tree.Duration(*read)
    except ValueError:
        shown = str(value)
    else:
        shown = repr(value)
        if not isinstance(value, str) and value is not None:
            return tree.Duration(_number(source, written, value), None)
    raise QueryError(
        f"the parameter ${written.name} is {shown}",
        source,
        written.span,
        required=f"{LENGTH_OF_TIME}, a timedelta, or a number",
    )


LENGTH_OF_TIME = "a length of time such as '5 minutes'"


def _length(value: timedelta | np.timedelta64) -> tree.Duration:
    """A length of time to the nanosecond; an error if it is none, as a month, whose length differs."""
    if isinstance(value, np.timedelta64):
        unit, count = np.datetime_data(value.dtype)
        if np.isnat(value) or unit not in _UNITS:
            raise ValueError(value)
        return tree.Duration(Fraction(int(value.astype(np.int64)) * count) * _UNITS[unit], "ns")
    microseconds = value // timedelta(microseconds=1)
    # pandas counts nanoseconds beside
    return tree.Duration(Fraction(microseconds * 1_000 + getattr(value, "nanoseconds", 0)), "ns")


# NumPy's units of time, in nanoseconds.
_UNITS = {
    **{unit: Fraction(NANOSECONDS[unit]) for unit in ("ns", "us", "ms", "s")},
    **{"m": Fraction(NANOSECONDS["min"]), "h": Fraction(NANOSECONDS["h"])},
    **{"D": Fraction(NANOSECONDS["d"]), "W": Fraction(NANOSECONDS["w"])},
    **{unit: Fraction(1, 1_000**place) for place, unit in enumerate(("ps", "fs", "as"), 1)},
}


def _passed(source: str, written: tree.Parameter, parameters: Mapping[str, Any]) -> Any:
    if written.name not in parameters:
        known = f"; got {listed(parameters)}" if parameters else ""
        raise QueryError(
            f"the parameter ${written.name} has no value",
            source,
            written.span,
            required=f"params={{'{written.name}': …}}{known}",
            hint=did_you_mean(written.name, parameters),
        )
    return parameters[written.name]


def _number(source: str, written: tree.Parameter, value: Any) -> Fraction:
    if hasattr(value, "item"):
        value = value.item()
    usable = isinstance(value, int | float | Decimal | Fraction) and not isinstance(value, bool)
    if not usable or not math.isfinite(value):
        raise QueryError(f"the parameter ${written.name} is {value!r}", source, written.span, required="a number")
    # 0.1 means a tenth, as it does in the text of a query
    return Fraction(str(value)) if isinstance(value, float) else Fraction(value)


def check_used(written: Sequence[Written], source: str, parameters: Mapping[str, Any]) -> None:
    """Refuse values for parameters that no query has: mostly they are misspelt."""
    if not parameters:
        return
    mentioned = set(names_in(written))
    for name in parameters:
        if name not in mentioned:
            names = ", ".join(f"${one}" for one in sorted(mentioned) if not one.startswith(ROWS))
            raise QueryError(
                f"params: '{name}' has a value, but the query has no ${name}",
                source,
                required=f"values for {names} only" if names else "no values: there are no parameters",
                hint=did_you_mean(str(name), mentioned),
            )


def nodes_in(node: Any) -> Iterator[tree.Parameter]:
    """All parameters in the syntax tree of an expression."""
    if isinstance(node, tree.Parameter):
        yield node
    elif isinstance(node, list | tuple):
        for one in node:
            yield from nodes_in(one)
    elif is_dataclass(node):
        for field in fields(node):
            yield from nodes_in(getattr(node, field.name))


def names_in(node: Any) -> Iterator[str]:
    """The names of all parameters in a syntax tree."""
    if isinstance(node, tree.Parameter):
        yield node.name
        return
    if isinstance(node, QuerySet):
        yield node.rows
    if isinstance(node, list | tuple):
        for one in node:
            yield from names_in(one)
    elif is_dataclass(node):
        for field in fields(node):
            yield from names_in(getattr(node, field.name))
