"""The types of events, as codes: of all types, or of just those that a query mentions, which is quicker."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Integers = np.ndarray[Any, np.dtype[np.int64]]
Codes = np.ndarray[tuple[int], np.dtype[np.int32]]

# Below so many events a second thread costs more than it saves.
_PARALLEL_FROM = 200_000


class EventTypes:
    """The types of a table's events."""

    def __init__(self, column: pa.ChunkedArray | None, names: tuple[str, ...], codes: Codes | None) -> None:
        """Take a column of names, or names and codes that are known already."""
        self._column = column
        self._known = None if codes is None else (names, codes)
        self._chosen: dict[tuple[str, ...], Codes] = {}

    @classmethod
    def of_column(cls, column: pa.ChunkedArray) -> EventTypes:
        """The types that a column names."""
        if not pa.types.is_dictionary(column.type):
            return cls(column.cast(pa.string()), (), None)
        encoded = column.unify_dictionaries().combine_chunks()
        if isinstance(encoded, pa.ChunkedArray):
            if not encoded.num_chunks:
                return cls(None, (), np.zeros(0, np.int32))
            encoded = encoded.chunk(0)
        codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
        return cls(None, tuple(encoded.dictionary.cast(pa.string()).to_pylist()), codes)

    @cached_property
    def _all(self) -> tuple[tuple[str, ...], Codes]:
        if self._known is not None:
            return self._known
        assert self._column is not None
        encoded = self._column.dictionary_encode()
        return EventTypes.of_column(encoded)._all

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
        if names not in self._chosen:
            if self._known is None and "_all" not in self.__dict__ and self._column is not None:
                self._chosen[names] = _places(self._column, names)
            else:
                places = np.array([names.index(n) if n in names else -1 for n in self.names] or [-1], np.int32)
                self._chosen[names] = places[self.codes]
        return self._chosen[names]

    def and_more(self, name: str, count: int) -> EventTypes:
        """The types with `count` events of one more type behind them."""
        more = np.full(count, len(self.names), np.int32)
        return EventTypes(None, (*self.names, name), np.concatenate([self.codes, more]))

    def taken(self, rows: Integers) -> EventTypes:
        """The types of some of the events."""
        if self._known is None and "_all" not in self.__dict__ and self._column is not None:
            return EventTypes(self._column.take(pa.array(rows)), (), None)
        return EventTypes(None, self.names, self.codes[rows])

    def followed_by(self, others: EventTypes) -> EventTypes:
        """The types of these events and then of others."""
        names = list(self.names)
        names += [name for name in others.names if name not in names]
        places = np.array([names.index(name) for name in others.names] or [0], np.int32)
        return EventTypes(None, tuple(names), np.concatenate([self.codes, places[others.codes]]))


def _places(column: pa.ChunkedArray, names: tuple[str, ...]) -> Codes:
    wanted = pa.array(names, pa.string())

    def places(part: pa.ChunkedArray) -> Any:
        return pc.fill_null(pc.index_in(part, value_set=wanted), -1).to_numpy()

    if len(column) < _PARALLEL_FROM:
        return places(column)  # type: ignore[no-any-return]
    half = len(column) // 2
    with ThreadPoolExecutor(2) as threads:
        return np.concatenate(list(threads.map(places, (column.slice(0, half), column.slice(half)))))
