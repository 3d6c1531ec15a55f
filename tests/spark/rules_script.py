"""A stream of events and one of rules, in a process that is killed: it ends when it has seen all files.

python rules_script.py DIRECTORY
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import ouzel as oz
from rule_cases import SET
from spark_events import SCHEMA
from spark_kills import small_session, write_found

RULES = "id string, least long, valid_from long, valid_to long"


def main(directory: Path) -> None:
    how: dict[str, Any] = {"session": small_session(), "maxFilesPerTrigger": 1}
    events = oz.read_stream(directory / "events", SCHEMA, **how)
    rules = oz.read_stream(directory / "rules", RULES, **how)
    write_found(directory, oz.match(events, SET, rules=rules, watermark=10, spark=oz.SparkOptions(buckets=3)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
