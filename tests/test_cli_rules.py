"""`ouzel run --rules`: a file of rules, as values for a template or as texts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from ouzel.cli.commands import app

TEMPLATE = "PATTERN A; B WHERE B.x - A.x <= $most RETURN A.x AS a, B.x AS b"
EVENTS = [{"ts": f"2026-03-01T10:00:0{n}Z", "type": "AB"[n % 2], "x": n} for n in range(8)]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines("events.jsonl", EVENTS)


def lines(name: str, rows: list[dict[str, Any]]) -> None:
    Path(name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["run", *arguments])


def found(result: Result) -> list[Any]:
    assert result.exit_code == 0, result.output
    return [list(json.loads(line).values()) for line in result.stdout.splitlines()]


def test_values_for_a_template() -> None:
    pq.write_table(pa.table({"id": ["near", "far"], "most": [1, 3], "note": ["", ""]}), "rules.parquet")
    result = run(TEMPLATE, "--rules", "rules.parquet", "--events", "events.jsonl", "--format", "json")
    near = [["near", n, n + 1] for n in (0, 2, 4, 6)]
    far = [["far", n, n + d] for n in (0, 2, 4, 6) for d in (1, 3) if n + d < 8]
    assert sorted(found(result)) == sorted(near + far)


def test_a_history_of_values() -> None:
    Path("rules.csv").write_text(
        "id,most,valid_from,valid_to\nr,1,,\nr,3,2026-03-01T10:00:04Z,2026-03-01T10:00:06Z\n", encoding="utf-8"
    )
    result = run(TEMPLATE, "--rules", "rules.csv", "--events", "events.jsonl", "--to", "found.jsonl")
    assert result.exit_code == 0, result.output
    written = [list(json.loads(line).values()) for line in Path("found.jsonl").read_text().splitlines()]
    assert sorted(written) == [["r", 0, 1], ["r", 2, 3], ["r", 4, 5]]


def test_texts_without_a_query() -> None:
    lines(
        "rules.jsonl",
        [
            {"id": "as", "query": "PATTERN A WHERE A.x > 3 RETURN A.x", "valid_to": "2026-03-01T10:00:05Z"},
            {"id": "bs", "query": "PATTERN B RETURN B.x AS b", "valid_from": "2026-03-01T10:00:06.5Z"},
        ],
    )
    result = run("--rules", "rules.jsonl", "--events", "events.jsonl", "--format", "json")
    assert found(result) == [["as", '{"x": 4}'], ["bs", '{"b": 7}']]


def test_texts_beside_a_query() -> None:
    Path("rules.csv").write_text("id,query\nb,PATTERN B RETURN B.x\nother,\n", encoding="utf-8")
    result = run(
        "QUERY a PATTERN A RETURN A.x", "--rules", "rules.csv", "--events", "events.jsonl", "--format", "json"
    )
    assert [name for name, _match in found(result)] == ["a"] * 4 + ["b"] * 4


WRONG: dict[str, tuple[list[dict[str, Any]], list[str], int, str]] = {
    "no file": ([], ["PATTERN A", "--rules", "none.parquet"], 5, "none.parquet"),
    "no id": ([{"most": 1}], [TEMPLATE], 4, "'rules.jsonl': required a column 'id'; got most"),
    "no template": ([{"id": 1, "most": 1}], [], 2, "the template of the rules, as they have no column 'query'"),
    "no query": ([{"id": "r", "query": "PATTERN"}], [], 3, "in the rule 'r'"),
    "no value": ([{"id": 1, "least": 1}], [TEMPLATE], 3, "the parameter $most of the set has no value"),
    "no time": (
        [{"id": 1, "most": 1, "valid_from": "2026-03-01T10:00:00Z"}, {"id": 2, "most": 2, "valid_from": "soon"}],
        [TEMPLATE],
        4,
        "required a time; got 'soon'",
    ),
    "a stream": ([{"id": 1, "most": 1}], [TEMPLATE, "--rules-stream", "rules"], 2, "is for --stream"),
    "columns": ([{"id": 1, "most": 1}], [TEMPLATE, "--rules-schema", "id int"], 2, "is for --rules-stream"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    from ouzel.cli.main import main

    rules, arguments, code, message = WRONG[case]
    lines("rules.jsonl", rules)
    named = [] if "--rules" in arguments else ["--rules", "rules.jsonl"]
    with pytest.raises(SystemExit) as end:
        main(["run", *arguments, *named, "--events", "events.jsonl"])
    said = " ".join(re.sub(r"[│╭╮╰╯─]", " ", capsys.readouterr().err).split())
    assert message in said
    assert end.value.code == code


def test_neither_a_query_nor_rules() -> None:
    result = run("--events", "events.jsonl")
    assert result.exit_code == 2
    assert "Missing argument 'QUERY'" in result.output
