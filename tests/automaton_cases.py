"""AFA's worked examples for tests: what comes in, in the order of arrival, and what is there in the end."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

import ouzel as oz

Case = dict[str, Any]
Row = dict[str, Any]

EVERY_CASE: list[Case] = json.loads((Path(__file__).parent / "cases" / "paper_cases.json").read_text("utf-8"))
CASES = {case["id"]: case for case in EVERY_CASE if "automaton" in case}
SCHEMA = pa.schema(
    {"eid": pa.string(), "ts": pa.int64(), "dir": pa.string(), "drop": pa.float64(), "op": pa.int8()}
)


def arrivals(case: Case) -> list[Row]:
    """The rows of a case, as events that are inserted and withdrawn."""
    return [
        {**{name: event[name] for name in SCHEMA.names[:-1]}, "op": -1 if event.get("retract") else 1}
        for event in case["events"]
    ]


def survivors(case: Case) -> list[Row]:
    """The events that were not withdrawn."""
    left: Counter[str] = Counter()
    for row in arrivals(case):
        left[json.dumps({name: row[name] for name in SCHEMA.names[:-1]})] += row["op"]
    return [json.loads(text) for text in left.elements()]


def with_lives(case: Case) -> oz.Automaton:
    """The automaton of a case, whose arcs live as long as its changes say."""
    arcs = {arc["id"]: {**arc, "lives": [[None, None]]} for arc in case["automaton"]["arcs"]}
    times = {event["eid"]: event["ts"] for event in case["events"]}
    for change in case.get("arc_changes", ()):
        since = times[change["after"]] + 1
        for one in change["remove"]:
            arcs[one]["lives"][-1][1] = since
        arcs |= {arc["id"]: {**arc, "lives": [[since, None]]} for arc in change["add"]}
    return oz.automaton({**case["automaton"], "arcs": list(arcs.values())})


def expected(case: Case) -> list[Row]:
    """The rows that are there in the end."""
    return [
        {**one["register"], "valid_from": one["lifetime"][0], "valid_to": one["lifetime"][1]}
        for one in case["expected"]
        for _ in range(one["net"])
    ]


def pushed(case: Case, speculation: Any) -> list[pa.Table]:
    """What a matcher answers, event by event; arcs change in between."""
    automaton = oz.automaton(case["automaton"])
    # where nothing is said that is not final, events are held for as long as one may be late
    delay = 7 if speculation == 0 else None
    matcher = oz.matcher(automaton, SCHEMA, type=None, speculation=speculation, op="op", watermark=delay)
    changes = {change["after"]: change for change in case.get("arc_changes", ())}
    told = []
    for row in arrivals(case):
        told.append(matcher.push(pa.Table.from_pylist([row], SCHEMA)))
        if row["eid"] in changes:
            change = changes[row["eid"]]
            told.append(matcher.change(add=change["add"], remove=change["remove"]))
    return [*told, matcher.finish()]


def net(told: list[pa.Table]) -> list[Row]:
    """The rows that stand once all changes are applied in their order."""
    standing: dict[int, Row] = {}
    for row in pa.concat_tables(told).to_pylist():
        op, number = row.pop("op"), row.pop("match_id")
        if op > 0:
            assert number not in standing
            standing[number] = row
        else:
            assert standing.pop(number) == row
    return list(standing.values())
