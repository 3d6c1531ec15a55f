"""A stream pushed to a matcher batch by batch, restored between any two: what it reports, what `match` finds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import ouzel as oz

Events = list[dict[str, Any]]
Found = dict[str, list[str]]
VALUES = {"eid": "string", "k": "int64", "x": "int64", "y": "int64"}
SCHEMA = pa.schema({"ts": "int64", "seq": "int64", "type": "string", **VALUES})
# those of type D are in every partition
TYPES = dict.fromkeys("ABC", VALUES) | {"D": {name: kind for name, kind in VALUES.items() if name != "k"}}


@dataclass(frozen=True)
class Pushes:
    """Where batches end; after which of them time is said to pass, and after which the matcher is restored."""

    ends: list[int]
    passes: list[bool]
    restores: list[bool]


@st.composite
def pushes(draw: st.DrawFn) -> Pushes:
    ends = sorted(draw(st.sets(st.integers(1, 9), max_size=6)))
    flags = st.lists(st.booleans(), min_size=len(ends) + 1, max_size=len(ends) + 1)
    return Pushes(ends, draw(flags), draw(flags))


def pushed(query: str, events: Events, pushes: Pushes, **options: Any) -> Found:
    """All that a matcher reports, query by query, as texts."""
    matcher = oz.matcher(query, SCHEMA, types=TYPES, **options)
    ordered = sorted(events, key=lambda event: event["ts"])
    found: Found = {name: [] for name in matcher.names}

    def add(results: Any) -> None:
        for name, table in (results if isinstance(results, dict) else {matcher.names[0]: results}).items():
            found[name] += map(json.dumps, table.to_pylist())

    begins, ends = [0, *pushes.ends], [*pushes.ends, len(ordered)]
    for begin, end, passes, restores in zip(begins, ends, pushes.passes, pushes.restores, strict=True):
        add(matcher.push(pa.Table.from_pylist(ordered[begin:end], SCHEMA)))
        if passes and ordered[end:]:
            add(matcher.advance(ordered[end]["ts"]))
        if restores:
            matcher = oz.restore(matcher.snapshot())
    add(matcher.finish())
    return {name: sorted(rows) for name, rows in found.items()}


def matched(query: str, events: Events, **options: Any) -> Found:
    """What the reference, or another engine, finds in the whole stream, query by query, as texts."""
    results = oz.match(events, query, types=TYPES, **{"engine": "reference", **options})
    named = results if isinstance(results, dict) else {oz.query(query).names[0]: results}
    return {name: sorted(map(json.dumps, rows)) for name, rows in named.items()}
