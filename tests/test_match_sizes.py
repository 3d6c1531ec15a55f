"""How many events a match may have: the same in every engine that binds events."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz

EVENTS = pa.table({"ts": range(7), "type": list("AABABAB"), "x": [1, 2, 3, 4, 5, 6, 7]})
CASES: dict[str, tuple[str, tuple[str, ...], int]] = {
    "a sequence": ("PATTERN SEQ(A a, B b, A c)", ("scan", "automaton", "tree", "reference", "shared"), 3),
    "all at once": ("PATTERN A a & B b", ("tree", "reference"), 2),
    "a closure": ("PATTERN SEQ(A+ a[], B b)", ("automaton", "reference"), 5),
    "a group": ("PATTERN A a; B+ b; A c", ("tree", "reference"), 4),
}
GIVEN = [(name, engine) for name, (_query, engines, _most) in CASES.items() for engine in engines]


def sizes(found: pa.Table) -> list[int]:
    """How many events each match has."""
    columns = [name for name in found.column_names if name not in ("start", "end")]
    return [sum(len(v) if isinstance(v := row[c], list) else 1 for c in columns) for row in found.to_pylist()]


@pytest.mark.parametrize(("name", "engine"), GIVEN)
@pytest.mark.parametrize("is_pushed", [False, True])
def test_a_larger_match_is_an_error_or_is_shed(name: str, engine: str, *, is_pushed: bool) -> None:
    query, _engines, most = CASES[name]

    def run(limits: oz.Limits) -> tuple[pa.Table, Any]:
        if not is_pushed:
            report = oz.Report()
            return oz.match(EVENTS, query, engine=engine, limits=limits, report=report), report.counters
        matcher = oz.matcher(query, EVENTS.schema, engine=engine, limits=limits, watermark=9)
        matcher.push(EVENTS)
        return matcher.finish(), matcher.report.counters

    whole, _counters = run(oz.Limits())
    assert max(sizes(whole)) == most
    assert run(oz.Limits(max_match_size=most))[0].equals(whole)
    with pytest.raises(oz.OuzelError, match=f"^more than {most - 1} events in one match\n"):
        run(oz.Limits(max_match_size=most - 1))
    kept, counters = run(oz.Limits(max_match_size=most - 1, on_limit="shed"))
    assert sizes(kept) == [one for one in sizes(whole) if one < most]
    assert counters.shed_matches == len(whole) - len(kept)
