from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import ouzel as oz
from ouzel.cli.main import main
from ouzel.runtimes.json_lines import json_lines

QUERY = "PATTERN SEQ(Shelf a, !(Register b), Exit c) WHERE [tag] WITHIN 1 hour RETURN a.tag, a.ts, c.ts AS left"
WHOLE = "PATTERN SEQ(Shelf+ a[], Exit c) WHERE [tag] AND a.LEN = 2"
EVENTS = pa.table(
    {
        "ts": pa.array([1_500, 2_000, 3_000, 4_250, 5_000, 6_000], pa.timestamp("ms")),
        "type": ["Shelf", "Shelf", "Shelf", "Register", "Exit", "Exit"],
        "tag": [1, 2, 1, 2, 2, 1],
        "note": ["left, or 'right'", "", None, "ü", "[b]", None],
    }
)
FOUND = oz.match(EVENTS, QUERY)


class Result(NamedTuple):
    code: int
    out: str
    err: str


Cli = Callable[..., Result]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs the command in a directory with files of events."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    write_events(tmp_path)

    def run(*args: Any) -> Result:
        with pytest.raises(SystemExit) as end:
            main([str(arg) for arg in args])
        code = end.value.code or 0
        assert isinstance(code, int)
        return Result(code, *(re.sub(r"\x1b\[[0-9;]*m", "", text) for text in capsys.readouterr()))

    return run


def write_events(path: Path) -> None:
    pq.write_table(EVENTS, path / "events.parquet")
    pyarrow.csv.write_csv(EVENTS, path / "events.csv")
    (path / "events.csv.gz").write_bytes(gzip.compress((path / "events.csv").read_bytes()))
    (path / "events.jsonl").write_text("".join(line + "\n" for line in json_lines(EVENTS)), encoding="utf-8")
    for number in range(2):
        part = path / "events" / f"part={number}" / "some.parquet"
        part.parent.mkdir(parents=True)
        pq.write_table(EVENTS.slice(3 * number, 3), part)
    (path / "events" / "_SUCCESS").touch()
    for kind in ("Shelf", "Register", "Exit"):
        pq.write_table(EVENTS.filter(pa.compute.field("type") == kind), path / f"{kind}.parquet")


def lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def rows(table: pa.Table) -> list[Any]:
    return lines("\n".join(json_lines(table)))


@pytest.mark.parametrize("path", ["events.parquet", "events.csv", "events.csv.gz", "events.jsonl", "events"])
@pytest.mark.parametrize("query", [QUERY, WHOLE])
def test_events_are_read_from_files_of_every_format(cli: Cli, path: str, query: str) -> None:
    result = cli("run", query, "--events", path, "--format", "json")
    expected = oz.match(pq.read_table("events") if path == "events" else EVENTS, query)
    assert lines(result.out) == rows(expected)
    assert re.fullmatch(rf"6 events, {expected.num_rows} match(es)?, \d+\.\d s\n", result.err)
    assert result.code == 0


def test_parquet_written_is_what_match_returns(cli: Cli) -> None:
    assert cli("run", WHOLE, "--events", "events.parquet", "--to", "new/found.parquet")[:2] == (0, "")
    assert pq.read_table("new/found.parquet") == oz.match(EVENTS, WHOLE)


def test_csv_and_json_lines_hold_the_same(cli: Cli) -> None:
    assert cli("run", QUERY, "--events", "events.parquet", "--to", "found.csv").code == 0
    assert pyarrow.csv.read_csv("found.csv").cast(FOUND.schema) == FOUND
    assert cli("run", QUERY, "--events", "events.parquet", "--to", "found.txt", "--format", "json").code == 0
    assert lines(Path("found.txt").read_text()) == rows(FOUND)
    assert rows(FOUND)[0] == {"tag": 1, "ts": "1970-01-01T00:00:01.500", "left": "1970-01-01T00:00:06.000"}


def test_what_stdout_gets_without_a_file(cli: Cli) -> None:
    assert lines(cli("run", QUERY, "--events", "events.csv").out) == rows(FOUND)  # it is no terminal
    found = cli("run", QUERY, "--events", "events.csv", "--format", "csv", "--limit", 1).out
    assert found == '"tag","ts","left"\n1,1970-01-01 00:00:01.500,1970-01-01 00:00:06.000\n'
    shown = cli("run", QUERY, "--events", "events.csv", "--format", "table", "--limit", 1).out
    assert re.search(r"tag +ts +left", shown)
    assert re.search(r"1 +1970-01-01 00:00:01\.500 +1970-01-01 00:00:06\.000", shown)
    assert shown.endswith("the first 1 of 2 matches\n")


def test_durations_are_iso_8601_too(cli: Cli) -> None:
    query = "PATTERN SEQ(Register a, Exit b) WHERE [tag] RETURN b.ts - a.ts AS took"
    assert cli("run", query, "--events", "events.parquet").out == '{"took": "PT0.750S"}\n'
    assert cli("run", query, "--events", "events.csv", "--format", "csv").out == '"took"\n"PT0.750S"\n'
    assert "0.750 s" in cli("run", query, "--events", "events.csv", "--format", "table").out


def test_a_table_shows_nested_values_compactly(cli: Cli) -> None:
    shown = cli("run", WHOLE, "--events", "events.parquet", "--format", "table").out
    assert "ts=1970-01-01 00:00:01.500, type=Shelf, tag=1, note=left, or 'right'" in shown
    assert "type=Exit, tag=1" in shown
    assert shown.endswith("1 match\n")


def test_csv_cannot_hold_nested_columns(cli: Cli) -> None:
    result = cli("run", WHOLE, "--events", "events.parquet", "--to", "found.csv")
    assert result.code == 5
    assert "error: CSV cannot hold the nested columns a, c\n  hint: RETURN single attributes" in result.err
    assert not Path("found.csv").exists()


def test_one_table_per_type(cli: Cli) -> None:
    tables = [f"--events={kind}={kind}.parquet" for kind in ("Shelf", "Register", "Exit")]
    assert lines(cli("run", QUERY, *tables).out) == rows(FOUND)
    result = cli("run", QUERY, "--events", "Shelf.parquet", *tables)
    assert result.code == 2
    assert "several tables require one event type each" in result.err


def test_reading_options_reach_match(cli: Cli) -> None:
    ticks = pa.table({"at": [2, 1, 1, 4], "seq": [0, 2, 1, 0], "price": [3, 2, 1, 4]})
    pyarrow.csv.write_csv(ticks, "ticks.csv")
    query = "PATTERN SEQ(T a, T b) WHERE b.price > a.price WITHIN 2 s RETURN a.price AS low, b.price AS high"
    options = ["--events", "ticks.csv", "--time", "at", "--time-unit", "s", "--no-type"]
    expected = oz.match(ticks, query, time="at", time_unit="s", type=None)
    assert lines(cli("run", query, *options).out) == expected.to_pylist()
    ordered = oz.match(ticks, query, time="at", time_unit="s", type=None, order=["at", "seq"])
    assert lines(cli("run", query, *options, "--order", "at,seq").out) == ordered.to_pylist()
    assert ordered.num_rows > expected.num_rows


def test_parameters(cli: Cli) -> None:
    query = "PATTERN SEQ(Shelf a, Exit c) WHERE [tag] AND a.tag = $tag AND a.note != $note RETURN a.tag"
    Path("query.ozl").write_text(query)
    found = cli("run", "query.ozl", "--events", "events.csv", "--param", "tag=1", "--param", "note=x").out
    assert lines(found) == [{"tag": 1}]
    missing = cli("run", "query.ozl", "--events", "events.csv", "--param", "tag=1")
    assert missing.code == 3
    assert "the parameter $note has no value" in missing.err
    assert "required: --param note=…; got tag" in missing.err
    assert cli("run", "query.ozl", "--events", "events.csv", "--param", "tag").code == 2


SEVERAL = f"QUERY thefts {QUERY}\nQUERY pairs PATTERN SEQ(Exit a, Exit b) RETURN a.tag AS x, b.tag AS y"


def test_several_queries(cli: Cli) -> None:
    found = oz.match(EVENTS, SEVERAL)
    options = ["run", SEVERAL, "--events", "events.parquet"]
    assert cli(*options, "--to", "out").code == 0
    assert {path.name for path in Path("out").iterdir()} == {"thefts.parquet", "pairs.parquet"}
    assert pq.read_table("out/pairs.parquet") == found["pairs"]
    assert cli(*options, "--to", "out", "--format", "csv").code == 0
    assert pyarrow.csv.read_csv("out/pairs.csv") == found["pairs"]
    assert lines(cli(*options).out)[-1] == {"query": "pairs", "match": {"x": 2, "y": 1}}
    assert re.findall("^(thefts|pairs) *$", cli(*options, "--format", "table").out, re.M) == ["thefts", "pairs"]
    assert "require a directory" in cli(*options, "--format", "csv").err
    assert "require a directory" in cli(*options, "--to", "out.csv").err


@pytest.mark.parametrize("name", ["bad.csv", "bad.jsonl"])
def test_malformed_events_are_refused_or_set_aside(cli: Cli, name: str) -> None:
    good = Path("events.csv").read_text() + "soon,Exit,2,\n,Exit,2,\n1970-01-01 00:00:07,,1,\n"
    Path("bad.csv").write_text(good)
    bad = pyarrow.csv.read_csv("bad.csv", convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True))
    Path("bad.jsonl").write_text("".join(line + "\n" for line in json_lines(bad)))
    refused = cli("run", QUERY, "--events", name)
    assert refused.code == 4
    line = {"bad.csv": 8, "bad.jsonl": 7}[name]
    assert f"line {line}, column 'ts': required a time; got 'soon'" in refused.err
    assert "hint: mend the data, or set such events aside with --on-bad quarantine" in refused.err
    result = cli("run", QUERY, "--events", name, "--quarantine", "aside.jsonl")
    assert lines(result.out) == rows(FOUND)
    assert "3 malformed events set aside to aside.jsonl" in result.err
    assert [(row["row"], row["ts"], row["problem"]) for row in lines(Path("aside.jsonl").read_text())] == [
        (6, "soon", "column 'ts': required a time; got 'soon'"),
        (7, None, "column 'ts': the event has no time"),
        (8, "1970-01-01 00:00:07", "column 'type': the event has no type"),
    ]
    assert cli("run", QUERY, "--events", name, "--on-bad", "error", "--quarantine", "x.csv").code == 2


CODES: list[tuple[int, str, list[str]]] = [
    (2, "Missing option '--events'", ["run", QUERY]),
    (2, "parquet requires a file", ["run", QUERY, "--events", "events.csv", "--format", "parquet"]),
    (2, "'x.txt': required a name that ends in", ["run", QUERY, "--events", "events.csv", "--to", "x.txt"]),
    (2, "cannot be used together", ["run", QUERY, "--events", "events.csv", "--type", "x", "--no-type"]),
    (2, "'table' is for the terminal", ["run", QUERY, "--events", "e.csv", "--to", "x", "--format", "table"]),
    (3, "error: ", ["run", "PATTERN SEQ(Shelf a", "--events", "events.csv"]),
    (3, "unknown attribute 'x' of Shelf", ["explain", "PATTERN Shelf a WHERE a.x = 1", "--events", "events.csv"]),
    (4, "error: time column 'at'", ["run", QUERY, "--events", "events.csv", "--time", "at"]),
    (4, "hint: name the column with --type COLUMN", ["run", QUERY, "--events", "events.csv", "--type", "zz"]),
    (4, "'list.json' cannot be read", ["run", QUERY, "--events", "list.json"]),
    (5, "nowhere.csv: no such file or directory", ["run", QUERY, "--events", "nowhere.csv"]),
    (5, "nowhere.ozl: No such file or directory", ["explain", "nowhere.ozl"]),
    (2, "unknown engine 'warp'", ["explain", QUERY, "--engine", "warp"]),
]


@pytest.mark.parametrize(("code", "message", "args"), CODES, ids=lambda value: str(value)[:30])
def test_exit_codes(cli: Cli, code: int, message: str, args: list[str]) -> None:
    Path("list.json").write_text("[1, 2]")
    result = cli(*args)
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert "Traceback" not in result.err


def test_a_query_error_is_shown_as_it_is(cli: Cli) -> None:
    query = f"PATTERN SEQ(Shelf a, Exit b)\nWHERE [tag] AND {'a.tag = 1 AND ' * 20}[bold] a.tag"
    with pytest.raises(oz.QueryError) as error:
        oz.query(query)
    assert cli("explain", query).err == f"error: {error.value.render()}\n"


def test_bugs_and_ctrl_c(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise failure

    monkeypatch.setattr(oz, "match", fail)
    failure: BaseException = KeyError("x")
    result = cli("run", QUERY, "--events", "events.csv")
    assert result.code == 1
    assert result.err.startswith(
        "unexpected error: KeyError: 'x'\n  hint: this is a bug in Ouzel; please report it"
    )
    failure = KeyboardInterrupt()
    assert cli("run", QUERY, "--events", "events.csv") == (130, "", "stopped by Ctrl-C\n")


def test_warnings(cli: Cli) -> None:
    result = cli("run", "PATTERN Shlf a", "--events", "events.csv")
    assert result.err.startswith("warning: no event has the type 'Shlf'; did you mean 'Shelf'?\n")
    assert result.code == 0


def test_explain_and_version(cli: Cli) -> None:
    assert cli("explain", QUERY).out == oz.query(QUERY).explain() + "\n"
    assert cli("explain", QUERY, "--events", "events.jsonl").out == oz.query(QUERY).explain(EVENTS) + "\n"
    assert cli("--version").out == f"ouzel {oz.__version__}\n"


def test_the_package_runs_as_a_command() -> None:
    command = [sys.executable, "-m", "ouzel", "explain", "PATTERN A a; B b"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("query query1\n")
