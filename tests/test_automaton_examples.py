"""AFA's queries in examples/papers: register automata find what was worked out by hand."""

from __future__ import annotations

import json
import random
import re
import runpy
from functools import cache
from itertools import combinations
from math import prod
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz

ROOT = Path(__file__).parents[1]
PAPERS = ROOT / "examples" / "papers"
README = (PAPERS / "README.md").read_text(encoding="utf-8")
EXPECTED: dict[str, dict[str, Any]] = json.loads((PAPERS / "expected.json").read_text(encoding="utf-8"))

NAMES = [path.stem for path in sorted(PAPERS.glob("afa_*.py"))]
# its arcs change while it runs, so it has a matcher
STATIC = [name for name in NAMES if name != "afa_dynamic"]

every_query = pytest.mark.parametrize("name", NAMES)
every_static = pytest.mark.parametrize("name", STATIC)

Row = dict[str, Any]


@cache
def example(name: str) -> Row:
    """What the module defines."""
    return runpy.run_path(str(PAPERS / f"{name}.py"))


@cache
def events_of(name: str) -> list[Row]:
    return [json.loads(line) for line in (PAPERS / "events" / f"{name}.jsonl").read_text().splitlines()]


def matched(name: str, events: list[Row], **options: Any) -> list[Row]:
    found: list[Row] = oz.match(events, example(name)["query"], params=example(name).get("params"), **options)
    return found


def in_order(rows: list[Row]) -> list[str]:
    return sorted(map(json.dumps, rows))


def test_every_example_has_its_rows_and_is_listed() -> None:
    assert {name for name in EXPECTED if name.startswith("afa")} == set(NAMES)
    assert sorted(re.findall(r"^\| \[(afa\w+)\]\(\1\.py\)", README, re.MULTILINE)) == NAMES


@every_query
def test_an_example_says_where_it_comes_from(name: str) -> None:
    assert re.match(r"AFA, (section \d(\.\d)?|appendix [A-F])(, [\w ]+)?: ", example(name)["__doc__"])


@every_query
def test_a_script_prints_the_rows(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(PAPERS / f"{name}.py"), run_name="__main__")
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == EXPECTED[name]["rows"]


@every_static
@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_engines_find_the_rows(name: str, engine: str) -> None:
    assert matched(name, events_of(name), engine=engine) == EXPECTED[name]["rows"]


@every_static
def test_the_order_of_arrival_does_not_matter(name: str) -> None:
    events = random.Random(name).sample(events_of(name), len(events_of(name)))
    assert in_order(matched(name, events)) == in_order(EXPECTED[name]["rows"])


@every_static
def test_a_matcher_that_speculates_ends_with_the_rows(name: str) -> None:
    events = random.Random(name).sample(events_of(name), len(events_of(name)))
    table = pa.Table.from_pylist(events)
    params = example(name).get("params")
    matcher = oz.matcher(example(name)["query"], table.schema, params=params, speculation="inf")
    told = [matcher.push(table.slice(place, 1)) for place in range(len(table))]
    standing: dict[int, Row] = {}
    for row in pa.concat_tables([*told, matcher.finish()]).to_pylist():
        op, number = row.pop("op"), row.pop("match_id")
        standing = {**standing, number: row} if op > 0 else {k: v for k, v in standing.items() if k != number}
    assert in_order(list(standing.values())) == in_order(EXPECTED[name]["rows"])


@every_query
def test_the_others_are_times_of_the_input_and_no_row(name: str) -> None:
    times, window = {event["ts"] for event in events_of(name)}, int(example(name)["query"].spec["window"])
    for other in EXPECTED[name]["others"]:
        first, *last = map(int, other.split())
        assert {first, *last} <= times
        for row in EXPECTED[name]["rows"]:
            assert row["valid_to"] != first + window or (last and row["valid_from"] != last[0])


@every_static
def test_engines_agree_on_random_streams(name: str) -> None:
    found = 0
    for seed in range(12):
        chance = random.Random(f"{name} {seed}")
        # the same events, some of them left out and some twice, now and then at one time
        drawn = [event for event in events_of(name) for _ in range(chance.choice((0, 1, 1, 1, 1, 1, 1, 2)))]
        events = [{**event, "ts": place + chance.choice((0, 0, 0, 1))} for place, event in enumerate(drawn)]
        expected = matched(name, events, engine="reference")
        assert in_order(matched(name, events)) == in_order(expected), f"seed {seed}"
        found += len(expected)
    assert found > 3


def test_the_ticks_are_where_a_search_finds_them() -> None:
    text = "".join("u" if one["change"] > 0 else "d" if one["change"] < 0 else "-" for one in events_of("afa_q3"))
    found = [one.start() + 1 for one in re.finditer(f"(?={example('afa_q3')['TICKS']})", text)]
    assert found == [row["valid_to"] - 500 for row in EXPECTED["afa_q3"]["rows"]]


def test_probabilities_are_those_of_all_possible_worlds() -> None:
    events, least = events_of("afa_uncertain"), example("afa_uncertain")["params"]["threshold"]
    found = []
    for chosen in combinations(range(len(events)), 3):
        if [events[place]["kind"] for place in chosen] != list("ABC"):
            continue
        happened = [(events[place]["prob"], place in chosen) for place in range(chosen[0], chosen[-1] + 1)]
        probability = prod(one if did else 1 - one for one, did in happened)
        if probability >= least:
            found.append((probability, events[chosen[-1]]["ts"], events[chosen[0]]["ts"] + 100))
    assert found == [tuple(row.values()) for row in EXPECTED["afa_uncertain"]["rows"]]


def test_a_change_of_arcs_is_what_lives_say() -> None:
    module = example("afa_dynamic")
    since = events_of("afa_dynamic")[module["CHANGE_AT"]]["ts"]
    before = [{**arc, "lives": [[None, since]]} for arc in module["up_arcs"](2)]
    after = [{**arc, "lives": [[since, None]]} for arc in module["up_arcs"](3)]
    automaton = oz.automaton({**module["query"].spec, "arcs": [*module["down_arcs"], *before, *after]})
    assert oz.match(events_of("afa_dynamic"), automaton) == EXPECTED["afa_dynamic"]["rows"]
