"""Queries of a set whose parameters change while they run: in one plan for all, and one by one, as each alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import ouzel as oz
from properties import test_many_queries as many
from properties.changing_patterns import Event, Part, Query, evaluated, rows_of, tables

Values = dict[str, Any]
Changes = list[tuple[int, Values]]
Said = Callable[[pa.Table], list[str]]
ENGINES = ("auto", "automaton", "reference")
REFUSED = "in automata only"


# ---- texts -----------------------------------------------------------------------------------------------


@st.composite
def texts(draw: st.DrawFn) -> Query:
    """A sequence of single events, whose bounds are parameters."""
    count = draw(st.integers(2, 3))
    found = [
        Part(draw(st.sampled_from("AAB")), 0, rises=place > 0 and draw(st.booleans())) for place in range(count)
    ]
    strategy = draw(st.sampled_from(["skip_till_any_match", "skip_till_next_match"]))
    return Query(tuple(found), strategy, draw(st.booleans()), draw(st.one_of(st.none(), st.integers(2, 8))))


def template(query: Query) -> str:
    text = query.text
    for place in range(len(query.parts)):
        text = text.replace(f"v{place}.x >= 0", f"v{place}.x >= $p{place}")
    return text


def with_values(query: Query, values: Values) -> Query:
    parts = [Part(one.type, values[f"p{place}"], one.rises) for place, one in enumerate(query.parts)]
    return Query(tuple(parts), query.strategy, query.keyed, query.window)


# ---- the algebra -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Steps:
    """Streams one after the other, each with what must hold to go on: θ, and a condition behind it."""

    types: tuple[str, ...]
    rises: tuple[bool, ...]
    lasts: bool

    @property
    def expression(self) -> Any:
        streams = [oz.stream(one).select("x", "n") for one in self.types]
        streams = [one.rename(**{f"x{k}": "x", f"n{k}": "n"}) for k, one in enumerate(streams)]
        found = streams[0].where("x0 >= $p0")
        for k, one in enumerate(streams[1:], 1):
            asked = [f"x{k} >= $p{k}"] + [f"x{k} > x{k - 1}"] * self.rises[k] + ["duration() <= $d"] * self.lasts
            found = found.next(one, where=" AND ".join(asked)).where(f"x{k} <= $q{k}")
        return found.select(*(f"n{k}" for k in range(len(self.types))))

    def parameters(self) -> list[str]:
        count = len(self.types)
        return [f"p{k}" for k in range(count)] + [f"q{k}" for k in range(1, count)] + ["d"] * self.lasts

    def ends_wait(self, values: Values, run: list[Event], event: Event) -> bool:
        place = len(run)
        if event["type"] != self.types[place] or event["x"] < values[f"p{place}"] or event["ts"] <= run[-1]["ts"]:
            return False
        if self.lasts and event["ts"] - run[0]["ts"] + 1 > values["d"]:
            return False
        return not self.rises[place] or bool(event["x"] > run[-1]["x"])

    def evaluated(self, values: Values, table: pa.Table, changes: Changes) -> Counter[str]:
        runs: list[list[Event]] = []
        found: list[str] = []
        pending = list(changes)
        for time, group in groupby(table.to_pylist(), key=lambda one: one["ts"]):
            while pending and pending[0][0] <= time:
                at, new = pending.pop(0)
                runs = [run for run in runs if self.stays(values, new, run, at)]
                values = new
            events, after = list(group), []
            for run in runs:
                opening = [one for one in events if self.ends_wait(values, run, one)]
                after += [[*run, one] for one in opening if one["x"] <= values[f"q{len(run)}"]]
                after += [] if opening else [run]
            after += [[one] for one in events if one["type"] == self.types[0] and one["x"] >= values["p0"]]
            found += [repr([one["n"] for one in run]) for run in after if len(run) == len(self.types)]
            runs = [run for run in after if len(run) < len(self.types)]
        return Counter(found)

    def stays(self, old: Values, new: Values, run: list[Event], now: int) -> bool:
        if self.lasts and now - run[0]["ts"] + 1 > old["d"]:
            return False
        asked = [f"p{k}" for k in range(len(run))] + [f"q{k}" for k in range(1, len(run))]
        asked += ["d"] if self.lasts and len(run) > 1 else []
        return all(old[name] == new[name] for name in asked)


@st.composite
def steps(draw: st.DrawFn) -> Steps:
    count = draw(st.integers(2, 3))
    types = tuple(draw(st.sampled_from("AAB")) for _ in range(count))
    return Steps(types, tuple(draw(st.booleans()) for _ in range(count)), draw(st.booleans()))


# ---- sets ------------------------------------------------------------------------------------------------


@dataclass
class Case:
    """A set, and what becomes of its queries: at which row of the events, which of them, with which values."""

    rows: pa.Table
    changes: list[tuple[int, int, Values]]
    restarts: list[bool]

    def expected(self, table: pa.Table, evaluate: Callable[[Values, Changes], Counter[str]]) -> Counter[str]:
        found: Counter[str] = Counter()
        for row in self.rows.to_pylist():
            own: Changes = []
            for cut, id_, values in self.changes:
                if id_ == row["id"]:
                    own.append((table.column("ts")[cut - 1].as_py() if cut else -1, values))
            for said, count in evaluate({**row}, own).items():
                found[f"{row['id']} {said}"] += count
        return found

    def ran(self, table: pa.Table, written: Any, engine: str, said: Said) -> Counter[str] | None:
        """What a matcher finds; None if it refuses."""
        queries = oz.queries(written, self.rows)
        types = {key: [name for name in table.column_names if name not in ("ts", "type")] for key in "ABC"}
        matcher = oz.matcher(queries, table.schema, types=types, engine=engine)
        found: list[str] = []
        begin = 0
        for (cut, id_, values), restarts in zip(self.changes, self.restarts, strict=True):
            if cut > begin:
                found += said(matcher.push(table.slice(begin, cut - begin)))
                begin = cut
            try:
                matcher.set_params(id_, values)
            except oz.OuzelError as error:
                if REFUSED not in str(error):
                    raise
                return None
            matcher = oz.restore(matcher.snapshot()) if restarts else matcher
        if begin < table.num_rows:
            found += said(matcher.push(table.slice(begin)))
        return Counter(found + said(matcher.finish()))


@st.composite
def cases(draw: st.DrawFn, names: list[str], count: int) -> Case:
    def values() -> Values:
        return {
            name: draw(st.integers(*((1, 8) if name == "d" else (2, 3) if name[0] == "q" else (0, 1))))
            for name in names
        }

    rows = [{"id": number, **values()} for number in range(3)]
    now = {row["id"]: {name: row[name] for name in names} for row in rows}
    changes = []
    for cut in sorted(draw(st.lists(st.integers(0, count), min_size=1, max_size=4))):
        id_ = draw(st.integers(0, 2))
        kept = draw(st.integers(0, len(names)))
        now[id_] = {**values(), **dict(list(now[id_].items())[:kept])}
        changes.append((cut, id_, now[id_]))
    return Case(pa.Table.from_pylist(rows), changes, [draw(st.booleans()) for _ in changes])


@settings(max_examples=80)
@given(st.data(), texts(), tables())
def test_texts(data: st.DataObject, query: Query, table: pa.Table) -> None:
    case = data.draw(cases([f"p{place}" for place in range(len(query.parts))], table.num_rows))

    def evaluate(row: Values, changes: Changes) -> Counter[str]:
        return evaluated(
            with_values(query, row), table, [(time, with_values(query, values)) for time, values in changes]
        )

    def said(found: pa.Table) -> list[str]:
        ids = found.column("id").to_pylist()
        return [f"{id_} {one}" for id_, one in zip(ids, rows_of(found.drop_columns("id")), strict=True)]

    expected = case.expected(table, evaluate)
    for engine in ENGINES:
        found = case.ran(table, template(query), engine, said)
        assert found is None or found == expected, engine
        assert found is not None or engine == "reference"


@settings(max_examples=80)
@given(st.data(), steps(), tables())
def test_expressions(data: st.DataObject, query: Steps, table: pa.Table) -> None:
    case = data.draw(cases(query.parameters(), table.num_rows))

    def evaluate(row: Values, changes: Changes) -> Counter[str]:
        return query.evaluated(row, table, changes)

    def said(found: pa.Table) -> list[str]:
        count = len(query.types)
        return [f"{row['id']} {[row[f'n{k}'] for k in range(count)]!r}" for row in found.to_pylist()]

    expected = case.expected(table, evaluate)
    for engine in ENGINES:
        found = case.ran(table, query.expression, engine, said)
        assert found is None or found == expected, engine
        assert found is not None or engine == "reference"


# ---- one plan, or one by one -----------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.data(), st.sampled_from(sorted(many.TEMPLATES)), many.tables(), many.parameters(8))
def test_one_plan_finds_what_they_find_one_by_one(
    data: st.DataObject, name: str, table: pa.Table, rows: pa.Table
) -> None:
    written = many.TEMPLATES[name]
    rows = rows.select(["id", *many.mentioned(written)])
    changes = []
    for cut in sorted(data.draw(st.lists(st.integers(0, table.num_rows), min_size=1, max_size=3))):
        row = data.draw(st.sampled_from(rows.slice(3).to_pylist()))
        names = data.draw(st.lists(st.sampled_from(sorted({*row} - {"id"})), min_size=1, unique=True))
        changes.append((cut, data.draw(st.integers(0, 2)), {name: row[name] for name in names}))
    case = Case(rows.slice(0, 3), changes, [data.draw(st.booleans()) for _ in changes])
    found = [
        case.ran(table, written, engine, lambda one: [repr(row) for row in one.to_pylist()])
        for engine in ("auto", "automaton")
    ]
    assert found[0] == found[1]
    assert found[0] is not None
