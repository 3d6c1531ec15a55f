"""Many queries at once find what each of them finds alone, whenever they come and go."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import ouzel as oz

A, B, ALL = oz.stream("A"), oz.stream("B"), oz.stream()
S1, S2 = (A.select("k", "x").rename(**{f"k{n}": "k", f"x{n}": "x"}) for n in (1, 2))
TEMPLATES: dict[str, Any] = {
    "next": S1.where("x1 >= $low").next(S2, where="k2 = k1").where("x2 < $high"),
    "next within": S1.where("x1 = $low").next(S2, where="duration() <= $wait AND k2 = $key"),
    "fold": S1.rename(k2="k1", x2="x1")
    .where("k2 = $key")
    .fold(S2, where="duration() <= $wait", step="x2 > x2.last"),
    "either": A.where("x >= $low").union(B.where("x < $high")).next(ALL.rename(k9="k", x9="x"), where="k9 = $key"),
    "choice": ALL.where("x < $low OR x >= $high").next(ALL.rename(k9="k", x9="x"), where="x9 = x OR k9 = $key"),
    "computed": S1.next(S2, where="x2 * 1.5 > x1 + $low").where("x1 + x2 > $high"),
    "pairs": "PATTERN A a; B b WHERE a.x >= $low AND b.x < $high AND a.k = $key WITHIN 4 RETURN a.x, b.x AS y",
    "keyed": "PATTERN A a; B b; A c WHERE [k] AND a.x = $low AND c.x BETWEEN $low AND $high WITHIN 6",
    "next match": "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) "
    "{a.x >= $low AND b.x >= a.x AND b.k IN ($key, 9)}",
    "window": "PATTERN A a; B b WHERE a.x >= $low AND b.x < $high WITHIN $wait RETURN a.x, b.x AS y",
}
TYPES = {name: ["k", "x"] for name in "AB"}
NAMES = ("low", "high", "key", "wait")
KINDS: dict[str, pa.DataType] = {
    **{"int64": pa.int64(), "int8": pa.int8(), "float64": pa.float64(), "float32": pa.float32()},
    "decimal": pa.decimal128(6, 1),
}


def numbers(kind: str) -> st.SearchStrategy[Any]:
    if kind.startswith("float"):
        return st.sampled_from([-1.5, -0.0, 0.0, 1.0, 2.5, float("nan"), float("inf"), None])
    if kind == "decimal":
        return st.sampled_from([Decimal("-1.5"), Decimal(0), Decimal(1), Decimal("2.5"), None])
    return st.sampled_from([-2, 0, 1, 2, 3, None])


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    kind = draw(st.sampled_from(sorted(KINDS)))
    times = sorted(draw(st.lists(st.integers(0, 9), min_size=3, max_size=14)))
    count = len(times)
    types = draw(st.lists(st.sampled_from("AAB"), min_size=count, max_size=count))
    keys = draw(st.lists(st.sampled_from([1, 2, None]), min_size=count, max_size=count))
    values = draw(st.lists(numbers(kind), min_size=count, max_size=count))
    columns = {"ts": times, "type": types, "k": pa.array(keys, pa.int64()), "x": pa.array(values, KINDS[kind])}
    return pa.table(columns)


@st.composite
def parameters(draw: st.DrawFn, count: int) -> pa.Table:
    """Values for queries; numbers are compared with columns of other types, too."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    rows = [
        {
            "id": number,
            **{name: draw(numbers(kind)) for name in ("low", "high")},
            **{"key": draw(st.sampled_from([1, 2, 3])), "wait": draw(st.integers(1, 6))},
        }
        for number in range(count)
    ]
    bounds = {"low": KINDS[kind], "high": KINDS[kind]}
    return pa.Table.from_pylist(
        rows, pa.schema({"id": pa.int64(), **bounds, "key": pa.int64(), "wait": pa.int64()})
    )


def mentioned(template: Any) -> list[str]:
    text = template if isinstance(template, str) else template.text
    return [name for name in NAMES if f"${name}" in text]


def alone(table: pa.Table, template: Any, row: dict[str, Any]) -> list[Any]:
    """What one query finds, by the reference."""
    values = {name: row[name] for name in mentioned(template)}
    return [
        repr(one) for one in oz.match(table, template, params=values, engine="reference", types=TYPES).to_pylist()
    ]


def of(found: pa.Table, id_: int) -> list[Any]:
    """What was found of one query of a set."""
    return [repr({k: v for k, v in one.items() if k != "id"}) for one in found.to_pylist() if one["id"] == id_]


@settings(max_examples=60)
@given(st.sampled_from(sorted(TEMPLATES)), tables(), parameters(4), st.sampled_from(["on", "off"]))
def test_a_set_finds_what_each_finds_alone(name: str, table: pa.Table, rows: pa.Table, switch: str) -> None:
    template = TEMPLATES[name]
    queries = oz.queries(template, rows)
    found = oz.match(table, queries, types=TYPES)
    for row in rows.to_pylist():
        assert of(found, row["id"]) == alone(table, template, row)
    if "one by one" not in oz.query(queries).explain(table, types=TYPES):
        tuning = {"merging": switch, "index": "off"}
        other = oz.match(table, queries, engine="shared", tuning=tuning, types=TYPES)
        assert repr(other.to_pylist()) == repr(found.to_pylist())


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(sorted(TEMPLATES)), parameters(2)), min_size=2, max_size=5), tables())
def test_a_list_of_sets_finds_what_each_finds(sets: list[tuple[str, pa.Table]], table: pa.Table) -> None:
    given_ = [oz.queries(TEMPLATES[name], rows) for name, rows in sets]
    found = oz.match(table, given_, types=TYPES)
    for one, (name, rows) in zip(found.values(), sets, strict=True):
        for row in rows.to_pylist():
            assert of(one, row["id"]) == alone(table, TEMPLATES[name], row)


@settings(max_examples=60)
@given(st.sampled_from(sorted(TEMPLATES)), tables(), parameters(5), st.data())
def test_queries_that_come_and_go(name: str, table: pa.Table, rows: pa.Table, data: st.DataObject) -> None:
    """Each finds what it finds alone among the events of its own time."""
    template, values = TEMPLATES[name], rows.to_pylist()
    matcher = oz.matcher(oz.queries(template, rows.slice(0, 2)), table.schema, types=TYPES)
    lives: dict[int, list[int | None]] = {0: [None, None], 1: [None, None]}
    found: list[dict[str, Any]] = []
    done = 0
    while done < len(table):
        action = data.draw(st.sampled_from(["push", "push", "add", "remove", "restore"]))
        if action == "push":
            size = data.draw(st.integers(1, 4))
            found += matcher.push(table.slice(done, size)).to_pylist()
            done += size
        elif action == "restore":
            matcher = oz.restore(matcher.snapshot())
        elif action == "add" and len(lives) < len(values):
            row = values[len(lives)]
            matcher.add(row["id"], {one: row[one] for one in mentioned(template)})
            lives[row["id"]] = [matcher.now, None]
        elif action == "remove":
            there = [id_ for id_, (_since, until) in lives.items() if until is None]
            if there:
                id_ = data.draw(st.sampled_from(there))
                matcher.remove(id_)
                lives[id_][1] = matcher.now
    found += matcher.finish().to_pylist()
    for id_, (since, until) in lives.items():
        own = [(since is None or ts >= since) and (until is None or ts < until) for ts in table["ts"].to_pylist()]
        rest = [repr({k: v for k, v in one.items() if k != "id"}) for one in found if one["id"] == id_]
        assert rest == alone(table.filter(pa.array(own)), template, values[id_])
