"""A stream whose rules change, killed and begun again: each rule finds what it finds alone in its time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from rule_cases import FIRST, alone, changes
from spark_events import EVENT_TYPES, rows_of, stream
from spark_feeds import END, in_batches
from spark_kills import killed_once, write

SCRIPT = Path(__file__).parent / "rules_script.py"


def test_killed_and_begun_again(tmp_path: Path) -> None:
    events, rules = stream(44, 200, 240), changes(44, 12, 240)
    batches = [*in_batches(events, *[30] * 6, disorder=10), [END]]
    edges = [-1, *(max(event["ts"] for event in batch) - 10 for batch in batches[:-2]), 10**6]
    for number, batch in enumerate(batches):
        write(tmp_path / "events", number, batch)
    # early, as Spark may take several files of events at once when it begins again
    for number, (begin, end) in enumerate(pairwise([-1, *edges[3:]])):
        write(tmp_path / "rules", number, [rule for rule in rules if begin < rule["valid_from"] <= end])
    found = killed_once(tmp_path, SCRIPT)
    expected = alone(events, [*FIRST, *rules], types=EVENT_TYPES)
    assert expected
    assert rows_of(found) == expected
