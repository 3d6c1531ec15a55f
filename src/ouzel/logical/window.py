"""Stage 2: WITHIN and EVERY, in ticks of the time column or in positions of the stream."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

from ouzel.errors import QueryError
from ouzel.language import tree
from ouzel.language.durations import in_ticks
from ouzel.language.names import one_line
from ouzel.logical.parameters import parameter_amount
from ouzel.logical.schema import TimeColumn
from ouzel.logical.times import END

Lengths = tuple[tuple[Fraction | tree.Parameter, str | None], ...]


@dataclass(frozen=True, slots=True)
class Window:
    """A match's last and first are less than `limit` apart, in ticks or, if `counts_events`, in positions."""

    limit: int
    counts_events: bool
    text: str


def bind_window(
    within: tree.Within | None, source: str, tick: str, parameters: Mapping[str, Any] | None
) -> Window | None:
    """The window in ticks; with parameters whose values are not known yet, some window."""
    if within is None:
        return None
    text = one_line(source[within.span.start : within.span.end])
    if parameters is None and _has_parameter((*within.lengths, (within.events, None))):
        return Window(1, within.events is not None, text)
    if within.events is not None:
        count = _count(within.events, source, parameters or {}) + within.inclusive
        return Window(_counted(count, within, source, "events"), True, text)
    total = _ticks(within.lengths, source, tick, parameters)
    if total <= 0 and (total < 0 or not within.inclusive):
        raise QueryError(
            "a window of no length",
            source,
            within.span,
            required="WITHIN a positive length of time",
            hint="WITHIN 0 INCLUSIVE takes simultaneous events" if total == 0 else None,
        )
    # times are whole ticks: d < T is d < ceil(T), and d <= T is d < floor(T) + 1
    limit = math.floor(total) + 1 if within.inclusive else math.ceil(total)
    return Window(_counted(limit, within, source, f"ticks of the time column, which counts {tick}"), False, text)


@dataclass(frozen=True, slots=True)
class Tumbling:
    """Windows one behind the other: number n has the times from n * `length` on, up to that of the next.

    So one begins with 0, the first moment of 1970, as the windows of Spark and Flink do.
    """

    length: int
    text: str


def bind_tumbling(
    every: tree.Tumbling | None, source: str, time: TimeColumn, parameters: Mapping[str, Any] | None
) -> Tumbling | None:
    """The windows of EVERY in ticks; with what is not known yet, some windows."""
    if every is None:
        return None
    text = one_line(source[every.span.start : every.span.end])
    if parameters is None and _has_parameter(every.lengths):
        return Tumbling(1, text)
    total = _ticks(every.lengths, source, time.tick, parameters)
    if total <= 0:
        raise QueryError(
            "a window of no length",
            source,
            every.span,
            required="EVERY a positive length of time",
            hint="for example EVERY 1 hour",
        )
    if total.denominator != 1 and not time.type.is_open:
        raise QueryError(
            "windows that end between two ticks",
            source,
            every.span,
            required=f"a whole number of ticks of the time column, which counts {time.tick}",
            hint=f"for example EVERY {math.ceil(total)} {time.tick}",
        )
    what = f"ticks of the time column, which counts {time.tick}"
    return Tumbling(_counted(math.ceil(total), every, source, what), text)


def _ticks(lengths: Lengths, source: str, tick: str, parameters: Mapping[str, Any] | None) -> Fraction:
    """What the parts of a length of time add up to."""
    parts: list[Fraction] = []
    for amount, unit in lengths:
        if isinstance(amount, tree.Parameter):
            given = parameter_amount(source, amount, parameters or {})
            parts.append(in_ticks(given.amount, given.unit or unit, tick))
        else:
            parts.append(in_ticks(amount, unit, tick))
    return reduce(add, parts)


def _counted(limit: int, written: tree.Within | tree.Tumbling, source: str, what: str) -> int:
    if limit > END:
        required = f"at most {END} {what}"
        raise QueryError("a window too long to be counted", source, written.span, required=required)
    return limit


def _count(events: int | tree.Parameter, source: str, parameters: Mapping[str, Any]) -> int:
    if isinstance(events, int):
        return events
    length = parameter_amount(source, events, parameters)
    amount = length.amount
    if length.unit is not None or amount.denominator != 1 or amount < 1:
        raise QueryError(
            f"the parameter ${events.name} is {parameters[events.name]!r}",
            source,
            events.span,
            required="a whole number of events, at least 1",
        )
    return int(amount)


def _has_parameter(amounts: Iterable[tuple[Any, str | None]]) -> bool:
    return any(isinstance(amount, tree.Parameter) for amount, _unit in amounts)
