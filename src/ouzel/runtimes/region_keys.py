"""Which queries can be corrected region by region, by which keys, and plans that give the key of every match."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from ouzel.errors import Span
from ouzel.logical.bind_output import OutputColumn
from ouzel.logical.expressions import Attribute, Element
from ouzel.logical.partition_stream import partition_stream
from ouzel.logical.pattern import Binds, Component, Disjunction, Pattern, Step
from ouzel.logical.query import BoundQuery
from ouzel.optimizer import Plan, choose_engine
from ouzel.physical import ENGINES
from ouzel.physical.contract import Found
from ouzel.physical.match_table import ends_of
from ouzel.physical.meaning import plain
from ouzel.runtimes.key_buckets import has_buckets

KEY = "\0key"
_LONGEST = 2**61
"""Windows up to so many ticks, so that times less or more than a few of them can be told."""


def region_keys(query: BoundQuery, columns: pa.Schema) -> tuple[str, ...]:
    """The columns by which a query can be corrected region by region; none if it cannot."""
    window = query.window
    is_plain = not (query.aggregates or query.non_overlap or query.into or query.composites or query.reads_lasting)
    if not is_plain or query.members is not None or query.attributes is not None:
        return ()
    if window is None or window.counts_events or window.limit > _LONGEST or not partition_stream(query)[0]:
        return ()
    keys = []
    for test in query.equivalences:
        held = {test.column(name) for name in query.schema.types} | set(test.types_by_column)
        (column, *others) = sorted(one for one in held if one is not None)
        if others or column not in columns.names or not has_buckets(columns.field(column).type):
            return ()
        keys.append(column)
    return tuple(dict.fromkeys(keys))


def with_keys(plan: Plan, keys: tuple[str, ...]) -> Plan:
    """The plan of a query that returns its key beside: by one variable, or all that may be bound to nothing."""
    query = plan.query
    if not query.output:
        return plan
    more: list[OutputColumn] = []
    bound = next(_bound(query.pattern), None)
    may_tell = [one for one in query.components if not one.negative] if bound is None else [bound]
    for component in may_tell:
        element = Element.FIRST if component.is_array else Element.SINGLE
        held = {one.name: one.type for kind in component.types for one in (kind.attributes or {}).values()}
        for number, name in enumerate(keys):
            attribute = Attribute(component.variable, element, name, name, held[name], frozenset(), Span(0, 0))
            more.append(OutputColumn(f"{KEY}{number}.{component.position}", attribute))
    tuning = dict(plan.rivals.tuning)
    return choose_engine(replace(query, output=(*query.output, *more)), ENGINES, plan.engine, tuning)


def _bound(pattern: Pattern) -> Iterator[Component]:
    """The components that are bound to an event in every match."""
    if isinstance(pattern, Step):
        if pattern.component.binds is Binds.ONE:
            yield pattern.component
    elif not isinstance(pattern, Disjunction):
        for item in pattern.items:
            yield from _bound(item)


def keys_of(found: Found, table: pa.Table, keys: tuple[str, ...]) -> tuple[pa.Table, list[pa.ChunkedArray]]:
    """A result without the keys that were returned beside, and these."""
    if found.query.output:
        shown = [name for name in table.column_names if not name.startswith(KEY)]
        return table.select(shown), [_first_there(table, f"{KEY}{number}.") for number in range(len(keys))]
    variables = [one.variable for one in found.query.components if not one.negative]
    first, _last = ends_of(variables, found.matches.bound)
    return table, [found.events.table.column(name).take(pa.array(first)) for name in keys]


def _first_there(table: pa.Table, prefix: str) -> pa.ChunkedArray:
    """Of columns whose names begin so, the first value in each row that is there."""
    columns = [plain(table.column(name)) for name in table.column_names if name.startswith(prefix)]
    return columns[0] if len(columns) == 1 or not table.num_rows else pc.coalesce(*columns)
