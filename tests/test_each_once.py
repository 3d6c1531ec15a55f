"""Numbers in arrays, each once: marked where they are dense, sorted where they are not."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ouzel.physical.each_once import each_once

SMALL, ANY = st.integers(-9, 30), st.integers(-(2**63), 2**63 - 1)
ARRAYS = st.lists(st.lists(SMALL | ANY, max_size=20), min_size=1, max_size=3)


@given(ARRAYS, st.sampled_from((np.int64, np.int32)))
def test_as_a_set(some: list[list[int]], kind: type) -> None:
    if kind is np.int32:
        some = [[one % 2**31 for one in part] for part in some]
    arrays: list[Any] = [np.array(part, kind) for part in some]
    found = each_once(*arrays)
    assert found.dtype == np.int64
    assert found.tolist() == sorted({one for part in arrays for one in part.tolist()})
