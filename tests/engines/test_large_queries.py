"""Queries of many components and conditions run, compiled where that can be; none meets a limit of Python's."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from engines.splits import ingested
from ouzel.compile import compile_query
from ouzel.physical.automaton.ways import Ways

COUNTS = (19, 20, 21, 60, 61, 64, 130)


def events(count: int) -> pa.Table:
    """One event of each of so many types, in order."""
    return pa.table({"ts": range(count), "type": [f"T{n}" for n in range(count)], "x": range(count)})


def sequence(components: list[str], where: str = "") -> str:
    return f"PATTERN SEQ({', '.join(components)}) {where} WITHIN 1000 RETURN v0.ts AS first"


def pattern(kind: str, count: int) -> list[str]:
    one, *rest = range(count)
    match kind:
        case "negation":
            return [f"T{one} v0", *(f"T{n} v{n}" if n % 2 == 0 else f"!(Z v{n})" for n in rest)]
        case "closures":
            return [f"T{one} v0", *(f"T{n}+ v{n}[]" for n in rest)]
        case "any":
            return [f"T{one} v0", *(f"ANY(T{n}, Z) v{n}" for n in rest)]
    return [f"T{n} v{n}" for n in range(count)]


def matches(query: str, table: pa.Table, **options: Any) -> int:
    matcher = oz.matcher(query, table.schema, **options)
    found: int = matcher.push(table).num_rows + oz.restore(matcher.snapshot()).finish().num_rows
    assert oz.match(table, query, **options).num_rows == found
    return found


@pytest.mark.filterwarnings("ignore:no event has the type")
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("kind", ["single", "negation", "closures", "any"])
def test_many_components(kind: str, count: int) -> None:
    query = sequence(pattern(kind, count))
    assert matches(query, events(count)) == 1
    assert matches(query, events(count - 2)) == 0


@pytest.mark.parametrize("count", COUNTS)
def test_many_components_are_run_compiled(count: int) -> None:
    (plan,) = compile_query(sequence(pattern("single", count)), ingested(events(count)).schema, {}).plans
    assert plan.engine == ("scan" if count <= 20 else "automaton")


def test_many_alternatives_are_planned_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """What may follow a state is found out once for each state, not once more for every move."""
    asked: list[object] = []
    after = Ways.after

    def noted(ways: Ways, one: Any) -> Any:
        asked.append(one)
        return after(ways, one)

    monkeypatch.setattr(Ways, "after", noted)
    query = f"PATTERN ({' | '.join(f'T0 v{n}' for n in range(300))}) RETURN v0.ts AS x"
    assert oz.match(events(1), query, engine="automaton").num_rows == 300
    assert len(asked) <= 301


SHARED = {
    "single": "v2.x > 1 AND v64.x = 64 AND v126.x > v4.x",
    "negation": "v2.x > 1 AND v64.x = 64 AND v126.x > v4.x AND v65.x > v64.x",
    "closures": "v2[1].x > 1 AND v64[i].x >= 64 AND v126[i].x > v4[1].x AND count(v64[]) < 2",
    "any": "v2.x > 1 AND v64.x = 64 AND v126.x > v4.x",
}


@pytest.mark.filterwarnings("ignore:no event has the type")
@pytest.mark.parametrize("kind", SHARED)
def test_components_that_share_a_bit_of_a_mask_are_told_apart(kind: str) -> None:
    query = sequence(pattern(kind, 130), f"WHERE {SHARED[kind]}")
    more = [("T64", 64, 64), ("T64", 65, 66), ("T66", 3, 1)]
    found = 0
    for extra in ([], more[:2], more, [*more, ("Z", 64, 90)]):
        rows = [{"type": name, "ts": ts, "x": x} for name, ts, x in extra]
        table = pa.concat_tables([events(130), pa.Table.from_pylist(rows, events(1).schema)])
        expected = oz.match(table, query, engine="reference")
        assert oz.match(table, query, engine="automaton").equals(expected)
        found += len(expected)
    assert found


@pytest.mark.parametrize("count", [30, 60])
def test_many_components_with_conditions_on_each(count: int) -> None:
    where = "WHERE " + " AND ".join(f"v{n}.x < v{n + 1}.x AND v0.x <= v{n}.x" for n in range(count - 1))
    query = sequence(pattern("single", count), where)
    assert matches(query, events(count)) == 1
    assert oz.match(events(count), query, mode="compressed").expand().num_rows == 1


def test_a_scan_of_many_components_with_conditions_and_negation() -> None:
    components = [one for n in range(18) for one in (f"T{n} v{n}", f"!(Z z{n})")][:-1]
    each = "v{0}.x < v{1}.x AND z{0}.x > v{0}.x AND v0.x <= v{0}.x"
    query = sequence(components, "WHERE " + " AND ".join(each.format(n, n + 1) for n in range(17)))
    with pytest.warns(oz.OuzelWarning, match="no event has the type 'Z'"):
        assert oz.match(events(18), query, engine="scan").num_rows == 1
    refuted = pa.concat_tables([events(18), pa.table({"ts": [3], "type": ["Z"], "x": [99]})])
    expected = oz.match(refuted, query, engine="reference")
    assert oz.match(refuted, query, engine="scan").equals(expected)


TWO = "PATTERN SEQ(A v0, B b) WHERE {} WITHIN 100 RETURN v0.ts AS first"
CLOSURE = "PATTERN SEQ(A v0, B+ b[], C c) WHERE {} WITHIN 100 RETURN v0.ts AS first"
LAST = "PATTERN SEQ(A v0, B b, !(C c)) WHERE {} WITHIN 100 RETURN v0.ts AS first"
OPTIONAL = "PATTERN SEQ(A v0, B? b, C* d[], C c) WHERE {} WITHIN 100 RETURN v0.ts AS first"
CONDITIONS = {
    "two variables": (TWO, "v0.x < b.x + {}"),
    "a closure": (CLOSURE, "b[i].x > b[i-1].x - {}"),
    "a closure's end": (CLOSURE, "sum(b[].x) + {} > v0.x"),
    "behind a closure": (CLOSURE, "c.x > b[b.LEN].x - {}"),
    "a negative component": (LAST, "c.x < v0.x + {}"),
    "what may be missing": (OPTIONAL, "b.x < c.x + {} AND count(d[].x) < c.x + {}"),
}


@pytest.mark.parametrize("count", [50, 95, 200])
@pytest.mark.parametrize("case", CONDITIONS)
def test_many_conditions(case: str, count: int) -> None:
    query, condition = CONDITIONS[case]
    text = query.format(" AND ".join(condition.replace("{}", str(n)) for n in range(count)))
    table = pa.table({"ts": range(9), "type": [*"ABCABBCCA"], "x": [5, 1, 7, 2, 3, 4, 9, 0, 8]})
    expected = oz.match(table, text, engine="reference")
    for engine in ("scan", "automaton") if query in (TWO, LAST) else ("automaton",):
        assert oz.match(table, text, engine=engine).equals(expected), engine
        assert matches(text, table, engine=engine) == expected.num_rows


VALUES = {
    "CASE": "CASE " + " ".join(f"WHEN b.x = {n} THEN {n}" for n in range(200)) + " ELSE 0 END",
    "a list": f"CASE WHEN b.x IN ({', '.join(map(str, range(500)))}) THEN 1 ELSE 0 END",
    "a sum": " + ".join(["b.x"] * 100),
    "least": f"least({', '.join(['b.x'] * 500)})",
}


@pytest.mark.parametrize("case", VALUES)
def test_long_values(case: str) -> None:
    table = pa.table({"ts": range(4), "type": [*"ABAB"], "x": range(4)})
    returned = f"PATTERN SEQ(A a, B b) WITHIN 9 RETURN {VALUES[case]} AS x"
    compared = f"PATTERN SEQ(A a, B b) WHERE {VALUES[case]} + a.x > 1 WITHIN 9 RETURN b.x AS x"
    for query in (returned, compared):
        assert oz.match(table, query).equals(oz.match(table, query, engine="reference"))


DEEP = {
    "parentheses": f"{'(' * 2000}a.x < b.x{')' * 2000}",
    "values in parentheses": f"a.x < {'(' * 2000}b.x{' + 1)' * 2000}",
    "a sum": f"a.x < {' + '.join(['b.x'] * 5000)}",
    "NOT": f"{'NOT ' * 3000}a.x < b.x",
    "functions": f"{'abs(' * 2000}a.x{')' * 2000} < b.x",
}


@pytest.mark.parametrize("case", DEEP)
def test_what_nests_too_deeply_is_refused(case: str) -> None:
    with pytest.raises(oz.QueryError, match="the query nests too deeply"):
        oz.query(f"PATTERN SEQ(A a, B b) WHERE {DEEP[case]} WITHIN 9")
