"""The whole pipeline on one screen: text -> syntax tree -> bound queries -> plans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ouzel.errors import OuzelError
from ouzel.language import parse
from ouzel.language.document import is_list
from ouzel.language.uncollected import uncollected
from ouzel.logical import BoundQuery, bind_program
from ouzel.logical.program import names_of
from ouzel.logical.schema import Schema
from ouzel.optimizer import Plan, check_engine, check_switches, choose_engine, choose_for_set
from ouzel.physical import ENGINES


@dataclass(frozen=True)
class Compiled:
    """Plans in an order in which each comes after those that feed it.

    `names` are those of the queries as they were written; `apart` says that results go by them, also that of one.
    """

    plans: tuple[Plan, ...]
    names: tuple[str, ...]
    apart: bool


def compile_query(
    text: str,
    schema: Schema,
    parameters: Mapping[str, Any] | None = None,
    engine: str = "auto",
    tuning: Mapping[str, str] | None = None,
    having: type = object,
) -> Compiled:
    """Compile a file of queries for events of a schema; without parameters, their values are left open.

    `having` is what plans must have beyond what every plan has, as a protocol.
    """
    written = parse(text)  # 1. language: what was said
    check_engine(ENGINES, engine)
    check_switches(ENGINES, tuning or {})
    queries = bind_program(written, text, schema, parameters)  # 2. logical: what it means
    with uncollected(text):
        plans = [_planned(one, engine, tuning, having, several=len(written) > 1) for one in queries]  # 3. and 4.
    names = names_of(written)
    return Compiled(tuple(plans), names, apart=len(names) > 1 or is_list(text))  # 5. runtimes let engines run them


def _planned(
    query: BoundQuery, engine: str, tuning: Mapping[str, str] | None, having: type, *, several: bool
) -> Plan:
    """How a query will be run; where there are several, an error says of which it is."""
    try:
        if query.members is not None:
            return choose_for_set(query, ENGINES, engine, tuning, having)
        return choose_engine(query, ENGINES, engine, tuning, having)
    except OuzelError as error:
        if not several or type(error) is not OuzelError:
            raise
        raise OuzelError(f"query '{query.name}': {error}") from None
