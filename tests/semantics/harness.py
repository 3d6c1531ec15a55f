"""Events written on one line, and what a query finds in them: on every engine, in any order of arrival."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

import ouzel as oz
from semantics.everywhere import everywhere, matched

Row = dict[str, Any]

_EVENT = re.compile(r"(?P<eid>(?P<type>[a-z]+)(?P<ts>\d+)'*)(?::(?P<attributes>\S+))?")
_WORDS: dict[str, Any] = {"null": None, "true": True, "false": False}


def stream(text: str) -> list[Row]:
    """Read events: type, time, attributes; a prime tells apart events of one type and time.

    >>> stream("a1 b2:x=5,name=Ann b2'")
    [{'eid': 'a1', 'type': 'A', 'ts': 1}, {'eid': 'b2', 'type': 'B', 'ts': 2, 'x': 5, 'name': 'Ann'},
     {'eid': "b2'", 'type': 'B', 'ts': 2}]
    """
    return [_event(word) for word in text.split()]


def tables(text: str) -> dict[str, list[Row]]:
    """Read events into one table per type: a type has the attributes that its events mention.

    >>> tables("a1:x=5 b2:y=1")
    {'A': [{'eid': 'a1', 'ts': 1, 'x': 5}], 'B': [{'eid': 'b2', 'ts': 2, 'y': 1}]}
    """
    by_type: dict[str, list[Row]] = {}
    for row in stream(text):
        by_type.setdefault(row.pop("type"), []).append(row)
    return by_type


def found(query: str, events: Any, *, of: str | None = None, **options: Any) -> list[str]:
    """The events that a query binds, a line per match; `of` names one query of several.

    A closure stands in brackets, a composite event in parentheses, a dash for null.

    >>> found("PATTERN SEQ(A a, B+ b[], C? c)", "a1 b2 b3")
    ['a1 [b2 b3] -', 'a1 [b2] -', 'a1 [b3] -']
    """
    return sorted(line(row) for row in rows(query, events, of=of, **options))


def rows(query: Any, events: Any, *, of: str | None = None, **options: Any) -> list[Row]:
    """The rows that a query returns, on every engine; or on one, if options name it.

    >>> rows("PATTERN SEQ(A a, B b) RETURN b.ts - a.ts AS pause", "a1 b5")
    [{'pause': 4}]
    """
    events = stream(events) if isinstance(events, str) else events
    if "engine" in options:
        return _quietly(query, events, of, options)
    result = everywhere(query, events, of=of, **options)
    backwards = _quietly(query, _backwards(events), of, options)
    assert _told(result) == _told(backwards), "the order of arrival must not matter"
    return result


def _told(value: Any) -> str:
    """A value as text: what is no number equals itself, and keys are in an order that does not tell of arrival."""
    if isinstance(value, dict):
        return str(sorted((key, _told(one)) for key, one in value.items()))
    return str(list(map(_told, value))) if isinstance(value, list) else repr(value)


def _quietly(query: Any, events: Any, of: str | None, options: Mapping[str, Any]) -> list[Row]:
    with warnings.catch_warnings():
        # a pattern may well mention a type that the few events of a test do not have
        warnings.simplefilter("ignore", oz.OuzelWarning)
        return matched(query, events, of, **options)


def value(expression: str, event: str) -> Any:
    """The value of an expression over one event of type A.

    >>> value("a.x + 1", "a1:x=5")
    6
    """
    (row,) = rows(f"PATTERN A a RETURN {expression} AS value", event)
    return row["value"]


def _event(word: str) -> Row:
    parts = _EVENT.fullmatch(word)
    assert parts, f"an event is written a1 or a1:x=5,y=text; got {word}"
    row: Row = {"eid": parts["eid"], "type": parts["type"].upper(), "ts": int(parts["ts"])}
    pairs = (pair.partition("=") for pair in (parts["attributes"] or "").split(",") if pair)
    return row | {name: _value(text) for name, _sign, text in pairs}


def _value(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d+\.\d+", text) else text


def _backwards(events: Any) -> Any:
    if isinstance(events, Mapping):
        return {name: _backwards(table) for name, table in events.items()}
    if isinstance(events, pa.Table):
        return events.take(list(range(events.num_rows))[::-1])
    return events[::-1]


def line(row: Row) -> str:
    """The row without the start and end that a query without RETURN puts first."""
    everything = list(row)[:2] == ["start", "end"]
    return " ".join(_shown(value) for value in list(row.values())[2 if everything else 0 :])


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return f"[{' '.join(map(_shown, value))}]"
    if isinstance(value, dict):
        return value.get("eid") or f"({' '.join(map(_shown, value.values()))})"
    return str(value)
