"""Rules in the buckets of a stream, without Spark: cut anyhow, with tasks retried and workers lost."""

from __future__ import annotations

import random
from copy import deepcopy
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.errors import StateError
from ouzel.language.document import document
from ouzel.runtimes.spark import bucket_state, processor
from ouzel.runtimes.spark.rule_rows import RuleTables
from rule_cases import FIRST, SET, TEXTS, Rows, alone, changes
from spark_bench import END, Bench
from spark_events import EVENT_TYPES, rows_of, stream

NOTHING = document([], "list")


def table(rules: Rows, said: str = "query") -> pa.Table | None:
    types = {"least": pa.int64(), "query": pa.string()}
    columns = {"id": pa.string(), said: types[said], "valid_from": pa.int64(), "valid_to": pa.int64()}
    return pa.Table.from_pylist(rules, pa.schema(columns)) if rules else None


@pytest.mark.parametrize("texts", [False, True], ids=["parameters", "texts"])
@pytest.mark.parametrize("seed", range(5))
def test_any_cut_gives_the_same_matches(seed: int, texts: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(bucket_state, "DELTAS", chance.choice((0, 2, 100)))
    events, rules = stream(seed, 150, 200), changes(seed, 9, 200, texts=texts)
    # a rule comes with some events at the latest after which time has not passed its beginning yet
    waiting = [(chance.randrange(rule["valid_from"]), rule) for rule in rules]
    chance.shuffle(waiting)
    disorder = chance.choice((0, 25))
    query: Any = [f"QUERY one {TEXTS[0]}"] if texts else SET
    bench = Bench(query, chance.randint(1, 4), disorder, rules=RuleTables())
    left, latest = sorted(events, key=lambda event: event["ts"] + chance.randint(0, disorder)), 0
    while left:
        size = chance.randint(1, 60)
        batch, left = left[:size], left[size:]
        latest = max(latest, *(event["ts"] for event in batch))
        held = [rule for comes, rule in waiting if comes <= latest]
        waiting = [(comes, rule) for comes, rule in waiting if comes > latest]
        if chance.random() < 0.4:
            processor._matchers.clear()
        if chance.random() < 0.4:
            before = deepcopy(bench.handles)
            packed = bench.packed([batch], table(held, "query" if texts else "least"))
            lost = bench.attempt(packed, 0)
            bench.handles = deepcopy(before)
            assert bench.attempt(packed.take(list(range(len(packed)))[::-1]), 0) == lost
            bench.handles = before
        bench.push(batch, rules=table(held, "query" if texts else "least"))
    bench.push([END])
    first = [{"id": "one", "query": TEXTS[0], "valid_from": None, "valid_to": None}] if texts else FIRST
    assert "#refused" not in bench.told
    assert rows_of(bench.found()) == alone(events, [*first, *rules], types=EVENT_TYPES)


def test_rules_alone_and_refused_ones_are_counted_once() -> None:
    bench = Bench(NOTHING, 3, rules=RuleTables(), keys=["k"])
    assert bench.stream.buckets == 3
    without_key = {"id": "r", "query": "PATTERN A a", "valid_from": None, "valid_to": None}
    good = {**without_key, "id": "good", "query": "PATTERN SEQ(A a, B b) WHERE [k] RETURN a.eid AS a"}
    bench.push(rules=table([without_key, {**good, "query": "PATTERN A a WHERE"}, good]))
    assert bench.told["#refused"] == 2
    bench.push([{**END, "eid": "a", "ts": 1, "type": "A", "k": 1}, {**END, "ts": 2, "type": "B", "k": 1}], [END])
    assert bench.found() == [{"query": "good", "match": '{"a": "a"}'}]


def test_rules_that_are_there_at_first() -> None:
    first = [
        {"id": "r", "query": f"PATTERN {type_} a RETURN a.eid", "valid_from": at, "valid_to": None}
        for type_, at in (("A", None), ("B", 5))
    ]
    bench = Bench(NOTHING, 1, rules=RuleTables(table(first)))
    events = [{**END, "eid": f"{type_}{ts}", "ts": ts, "type": type_} for ts in (4, 5) for type_ in "AB"]
    bench.push(events, [END])
    assert [row["match"] for row in bench.found()] == ['{"eid": "A4"}', '{"eid": "B5"}']
    other = Bench(NOTHING, 1, rules=RuleTables(table(first[:1])))
    other.handles = bench.handles
    with pytest.raises(StateError, match=r"rules: rows \w+, now rows \w+"):
        other.push([END])


def test_wrong_rules_at_first_are_an_error() -> None:
    wrong = [{"id": "r", "query": "PATTERN", "valid_from": None, "valid_to": None}]
    with pytest.raises(oz.OuzelError, match="rules: row 0, the rule 'r': the query ends too early"):
        Bench(NOTHING, 1, rules=RuleTables(table(wrong)))


def test_keys_are_for_texts() -> None:
    with pytest.raises(oz.OuzelError, match="keys: required rules that are texts"):
        Bench(SET, 1, rules=RuleTables(), keys=["k"])
    with pytest.raises(oz.SchemaError, match="keys: required a column of the events"):
        Bench(NOTHING, 1, rules=RuleTables(), keys=["key"])
    with pytest.raises(oz.OuzelError, match=r"required an equivalence test, \[k\]"):
        Bench(["PATTERN A a"], 1, rules=RuleTables(), keys=["k"])


def test_late_events_beside_rules_that_are_texts() -> None:
    bench = Bench(NOTHING, 1, rules=RuleTables(), late=True)
    bench.push(
        [{**END, "eid": "a", "ts": 5, "type": "A"}, END],
        rules=table([{"id": "r", "query": "PATTERN A a RETURN a.eid", "valid_from": None, "valid_to": None}]),
    )
    bench.push([{**END, "eid": "late", "ts": 1}])
    first, second = bench.found()
    assert first["rules"] == {"query": "r", "match": '{"eid": "a"}'}
    assert (second["query"], second["late"]["eid"]) == ("late", "late")


def test_a_template_may_return_others_when_it_goes_on() -> None:
    before, after = (
        Bench(
            oz.queries(f"PATTERN A a WHERE a.x > $n RETURN a.x AS {name}", [{"id": 1, "n": 5}]),
            1,
            rules=RuleTables(),
        )
        for name in ("first", "second")
    )
    a = {**END, "eid": "a", "type": "A", "x": 3}
    before.push([{**a, "ts": 1}], rules=pa.table({"id": [2], "n": [2]}))
    after.handles = before.handles
    after.push([{**a, "ts": 2}, END])
    assert [*before.found(), *after.found()] == [{"id": 2, "second": 3}] * 2
