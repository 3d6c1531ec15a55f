"""A stream of corrected events, reported before they are final, in a process that is killed.

python corrections_script.py DIRECTORY
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import ouzel as oz
from correction_cases import BETWEEN
from spark_events import SCHEMA
from spark_kills import small_session, write_found


def main(directory: Path) -> None:
    how: dict[str, Any] = {"session": small_session(), "maxFilesPerTrigger": 1}
    events = oz.read_stream(directory / "events", f"{SCHEMA}, op int", **how)
    corrected: dict[str, Any] = {"op": "op", "speculation": "inf", "watermark": 10}
    write_found(directory, oz.match(events, BETWEEN, **corrected, spark=oz.SparkOptions(buckets=3)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
