"""The queries of examples/papers: each is accepted as printed and finds what was worked out by hand."""

from __future__ import annotations

import json
import random
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.json
import pytest

import ouzel as oz
from ouzel.cli.main import main

ROOT = Path(__file__).parents[1]
PAPERS = ROOT / "examples" / "papers"
README = (PAPERS / "README.md").read_text(encoding="utf-8")
EVERYTHING: dict[str, dict[str, Any]] = json.loads((PAPERS / "expected.json").read_text(encoding="utf-8"))
# those that have rows are tested in test_cayuga_examples.py and test_automaton_examples.py
EXPECTED = {name: entry for name, entry in EVERYTHING.items() if "matches" in entry}

Events = Any  # an Arrow table, or one per event type


@dataclass(frozen=True)
class Example:
    """A query, as its file has it or with something replaced, and what it finds in its events."""

    name: str
    events: str
    matches: list[dict[str, Any]]
    others: Mapping[str, str]
    params: Mapping[str, Any] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    replace: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return "-".join([self.name, *(new.lower().replace(" ", "_") for new in self.replace.values())])

    @property
    def query(self) -> oz.Query:
        text = query_text(self.name)
        for old, new in self.replace.items():
            assert text.count(old) == 1, f"{old} is not there, or more than once"
            text = text.replace(old, new)
        return oz.query(text, self.params)

    def run(self, events: Events) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = oz.match(events, self.query, **self.reading).to_pylist()
        return found


def read_examples() -> list[Example]:
    examples = []
    for name, entry in EXPECTED.items():
        whole = {"events": name, **entry}
        variants = whole.pop("variants", [])
        examples += [Example(name, **{**whole, **variant}) for variant in [{}, *variants]]
    return examples


def query_text(name: str) -> str:
    return (PAPERS / f"{name}.ozl").read_text(encoding="utf-8")


@cache
def read_events(name: str) -> Events:
    """One file, or a directory of one file per type."""
    directory = PAPERS / "events" / name
    if directory.is_dir():
        return {path.stem: pa.json.read_json(path) for path in directory.iterdir()}
    return pa.json.read_json(directory.with_suffix(".jsonl"))


def rows_of(events: Events) -> list[dict[str, Any]]:
    tables = events.values() if isinstance(events, dict) else [events]
    return [row for table in tables for row in table.to_pylist()]


def shuffled(events: Events, chance: random.Random) -> Events:
    if isinstance(events, dict):
        return {name: shuffled(table, chance) for name, table in events.items()}
    order = list(range(events.num_rows))
    chance.shuffle(order)
    return events.take(order)


def identity(event: Mapping[str, Any]) -> Any:
    """What tells events apart: `eid`, or, in the stock stream, `id`."""
    return event.get("eid", event.get("id"))


def short(value: Any) -> Any:
    """A cell of a result, with the identity of an event in place of the event."""
    if isinstance(value, list):
        return [short(one) for one in value]
    return identity(value) if isinstance(value, dict) else value


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Matches have no order of their own; variables have that of the pattern."""
    return sorted(rows, key=lambda row: json.dumps(list(row.items())))


def found_matches(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = ("start", "end")
    return in_order([{key: short(cell) for key, cell in row.items() if key not in names} for row in rows])


def events_in(cell: Any) -> list[dict[str, Any]]:
    if isinstance(cell, list):
        return [event for one in cell for event in events_in(one)]
    return [cell] if isinstance(cell, dict) else []


EXAMPLES = read_examples()
QUERIES = sorted(path.stem for path in PAPERS.glob("*.ozl"))

every_example = pytest.mark.parametrize("example", EXAMPLES, ids=[example.id for example in EXAMPLES])
every_query = pytest.mark.parametrize("name", QUERIES)


def test_every_query_has_its_matches_and_its_events() -> None:
    assert set(EXPECTED) == set(QUERIES)
    there = {path.relative_to(PAPERS / "events").parts[0] for path in PAPERS.glob("events/**/*.jsonl")}
    with_rows = EVERYTHING.keys() - EXPECTED.keys()
    assert {name.removesuffix(".jsonl") for name in there} == {example.events for example in EXAMPLES} | with_rows


def test_the_readme_lists_every_query() -> None:
    assert sorted(re.findall(r"^\| \[(\w+)\]\(\1\.ozl\)", README, re.MULTILINE)) == QUERIES


@pytest.mark.parametrize("command", re.findall(r"^    ouzel (run (?:.*\\\n)*.*)", README, re.MULTILINE))
def test_the_commands_of_the_readme_find_the_matches(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    arguments = shlex.split(command.replace("\\\n", ""))
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert found_matches(found) == in_order(EXPECTED[Path(arguments[1]).stem]["matches"])


@every_query
def test_a_query_says_where_it_comes_from(name: str) -> None:
    papers = {"sase_plus": "SASE+", "sase": "SASE", "zstream": "ZStream"}
    paper = next(title for prefix, title in papers.items() if name.startswith(prefix))
    assert query_text(name).startswith(f"-- {paper}, section ")


@every_query
def test_a_query_is_explained_before_there_are_events(name: str) -> None:
    query = oz.query(query_text(name))
    assert len(query.names) == 1
    check_mentions_variables(query.explain(), query_text(name))


@every_example
def test_a_query_is_explained_with_its_events(example: Example) -> None:
    explained = example.query.explain(read_events(example.events), **example.reading)
    check_mentions_variables(explained, query_text(example.name))
    assert f"{len(rows_of(read_events(example.events)))} events" in explained


def check_mentions_variables(explained: str, text: str) -> None:
    pattern = re.search(r"^(?:PATTERN|EVENT)\b(.*?)^(?:WHERE|WITHIN)", text, re.DOTALL | re.MULTILINE | re.I)
    assert pattern is not None
    declared = re.findall(r"(?<=[\w+)]) (\w+)(?:\[\])?\s*[,)]", pattern[1])
    # without variables the types, or ZStream's classes, are the variables
    variables = declared or re.findall(r"[A-Za-z][A-Za-z0-9-]*", pattern[1])
    for variable in variables:
        assert re.search(rf"^(  components| {{12}}) *{variable}: ", explained, re.MULTILINE), variable


@every_example
def test_exactly_the_expected_matches(example: Example) -> None:
    found = example.run(read_events(example.events))
    assert found_matches(found) == in_order(example.matches)


@every_example
def test_matches_hold_events_of_the_input_and_span_them(example: Example) -> None:
    events = {identity(row): row for row in rows_of(read_events(example.events))}
    for row in example.run(read_events(example.events)):
        bound = [event for cell in row.values() for event in events_in(cell)]
        for event in bound:
            original = events[identity(event)]
            assert {name: value for name, value in event.items() if name in original} == original
        if "start" in row:
            assert row["start"] == min(event["ts"] for event in bound)
            assert row["end"] == max(event["ts"] for event in bound)


@every_example
def test_the_others_are_events_of_the_input_and_no_match(example: Example) -> None:
    known = {str(identity(row)) for row in rows_of(read_events(example.events))}
    matched = [
        {str(identity(event)) for cell in row.values() for event in events_in(cell)}
        for row in example.run(read_events(example.events))
    ]
    for near_miss in example.others:
        assert set(near_miss.split()) <= known
        assert set(near_miss.split()) not in matched


@every_example
@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_arrival_does_not_matter(example: Example, seed: int) -> None:
    events = shuffled(read_events(example.events), random.Random(seed))
    assert found_matches(example.run(events)) == in_order(example.matches)
