"""The whole pipeline on one screen: text -> syntax tree -> bound queries -> plans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ouzel.language import parse
from ouzel.logical import bind_program
from ouzel.logical.schema import Schema
from ouzel.optimizer import Plan, choose_engine
from ouzel.physical import ENGINES


@dataclass(frozen=True)
class Compiled:
    """Plans in an order in which each comes after those that feed it."""

    plans: tuple[Plan, ...]
    schema: Schema


def compile_query(
    text: str,
    schema: Schema,
    parameters: Mapping[str, Any] | None = None,
    engine: str = "auto",
    tuning: Mapping[str, str] | None = None,
) -> Compiled:
    """Compile a file of queries for events of a schema; without parameters, their values are left open."""
    written = parse(text)  # 1. language: what was said
    program = bind_program(written, text, schema, parameters)  # 2. logical: what it means
    plans = tuple(choose_engine(query, ENGINES, engine, tuning) for query in program.queries)  # 3. optimizer: how
    return Compiled(plans, program.schema)  # 4. and 5.: engines run plans, runtimes drive engines
