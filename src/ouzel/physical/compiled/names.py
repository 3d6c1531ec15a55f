"""Which of a few names the strings of a long column are: mostly a comparison of eight bytes, or a code.

The first eight bytes of a string are one number, of which bytes behind the string are masked out; so are the last
eight of a longer one.  With its length these tell all strings of up to 16 bytes apart; where no name has more than
seven bytes, the length is the eighth.  Longer names are left to Arrow, and so are the last strings of a column,
behind which there may be fewer than eight bytes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.kernels import jit, ordering
from ouzel.physical.compiled import kernel
from ouzel.physical.compiled.share import in_threads

# So few strings are looked up in less time than Arrow takes to begin.
FEW = 32
# With more names, looking them up in a hash table is as fast.
_MOST_NAMES = 12
# Where Python would be slow, Arrow looks names up instead: a kernel pays only for so many times the strings.
ARROW = 8


def marked(column: pa.ChunkedArray, names: tuple[str, ...], marks: Any, threads: int) -> Any:
    """For every string the mark of the name that it is, the last mark if it is none."""
    if len(column) <= FEW:
        return marks[_places(column, names)]
    if pa.types.is_dictionary(column.type):
        return _marked_codes(column, names, marks, threads)
    out = np.empty(len(column), marks.dtype)
    wanted = _wanted(names)
    if wanted is not None and not kernel.pays(wanted.source, len(column) // ARROW):
        wanted = None

    def mark(begin: int, end: int) -> None:
        for chunk in column.slice(begin, end - begin).chunks:
            target = out[begin : begin + len(chunk)]
            done = 0 if wanted is None or chunk.null_count else wanted.mark(chunk, marks, target)
            if done < len(chunk):
                target[done:] = marks[_places(chunk.slice(done), names)]
            begin += len(chunk)

    in_threads(mark, len(column), threads)
    return out


def _marked_codes(column: pa.ChunkedArray, names: tuple[str, ...], marks: Any, threads: int) -> Any:
    """The same for strings that are codes: what is looked for is found but once in the dictionary."""
    out = np.empty(len(column), marks.dtype)
    gather = jit.compiled(ordering.gather) if kernel.pays(ordering.gather, len(column)) else _gather
    first = 0
    for chunk in column.chunks:
        found = pc.index_in(chunk.dictionary.cast(pa.string()), value_set=pa.array(names, pa.string()))
        # the last is that of null
        of_codes = marks[np.append(pc.fill_null(found, -1).to_numpy(zero_copy_only=False), -1)]
        codes = chunk.indices
        if codes.null_count:
            codes = codes.cast(pa.int64()).fill_null(len(of_codes) - 1)
        codes, target = codes.to_numpy(zero_copy_only=False), out[first : first + len(chunk)]

        def mark(begin: int, end: int, of_codes: Any = of_codes, codes: Any = codes, target: Any = target) -> None:
            gather(of_codes, codes[begin:end], target[begin:end])

        in_threads(mark, len(chunk), threads)
        first += len(chunk)
    return out


def _gather(values: Any, places: Any, out: Any) -> None:
    out[:] = values[places]


def _places(strings: pa.Array | pa.ChunkedArray, names: tuple[str, ...]) -> Any:
    """For every string its place among the names, -1 if it is none of them."""
    if len(strings) <= FEW:
        places = {name: place for place, name in enumerate(names)}
        return [places.get(text, -1) for text in strings.to_pylist()]
    found = pc.index_in(strings, value_set=pa.array(names, pa.string()))
    return pc.fill_null(found, -1).to_numpy(zero_copy_only=False)


@lru_cache(maxsize=256)
def _wanted(names: tuple[str, ...]) -> _Wanted | None:
    """The names, unless they are too many or too long."""
    texts = [name.encode() for name in names]
    fit = all(0 < len(text) <= 16 for text in texts)
    return _Wanted(texts) if fit and 0 < len(texts) <= _MOST_NAMES else None


class _Wanted:
    """Names as a kernel looks for them."""

    def __init__(self, names: list[bytes]) -> None:
        self.sizes = np.array([len(name) for name in names], np.int64)
        self.lasts = np.array([_number(name[-8:]) if len(name) > 8 else 0 for name in names], np.int64)
        self.firsts = np.array([_number(name[:8]) for name in names], np.int64)
        short = int(self.sizes.max()) < 8
        if short:
            self.firsts |= self.sizes << 56
        self.source = _short_source(len(names)) if short else _source(len(names))

    def mark(self, chunk: pa.Array, marks: Any, out: Any) -> int:
        """Mark the strings of a chunk without nulls, as far as there are eight bytes from where each begins."""
        _valid, offsets, data = chunk.buffers()
        if data is None or data.size < 8:
            return 0
        places = np.frombuffer(offsets, np.uint32)[chunk.offset : chunk.offset + len(chunk) + 1]
        # for every byte, the eight from there on
        words = np.ndarray((data.size - 7,), "<i8", np.frombuffer(data, np.uint8), strides=(1,))
        # of the same type, or all places would be copied
        done = int(np.searchsorted(places[:-1], np.uint32(len(words))))
        find = jit.compiled(self.source)
        find(places, words, self.firsts, self.lasts, self.sizes, marks, out[:done])
        return done


def _number(text: bytes) -> int:
    return int.from_bytes(text, "little", signed=len(text) == 8)


def _short_source(names: int) -> str:
    """The kernel for so many names of less than eight bytes: with its size in the eighth, each is one number.

    Numbers without a sign are never taken for places from the end, and without `and` there is nothing to branch:
    both make it several times faster.
    """
    known = "\n".join(f"    first{n} = firsts[{n}]" for n in range(names))
    tests = "\n".join(f"        n = {n} if first == first{n} else n" for n in range(names))
    return f"""
@jit
def kernel(places, words, firsts, lasts, sizes, marks, out):
    keep = np.zeros(9, np.int64)
    for size in range(1, 8):
        keep[size] = (1 << (8 * size)) - 1
{known}
    end = places[0]
    for i in range(len(out)):
        begin = end
        end = places[i + 1]
        size = min(np.uint32(end - begin), np.uint32(8))
        first = (words[begin] & keep[size]) | (np.int64(size) << 56)
        n = {names}
{tests}
        out[i] = marks[n]
"""


def _source(names: int) -> str:
    """The kernel for so many names, some of them longer."""
    known = "\n".join(
        f"    first{n}, last{n}, size{n} = firsts[{n}], lasts[{n}], sizes[{n}]" for n in range(names)
    )
    differ = "(first ^ first{0}) | (last ^ last{0}) | (size ^ size{0})"
    tests = "\n".join(f"        n = {n} if ({differ.format(n)}) == 0 else n" for n in range(names))
    return f"""
@jit
def kernel(places, words, firsts, lasts, sizes, marks, out):
    keep = np.zeros(9, np.int64)
    for size in range(1, 9):
        keep[size] = -1 if size == 8 else (1 << (8 * size)) - 1
{known}
    end = places[0]
    for i in range(len(out)):
        begin = end
        end = places[i + 1]
        length = np.uint32(end - begin)
        size = np.int64(length)
        first = words[begin] & keep[min(length, np.uint32(8))]
        last = words[end - np.uint32(8)] if size > 8 else 0
        n = {names}
{tests}
        out[i] = marks[n]
"""
