"""Files of the command: which can be read and how, and that results are there only when they are whole."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

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
