"""A kernel is compiled once for a stream, however its events come: its types say nothing of how they are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.kernels import jit
from ouzel.physical.compiled import kernel

QUERY = """PATTERN SEQ(A a, B+ b[], C c)
    WHERE skip_till_next_match { [k] AND b[i].x >= b[i-1].x AND a.y > 0.0 } WITHIN 100
    RETURN a.ts AS t1, c.ts AS t3"""


def stream(count: int) -> pa.Table:
    rng = np.random.default_rng(7)
    columns = {"k": rng.integers(0, 3, count), "x": rng.integers(0, 9, count), "y": rng.random(count)}
    return pa.table({"ts": np.arange(count), "type": [*"ABC"] * (count // 3), **columns})


def test_few_events_after_many_do_not_compile_a_kernel_again(monkeypatch: pytest.MonkeyPatch) -> None:
    types: dict[Any, set[tuple[Any, ...]]] = {}

    def noted(source: Any) -> Any:
        def run(*arguments: Any) -> Any:
            found = tuple(
                (one.dtype, one.ndim, one.flags.writeable, one.flags.c_contiguous)
                if isinstance(one, np.ndarray)
                else type(one)
                for one in arguments
            )
            types.setdefault(source, set()).add(found)
            return jit.interpreted(source)(*arguments)

        return run

    monkeypatch.setattr(kernel, "COMPILE_FROM", 0)
    monkeypatch.setattr(jit, "compiled", noted)
    events = stream(60)
    matcher = oz.matcher(QUERY, events.schema, engine="automaton")
    for begin, end in ((0, 20), (20, 21), (21, 22), (22, 50), (50, 60)):
        matcher.push(events.slice(begin, end - begin))
    matcher.finish()
    assert len(types) >= 4  # filters, keys, runs and paths
    assert {len(found) for found in types.values()} == {1}
