"""Work is done in a thread that is kept; functions of users run in the thread of who calls, also of a matcher."""

from __future__ import annotations

import gc
import os
import signal
import sqlite3
import threading
import time
import weakref
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.physical import stoppable as stopping
from ouzel.physical import worker as workers
from ouzel.physical.compiled import cost
from ouzel.physical.stoppable import in_caller, stoppable

SCHEMA = pa.schema({"ts": pa.int64(), "type": pa.string(), "s": pa.string()})
EVENTS = pa.table({"ts": [1, 2, 9], "type": ["A", "B", "Z"], "s": ["x", "y", "z"]}, schema=SCHEMA)
QUERIES = [
    "PATTERN SEQ(A a, B b) WHERE looked(a.s) WITHIN 5 RETURN looked(b.s) AS b",
    "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match { looked(a[i].s) AND looked('x') } WITHIN 5"
    " RETURN b.s AS b",
]


def test_a_thread_is_kept() -> None:
    idents = {stoppable(threading.get_ident) for _ in range(20)}
    assert len(idents) == 1
    assert threading.get_ident() not in idents


def test_a_thread_within_another_is_its_own() -> None:
    assert stoppable(lambda: in_caller(lambda: stoppable(lambda: 3))) == 3


@pytest.mark.parametrize("query", QUERIES)
def test_functions_run_where_they_were_made(query: str) -> None:
    connection = sqlite3.connect(":memory:")
    threads: set[threading.Thread] = set()

    def looked(_text: str) -> bool:
        threads.add(threading.current_thread())
        return bool(connection.execute("select 1").fetchone()[0] == 1)

    oz.register_function("looked", looked, returns="boolean")
    matcher = oz.matcher(query, SCHEMA)
    assert matcher.push(EVENTS).num_rows == 1
    assert oz.match(EVENTS, query).num_rows == 1
    assert threads == {threading.main_thread()}


def test_an_error_of_a_function_is_the_callers() -> None:
    def fail() -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        stoppable(lambda: in_caller(fail))
    assert stoppable(lambda: 1) == 1


def test_ctrl_c_ends_a_function() -> None:
    calls: list[str] = []

    def slow(text: str) -> bool:
        calls.append(text)
        time.sleep(0.01)
        return True

    oz.register_function("slow", slow, returns="boolean")
    count = 3_000
    table = pa.table(
        {"ts": np.arange(count), "type": ["A", "B", "C"] * (count // 3), "s": [str(n) for n in range(count)]}
    )
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        oz.match(table, "PATTERN SEQ(A a, B b) WHERE slow(a.s) WITHIN 2")
    ended = len(calls)
    time.sleep(0.1)
    assert ended == len(calls) < count // 3


@pytest.mark.parametrize("pattern", ["SEQ(A a, B b)", "SEQ(A a, B+ b[])"])
def test_ctrl_c_ends_a_function_over_several_events(pattern: str) -> None:
    calls: list[str] = []

    def slow(text: str, other: str) -> bool:
        calls.append(text + other)
        time.sleep(0.01)
        return True

    oz.register_function("slow", slow, returns="boolean")
    count = 3_000
    table = pa.table({"ts": np.arange(count), "type": ["A", "B"] * (count // 2), "s": ["x", "y"] * (count // 2)})
    other = "b" if pattern.endswith("B b)") else "b[i]"
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        oz.match(table, f"PATTERN {pattern} WHERE slow(a.s, {other}.s) WITHIN 4")
    ended = len(calls)
    time.sleep(0.1)
    assert ended == len(calls) < count // 3


def test_functions_over_several_events_run_where_the_caller_is_whatever_threads_there_are() -> None:
    threads: set[threading.Thread] = set()

    def looked(text: str, other: str) -> bool:
        threads.add(threading.current_thread())
        return text == other

    oz.register_function("looked", looked, returns="boolean")
    count = 120_000
    table = pa.table(
        {
            "ts": np.arange(count),
            "type": ["A"] + ["B"] * (count - 1),
            "k": np.arange(count) % 7,
            "s": ["x", "y"] * (count // 2),
        }
    )
    query = "PATTERN SEQ(A a, B b) WHERE [k] AND looked(a.s, b.s) WITHIN 100 RETURN b.ts"
    one, several = (oz.match(table, query, threads=number) for number in (1, 3))
    assert one.equals(several)
    assert one.num_rows == 7
    assert threads == {threading.main_thread()}


def test_work_that_was_left_ends_its_thread() -> None:
    before = set(threading.enumerate())
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])

    def work() -> None:
        while True:
            time.sleep(0.01)
            stopping.check()

    timer.start()
    with pytest.raises(KeyboardInterrupt):
        stoppable(work)
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive()
    assert stoppable(lambda: 2) == 2


def test_results_are_not_held() -> None:
    class Large:
        pass

    def fail() -> None:
        large = Large()
        held.append(weakref.ref(large))
        raise ValueError

    held: list[Any] = []
    gc.disable()
    try:
        result = stoppable(Large)
        held.append(weakref.ref(result))
        del result
        with suppress(ValueError):
            stoppable(fail)
        stoppable(int)
        assert [one() for one in held] == [None, None]
    finally:
        gc.enable()


def test_without_another_thread_the_work_is_done_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> Any:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(stopping, "idle_worker", full)
    assert stoppable(threading.current_thread) is threading.main_thread()


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_process_that_was_forked_has_its_own() -> None:
    stoppable(int)
    child = os.fork()
    if child == 0:
        os._exit(stoppable(lambda: 7))
    deadline = time.monotonic() + 30
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    if ended[0] == 0:
        os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(ended[1]) == 7
    assert workers._idle.workers


def test_the_width_of_many_chunks_is_that_of_some() -> None:
    one = pa.table({"s": ["0123456789"]})
    many = pa.concat_tables([one] * 1_000)
    assert cost._width(many, "s") == cost._width(one, "s")
    assert cost._width(one.slice(0, 0), "s") > 0
