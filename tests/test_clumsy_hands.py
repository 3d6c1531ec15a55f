"""What a hand in a hurry does: files named twice, options for something else, arguments of the wrong kind."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.cli.main import main

QUERY = "PATTERN SEQ(A a, B b) WHERE [k] RETURN a.k AS k"
EVENTS = "ts,type,k\n1,A,1\n2,B,1\n"


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    return int(end.value.code or 0), " ".join(capsys.readouterr().err.replace("│", " ").split())


@pytest.fixture
def events(tmp_path: Path) -> Path:
    path = tmp_path / "events.csv"
    path.write_text(EVENTS)
    return path


@pytest.mark.parametrize("option", ["--to", "--quarantine"])
@pytest.mark.parametrize("spelled", ["events.csv", "./events.csv", "*.csv"])
def test_events_are_not_written_over(
    option: str, spelled: str, events: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(events.parent)
    code, said = refused(capsys, "run", QUERY, "--events", spelled, option, str(events))
    assert (code, "a file of its own" in said) == (2, True)
    assert events.read_text() == EVENTS


@pytest.mark.parametrize("option", ["--to", "--quarantine"])
@pytest.mark.parametrize("spelled", ["{}", "A={}", "{}/../{}", "*"])
@pytest.mark.parametrize("runtime", ["embedded", "spark"])
def test_events_in_a_directory_are_not_written_over(
    option: str,
    spelled: str,
    runtime: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "events").mkdir()
    for name in ("a.csv", "b.csv"):
        (tmp_path / "events" / name).write_text(EVENTS)
    command = ("run", QUERY, "--events", spelled.format("events", "events"), "--runtime", runtime)
    for name in ("a.csv", "../events/b.csv", "new.csv"):
        code, said = refused(capsys, *command, option, f"events/{name}")
        assert (code, "a file of its own" in said) == (2, True)
        assert ("it would be one of them the next time" in said) == (name == "new.csv")
    assert [path.read_text() for path in (tmp_path / "events").iterdir()] == [EVENTS, EVENTS]


def test_events_behind_a_link_in_a_directory_are_not_written_over(
    events: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = events.with_name("folder")
    folder.mkdir()
    (folder / "link.csv").symlink_to(events)
    code, said = refused(capsys, "run", QUERY, "--events", str(folder), "--to", str(events))
    assert (code, "a file of its own" in said) == (2, True)
    assert events.read_text() == EVENTS


def test_a_result_on_spark_does_not_replace_the_directory_of_events(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out" / "query1.parquet"
    folder.mkdir(parents=True)
    (folder / "events.csv").write_text(EVENTS)
    command = ("run", QUERY, "--events", str(folder / "events.csv"), "--runtime", "spark")
    code, said = refused(capsys, *command, "--to", str(tmp_path / "out"))
    assert (code, "a file of its own" in said) == (2, True)


def test_matches_of_a_stream_do_not_go_among_its_events(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("run", QUERY, "--stream", str(tmp_path), "--checkpoint", str(tmp_path.with_name("checkpoint")))
    code, said = refused(capsys, *command, "--to", str(tmp_path / "matches"))
    assert (code, "a file of its own" in said) == (2, True)


@pytest.mark.parametrize("option", ["--to", "--quarantine"])
def test_the_query_is_not_written_over(option: str, events: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = events.with_name("query.csv")
    query.write_text(QUERY)
    code, said = refused(capsys, "run", str(query), "--events", str(events), option, str(query))
    assert (code, "a file of its own" in said) == (2, True)
    assert query.read_text() == QUERY


def test_results_are_not_written_over(events: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = str(events.with_name("one.csv"))
    code, said = refused(capsys, "run", QUERY, "--events", str(events), "--to", one, "--quarantine", one)
    assert (code, "a file of its own" in said) == (2, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--to", "found.csv", "--limit", "1"), "--to gets all matches"),
        (("--checkpoint", "somewhere"), "is for --stream"),
        (("--schema", "ts long"), "is for --stream"),
        (("--available-now",), "is for --stream"),
        (("--watermark", "foo"), "is for --stream"),
        (("--buckets", "4"), "is for --stream"),
        (("--encoding", "nope"), "required one that Python knows"),
        (("--encoding", "base64"), "required one that Python knows"),
        (("--delimiter", ";;"), "required one character"),
        (("--master", "foo"), "required local[*], spark://…, sc://…, yarn or the like; got 'foo'"),
        (("--engine", "foo"), "unknown engine 'foo': required one of auto, "),
        (("--max-memory", "foo"), "required bytes or a text such as '4GB'"),
    ],
)
def test_options_for_something_else(
    options: tuple[str, ...], said: str, events: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = refused(capsys, "run", QUERY, "--events", str(events), *options)
    assert (code, said in told) == (2, True)


def test_a_directory_is_no_query(events: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = refused(capsys, "run", str(events.parent), "--events", str(events))
    assert (code, "required a query, or a file that holds one; got a directory" in said) == (2, True)


def test_it_is_said_where_results_are(events: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = events.with_name("found")
    folder.mkdir()
    code, said = refused(capsys, "run", QUERY, "--events", str(events), "--to", str(folder), "--format", "csv")
    assert (code, f"2 events, 1 match to {folder}/query1.csv, " in said) == (0, True)


def test_what_is_not_set_aside_is_said(events: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hint = "--on-bad quarantine sets events aside, not "
    events.write_text(EVENTS + "3,A,1,5\n")
    code, said = refused(capsys, "run", QUERY, "--events", str(events), "--on-bad", "quarantine")
    assert (code, "line 4: " in said, hint in said) == (4, True, True)
    lines = events.with_name("events.jsonl")
    lines.write_text('{"ts": 1}\n{"ts"\n')
    code, said = refused(capsys, "run", QUERY, "--events", str(lines), "--on-bad", "quarantine")
    assert (code, "line 2: " in said, hint in said) == (4, True, True)


def test_what_is_no_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = refused(capsys, "state", str(tmp_path))
    assert code == 5
    assert "it holds none" in said


@pytest.mark.parametrize("content", [b"no gzip", gzip.compress(EVENTS.encode())[:-9]], ids=["other", "cut"])
def test_compressed_bytes_that_are_none(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "events.csv.gz"
    path.write_bytes(content)
    with pytest.raises(oz.DataError, match=r"events\.csv\.gz' cannot be read"):
        oz.match(path, QUERY)


def test_files_in_other_encodings(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_bytes("ts;type;k\n1;A;é\n2;B;é\n".encode("latin-1"))
    with pytest.raises(oz.OuzelError, match="encoding='latin-1'"):
        oz.match(path, QUERY)
    found = oz.match(path, QUERY, encoding="latin-1", delimiter=";")
    assert found.to_pylist() == [{"k": "é"}]


@pytest.mark.parametrize("encoding", ["nope", "base64", "idna", "punycode", "undefined", 5, "a\0b"])
def test_encodings_that_are_none(encoding: Any, events: Path) -> None:
    with pytest.raises(oz.OuzelError, match="encoding: required one that Python knows, of text; got"):
        oz.match(events, QUERY, encoding=encoding)


@pytest.mark.parametrize("delimiter", [";;", "é", 5, "", "\n", '"'])
def test_delimiters_that_are_none(delimiter: Any, events: Path) -> None:
    with pytest.raises(oz.OuzelError, match="delimiter: required one character, of ASCII; got"):
        oz.match(events, QUERY, delimiter=delimiter)


@pytest.mark.parametrize("name", ["events.csv", "events.jsonl"])
def test_files_that_are_not_in_their_encoding(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(EVENTS.encode("utf-16-le"))
    with pytest.raises(oz.DataError, match="is not in utf-16: UTF-16 stream does not start with BOM"):
        oz.match(path, QUERY, encoding="utf-16")
    assert refused(capsys, "run", QUERY, "--events", str(path), "--encoding", "utf-16")[0] == 4


SCHEMA = pa.schema({"ts": pa.int64(), "type": pa.string(), "k": pa.int64()})
NO_STREAM: Any = 5
ROWS = [{"ts": 1, "type": "A", "k": 1}]


@pytest.mark.parametrize("wrong", [3, "1 GB", [], {1}])
def test_arguments_of_the_wrong_kind(wrong: Any) -> None:
    for call in (oz.match, lambda _rows, query, **options: oz.matcher(query, SCHEMA, **options)):
        with pytest.raises(oz.OuzelError, match=r"limits: required oz\.Limits"):
            call(ROWS, "PATTERN A a", limits=wrong)
        with pytest.raises(oz.OuzelError, match="params: required a dict"):
            call(ROWS, "PATTERN A a", params=wrong)
        with pytest.raises(oz.OuzelError, match="order: required a list of columns, the time first, or 'arrival'"):
            call(ROWS, "PATTERN A a", order=wrong or [1])
    with pytest.raises(oz.OuzelError, match="params: required a dict"):
        oz.query("PATTERN A a", params=wrong)
    with pytest.raises(oz.OuzelError, match="required something that can be called"):
        oz.register_function("wrong", wrong, returns="integer")
    with pytest.raises(oz.OuzelError, match="function 'wrong': returns must be one of boolean, integer"):
        oz.register_function("wrong", abs, returns=wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"type": 0}, "type: required the name of a column, or None; got 0"),
        ({"time": None}, "time: required the name of a column, or of two: .*; got None"),
        ({"time_unit": []}, r"time_unit: required one of s, ms, us, ns; got \[\]"),
        ({"time_unit": ""}, "time_unit '': required one of"),
        ({"order": 0}, "order: required a list of columns, the time first, or 'arrival'; got 0"),
        ({"order": 1.5}, "order: required a list of columns, the time first, or 'arrival'; got 1.5"),
        ({"engine": None}, "unknown engine 'None': required one of auto"),
        ({"tuning": "x"}, "tuning: required a dict of switches and what they are set to; got 'x'"),
        ({"tuning": {"evaluation": "foo"}}, "evaluation: required one of merging, basic, backtracking; got 'foo'"),
        ({"tuning": {"equivalence": 1}, "engine": "automaton"}, "equivalence: required one of combined, "),
        ({"report": {}}, r"report: required oz\.Report\(\); got {}"),
        ({"progress": "x"}, "progress: required something that can be called; got 'x'"),
        ({"spark": {"tasks": 3}}, r"spark: required oz\.SparkOptions\(…\); got {'tasks': 3}"),
        ({"watermark": "foo"}, "watermark: required a length of time such as '10 minutes'; got 'foo'"),
        ({"limits": {}}, r"limits: required oz\.Limits\(…\); got {}"),
    ],
)
def test_what_match_is_not_given(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(oz.OuzelError, match=message):
        oz.match(ROWS, "PATTERN SEQ(A a, A b)", **wrong)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: oz.register_function(5, abs, returns="float"), "a function: required a name; got 5"),  # type: ignore[arg-type]
        (lambda: oz.SparkOptions(metrics=b"x"), "metrics: required a name, or an empty text; got b'x'"),  # type: ignore[arg-type]
        (lambda: oz.SparkOptions(late=1), "late: required True or False; got 1"),  # type: ignore[arg-type]
        (
            lambda: oz.write_stream(NO_STREAM, "x.csv", checkpoint="c"),
            "write_stream: required a stream of matches, .* got 5",
        ),
        (lambda: oz.matcher("PATTERN A a", SCHEMA, type=0), "type: required the name of a column, or None; got 0"),  # type: ignore[arg-type]
        (lambda: oz.query("PATTERN A a").explain(ROWS, engine=5), "unknown engine '5'"),  # type: ignore[arg-type]
    ],
)
def test_what_others_are_not_given(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(oz.OuzelError, match=message):
        call()
