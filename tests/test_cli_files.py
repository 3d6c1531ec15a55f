"""Files of the command: which can be read and how, and that results are there only when they are whole."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from ouzel.cli.whole_files import PENDING, whole_files
from test_cli import EVENTS, FOUND, QUERY, Cli, cli, lines, rows

__all__ = ["cli"]


class Stdin:
    """A stdin with some content."""

    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)

    def isatty(self) -> bool:
        return False


def found(result: Any) -> list[Any]:
    assert result.code == 0, result.err
    return lines(result.out)


@pytest.mark.parametrize("name", ["events.csv", "events.jsonl", "events.parquet"])
@pytest.mark.parametrize("said", [False, True])
def test_stdin(cli: Cli, name: str, said: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(Path(name).read_bytes()))
    file_format = {"events.csv": "csv", "events.jsonl": "json", "events.parquet": "parquet"}[name]
    options = ["--events-format", file_format] if said else []
    assert found(cli("run", QUERY, "--events", "-", *options)) == rows(FOUND)


def test_lines_of_stdin(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(b"ts,type,tag\n1,Shelf,1\nsoon,Exit,1\n"))
    assert "line 3, column 'ts': required a time; got 'soon'" in cli("run", QUERY, "--events", "-").err


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'{"ts": 1, "x": 1}\n{"ts": 2, "x": "a"}\n', "'stdin' cannot be read: line 2: JSON parse error"),
        (b"ts,x\n1,2\n3,4,5\n", "'stdin' cannot be read: line 3: CSV parse error: Expected 2 columns, got 3"),
        (b't\0,x\n1,2\n3,"4"5,"\n6"\n', "'stdin' cannot be read: "),
    ],
)
def test_what_stdin_holds_is_no_bug(
    cli: Cli, content: bytes, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It can be looked at again to say where the error is."""
    monkeypatch.setattr(sys, "stdin", Stdin(content))
    result = cli("run", "PATTERN A a", "--events", "-")
    assert expected in result.err
    assert result.code == 4


def test_several_files_are_one_table(cli: Cli) -> None:
    for number in range(3):
        pyarrow.csv.write_csv(EVENTS.slice(2 * number, 2), f"part{number}.csv")
    assert found(cli("run", QUERY, "--events", "part*.csv")) == rows(FOUND)
    options = [option for number in range(3) for option in ("--events", f"part{number}.csv")]
    assert found(cli("run", QUERY, *options)) == rows(FOUND)
    assert cli("run", QUERY, "--events", "none*.csv").err == "error: none*.csv: no file has such a name\n"
    assert cli("run", QUERY, "--events", "part0.csv", "--events", "Exit=Exit.parquet").code == 2


def test_a_pattern_by_type(cli: Cli) -> None:
    Path("exits").mkdir()
    exits = pq.read_table("Exit.parquet")
    for number in range(exits.num_rows):
        pq.write_table(exits.slice(number, 1), f"exits/{number}.parquet")
    options = ["--events", "Shelf=Shelf.parquet", "--events", "Register=Register.parquet"]
    assert found(cli("run", QUERY, *options, "--events", "Exit=exits/*.parquet")) == rows(FOUND)


def test_an_encoding_and_a_delimiter(cli: Cli) -> None:
    plain = EVENTS.drop("note").append_column("note", pa.array(["Müller"] * 6))
    pyarrow.csv.write_csv(plain, "plain.csv")
    text = Path("plain.csv").read_text(encoding="utf-8").replace(",", ";")
    Path("other.csv").write_text(text, encoding="latin-1")
    assert (
        "hint: say how it is written, for example --encoding latin-1"
        in cli("run", QUERY, "--events", "other.csv").err
    )
    latin = ("--encoding", "latin-1")
    hinted = cli("run", QUERY, "--events", "other.csv", *latin)
    assert (hinted.code, "hint: say how they are delimited: --delimiter ';'" in hinted.err) == (4, True)
    assert found(cli("run", QUERY, "--events", "other.csv", *latin, "--delimiter", ";")) == rows(FOUND)
    Path("tabs.csv").write_text(text.replace(";", "\t"), encoding="utf-8")
    assert "--delimiter tab" in cli("run", QUERY, "--events", "tabs.csv").err
    assert found(cli("run", QUERY, "--events", "tabs.csv", "--delimiter", "tab")) == rows(FOUND)
    assert cli("run", QUERY, "--events", "tabs.csv", "--delimiter", ";;").code == 2
    assert "required one that Python knows" in cli("run", QUERY, "--events", "tabs.csv", "--encoding", "x").err


def test_json_lines_in_another_encoding(cli: Cli) -> None:
    Path("wide.jsonl").write_bytes(Path("events.jsonl").read_text(encoding="utf-8").encode("utf-16"))
    assert "cannot be read: line 1" in cli("run", QUERY, "--events", "wide.jsonl").err
    assert found(cli("run", QUERY, "--events", "wide.jsonl", "--encoding", "utf-16")) == rows(FOUND)
    assert "is not in ascii" in cli("run", QUERY, "--events", "wide.jsonl", "--encoding", "ascii").err
    assert "required one that Python knows" in cli("run", QUERY, "--events", "wide.jsonl", "--encoding", "x").err


def test_a_format_that_the_name_does_not_tell(cli: Cli) -> None:
    Path("events.csv").rename("events.txt")
    assert "--events-format" in cli("run", QUERY, "--events", "events.txt").err
    assert found(cli("run", QUERY, "--events", "events.txt", "--events-format", "csv")) == rows(FOUND)
    explained = cli("explain", QUERY, "--events", "events.txt", "--events-format", "csv")
    assert explained.code == 0


def test_ties_broken_by_the_order_of_lines(cli: Cli) -> None:
    Path("ties.csv").write_text("ts,type,x\n1,B,0\n1,A,1\n1,B,2\n")
    query = "PATTERN SEQ(A a, B b) RETURN a.x AS a, b.x AS b"
    assert found(cli("run", query, "--events", "ties.csv")) == []
    for order in ("arrival", "ts,arrival"):
        assert found(cli("run", query, "--events", "ties.csv", "--order", order)) == [{"a": 1, "b": 2}]


# ---- results -----------------------------------------------------------------------------------------------


def names() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


@pytest.mark.parametrize("target", ["out.csv", "out.jsonl", "out.parquet"])
def test_a_result_has_the_rights_of_any_new_file(cli: Cli, target: str) -> None:
    before = names()
    assert cli("run", QUERY, "--events", "events.csv", "--to", target).code == 0
    assert names() == sorted([*before, target])
    Path("plain").touch()
    assert Path(target).stat().st_mode == Path("plain").stat().st_mode
    Path(target).chmod(0o600)
    assert cli("run", QUERY, "--events", "events.csv", "--to", target).code == 0
    assert Path(target).stat().st_mode & 0o777 == 0o600


def test_the_rights_of_new_files_are_never_lifted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To ask for the umask is to change it, for all threads."""
    monkeypatch.setattr(os, "umask", lambda _mask: pytest.fail("the umask was set"))
    with whole_files([tmp_path / "out"]) as places:
        places[tmp_path / "out"].write_text("x")
    assert (tmp_path / "out").read_text() == "x"


def test_a_link_stays_one(cli: Cli) -> None:
    Path("elsewhere").mkdir()
    Path("out.csv").symlink_to("elsewhere/real.csv")
    assert cli("run", QUERY, "--events", "events.csv", "--to", "out.csv").code == 0
    assert Path("out.csv").is_symlink()
    assert Path("elsewhere/real.csv").read_text()
    assert cli("run", QUERY, "--events", "events.csv", "--to", "/dev/stdout", "--format", "json").code == 0


SEVERAL = f"QUERY thefts {QUERY} QUERY pairs PATTERN SEQ(Shelf a, Exit b) RETURN a.tag AS x, b.tag AS y"


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt(), ValueError("x")])
def test_half_a_result_is_none(cli: Cli, failure: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("out").mkdir()
    Path("out/thefts.csv").write_text("from before")
    written: list[str] = []

    def fails(table: pa.Table, to: Any) -> None:
        Path(to).write_text("half")
        written.append(Path(to).name)
        if len(written) == 2:
            raise failure

    monkeypatch.setattr(pyarrow.csv, "write_csv", fails)
    command = ("run", SEVERAL, "--events", "events.csv", "--to", "out", "--format", "csv")
    message = cli(*command).err.splitlines()[-1]
    assert len(written) == 2
    assert [path.name for path in Path("out").iterdir()] == ["thefts.csv"]
    assert Path("out/thefts.csv").read_text() == "from before"
    assert not PENDING
    if isinstance(failure, OSError):
        assert message == "error: out/pairs.csv: No space left on device"
    if isinstance(failure, KeyboardInterrupt):
        assert message == "stopped by Ctrl-C"


@pytest.mark.parametrize("file_format", ["csv", "json", "parquet"])
def test_a_full_disk_is_named(cli: Cli, file_format: str) -> None:
    Path("full").symlink_to("/dev/full")
    result = cli("run", QUERY, "--events", "events.csv", "--to", "full", "--format", file_format)
    assert (result.code, result.err.splitlines()[-1]) == (5, "error: full: No space left on device")


def test_a_full_disk_behind_stdout_is_named(cli: Cli) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "ouzel.cli.main", "run", QUERY, "--events", "events.csv"]
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (5, "error: stdout: No space left on device\n")


@pytest.mark.parametrize(("closed", "name"), [("<&-", "stdin"), (">&-", "stdout")])
def test_what_is_closed_is_named(cli: Cli, closed: str, name: str) -> None:
    events = "-" if name == "stdin" else "events.csv"
    command = [sys.executable, "-m", "ouzel.cli.main", "run", QUERY, "--events", events]
    run = ["bash", "-c", f'"$@" {closed}', "-", *command]
    ended = subprocess.run(run, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 5
    assert ended.stderr.startswith(f"error: {name}: ")
    # who writes to a file needs none of them
    to_file = ["bash", "-c", '"$@" <&- >&- 2>&-', "-", *command[:-1], "events.csv", "--to", "out.jsonl"]
    assert subprocess.run(to_file, check=False).returncode == 0
    assert lines(Path("out.jsonl").read_text()) == rows(FOUND)


def test_results_are_there_only_with_what_was_set_aside(cli: Cli) -> None:
    Path("bad.csv").write_text("ts,type,tag\n1,Shelf,1\n,Exit,1\n")
    arguments = ["--events", "bad.csv", "--on-bad", "quarantine", "--quarantine", "full.jsonl", "--to", "out.csv"]
    Path("full.jsonl").symlink_to("/dev/full")
    result = cli("run", QUERY, *arguments)
    assert (result.code, result.err.splitlines()[-1]) == (5, "error: full.jsonl: No space left on device")
    assert not Path("out.csv").exists()


def test_a_directory_that_one_cannot_write_to_is_named(cli: Cli) -> None:
    result = cli("run", QUERY, "--events", "events.csv", "--to", "/proc/nowhere/out.csv")
    assert (result.code, "/proc/nowhere/out.csv: " in result.err) == (5, True)


def test_the_state_of_a_path_that_is_not_there(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ouzel.cli.state.SparkRun", None)
    assert cli("state", "nowhere") == (5, "", "error: nowhere: no such file or directory\n")


@pytest.mark.parametrize("option", ["--encoding", "--delimiter", "--events-format"])
def test_options_of_files_are_none_of_a_stream(cli: Cli, option: str) -> None:
    value = {"--encoding": "latin-1", "--delimiter": ";", "--events-format": "csv"}[option]
    result = cli("run", QUERY, "--stream", "somewhere", option, value)
    assert (result.code, f"cannot be used together with {option}" in result.err) == (2, True)
