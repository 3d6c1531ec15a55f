"""Ctrl-C ends a run soon, whatever runs: every loop that may take long, in one thread or several, and imports."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ouzel as oz
from ouzel.kernels import jit
from ouzel.physical import worker
from ouzel.physical.automaton import driving as automaton
from ouzel.physical.automaton import expand, totals
from ouzel.physical.compiled import kernel, share
from ouzel.physical.finish import negation
from ouzel.physical.scan import construction
from ouzel.physical.tree import operators

SOON = 5.0
# All of them would run for minutes.
PAIRS = "SEQ(A a, B b, C c) WHERE a.x + b.x + c.x < 0 WITHIN 5000"
AUTOMATON = {"engine": "automaton"}
# A fast machine would reach the limits before Ctrl-C does.
COUNTLESS = oz.Limits(max_matches=2**60, max_memory=2**60)
LOOPS: dict[str, tuple[ModuleType, str, dict[str, Any]]] = {
    "a scan": (construction, "SEQ(A a, B b, C c, A d) WHERE a.x + b.x + c.x + d.x < 0", {}),
    "a scan with negation": (construction, "SEQ(A a, !(C c), B b) WHERE c.x > a.x + 5", {}),
    "negation at the end": (negation, "SEQ(A a, B b, !(C c)) WHERE c.x > a.x + 5 WITHIN 1000000", {}),
    "an automaton": (automaton, PAIRS, AUTOMATON),
    "an automaton without merging": (automaton, PAIRS, {**AUTOMATON, "tuning": {"evaluation": "basic"}}),
    "backtracking": (automaton, PAIRS, {**AUTOMATON, "tuning": {"evaluation": "backtracking"}}),
    "matches written out": (expand, "SEQ(A a, A+ b[], B c)", {"limits": COUNTLESS}),
    "totals": (totals, "SEQ(A a, A+ b[], B c) WITHIN 75% RETURN count(*) AS n OUTPUT AGGREGATE", {}),
    "negation in an automaton": (negation, "SEQ(A a, !(C c), B b) WHERE c.x > b.x + 5", AUTOMATON),
    "a tree": (operators, "A a & B b & C c WHERE a.x + b.x + c.x < 0", {"engine": "tree", "limits": COUNTLESS}),
}
COUNTS = {
    "totals": {True: 100_000, False: 10_000},
    "negation in an automaton": {True: 9_000, False: 3_000},
}


def events(count: int) -> pa.Table:
    numbers = np.arange(count)
    x = np.random.default_rng(1).random(count)
    return pa.table({"ts": numbers, "type": np.array(["A", "B", "C"])[numbers % 3], "k": numbers % 2, "x": x})


class Interrupting:
    """Progress that presses Ctrl-C once a kernel of a module has been called."""

    def __init__(self, module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entered = threading.Event()
        self.at = 0.0
        monkeypatch.setattr(module, "long_kernel_of", self.noted)

    def noted(self, *arguments: Any) -> jit.Kernel:
        run = kernel.long_kernel_of(*arguments)

        def noting(*others: Any) -> Any:
            self.entered.set()
            return run(*others)

        return noting

    def __call__(self, _done: int, _total: int) -> None:
        if self.entered.is_set():
            self.at = time.perf_counter()
            signal.raise_signal(signal.SIGINT)


def others() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one is not threading.main_thread()]


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("name", LOOPS)
def test_ctrl_c_ends_every_loop(name: str, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    module, query, options = LOOPS[name]
    monkeypatch.setattr(kernel, "COMPILE_FROM", 0 if compiled else 10**9)
    before, interrupting = others(), Interrupting(module, monkeypatch)
    count = COUNTS.get(name, {True: 20_000, False: 3_000})[compiled]
    text = f"PATTERN {query}".replace("75%", str(count * 3 // 4))
    with pytest.raises(KeyboardInterrupt):
        oz.match(events(count), text, threads=1, progress=interrupting, **options)
    assert time.perf_counter() - interrupting.at < SOON
    # what was told to stop does: it may have to be compiled first
    for thread in set(others()) - set(before):
        thread.join(60)
        assert not thread.is_alive()


@pytest.mark.parametrize("name", ["a scan", "an automaton"])
def test_ctrl_c_ends_several_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, query, options = LOOPS[name]
    monkeypatch.setattr(share, "PARALLEL_FROM", 1_000)
    before, interrupting = others(), Interrupting(module, monkeypatch)
    text = f"PATTERN {query}".replace("WHERE", "WHERE [k] AND")
    with pytest.raises(KeyboardInterrupt):
        oz.match(events(40_000), text, threads=2, progress=interrupting, **options)
    assert time.perf_counter() - interrupting.at < SOON
    # threads that share work are kept: they end it, and wait for more
    while set(others()) - set(before) - {one.thread for one in worker._idle.workers}:
        assert time.perf_counter() - interrupting.at < 60
        time.sleep(0.01)


def test_a_run_after_an_interrupted_one_is_as_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupting = Interrupting(construction, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        oz.match(events(3_000), f"PATTERN {LOOPS['a scan'][1]}", progress=interrupting)
    query = "PATTERN SEQ(A a, B b) WHERE a.x < b.x WITHIN 5"
    assert oz.match(events(300), query).equals(oz.match(events(300), query, engine="reference"))


def test_progress_moves_while_a_kernel_runs() -> None:
    told: list[tuple[int, int]] = []
    oz.match(
        events(3_000),
        "PATTERN SEQ(A a, B b, C c) WHERE a.x + b.x + c.x < 0 WITHIN 250",
        progress=lambda done, total: told.append((done, total)),
    )
    inside = [done for done, _total in told if 0 < done < 3_000]
    assert len(inside) >= 2
    assert inside == sorted(inside)
    assert told[-1] == (3_000, 3_000)


# One event of each is pushed last, after which they would run for minutes.
SMALL_PUSHES: dict[str, tuple[str, int, dict[str, Any]]] = {
    "a scan": ("SEQ(A a, B b, C c, D d) WHERE a.x + b.x + c.x + d.x < 0", 6_000, {}),
    "matches written out": ("SEQ(A a, A+ b[], D d) WITHIN 1000000", 300, {"limits": COUNTLESS}),
}


@pytest.mark.parametrize("name", SMALL_PUSHES)
def test_ctrl_c_ends_a_push_of_one_event(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    query, count, options = SMALL_PUSHES[name]
    monkeypatch.setattr(kernel, "COMPILE_FROM", 0)
    table = events(count)
    matcher = oz.matcher(f"PATTERN {query}", table.schema, **options)
    matcher.push(table)
    last = pa.table({"ts": [count], "type": ["D"], "k": [0], "x": [0.5]}, schema=table.schema)
    begun, main = time.perf_counter(), threading.main_thread().ident
    assert main is not None
    pressing = threading.Timer(1.0, signal.pthread_kill, (main, signal.SIGINT))
    pressing.start()
    with pytest.raises(KeyboardInterrupt):
        matcher.push(last, watermark=count + 1)
    assert time.perf_counter() - begun < SOON + 60  # it may have to be compiled first
    pressing.join()


def test_ctrl_c_ends_a_push_of_few_events_to_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "COMPILE_FROM", 0)
    table = events(12_000)
    query = "PATTERN A a & B b & C c WHERE a.x + b.x + c.x < 0"

    def push(count: int) -> None:
        oz.matcher(query, table.schema, limits=COUNTLESS).push(table[:count])

    push(100)  # what is compiled is compiled now
    main = threading.main_thread().ident
    assert main is not None
    pressing = threading.Timer(1.0, signal.pthread_kill, (main, signal.SIGINT))
    begun = time.perf_counter()
    pressing.start()
    with pytest.raises(KeyboardInterrupt):
        push(12_000)
    assert time.perf_counter() - begun < 1 + SOON
    pressing.join()


# Ctrl-C comes while a module of Numba's is imported: the compiler, or what it imports when it compiles first.
IN_AN_IMPORT = """
import os, signal, sys, threading, time
import numpy as np, pyarrow as pa
import ouzel as oz
from ouzel.physical.compiled import kernel

kernel.COMPILE_FROM = 0
events = pa.table({"ts": np.arange(30), "type": ["A", "B", "C"] * 10})

class Pressing:
    def find_spec(self, name, *_):
        if name == sys.argv[1] and self in sys.meta_path:
            sys.meta_path.remove(self)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            time.sleep(0.2)

def push():
    matcher = oz.matcher("PATTERN A a & B b & C c WITHIN 5", events.schema)
    matcher.push(events)
    return matcher.finish()

sys.meta_path.insert(0, Pressing())
try:
    push()
    print("not interrupted")
except KeyboardInterrupt:
    push()
    print("done")
"""


@pytest.mark.parametrize("module", ["numba.core.datamodel", "numba.cpython.listobj"])
def test_ctrl_c_in_an_import_of_numba_leaves_it_whole(module: str, tmp_path: Path) -> None:
    environment = {**os.environ, "OUZEL_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", IN_AN_IMPORT, module]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=120)
    assert (done.stdout, done.stderr) == ("done\n", "")


def test_an_interrupted_matcher_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    table = events(3_000)
    matcher = oz.matcher(f"PATTERN {LOOPS['a scan'][1]}", table.schema)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        matcher.push(table)
    with pytest.raises(oz.OuzelError, match="the matcher was interrupted: required a new one, or a snapshot"):
        matcher.push(table)


# ---- the command line ------------------------------------------------------------------------------------

COMMAND = """
import sys, time
{prepare}
from ouzel.cli.main import main
sys.argv = ["ouzel", "run", sys.argv[1], "--events", sys.argv[2]]
main()
"""
# Several threads may say it at once, each in one piece.
MATCHING = """
import os
from ouzel.physical import stoppable
board = stoppable.board
def said(*share):
    os.write(1, b"now\\n")
    return board(*share)
stoppable.board = said
"""
IMPORTING = """
class Slow:
    def find_spec(self, name, *_):
        if name == "pyarrow":
            print("now", flush=True)
            time.sleep(60)
sys.meta_path.insert(0, Slow())
"""
# A long call that lets other threads run, but knows nothing of signals.
CALLING = """
import hashlib
from ouzel.cli import run
def stuck(*_):
    print("now", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)
run.read_events = stuck
"""
QUERIES = {
    "single events": """PATTERN SEQ(R a, R b, R c, R d) WHERE [k] AND a.x < b.x AND c.x < b.x
        AND d.x > a.x + b.x + c.x + 3 WITHIN 3 hours""",
    "a closure": "PATTERN SEQ(R a, R+ b[], R c) WHERE [k] AND b[i].x > a.x AND c.x > sum(b[].x) WITHIN 3 hours",
}


@pytest.mark.parametrize("prepare", [MATCHING, IMPORTING, CALLING], ids=["matching", "importing", "calling"])
@pytest.mark.parametrize("name", QUERIES)
def test_the_command_ends_with_one_line(name: str, prepare: str, tmp_path: Path) -> None:
    table = events(50_000).set_column(1, "type", pa.array(["R"] * 50_000))
    pq.write_table(table, tmp_path / "events.parquet")
    code = COMMAND.format(prepare=prepare)
    command = [sys.executable, "-c", code, QUERIES[name], str(tmp_path / "events.parquet")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "now\n"
        began = time.perf_counter()
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(60) == 130
        assert time.perf_counter() - began < SOON
        assert process.stderr.read() == "stopped by Ctrl-C\n"


def test_the_command_ends_with_its_code_while_another_thread_is_leaving() -> None:
    code = """
import threading, time
from ouzel.cli import commands, main
def interrupted(_arguments):
    main._leaving.acquire()
    threading.Thread(target=lambda: (time.sleep(0.2), main.os._exit(main.STOPPED)), daemon=True).start()
    raise KeyboardInterrupt
commands.run_command = interrupted
main.main()
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 130
