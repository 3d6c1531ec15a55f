"""A corrected stream whose arcs change, killed and begun again: what stands is what the arcs of each time find."""

from __future__ import annotations

from pathlib import Path

from arc_cases import CHANGES, expected
from correction_cases import corrected, standing
from spark_events import stream
from spark_feeds import END
from spark_kills import killed_once, write

SCRIPT = Path(__file__).parent / "arcs_script.py"
FILES = 8


def test_killed_and_begun_again(tmp_path: Path) -> None:
    given, left = corrected(stream(12, 400, 200), 12, 10)
    size = -(-len(given) // FILES)
    batches = [*(given[begin : begin + size] for begin in range(0, len(given), size)), [{**END, "op": 1}]]
    waiting = CHANGES
    for number, batch in enumerate(batches):
        write(tmp_path / "events", number, batch)
        # early, as Spark may take several files of events at once when it begins again
        latest = max(row["ts"] for soon in batches[: number + 4] for row in soon)
        write(tmp_path / "arcs", number, [change for change in waiting if change["at"] <= latest])
        waiting = [change for change in waiting if change["at"] > latest]
    found = [row for row in killed_once(tmp_path, SCRIPT) if row["valid_from"] < END["ts"]]
    assert any(row["op"] == -1 for row in found)
    assert standing(found) == expected(left)
