"""Stage 2: WITHIN, in ticks of the time column or in positions of the stream."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ouzel.errors import QueryError
from ouzel.language import tree
from ouzel.language.durations import in_ticks
from ouzel.language.names import one_line
from ouzel.logical.parameters import parameter_amount
from ouzel.logical.times import END


@dataclass(frozen=True)
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
    if parameters is None and _has_parameter(within):
        return Window(1, within.events is not None, text)
    if within.events is not None:
        count = _count(within.events, source, parameters or {}) + within.inclusive
        return Window(_counted(count, within, source, "events"), True, text)
    total = Fraction(0)
    for amount, unit in within.lengths:
        length = tree.Duration(amount, unit) if isinstance(amount, Fraction) else None
        if isinstance(amount, tree.Parameter):
            length = parameter_amount(source, amount, parameters or {})
            length = tree.Duration(length.amount, length.unit or unit)
        assert length is not None
        total += in_ticks(length.amount, length.unit, tick)
    if total < 0 or (total == 0 and not within.inclusive):
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


def _counted(limit: int, within: tree.Within, source: str, what: str) -> int:
    if limit > END:
        required = f"at most {END} {what}"
        raise QueryError("a window too long to be counted", source, within.span, required=required)
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


def _has_parameter(within: tree.Within) -> bool:
    amounts = [amount for amount, _unit in within.lengths]
    return any(isinstance(amount, tree.Parameter) for amount in (*amounts, within.events))
