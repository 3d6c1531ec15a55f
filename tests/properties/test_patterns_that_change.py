"""Queries that change in a running matcher: every event is judged by the version in force at its time."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import ouzel as oz
from properties.changing_patterns import TYPES, Query, changed, evaluated, queries, rows_of, tables

ENGINES = ("auto", "scan", "automaton", "tree", "reference")
REFUSED = ("in automata only", "have not kept", "left out negative", "cannot run this query")


@settings(max_examples=150)
@given(st.data(), queries(), tables())
def test_patterns(data: st.DataObject, query: Query, table: pa.Table) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, table.num_rows), min_size=1, max_size=3)))
    versions: list[Query] = []
    for _cut in cuts:
        versions.append(data.draw(changed(versions[-1] if versions else query)))
    restarts = data.draw(st.lists(st.booleans(), min_size=len(cuts), max_size=len(cuts)))
    times = [table.column("ts")[cut - 1].as_py() if cut else -1 for cut in cuts]
    expected = evaluated(query, table, list(zip(times, versions, strict=True)))
    for engine in ENGINES:
        found = _ran(query, table, list(zip(cuts, versions, restarts, strict=True)), engine)
        if found is not None:
            assert found == expected, engine


def _ran(
    query: Query, table: pa.Table, changes: list[tuple[int, Query, bool]], engine: str
) -> Counter[str] | None:
    """What a matcher finds; None if it refuses."""
    found: list[str] = []
    try:
        matcher = oz.matcher(query.text, table.schema, types=TYPES, engine=engine)
    except oz.OuzelError:
        return None
    begin = 0
    for cut, version, restarts in changes:
        if cut > begin:
            found += rows_of(matcher.push(table.slice(begin, cut - begin)))
            begin = cut
        try:
            matcher.replace(None, version.text)
        except oz.OuzelError as error:
            if not any(word in str(error) for word in REFUSED):
                raise
            return None
        matcher = oz.restore(matcher.snapshot()) if restarts else matcher
    if begin < table.num_rows:
        found += rows_of(matcher.push(table.slice(begin)))
    return Counter(found + rows_of(matcher.finish()))
