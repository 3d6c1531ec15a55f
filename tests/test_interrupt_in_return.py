"""Ctrl-C ends what RETURN computes, where matches are few and their closures long."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.physical.compiled import compute, kernel


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "interpreted"])
def test_ctrl_c_ends_what_return_computes(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "COMPILE_FROM", 0 if compiled else 10**9)
    count, length = (30_000, 900) if compiled else (1_000, 500)
    events = pa.table({"ts": np.arange(count), "type": ["A"] * count, "x": np.arange(count)})
    query = (
        f"PATTERN SEQ(A{{{length}}} a[]) WHERE strict_contiguity {{ a[i].x >= 0 }} WITHIN {length + 1} "
        "RETURN count(distinct a[].x) AS n"
    )
    entered, pressed = threading.Event(), [0.0]
    long_kernel_of = kernel.long_kernel_of

    def noted(source: str, size: int) -> object:
        run = long_kernel_of(source, size)

        def noting(*arguments: object) -> object:
            entered.set()
            return run(*arguments)

        return noting

    def press() -> None:
        assert entered.wait(60)
        time.sleep(0.3)
        pressed[0] = time.perf_counter()
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(compute, "long_kernel_of", noted)
    presser = threading.Thread(target=press)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        oz.match(events, query)
    assert time.perf_counter() - pressed[0] < 2
    presser.join()
