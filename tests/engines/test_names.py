"""Types are found in a column of strings, whatever the strings are and however the column is cut."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ouzel.physical.compiled import kernel, share
from ouzel.physical.compiled.names import marked

# strings that share beginnings, ends and lengths around 8 and 16 bytes, with zeros and characters of several bytes
PIECES = st.sampled_from(["", "a", "b", "\0", "é", "abcdefg", "abcdefgh", "bbbbbbbb"])
STRINGS = st.lists(PIECES, max_size=4).map("".join)


@given(
    st.lists(STRINGS, max_size=40), st.lists(STRINGS, max_size=5, unique=True), st.integers(0, 5), st.booleans()
)
def test_as_comparing_strings(strings: list[str], names: list[str], cut: int, whole: bool) -> None:
    column = pa.chunked_array([pa.array(strings[:cut], pa.string()), pa.array(strings, pa.string())[cut:]])
    if whole:
        column = pa.chunked_array([column.combine_chunks()]) if len(column) else column
    marks = np.array([*range(10, 10 + len(names)), 0], np.uint8)
    expected = [10 + names.index(one) if one in names else 0 for one in strings]
    with patch.object(kernel, "COMPILE_FROM", 0), patch.object(share, "PARALLEL_FROM", 1):
        for threads in (1, 3):
            assert marked(column, tuple(names), marks, threads).tolist() == expected
            assert marked(column.dictionary_encode(), tuple(names), marks, threads).tolist() == expected


def test_nulls_are_none_of_the_names() -> None:
    column = pa.chunked_array([pa.array(["A", None, "B"] * 10)])
    coded = [column.dictionary_encode(), _with_null_in_dictionary()]
    for least in (0, 10**9):
        with patch.object(kernel, "COMPILE_FROM", least):
            for one in (column, *coded):
                assert marked(one, ("A",), np.array([1, 0], np.uint8), 1).tolist() == [1, 0, 0] * 10


def _with_null_in_dictionary() -> pa.ChunkedArray:
    values = pa.array(["B", None, "A"])
    return pa.chunked_array([pa.DictionaryArray.from_arrays(pa.array([2, 1, 0] * 10, pa.int8()), values)])
