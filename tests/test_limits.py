"""Limits before memory: every structure that grows ends in a clear error, or sheds, before memory does."""

from __future__ import annotations

import resource
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ouzel as oz
from ouzel.cli.main import main
from ouzel.physical import available
from ouzel.physical.limits import SHARE

SMALL = 200_000


def events(count: int) -> pa.Table:
    x = [float(number % 7) for number in range(count)]
    return pa.table(
        {
            "ts": range(count),
            "type": ["A", "B"] * (count // 2),
            "k": [number // 2 % 2 for number in range(count)],
            "x": x,
        }
    )


# What grows in each: the query, options of match, and what the error counts.
GROWING: dict[str, tuple[str, dict[str, Any], str]] = {
    "sequences of a scan": ("SEQ(A a, B b, A c)", {}, "matches"),
    "sequences that wait": ("SEQ(A a, B b, !(A c)) WHERE c.x > a.x + 9 WITHIN 1000", {}, "matches"),
    "open runs": (
        "SEQ(A a, A+ b[], B c) WHERE c.x > sum(b[].x) + a.x",
        {"tuning": {"evaluation": "basic"}, "engine": "automaton"},
        "open runs",
    ),
    "nodes": ("SEQ(A a, B b, A c) WHERE a.x + b.x > 100", {"engine": "automaton"}, "events bound in runs"),
    "matches written out": ("SEQ(A a, A+ b[], B c)", {}, "matches"),
    "matches of runs that backtrack": (
        "SEQ(A a, B b, A c)",
        {"tuning": {"evaluation": "backtracking"}, "engine": "automaton"},
        ".",
    ),
    "totals": ("SEQ(A a, A+ b[], B c) RETURN count(*) AS n OUTPUT AGGREGATE", {}, "events bound in runs"),
    "ends of matches": ("SEQ(A a, B b) WHERE a.x < 9", {"engine": "automaton", "mode": "compressed"}, "."),
    "matches of the reference": ("SEQ(A a, B b, A c)", {"engine": "reference"}, "matches"),
    "runs of the reference": ("SEQ(A a, A+ b[], B c) WHERE c.x > 100", {"engine": "reference"}, "open runs"),
    "combinations": ("A a & B b & A c", {}, "matches"),
    "records of a tree": (
        "A a & B b & A c WHERE a.x + b.x + c.x < 0",
        {"engine": "tree", "tuning": {"plan": "left-deep"}},
        "records of a tree",
    ),
}


# So many events there are, where it is not 300: what merges grows slowly, and combinations in no time.
COUNTS = {"nodes": 4_000, "totals": 4_000, "ends of matches": 4_000, "combinations": 60}
NOT_SHED = ("totals", "ends of matches", "matches of runs that backtrack")


@pytest.mark.parametrize("name", GROWING)
def test_what_does_not_fit_is_an_error_that_says_so(name: str) -> None:
    query, options, what = GROWING[name]
    limits = oz.Limits(max_memory=SMALL)
    with pytest.raises(oz.OuzelError) as caught:
        oz.match(events(COUNTS.get(name, 300)), f"PATTERN {query}", limits=limits, **options)
    said, hint = str(caught.value).split("\n", 1)
    assert said.endswith("would not fit into the memory for this run: 195.3 KiB, as max_memory says")
    assert what in said
    assert hint.startswith("  hint: a narrower window, ")
    assert hint.endswith("a larger max_memory, or on_limit='shed'")


COUNTING = "OUTPUT AGGREGATE where the number of matches is enough; "


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        (
            "SEQ(A a, B b)",
            f"more conditions, or skip_till_next_match; {COUNTING.replace('E w', 'E or compressed w')}",
        ),
        ("SEQ(A a, !(A n), B b) WHERE n.ts < 0", f"more conditions, or skip_till_next_match; {COUNTING}"),
        ("A a & B b", f"or more conditions; {COUNTING}"),
        ("A a; B+ b; A c", f"or more conditions; {COUNTING}"),
        ("A a & B b RETURN count(*) AS n OUTPUT AGGREGATE", "or more conditions; "),
        (
            "SEQ(A a, !(A n), B b) WHERE n.ts < 0 RETURN count(*) AS n OUTPUT AGGREGATE",
            "or skip_till_next_match; ",
        ),
        (
            "SEQ(A+ a[], B b) WHERE skip_till_next_match {b.ts > 0}",
            "or more conditions; OUTPUT AGGREGATE or compressed",
        ),
    ],
)
def test_hints_suit_the_query(query: str, hint: str) -> None:
    wanted = hint.replace("or compressed", "or mode='compressed'")
    wanted += "a larger max_memory" if wanted.endswith("; ") else ""
    limits = oz.Limits(max_memory=2_000)
    table = events(600)
    matcher = oz.matcher(f"PATTERN {query}", table.schema, limits=limits)
    with pytest.raises(oz.OuzelError) as caught:
        oz.match(table, f"PATTERN {query}", limits=limits)
    assert wanted in str(caught.value)
    with pytest.raises(oz.OuzelError) as caught:
        matcher.push(table)
    assert wanted.replace(" or mode='compressed'", "") in str(caught.value)


@pytest.mark.parametrize("name", [name for name in GROWING if name not in NOT_SHED])
def test_what_does_not_fit_can_be_shed(name: str) -> None:
    query, options, _what = GROWING[name]
    report = oz.Report()
    limits = oz.Limits(max_memory=SMALL, on_limit="shed")
    found = oz.match(events(COUNTS.get(name, 300)), f"PATTERN {query}", limits=limits, report=report, **options)
    assert report.counters.shed_matches + report.counters.shed_runs > 0
    assert found.num_rows < 2_000


@pytest.mark.parametrize("returned", ["", "RETURN a.ts", "WHERE [x] RETURN count(*) AS n OUTPUT AGGREGATE"])
def test_matches_of_trees_that_fit_take_no_more_than_is_said(returned: str) -> None:
    table = pa.table({"ts": range(240), "type": list("ABC") * 80, "x": [1] * 240})
    query = oz.query(f"PATTERN A a & B b & C c {returned}")
    with pytest.raises(oz.OuzelError, match="would not fit"):
        oz.match(table, query, limits=oz.Limits(max_memory="50MB"))
    limit = 200 << 20
    tracemalloc.start()
    try:
        found = oz.match(table, query, limits=oz.Limits(max_memory=limit))
        peak = tracemalloc.get_traced_memory()[1] + found.nbytes
    finally:
        tracemalloc.stop()
    assert peak < limit


def test_half_of_what_is_available_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ouzel.physical.limits.available_memory", lambda: SMALL * SHARE)
    with pytest.raises(oz.OuzelError, match=r"195.3 KiB, half of the 390.6 KiB that were available"):
        oz.match(events(2_000), "PATTERN SEQ(A a, B b, A c)")


def test_what_is_available_is_the_least_that_anything_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = tmp_path / "cgroup"
    (tmp_path / "self").mkdir()
    (groups / "own").mkdir(parents=True)
    monkeypatch.setattr(available, "PROC", tmp_path)
    monkeypatch.setattr(available, "CGROUPS", groups)
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:    5000 kB\n")
    (tmp_path / "self/cgroup").write_text("0::/own\n")
    assert available.available_memory() == 5_000 << 10
    (groups / "own/memory.max").write_text("max\n")
    (groups / "own/memory.current").write_text("1000\n")
    (groups / "own/memory.stat").write_text("active_file 7\ninactive_file 600\n")
    assert available.available_memory() == 5_000 << 10
    (groups / "own/memory.max").write_text("4000\n")
    assert available.available_memory() == 3_600


@pytest.mark.parametrize(("given", "size"), [("4GB", 4 << 30), ("1.5 KiB", 1536), (1000, 1000)])
def test_memory_in_bytes_or_as_text(given: int | str, size: int) -> None:
    assert oz.Limits(max_memory=given).max_memory == size


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("much", "max_memory: required bytes or a text such as '4GB'; got 'much'"),
        (0, "max_memory: required a whole number of at least 1; got 0"),
    ],
)
def test_memory_that_makes_no_sense_is_refused(given: Any, message: str) -> None:
    with pytest.raises(oz.OuzelError) as caught:
        oz.Limits(max_memory=given)
    assert str(caught.value) == message


@pytest.mark.parametrize("engine", ["scan", "automaton"])
def test_a_matcher_bounds_what_waits(engine: str) -> None:
    table = events(2_000)
    query = "PATTERN SEQ(A a, B b, !(A c)) WHERE c.x > a.x + 9 WITHIN 10000"
    matcher = oz.matcher(query, table.schema, engine=engine, limits=oz.Limits(max_memory=SMALL))
    pushed = 0

    def push_all() -> None:
        nonlocal pushed
        for begin in range(0, 2_000, 20):
            matcher.push(table.slice(begin, 20))
            pushed += 1

    with pytest.raises(oz.OuzelError, match=r"matches .*and more would not fit into the memory for this run"):
        push_all()
    assert pushed > 2


def test_a_memory_error_is_never_called_a_bug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_arguments: Any) -> None:
        raise MemoryError

    pq.write_table(events(10), tmp_path / "events.parquet")
    monkeypatch.setattr("ouzel.runtimes.embedded.result_table", full)
    with pytest.raises(oz.OuzelError, match=r"out of memory: .* are left of what this process may take"):
        oz.match(events(10), "PATTERN SEQ(A a, B b)")
    monkeypatch.setattr("ouzel.cli.run.read_events", full)
    with pytest.raises(SystemExit) as end:
        main(["run", "PATTERN SEQ(A a, B b)", "--events", str(tmp_path / "events.parquet")])
    assert end.value.code == 5
    assert capsys.readouterr().err.startswith("error: out of memory: ")


def test_a_limited_address_space_is_respected(tmp_path: Path) -> None:
    pq.write_table(events(20_000), tmp_path / "events.parquet")
    query = "PATTERN SEQ(A a, B b, A c)"
    ran = subprocess.run(
        [sys.executable, "-m", "ouzel.cli.main", "run", query, "--events", str(tmp_path / "events.parquet")],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)),
    )
    assert ran.returncode == 5
    said, hint = ran.stderr.split("\n", 1)
    assert said.startswith("error: ")
    assert "matches and more would not fit into the memory for this run: " in said
    assert "GiB that were available" in said
    assert hint.endswith("a larger --max-memory, or --on-limit shed\n")


def test_the_command_has_options_for_limits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pq.write_table(events(100), tmp_path / "events.parquet")
    command = ["run", "PATTERN SEQ(A a, B b) RETURN a.ts", "--events", str(tmp_path / "events.parquet")]
    with pytest.raises(SystemExit) as end:
        main([*command, "--max-matches", "10"])
    assert end.value.code == 5
    said = capsys.readouterr().err
    assert said.startswith("error: more than 10 matches\n")
    assert "a larger --max-matches, or --on-limit shed" in said
    with pytest.raises(SystemExit) as end:
        main([*command, "--max-matches", "10", "--on-limit", "shed"])
    assert not end.value.code
    told = capsys.readouterr()
    assert len(told.out.splitlines()) == 10
    assert "; shed: 1,265 matches" in told.err
    with pytest.raises(SystemExit) as end:
        main([*command, "--max-memory", "1KB"])
    assert end.value.code == 5


def test_lists_that_arrow_cannot_count_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ouzel.runtimes.results.MOST_ELEMENTS", 100)
    with pytest.raises(
        oz.OuzelError, match=r"[0-9,]+ events in a column of lists: Arrow takes 100 at most\n  hint: "
    ):
        oz.match(events(20), "PATTERN SEQ(A+ a[], B b)")
