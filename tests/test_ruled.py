"""Rules that change a running matcher: each version finds what it finds alone on its own lifetime."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.errors import StateError
from ouzel.language.document import document
from ouzel.runtimes.matcher import Matcher
from ouzel.runtimes.reading import Reading
from ouzel.runtimes.ruled import Ruled
from ouzel.runtimes.rules import rules_of
from rule_cases import EXPRESSION, FIRST, SET, TEMPLATE, TEXTS, Rows, alone, changes
from spark_bench import SCHEMA
from spark_events import EVENT_TYPES, stream

ENDLESS = 2**64
LIST = oz.query([f"QUERY one {TEXTS[0]}"])


def ruled(text: str, params: Mapping[str, Any] | None = None) -> Ruled:
    def make(text: str, params: Mapping[str, Any]) -> Matcher:
        return Matcher(text, SCHEMA, Reading(types=EVENT_TYPES), params, watermark=ENDLESS, on_late="keep")

    first = make(text, params or {})
    return Ruled(text, params or {}, rules_of(text, params or {}, first._intake.none.schema, ("auto", {})), make)


def rows_of(rules: Rows, said: str) -> pa.Table:
    types = {"least": pa.int64(), "query": pa.string()}
    columns = {"id": pa.string(), said: types[said], "valid_from": pa.int64(), "valid_to": pa.int64()}
    return pa.Table.from_pylist(rules, pa.schema(columns))


def found(tables: Sequence[Mapping[str, pa.Table]]) -> list[str]:
    return sorted(json.dumps(row) for one in tables for table in one.values() for row in table.to_pylist())


@pytest.mark.parametrize("kind", ["parameters", "expression", "texts"])
@pytest.mark.parametrize("seed", range(8))
def test_wherever_batches_end_and_whenever_rules_come(seed: int, kind: str) -> None:
    """In any order, together with events or before them, in a matcher that is stopped now and then."""
    chance, texts = random.Random(seed), kind == "texts"
    events, rules = stream(seed, 150, 200), changes(seed, 9, 200, texts=texts)
    template = EXPRESSION if kind == "expression" else TEMPLATE
    query = LIST if texts else oz.query(oz.queries(template, FIRST, valid_from="valid_from", valid_to="valid_to"))
    matcher = ruled(query.text, query.params)
    # a rule may come at any time before time has passed its beginning
    comes = [chance.randrange(rule["valid_from"]) for rule in rules]
    tables, now = [], -1
    while now < 200:
        later = now + chance.choice((1, 5, 30, 70))
        new = [rule for rule, at in zip(rules, comes, strict=True) if now < at <= later]
        chance.shuffle(new)
        assert matcher.take(rows_of(new, "query" if texts else "least")) == 0
        held = [event for event in events if now < event["ts"] <= later]
        chance.shuffle(held)
        table, refused = matcher.push(pa.Table.from_pylist(held, SCHEMA) if held else None, max(later, 0))
        assert refused == 0
        tables.append(table)
        now = later
        if chance.random() < 0.4:
            snapshot, matcher = matcher.snapshot(), ruled(query.text, query.params)
            matcher.restore(snapshot)
    tables.append(matcher.push(None, 10_000)[0])
    first = [{"id": "one", "query": TEXTS[0], "valid_from": None, "valid_to": None}] if texts else FIRST
    expected = alone(events, [*first, *rules], template, types=EVENT_TYPES)
    assert expected
    assert found(tables) == expected


@pytest.mark.parametrize("seed", range(4))
def test_rules_of_one_time(seed: int) -> None:
    """Of rows of one id for one time the last holds, in a batch and in a matcher that is stopped now and then."""
    chance, events = random.Random(seed), stream(seed, 400, 100)
    times = [chance.choice((10, 20, 20, 50, 50, 70)) for _ in range(12)]
    rules = [
        {"id": chance.choice("pq"), "least": chance.choice((None, 0, 0, 1)), "valid_from": time, "valid_to": until}
        for time, until in ((time, chance.choice((None, None, time, 50, 90))) for time in times)
    ]
    query = oz.query(oz.queries(EXPRESSION, pa.table({"id": ["none"], "least": [1_000]})))
    expected = alone(events, rules, EXPRESSION, types=EVENT_TYPES)
    assert expected
    whole = oz.match(events, query, rules=rows_of(rules, "least"), types=EVENT_TYPES)
    assert sorted(map(json.dumps, whole)) == expected
    matcher = ruled(query.text, query.params)
    assert matcher.take(rows_of(rules, "least")) == 0
    tables = []
    for begin in range(0, 100, 15):
        held = [event for event in events if begin <= event["ts"] < begin + 15]
        tables.append(matcher.push(pa.Table.from_pylist(held, SCHEMA) if held else None, begin + 15)[0])
        snapshot, matcher = matcher.snapshot(), ruled(query.text, query.params)
        matcher.restore(snapshot)
    tables.append(matcher.push(None, 10_000)[0])
    assert found(tables) == expected


def events_at(*times: int) -> pa.Table:
    """An A and a B at each of some times."""
    rows = [{"eid": f"{type_}{ts}", "ts": ts, "type": type_, "k": 1, "x": 2} for ts in times for type_ in "AB"]
    return pa.Table.from_pylist(rows, SCHEMA)


def ids(matcher: Ruled, events: pa.Table | None, now: int) -> list[Any]:
    [table] = matcher.push(events, now)[0].values()
    return sorted(table.column(0).to_pylist())


def rule(id_: str, query: str | None = "PATTERN A a", since: int | None = None, until: int | None = None) -> Rows:
    return [{"id": id_, "query": query, "valid_from": since, "valid_to": until}]


def test_a_rule_without_a_time_or_too_late_counts_from_now() -> None:
    matcher = ruled(document([], "list"))
    assert ids(matcher, events_at(1, 2, 3), 3) == []
    matcher.take(rows_of([*rule("now"), *rule("late", since=1), *rule("over", since=1, until=2)], "query"))
    assert ids(matcher, events_at(4), 5) == ["late", "late", "now", "now"]  # at 3, which waited, and at 4


@pytest.mark.parametrize("kept", [False, True], ids=["running", "restored"])
def test_of_late_rows_the_one_that_was_to_begin_last_holds(kept: bool) -> None:
    matcher = ruled(document([], "list"))
    matcher.take(rows_of(rule("r", "PATTERN A a", since=2), "query"))
    ids(matcher, events_at(1, 2, 3), 9)
    if kept:
        snapshot, matcher = matcher.snapshot(), ruled(document([], "list"))
        matcher.restore(snapshot)
    matcher.take(rows_of(rule("r", None, since=1), "query"))  # overtaken by the one that is there
    assert ids(matcher, events_at(10), 11) == ["r"]
    matcher.take(rows_of([*rule("r", None, since=6), *rule("r", "PATTERN B b", since=5)], "query"))
    assert ids(matcher, events_at(12), 13) == []


def test_of_rows_for_one_time_the_last_holds() -> None:
    matcher = ruled(document([], "list"))
    matcher.take(rows_of([*rule("r", since=5), *rule("r", "PATTERN B b RETURN b.eid", since=5)], "query"))
    [table] = matcher.push(events_at(5), 6)[0].values()
    assert table.to_pylist() == [{"query": "r", "match": '{"eid": "B5"}'}]


@pytest.mark.parametrize("row", [rule("r", None, 3), rule("r", "PATTERN B b", 3, 3)], ids=["nothing", "no time"])
def test_what_ends_a_rule(row: Rows) -> None:
    matcher = ruled(document([], "list"))
    matcher.take(rows_of([*rule("r"), *row], "query"))
    assert ids(matcher, events_at(1, 2, 3, 4), 5) == ["r", "r"]


def test_a_first_row_whose_time_is_over_when_it_begins_ends_a_rule() -> None:
    first = [{"id": "r", "least": 0, "valid_from": 6, "valid_to": 4}, {"id": "s", "least": 0}]
    template = "PATTERN A a WHERE a.x >= $least RETURN a.eid"
    query = oz.query(oz.queries(template, first, valid_from="valid_from", valid_to="valid_to"))
    rules = rows_of([{"id": "r", "least": 1, "valid_from": 4, "valid_to": 9}], "least")
    events = events_at(2, 4, 5, 6, 7)
    whole = oz.match(events, query, rules=rules, types=EVENT_TYPES)
    assert sorted(whole.column("id").to_pylist()) == ["r", "r", *"sssss"]
    for is_kept in (False, True):
        matcher = ruled(query.text, query.params)
        matcher.take(rules)
        found = ids(matcher, events.slice(0, 2), 4)
        if is_kept:
            snapshot, matcher = matcher.snapshot(), ruled(query.text, query.params)
            matcher.restore(snapshot)
        assert found + ids(matcher, events.slice(2), 9) == ["s", "r", "r", *"ssss"]


def test_a_rule_for_the_future_is_replaced_for_the_time_before() -> None:
    matcher = ruled(document([], "list"))
    matcher.take(rows_of(rule("r", "PATTERN B b RETURN b.eid", since=6), "query"))
    matcher.take(rows_of(rule("r", "PATTERN A a RETURN a.eid", since=4, until=5), "query"))
    [table] = matcher.push(events_at(3, 4, 5, 6), 9)[0].values()
    assert [row["match"] for row in table.to_pylist()] == ['{"eid": "A4"}', '{"eid": "B6"}']


REFUSED = {
    "no query": rule("r", "PATTERN"),
    "two queries": rule("r", "PATTERN A PATTERN B"),
    "an unknown attribute": rule("r", "PATTERN A a WHERE a.z = 1"),
    "events for others": rule("r", "PATTERN A a RETURN a.x INTO T"),
    "no value": rule("r", "PATTERN A a WHERE a.x = $y"),
    "numbers": rule("r", "PATTERN A a RETURN match_number() AS n"),
    "read by others": rule("maker", "PATTERN A a"),
    "no name": rule(""),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_leaves_all_others(name: str) -> None:
    matcher = ruled(oz.query(["QUERY maker PATTERN A a RETURN a.x INTO M", "QUERY reader PATTERN M m"]).text)
    assert matcher.take(rows_of([*REFUSED[name], *rule("good", "PATTERN M m RETURN m.x")], "query")) == 1
    assert ids(matcher, events_at(1), 2) == ["good", "maker", "reader"]


def test_values_that_are_refused() -> None:
    text = "PATTERN A a WHERE a.x >= $least WITHIN $w RETURN a.eid, $least AS least"
    query = oz.query(oz.queries(text, [{"id": 1, "least": 1, "w": 5}]))
    matcher = ruled(query.text, query.params)
    wrong = [{"id": 2, "least": 1, "w": -1}, {"id": 3, "least": None, "w": 1}, {"id": None, "least": 1, "w": 1}]
    assert matcher.take(pa.Table.from_pylist([*wrong, {"id": 4, "least": 2, "w": 3}])) == 3
    assert matcher.take(pa.table({"id": [5], "least": ["x"], "w": [1]})) == 1
    assert ids(matcher, events_at(1), 2) == [1, 4]
    assert matcher.take(pa.table({"id": [1, 9], "least": pa.nulls(2), "w": pa.nulls(2)})) == 0
    assert ids(matcher, events_at(5), 6) == [4]


def test_columns_of_rules_are_checked() -> None:
    columns = ruled(*(oz.query(SET).text, oz.query(SET).params)).rules.columns
    columns.check(rows_of([], "least").schema, pa.int64())
    for schema, message in (
        ({"id": "string", "leest": "int64"}, "required a column 'least'; got id, leest\n  hint: did you mean"),
        ({"id": "string", "least": "string"}, "column 'least': required int64; got string"),
        ({"id": "int64", "least": "int64"}, "column 'id': required string; got int64"),
        (
            {"id": "string", "least": "int32", "valid_to": "string"},
            "column 'valid_to': required int64; got string",
        ),
    ):
        with pytest.raises(oz.SchemaError, match=message):
            columns.check(pa.schema(schema), pa.int64())


def test_a_snapshot_is_of_the_queries_that_were_there_at_first() -> None:
    matcher = ruled(LIST.text)
    matcher.take(rows_of(rule("one", None), "query"))
    snapshot = matcher.snapshot()
    with pytest.raises(StateError, match="texts: "):
        ruled(oz.query([f"QUERY one {TEXTS[1]}"]).text).restore(snapshot)
    with pytest.raises(StateError, match="required one of a matcher with rules"):
        ruled(LIST.text).restore(matcher.matcher.snapshot())


def test_only_sets_and_lists_have_rules() -> None:
    with pytest.raises(oz.OuzelError, match="rules: required a set of queries"):
        ruled("PATTERN A")
