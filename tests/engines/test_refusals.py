"""The list of refusals is true: each example is refused for its reason, and runs on every other engine."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

import ouzel as oz
from engines.refusals import EVENTS, MATCHER, REFUSALS, Refusal, is_listed
from ouzel.physical import ENGINES

SCHEMA = pa.schema(
    {
        **{"ts": "int64", "type": "string", "k": "int64", "x": "int64", "d": pa.decimal128(19, 1)},
        **{"f": "float64", "s": "string", "u": "uint64"},
    }
)
EXAMPLES = list(dict.fromkeys(one.example for one in REFUSALS))


Example = str | oz.Stream | oz.Automaton


def query_of(example: Example) -> Example:
    return f"PATTERN {example}" if isinstance(example, str) else example


def said(engine: str, example: Example, column: pa.DataType | None = None) -> str | None:
    """What an engine, or a matcher, says against a query; None if it takes it."""
    try:
        if engine == MATCHER:
            more = [] if column is None else [pa.field("u", column)]
            oz.matcher(query_of(example), pa.schema([*SCHEMA, *more]))
        else:
            oz.match(EVENTS, query_of(example), engine=engine)
    except oz.OuzelError as error:
        return str(error).removeprefix(f"the engine {engine} cannot run this query: ")
    return None


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda one: f"{one.engine}: {str(one.example)[:60]}")
def test_what_is_listed_is_refused(refusal: Refusal) -> None:
    why = said(refusal.engine, refusal.example, refusal.column)
    assert why is not None, "it is run now: strike it off the list"
    assert re.fullmatch(refusal.why, why, re.DOTALL), why


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: str(one)[:60])
def test_the_others_run_it(example: Example) -> None:
    for engine in (*(one.name for one in ENGINES), MATCHER):
        why = said(engine, example)
        assert why is None or is_listed(engine, why), f"{engine}: {why}"
    assert said("reference", example) is None
