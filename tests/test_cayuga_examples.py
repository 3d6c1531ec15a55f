"""Cayuga's queries in examples/papers: the algebra finds what was worked out by hand, and the text the same."""

from __future__ import annotations

import json
import random
import re
import runpy
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import ouzel as oz

ROOT = Path(__file__).parents[1]
PAPERS = ROOT / "examples" / "papers"
README = (PAPERS / "README.md").read_text(encoding="utf-8")
EXPECTED: dict[str, dict[str, Any]] = json.loads((PAPERS / "expected.json").read_text(encoding="utf-8"))

Quote = dict[str, Any]
Query = oz.Stream | str

NAMES = [path.stem for path in sorted(PAPERS.glob("cayuga_q*.py"))]
PAIRS = [*((name, "query", "text") for name in NAMES), ("cayuga_q3", "adjacent", "adjacent_text")]

# Prices near the constants of a query, or near each other; else few streams would have a match.
PRICES = {
    "cayuga_q1": range(95, 106),
    "cayuga_q2": [20, 24, 25, 30, 101, 120],
    "cayuga_q7": range(300, 330),
    "cayuga_q8": [8, 9, 14, 16, 17],
}
# 363 days pass between the first and the last of 52 weeks: three steps of 121.
STEPS = {"cayuga_q6": [0, 121, 121, 242]}
# What prices do in the long run.
DRIFT = {"cayuga_q4": 1, "cayuga_q5": 1, "cayuga_q7": -1}

every_query = pytest.mark.parametrize("name", NAMES)
every_pair = pytest.mark.parametrize(("name", "query", "text"), PAIRS)


@cache
def example(name: str) -> dict[str, Any]:
    """What the module defines."""
    return runpy.run_path(str(PAPERS / f"{name}.py"))


@cache
def quotes_of(name: str) -> list[Quote]:
    return [json.loads(line) for line in (PAPERS / "events" / f"{name}.jsonl").read_text().splitlines()]


def random_quotes(name: str, seed: int) -> list[Quote]:
    """Quotes of few companies, often simultaneous, two of them twice; every third stream has nulls, too."""
    chance = random.Random(f"{name} {seed}")
    names: list[str | None] = ["IBM", "IBM", "IBM", "MSFT"]
    nulls = [None] if seed % 3 == 0 else []
    moment, quotes = 0, []
    for nth in range(chance.randrange(4, 40)):
        moment += chance.choice(STEPS.get(name, [0, 1, 1, 2, 3]))
        price = chance.choice(PRICES.get(name, range(60, 70))) + DRIFT.get(name, 0) * 6 * nth
        quotes.append(
            {
                "ts": moment,
                "name": chance.choice([*names, *nulls]),
                "price": chance.choice([price] * 6 + [*nulls]),
                "vol": chance.choice([9_000, 11_000]),
            }
        )
    return [*quotes, *chance.sample(quotes, 2)]


def as_set(rows: list[dict[str, Any]]) -> list[str]:
    """Streams of the algebra are sets; columns have their order."""
    return sorted({json.dumps(row) for row in rows})


def test_there_are_eight_queries_with_rows_and_a_line_in_the_readme() -> None:
    assert [f"cayuga_q{number}" for number in range(1, 9)] == NAMES
    assert [name for name in EXPECTED if name.startswith("cayuga")] == NAMES
    assert re.findall(r"^\| \[(cayuga\w+)\]\(\1\.py\)", README, re.MULTILINE) == NAMES


@every_query
@pytest.mark.parametrize("engine", ["auto", "automaton", "reference"])
def test_the_algebra_gives_exactly_the_expected_rows(name: str, engine: str) -> None:
    assert oz.match(quotes_of(name), example(name)["query"], engine=engine) == EXPECTED[name]["rows"]


@every_query
@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_the_text_gives_the_same(name: str, engine: str) -> None:
    found = oz.match(quotes_of(name), example(name)["text"], engine=engine)
    assert as_set(found) == as_set(EXPECTED[name]["rows"])


@every_query
def test_the_others_are_times_of_the_input_and_no_row(name: str) -> None:
    times = {str(quote["ts"]) for quote in quotes_of(name)}
    found = {f"{row['start']} {row['end']}" for row in EXPECTED[name]["rows"]}
    for other in EXPECTED[name]["others"]:
        assert set(other.split()) <= times
        assert other not in found


@every_query
def test_an_example_says_where_it_comes_from(name: str) -> None:
    assert re.match(rf"Cayuga, section \d\.\d, Query {name[-1]}: ", example(name)["__doc__"])


@every_query
def test_a_script_prints_the_rows(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(PAPERS / f"{name}.py"), run_name="__main__")
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == EXPECTED[name]["rows"]


def test_the_command_of_the_readme_names_a_script() -> None:
    commands = re.findall(r"^    python (.*)", README, re.MULTILINE)
    assert commands
    for command in commands:
        assert Path(*shlex.split(command)).stem in (*NAMES, "afa_q1")
        assert (ROOT / command).is_file()


@every_pair
def test_algebra_and_text_agree_on_random_quotes(name: str, query: str, text: str) -> None:
    rows = 0
    for seed in range(24):
        quotes = random_quotes(name, seed)
        found = as_set(oz.match(quotes, example(name)[query]))
        assert found == as_set(oz.match(quotes, example(name)[text])), f"seed {seed}"
        rows += len(found)
    assert rows > 10


@pytest.mark.parametrize("form", ["adjacent", "adjacent_text"])
def test_the_next_transaction_of_all_may_be_of_another_stock(form: str) -> None:
    found = oz.match(quotes_of("cayuga_q3"), example("cayuga_q3")[form])
    assert as_set(found) == as_set(EXPECTED["cayuga_q3"]["rows"][1:])  # Dell comes within the first pair


@pytest.mark.parametrize("form", ["query", "text"])
def test_one_of_simultaneous_quotes_may_go_on_with_the_pattern(form: str) -> None:
    e6_prime = {"ts": 564, "name": "IBM", "price": 80, "vol": 8000}
    found = oz.match([*quotes_of("cayuga_q7"), e6_prime], example("cayuga_q7")[form])
    assert found == EXPECTED["cayuga_q7"]["rows"]


@pytest.mark.parametrize("form", ["query", "text"])
def test_all_simultaneous_quotes_have_to_be_passed_over(form: str) -> None:
    e3_prime = {"ts": 557, "name": "IBM", "price": 99, "vol": 8000}
    assert oz.match([*quotes_of("cayuga_q7"), e3_prime], example("cayuga_q7")[form]) == []


def test_contiguity_counts_events_of_other_types_and_the_algebra_does_not() -> None:
    quotes = [{**quote, "type": "Stock", "ts": 2 * quote["ts"]} for quote in quotes_of("cayuga_q8")[:3]]
    halt = {**quotes[0], "type": "Halt", "ts": quotes[0]["ts"] + 1}
    assert len(oz.match([*quotes, halt], example("cayuga_q8")["query"])) == 1
    assert oz.match([*quotes, halt], example("cayuga_q8")["text"]) == []
