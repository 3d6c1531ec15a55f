"""Everything Ouzel raises on purpose.

Every message says what is wrong, where, what was required and, where we can guess it, what to do instead.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


MAX_LINE = 120


class OuzelError(Exception):
    """The base of all errors that Ouzel raises."""


class SchemaError(OuzelError):
    """The input's columns do not fit: no time column, a clash of types, an unusable type."""


class DataError(OuzelError):
    """An event is malformed: no time, an unknown type, a value of the wrong type."""


class StateError(OuzelError):
    """A snapshot or checkpoint is foreign, truncated or belongs to another query."""


class FunctionError(OuzelError):
    """A registered function failed, or returned a value of another type than it was registered with."""

    def __init__(self, message: str, called: str = "", time: Any = None, event: str = "") -> None:
        """Keep what is known of it: `time` is the type of times, `event` tells the events it was about."""
        self.message, self.called, self.time, self.event = message, called, time, event
        lines = (message, f"  {called}" if called else "", f"  event: {event}" if event else "")
        super().__init__("\n".join(filter(None, lines)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel from a worker."""
        return FunctionError, (self.message, self.called, None, self.event)

    def about(self, event: str) -> FunctionError:
        """The same, with the events that it is about; those are told once."""
        return self if self.event else FunctionError(self.message, self.called, self.time, event)


class OuzelWarning(UserWarning):
    """Something that is not wrong but that the caller probably did not mean."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of query text, as offsets into it."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """Stretch this span to the end of another."""
        return Span(self.start, max(self.end, other.end))


class QueryError(OuzelError):
    """A query that cannot be understood, with the place in its text."""

    def __init__(
        self,
        message: str,
        source: str = "",
        span: Span | None = None,
        *,
        required: str | None = None,
        hint: str | None = None,
    ) -> None:
        """Describe the error; `source` and `span` give the line, the column and the caret."""
        self.message = message
        self.source = source
        self.span = span
        self.required = required
        self.hint = hint
        self.line, self.column, self.source_line = _locate(source, span)
        super().__init__(self.render())

    def said_of(self, where: str) -> QueryError:
        """The same, which says what part of a query it is about."""
        text = self.message if self.message.startswith(where) else f"{where}: {self.message}"
        return QueryError(text, self.source, self.span, required=self.required, hint=self.hint)

    def render(self) -> str:
        """The full text: message, place, source line with a caret, what was required, hint."""
        lines = [_shown(self.message)]
        if self.span is not None:
            text, column = _window(self.source_line, self.column)
            length = max(1, min(self.span.end - self.span.start, len(text) - column + 1))
            lines += [
                f"  line {self.line}, column {self.column}",
                f"    {text}",
                f"    {' ' * (column - 1)}{'^' * length}",
            ]
        if self.required:
            lines.append(f"  required: {_shown(self.required)}")
        if self.hint:
            lines.append(f"  hint: {_shown(self.hint)}")
        return "\n".join(lines)


def _shown(text: str) -> str:
    """Text of which no name makes two lines."""
    return text.replace("\n", "\\n").replace("\r", "\\r")


def _locate(source: str, span: Span | None) -> tuple[int, int, str]:
    """Turn an offset into (line, column, the line's text); lines and columns count from 1."""
    if span is None:
        return 0, 0, ""
    before = source[: span.start]
    line = before.count("\n") + 1
    begin = before.rfind("\n") + 1
    end = source.find("\n", span.start)
    text = source[begin:] if end < 0 else source[begin:end]
    return line, span.start - begin + 1, text.replace("\t", " ").rstrip("\r")


def _window(line: str, column: int) -> tuple[str, int]:
    """A long line cut to what surrounds a column, and the column in it."""
    begin = max(0, column - 1 - MAX_LINE // 2) if len(line) > MAX_LINE else 0
    end = begin + MAX_LINE
    text = ("…" if begin else "") + line[begin:end] + ("…" if end < len(line) else "")
    return text, column - begin + (1 if begin else 0)


def outer_level() -> int:
    """The `stacklevel` for a warning where this is called: that of the code that called Ouzel, however deep."""
    frame, level = sys._getframe(1), 1
    inside = (str(Path(__file__).parent) + os.sep, contextlib.__file__)  # a decorator of ours has a frame there
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        frame, level = frame.f_back, level + 1
    return level


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Guess what was meant.

    >>> did_you_mean("Shlef", ["Shelf", "Exit"])
    "did you mean 'Shelf'?"
    """
    candidates = {candidate.lower(): candidate for candidate in known}
    close = get_close_matches(name.lower(), candidates, n=1, cutoff=0.6)
    return f"did you mean '{candidates[close[0]]}'?" if close else None


def listed(names: Iterable[str], limit: int = 12) -> str:
    """Name the alternatives in a message without flooding it.

    >>> listed(["b", "a"])
    'a, b'
    """
    names = sorted(names)
    shown = ", ".join(names[:limit])
    return f"{shown}, … ({len(names)} in all)" if len(names) > limit else shown
