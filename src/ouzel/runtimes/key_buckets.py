"""Keys of events as numbers of buckets: events of one partition are in one bucket, with a few others perhaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.logical.values import Kind, from_arrow
from ouzel.physical.event_table import Integers
from ouzel.physical.meaning import encoded, floats, integers, plain

BITS = 20
COUNT = 1 << BITS

# Odd and without a pattern: Knuth's multiplicative hashing, for words and for the bytes of texts.
_WORD, _BYTE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0x100000001B3)
_WHOLE = (Kind.INTEGER, Kind.UNSIGNED, Kind.TIMESTAMP, Kind.DURATION, Kind.TIME)
_HASHED = (*_WHOLE, Kind.FLOAT, Kind.STRING, Kind.BOOLEAN)
Words = np.ndarray[Any, np.dtype[np.uint64]]


def has_buckets(arrow: pa.DataType) -> bool:
    """Whether values of a type can be spread over buckets."""
    return from_arrow(arrow).kind in _HASHED


def buckets(columns: Sequence[pa.ChunkedArray]) -> Integers:
    """The bucket of each row, by the values of some columns; what is null, or no number, is in any."""
    with np.errstate(over="ignore"):
        words: Words = np.zeros(len(columns[0]), np.uint64)
        for column in columns:
            words = (words ^ _words(column)) * _WORD
            words ^= words >> np.uint64(32)
        found: Integers = ((words * _WORD) >> np.uint64(64 - BITS)).astype(np.int64)
    return found


def _words(column: pa.ChunkedArray) -> Words:
    """A word for each value, the same for values that mean the same."""
    kind = from_arrow(column.type).kind
    if kind is Kind.STRING:
        codes, values = encoded(column)
        return np.append(_words_of_texts(values), np.uint64(0))[codes]
    if kind is Kind.FLOAT:
        return (floats(column) + 0.0).view(np.uint64)  # there is one zero
    if kind is Kind.BOOLEAN:
        column = plain(column).cast(pa.int8())
    return integers(column).view(np.uint64)


def _words_of_texts(values: pa.Array) -> Words:
    """A word for each text: a polynomial of its bytes."""
    texts = values.cast(pa.large_binary())
    _valid, offsets, data = texts.buffers()
    edges = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    lengths = np.diff(edges)
    words = np.zeros(len(texts), np.uint64)
    if data is None or not lengths.any():
        return words
    held = np.frombuffer(data, np.uint8)[edges[0] : edges[-1]]
    places = np.arange(len(held)) - np.repeat(edges[:-1] - edges[0], lengths)
    powers = np.multiply.accumulate(np.full(int(lengths.max()), _BYTE))
    full = np.flatnonzero(lengths)
    words[full] = np.add.reduceat((held + np.uint64(1)) * powers[places], edges[full] - edges[0])
    return words
