"""Stage 2, the algebra, the whole of it: an expression as written and a schema in, a bound query out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ouzel.errors import QueryError
from ouzel.language import algebra_tree as algebra
from ouzel.language.tree import Strategy
from ouzel.logical.algebra.bind_formula import Context
from ouzel.logical.algebra.bind_stream import bind_stream
from ouzel.logical.algebra.narrow import narrowed
from ouzel.logical.algebra.streams import INTERVAL, bases
from ouzel.logical.pattern import Binds, Component, Sequence, Step
from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import Schema


def bind_algebra(
    written: algebra.Query, schema: Schema, parameters: Mapping[str, Any] | None, name: str, *, hidden: bool
) -> BoundQuery:
    """Bind one expression to a schema; `parameters` None stands for values that are not known yet."""
    bound = bind_stream(Context(schema, parameters, name), written.stream)
    for one in () if hidden else bound.names:
        if one in INTERVAL:
            raise QueryError(
                f"the attribute '{one}' in the result of '{name}'",
                required="an attribute that is not called as a column of the result: start, end",
                hint=f"give it another name: rename(x='{one}')",
            )
    stream = bound.stream if bound.is_open else narrowed(bound.stream)
    components = tuple(
        Component(f"s{place + 1}", base.types, place, Binds.ONE) for place, base in enumerate(bases(stream))
    )
    steps = tuple(map(Step, components))
    return BoundQuery(
        name=name,
        source=written.source,
        schema=schema,
        pattern=steps[0] if len(steps) == 1 else Sequence(steps),
        components=components,
        strategy=Strategy.SKIP_TILL_ANY_MATCH,
        equivalences=(),
        conjuncts=(),
        window=None,
        output=(),
        into=written.into.text if written.into else None,
        non_overlap=False,
        algebra=stream,
        hidden=hidden,
    )
