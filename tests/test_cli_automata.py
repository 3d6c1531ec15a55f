"""`ouzel run` and `explain` of a register automaton, which is a file of JSON or JSON itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ouzel as oz
from test_cli import Cli, cli  # noqa: F401 - a fixture

SPEC = {
    "start": "q0",
    "final": ["q2"],
    "register": {"low": 0.0, "n": 0},
    "window": 10,
    "partition": ["k"],
    "arcs": [
        {"id": "first", "source": "q0", "target": "q1", "set": {"low": "e.x", "n": "1"}},
        {"id": "falls", "source": "q1", "target": "q1", "when": "e.x < low", "set": {"low": "e.x", "n": "n + 1"}},
        {"id": "rises", "source": "q1", "target": "q2", "when": "e.x > low AND n > 1"},
    ],
}
EVENTS = [{"ts": ts, "k": ts % 2, "x": float(x)} for ts, x in enumerate((5, 9, 4, 8, 3, 7, 6, 9, 8, 1))]


@pytest.fixture
def files(cli: Cli) -> Cli:  # noqa: F811
    Path("v.json").write_text(json.dumps(SPEC))
    Path("ticks.jsonl").write_text("\n".join(map(json.dumps, EVENTS)))
    return cli


@pytest.mark.parametrize(
    "query", ["v.json", json.dumps(SPEC), oz.automaton(SPEC).text], ids=["file", "it", "text"]
)
def test_an_automaton_is_run_and_explained(files: Cli, query: str) -> None:
    found = files("run", query, "--events", "ticks.jsonl", "--time-unit", "ms")
    assert found.code == 0, found.err
    expected = oz.match(EVENTS, oz.automaton(SPEC), time_unit="ms")
    assert expected
    assert [json.loads(line) for line in found.out.splitlines()] == expected
    assert files("explain", query).out == oz.query(oz.automaton(SPEC)).explain() + "\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"start": "q0",', "in 'v.json': Expecting property name"),
        ('{"start": "q0", "final": ["q1"]}', "automaton: no 'arcs'"),
        ("[1, 2]", "in 'v.json': got [1, 2]"),
        ("null", "in 'v.json': got null"),
        ('"PATTERN A"', "in 'v.json': got \"PATTERN A\""),
        ("PATTERN A a", "required: an automaton in JSON: an object with start, final and arcs"),
        (json.dumps({**SPEC, "arcs": [{"source": "q0", "target": "q2", "when": "e.x >"}]}), "in 'v.json'"),
    ],
    ids=["cut off", "no arcs", "a list", "null", "a text in JSON", "a text", "a condition"],
)
def test_json_that_is_no_automaton(files: Cli, content: str, message: str) -> None:
    Path("v.json").write_text(content)
    result = files("run", "v.json", "--events", "ticks.jsonl")
    assert (result.code, result.out) == (3, "")
    assert message in result.err


def test_a_file_that_is_not_there(files: Cli) -> None:
    assert "w.json: No such file or directory" in files("run", "w.json", "--events", "ticks.jsonl").err
    assert files("explain", "PATTERN A a RETURN a.json").code == 0
