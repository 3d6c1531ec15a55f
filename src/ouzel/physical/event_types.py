"""The types of events, as codes: of all types, or of just those that a query mentions, which is quicker."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.physical.compiled.names import marked
from ouzel.physical.compiled.share import in_threads
from ouzel.physical.meaning import encoded
from ouzel.physical.recycled import picked, recycled

Integers = np.ndarray[Any, np.dtype[np.int64]]
# After so many events, types that are not rare have occurred.
_EARLY = (4_096, 100_000)

Codes = np.ndarray[tuple[int], np.dtype[np.int32]]
Columns = Callable[[], pa.ChunkedArray]


class EventTypes:
    """The types of a table's events."""

    def __init__(
        self,
        column: pa.ChunkedArray | Columns | None,
        names: tuple[str, ...],
        codes: Codes | None,
        held: str | None = None,
    ) -> None:
        """Take a column of names, or what gives one when it is asked for; or names and codes that are known.

        `held` is what that column is called in the table of the events, if it is there as it is.
        """
        self._given, self.held = column, held
        self._known = None if codes is None else (names, codes)

    @classmethod
    def of_column(cls, column: pa.ChunkedArray, held: str | None = None) -> EventTypes:
        """The types that a column names, which the table of the events may hold."""
        is_known = pa.types.is_dictionary(column.type) or column.type == pa.string()
        return cls(column, (), None, held) if is_known else cls(column.cast(pa.string()), (), None)

    @cached_property
    def _column(self) -> pa.ChunkedArray | None:
        return self._given() if callable(self._given) else self._given

    @cached_property
    def _all(self) -> tuple[tuple[str, ...], Codes]:
        if self._known is not None:
            return self._known
        assert self._column is not None
        codes, names = encoded(self._column)
        return tuple(names.cast(pa.string()).to_pylist()), codes.astype(np.int32, copy=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names that codes are places in; a dictionary may name types that no event has."""
        return self._all[0]

    @property
    def codes(self) -> Codes:
        """For every event, the place of its type among the names."""
        return self._all[1]

    def among(self, names: tuple[str, ...]) -> Codes:
        """For every event, the place of its type among the given names, -1 if it is none of them."""
        return self.marked(names, np.array([*range(len(names)), -1], np.int32))  # type: ignore[no-any-return]

    def marked(self, names: tuple[str, ...], marks: Any, threads: int = 1) -> Any:
        """For every event, the mark of its type, one of the given names; the last mark if it is none of them."""
        if not self._is_read and self._column is not None:
            return marked(self._column, names, marks, threads)
        places = [names.index(name) if name in names else -1 for name in self.names] or [-1]
        if len(places) == 1:
            return np.full(len(self), marks[places[0]], marks.dtype)
        return marks[np.array(places, np.int32)][self.codes]

    def selected(self, names: tuple[str, ...], marks: Any, threads: int = 1) -> tuple[Integers, Any]:
        """The rows of the events whose type is one of the given names, and the mark of each."""
        every = self.marked(names, marks, threads)

        def select(begin: int, end: int) -> tuple[Integers, Any]:
            own = every[begin:end]
            found: Integers = np.flatnonzero(own != marks[-1])
            chosen = picked(own, found)
            return np.add(found, begin, out=found), chosen

        parts = in_threads(select, len(every), threads)
        if len(parts) == 1:
            return parts[0]
        rows, chosen = zip(*parts, strict=True)
        return np.concatenate(rows, out=recycled(sum(map(len, rows)))), np.concatenate(chosen)

    def occurring(self, names: tuple[str, ...]) -> set[int]:
        """The places of those of some names that are types of events; mostly the first events tell."""
        # as small as the marks for kernels mostly are: one kernel less to compile
        kind = np.uint8 if len(names) < 2**8 else np.int64
        marks = np.arange(len(names) + 1, dtype=kind)
        found: set[int] = set()
        for early in (*_EARLY, len(self)):
            found = set(np.flatnonzero(np.bincount(self.sliced(0, early).marked(names, marks))).tolist())
            found.discard(len(names))
            if len(found) == len(names) or early >= len(self):
                break
        return found

    def __len__(self) -> int:
        """The number of events."""
        return len(self._column) if self._column is not None else len(self.codes)

    @property
    def _is_read(self) -> bool:
        """Whether the codes of all types are known."""
        return self._known is not None or "_all" in self.__dict__

    def taken(self, rows: Integers, table: pa.Table | None = None) -> EventTypes:
        """The types of some of the events, of which there may be the table already."""
        if table is not None and (held := self.held_by(table)) is not None:
            return held
        if not self._is_read and self._column is not None:
            column = self._column
            return EventTypes(lambda: column.take(pa.array(rows)), (), None)
        return EventTypes(None, self.names, self.codes[rows])

    def held_by(self, table: pa.Table) -> EventTypes | None:
        """The types of the events of a table of the same columns, if it holds them and they are not read yet."""
        place = -1 if self.held is None or self._is_read else table.schema.get_field_index(self.held)
        return None if place < 0 else EventTypes(table.column(place), (), None, self.held)

    def beside(self, columns: Collection[str]) -> EventTypes:
        """The types of the events where their table has some columns only."""
        if self.held is None or self.held in columns or self._is_read:
            return self
        return EventTypes(self._column, (), None)

    def sliced(self, begin: int, end: int) -> EventTypes:
        """The types of the events from one row to another."""
        if not self._is_read and self._column is not None:
            return EventTypes(self._column.slice(begin, end - begin), (), None, self.held)
        return EventTypes(None, self.names, self.codes[begin:end])

    def followed_by(self, *others: EventTypes) -> EventTypes:
        """The types of these events and then of others."""
        every = (self, *others)
        columns = [one._column for one in every if not one._is_read and one._column is not None]
        if len(columns) == len(every) and all(one.type == columns[0].type for one in columns):
            chunks = [chunk for column in columns for chunk in column.chunks]
            held = self.held if all(one.held == self.held for one in others) else None
            return EventTypes(pa.chunked_array(chunks, columns[0].type), (), None, held)
        names = list(self.names)
        names += dict.fromkeys(name for one in others for name in one.names if name not in names)
        return EventTypes(None, tuple(names), np.concatenate([one.among_all(names) for one in every]))

    def among_all(self, names: list[str]) -> Codes:
        """For every event, the place of its type among names of which those that there are are some."""
        if tuple(names[: len(self.names)]) == self.names:
            return self.codes
        return np.array([names.index(name) for name in self.names] or [0], np.int32)[self.codes]
