"""Events that last on the command line: `--time start,end`."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import ouzel as oz
from test_cli import Cli, cli, lines

__all__ = ["cli"]

CALLS = pa.table(
    {
        "start": [1, 2, 4, 5],
        "end": [3, 4, 9, 7],
        "type": ["Call", "Ring", "Ring", "Ring"],
        "id": ["e1", "e2", "e3", "e4"],
    }
)
TIME = ("start", "end")
TEXT = "PATTERN SEQ(Call a, Ring b) RETURN a.id AS a, b.id AS b, start(b) AS s"
NEXT = oz.stream("Call").next(oz.stream("Ring").rename(ring="id"))


@pytest.fixture(autouse=True)
def calls(cli: Cli) -> None:
    """Files of calls, in the directory of the command."""
    pq.write_table(CALLS, "calls.parquet")
    pyarrow.csv.write_csv(CALLS, "calls.csv")
    Path("next.ozl").write_text(oz.query(NEXT).text)
    for name in ("Call", "Ring"):
        pq.write_table(CALLS.filter(pa.compute.field("type") == name).drop("type"), f"{name}.parquet")


@pytest.mark.parametrize("events", ["calls.parquet", "calls.csv"])
@pytest.mark.parametrize("time", ["start,end", " start , end "])
def test_texts_and_expressions(cli: Cli, events: str, time: str) -> None:
    for query, meant in ((TEXT, TEXT), ("next.ozl", NEXT)):
        result = cli("run", query, "--events", events, "--time", time)
        assert result.code == 0, result.err
        assert lines(result.out) == oz.match(CALLS, meant, time=TIME).to_pylist()
    assert lines(result.out) == [{"id": "e1", "ring": "e4", "start": 1, "end": 7}]


def test_one_table_per_type_and_csv(cli: Cli) -> None:
    tables = [f"--events={name}={name}.parquet" for name in ("Call", "Ring")]
    found = cli("run", "next.ozl", *tables, "--time", "start,end", "--format", "csv").out
    assert found == '"id","ring","start","end"\n"e1","e4",1,7\n'


def test_explain(cli: Cli) -> None:
    told = cli("explain", TEXT, "--events", "calls.csv", "--time", "start,end").out
    assert told == oz.query(TEXT).explain(CALLS, time=TIME) + "\n"
    assert cli("explain", "next.ozl", "--time", "start,end").out == oz.query(NEXT).explain() + "\n"


def test_events_that_end_before_they_start(cli: Cli) -> None:
    Path("bad.csv").write_text("start,end,type,id\n3,1,Call,e1\n1,3,Call,e2\n,5,Ring,e3\n4,5,Ring,e4\n")
    options = ["run", TEXT, "--events", "bad.csv", "--time", "start,end"]
    refused = cli(*options)
    assert refused.code == 4
    assert "line 2, column 'start': the event starts at 3, after its end 1" in refused.err
    result = cli(*options, "--quarantine", "aside.jsonl")
    assert lines(result.out) == [{"a": "e2", "b": "e4", "s": 4}]
    assert [row["problem"] for row in lines(Path("aside.jsonl").read_text())] == [
        "column 'start': the event starts at 3, after its end 1",
        "column 'start': the event has no start",
    ]


@pytest.mark.parametrize("command", ["run", "explain"])
@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--time", "start,end,end"], 2, "required COLUMN, or START,END of events that last; got 'start,end,end'"),
        (["--time", "start,"], 2, "required COLUMN, or START,END of events that last; got 'start,'"),
        (["--time", "end,end"], 2, "required COLUMN, or START,END of events that last; got 'end,end'"),
        (["--time", "start,end", "--order", "end,id"], 2, "events that last are ordered by when they end"),
        (["--time", "begin,end"], 4, "time column 'begin' is not among the columns"),
        (["--time", "id,end"], 4, "time column 'id': required integers, timestamps or dates; got string"),
    ],
)
def test_wrong_use(cli: Cli, command: str, options: list[str], code: int, said: str) -> None:
    result = cli(command, TEXT, "--events", "calls.csv", *options)
    assert (result.code, result.out) == (code, "")
    assert said in " ".join(result.err.replace("│", " ").split())


def test_help(cli: Cli) -> None:
    for command in ("run", "explain"):
        told = " ".join(cli(command, "--help").out.replace("│", " ").split())
        assert "The column with the time of an event; of events that last: START,END." in told
    assert "--time start,end" in cli("run", "--help").out
