"""Arguments of the public verbs: of the kind that they must be, or refused with what was required and got."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from ouzel.errors import OuzelError, did_you_mean
from ouzel.runtimes.reading import ARRIVAL, Reading

Given = TypeVar("Given")
DICT, CALLABLE, COLUMN = "a dict of names and values", "something that can be called", "the name of a column"


def checked(name: str, value: Given, kind: Any, required: str) -> Given:
    """An argument of a kind."""
    if not isinstance(value, kind):
        raise OuzelError(f"{name}: required {required}; got {value!r}")
    return value


def optional(name: str, value: Given | None, kind: Any, required: str) -> Given | None:
    """An argument of a kind, or None, which says that it is not given: nothing else does."""
    return None if value is None else checked(name, value, kind, required)


def refuse(wrong: bool, name: str, value: Any, where: str) -> None:
    """Refuse what an argument asks for where it is not to be had."""
    if wrong:
        raise OuzelError(f"{name}={value!r} is not to be had {where}\n  hint: leave out {name}")


def tuning_of(tuning: Any) -> Mapping[str, str]:
    """The switches that are set."""
    return optional("tuning", tuning, Mapping, "a dict of switches and what they are set to") or {}


def check_names(given: Iterable[str], others: Sequence[str] = ()) -> None:
    """Refuse arguments that say nothing of how to read events; `others` are those that there are beside."""
    known = [*others, *(one.name for one in fields(Reading) if one.name != "by_arrival")]
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known)
            raise OuzelError(
                f"{name}: required some of {', '.join(known)}" + (f"\n  hint: {hint}" if hint else "")
            )


def threads_of(threads: Any) -> int:
    """How many threads to use: by default as many as there are processors."""
    if threads is None:
        return os.cpu_count() or 1
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise OuzelError(f"threads: required a whole number of at least 1; got {threads!r}")
    return threads


def reading_of(order: Any = None, **options: Any) -> Reading:
    """How to read events."""
    if not isinstance(time := options.get("time", ""), str):
        options |= dict(zip(("start", "time"), _interval(time), strict=True))
    optional("type", options.get("type"), str, f"{COLUMN}, or None")
    optional("time_unit", options.get("time_unit"), str, "one of s, ms, us, ns")
    if order is not None and options.get("start") is not None:
        raise OuzelError(
            f"order: not to be had where events last, time={time!r}: these are ordered by when they end\n"
            "  hint: leave out order"
        )
    columns: Any = () if order is None else order
    if order == ARRIVAL:
        return Reading(by_arrival=True, **options)
    names = isinstance(columns, Sequence) and not isinstance(columns, str | bytes)
    if not names or not all(isinstance(name, str) for name in columns):
        raise OuzelError(f"order: required a list of columns, the time first, or '{ARRIVAL}'; got {order!r}")
    return Reading(order=tuple(columns), **options)


def _interval(time: Any) -> tuple[str, str]:
    """The columns in which events start and end."""
    names = tuple(time) if isinstance(time, list | tuple) else ()
    if len(names) != 2 or not all(isinstance(name, str) for name in names) or names[0] == names[1]:
        required = f"{COLUMN}, or of two: ('start', 'end')"
        raise OuzelError(f"time: required {required}; got {time!r}")
    return names
