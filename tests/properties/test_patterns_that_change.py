"""Queries that change in a running matcher: every event is judged by the version in force at its time."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import ouzel as oz
from properties.changing_patterns import TYPES, Query, changed, evaluated, queries, rows_of, tables

Values = dict[str, Any]
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


# ---- engines ---------------------------------------------------------------------------------------------

TEXTS = (
    "PATTERN SEQ(A a, (B b | C c), A d) WHERE d.x >= $p WITHIN $w",
    "PATTERN SEQ(A a, B? b, C c) WHERE c.x >= $p WITHIN $w",
    "PATTERN SEQ(A a, B* b[], C c) WHERE c.x >= $p AND b[i].x >= b[i-1].x WITHIN $w",
    "PATTERN SEQ(A a, B{1,2} b[], C c) WHERE sum(b[].x) >= $p WITHIN $w",
    "PATTERN (A a & B b); C c WHERE c.x >= $p WITHIN $w",
    "PATTERN A a; (B b & C c) WHERE b.x >= $p WITHIN $w",
    "PATTERN A; B+; C WHERE C.x >= $p WITHIN $w",
    "PATTERN A; B+; C WHERE B.x >= $p WITHIN $w",
    "PATTERN SEQ(!(C n), A a, B b) WHERE b.x >= $p WITHIN $w",
    "PATTERN SEQ(!(C n), A a, B b) WHERE n.x >= $p WITHIN $w",
    "PATTERN SEQ(A a, !(C n), B b, !(C m), A d) WHERE m.x >= $p WITHIN $w",
    "PATTERN SEQ(A a, !(C n), B b, !(C m), A d) WHERE n.x >= 1 AND d.x >= $p AND n.x = d.x WITHIN $w",
    "PATTERN SEQ(A a, B b, !(C m)) WHERE m.x >= $p WITHIN $w",
    "PATTERN A a & !B WHERE a.x >= $p WITHIN $w",
    "PATTERN SEQ(A a, B b, C c) WHERE [k] AND c.x >= $p WITHIN $w OUTPUT NON_OVERLAP",
    "PATTERN SEQ(ANY(A, B) a, ANY(B, C) b, C c) WHERE a.x + b.x < c.x + $p WITHIN $w",
    "PATTERN SEQ(A a, B b, C c) WHERE (a.x = 1 OR c.x >= $p) WITHIN $w",
)
VALUES = st.fixed_dictionaries({"p": st.integers(0, 2), "w": st.sampled_from([3, 5, 8, 8])})


@settings(max_examples=60)
@given(st.data(), st.sampled_from(TEXTS), VALUES, tables("AABBC"), st.booleans())
def test_engines_agree(data: st.DataObject, text: str, values: Values, table: pa.Table, lasting: bool) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, table.num_rows), min_size=1, max_size=3)))
    changes = [(cut, data.draw(VALUES), data.draw(st.booleans())) for cut in cuts]
    options: dict[str, Any] = {"types": TYPES}
    if lasting:
        starts = [ts - data.draw(st.integers(0, 3)) for ts in table.column("ts").to_pylist()]
        table, options = table.append_column("start", pa.array(starts)), {"time": ("start", "ts")}
    found: dict[str, Counter[str]] = {}
    for engine in ENGINES:
        try:
            matcher = oz.matcher(text, table.schema, params=values, engine=engine, **options)
        except oz.OuzelError:
            continue  # it cannot run it
        rows, begin = [], 0
        for cut, new, restarts in changes:
            rows += matcher.push(table.slice(begin, cut - begin)).to_pylist()
            begin = cut
            matcher.set_params(None, new)
            matcher = oz.restore(matcher.snapshot()) if restarts else matcher
        rows += matcher.push(table.slice(begin)).to_pylist() + matcher.finish().to_pylist()
        found[engine] = Counter(map(repr, rows))
    assert all(one == found["reference"] for one in found.values()), found
