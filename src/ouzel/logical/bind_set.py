"""Stage 2, a set of queries: what all of its queries have in common, as one bound query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ouzel.errors import OuzelError
from ouzel.language import algebra_tree as algebra
from ouzel.language import automaton_tree
from ouzel.language.set_tree import QuerySet
from ouzel.logical.algebra.bind_query import bind_algebra
from ouzel.logical.algebra.streams import INTERVAL
from ouzel.logical.automata.bind_automaton import bind_automaton
from ouzel.logical.lifetimes import check_lives
from ouzel.logical.members import Members, check_numbers, check_others, example, parameters_of
from ouzel.logical.parameters import names_in
from ouzel.logical.query import BoundQuery, bind
from ouzel.logical.schema import Schema


def bind_set(written: QuerySet, schema: Schema, parameters: Mapping[str, Any] | None, name: str) -> BoundQuery:
    """Bind the template to a schema, with the values of the first query; None stands for values not known yet."""
    rows = None if parameters is None else parameters[written.rows]
    # among several queries there are values for others, too
    mentioned = set(names_in(written.template))
    others = {key: value for key, value in (parameters or {}).items() if key in mentioned}
    known = None
    if rows is not None:
        check_others(written, rows, others)
        check_numbers(rows, parameters_of(written, rows.schema))
        if not schema.is_open:
            check_lives(written, rows, schema.time)
        known = {**others, **example(written, rows)}
    template = written.template
    if isinstance(template, algebra.Query):
        bound = bind_algebra(template, schema, known, name, hidden=False)
    elif isinstance(template, automaton_tree.Query):
        bound = bind_automaton(template, schema, known, name)
    else:
        bound = bind(template, template.source, schema, known, name)
    _check(written, bound, name)
    # nothing here may depend on values, but for the window, which lasts as long as any
    return replace(
        bound,
        equivalences=tuple(replace(test, constant=None) for test in bound.equivalences),
        conjuncts=(),
        window=None,
        members=Members(written, schema, bound, rows, others),
    )


def _check(written: QuerySet, bound: BoundQuery, name: str) -> None:
    if bound.aggregates:
        raise OuzelError(
            f"query '{name}': OUTPUT AGGREGATE in a set of queries; required matches\n"
            "  hint: add them up by their id, or give the queries as a list"
        )
    if bound.numbers_matches:
        raise OuzelError(f"query '{name}': match_number() in a set of queries, which number nothing together")
    if bound.attributes is not None:
        columns = [*(one.name for one in bound.attributes), *bound.row_times]
    else:
        columns = [one.name for one in bound.output] or [*INTERVAL, *(one.variable for one in bound.components)]
    if written.id in columns:
        raise OuzelError(
            f"query '{name}': '{written.id}' is the id of the queries and a column of their results\n"
            "  hint: call one of them otherwise, for example oz.queries(…, id='rule')"
        )
