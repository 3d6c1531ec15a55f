"""A stream whose driver or workers are killed at random moments, over and over: its rows must be those of one run.

python scripts/soak_streaming.py --kills 20 --seed 7
python scripts/soak_streaming.py --kills 20 --corrections

With corrections, events are withdrawn, too, matches are reported before they are final, and what is compared are
insertions less withdrawals.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import ouzel as oz

SCHEMA = "eid string, ts long, type string, k long, x long, op int"
QUERY = """PATTERN SEQ(A a, B b, !(C c)) WHERE [k] AND a.x <= b.x AND c.x = 1 WITHIN 40
    RETURN a.eid AS a, b.eid AS b, b.ts - a.ts AS after"""
# What comes between is often late, or withdrawn: matches reported early are often wrong.
CORRECTED = """PATTERN SEQ(A a, !(C c), B b) WHERE [k] AND a.x <= b.x AND c.x = 1 WITHIN 40
    RETURN a.eid AS a, b.eid AS b, b.ts - a.ts AS after"""
DELAY, FILES_PER_KILL, WITHDRAWN = 20, 3, 0.2


def main() -> None:
    """Parse the arguments; run the soak, or, if told to, the stream that it kills."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--stream", type=Path, help="run the stream of a directory until it has seen all files")
    parser.add_argument("--corrections", action="store_true", help="withdraw events, and report matches early")
    options = parser.parse_args()
    if options.stream:
        run_stream(options.stream, options.corrections)
        return
    print(f"seed {options.seed}")
    with tempfile.TemporaryDirectory() as directory:
        chance = random.Random(options.seed)  # noqa: S311 - no secrets
        soak(Path(directory), options.kills, chance, corrections=options.corrections)


def soak(directory: Path, kills: int, chance: random.Random, *, corrections: bool) -> None:
    """Kill the stream's driver or a worker so many times, in turns; then let it end, and compare."""
    events = write_events(directory / "source", FILES_PER_KILL * (kills + 1), chance, corrections)
    stream = Stream(directory, ["--corrections"] if corrections else [])
    try:
        for number in range(kills):
            stream = stream.again()
            target = batches_done(directory) + chance.randint(1, 2)
            while batches_done(directory) < target and stream.is_running:
                time.sleep(0.05)
            time.sleep(chance.uniform(0, 2))  # somewhere in the next micro-batch
            killed = stream.kill_worker(chance) if number % 2 else stream.kill()
            print(f"kill {number + 1}: {killed}, after {batches_done(directory)} micro-batches", flush=True)
        stream = stream.again()
        stream.process.wait()
        stream.check()
    finally:
        stream.kill()
    found = json.loads((directory / "found.json").read_text(encoding="utf-8"))
    compare(events, CORRECTED if corrections else QUERY, standing(found) if corrections else found)


class Stream:
    """The stream as a process, in a session of its own with its Java process and its workers."""

    def __init__(self, directory: Path, options: list[str]) -> None:
        """Start it."""
        self.directory, self.options = directory, options
        with (directory / "log").open("ab") as log:
            command = [sys.executable, __file__, "--stream", str(directory), *options]
            self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)  # noqa: S603

    @property
    def is_running(self) -> bool:
        """Whether it has neither ended nor failed."""
        return self.process.poll() is None

    def again(self) -> Stream:
        """The stream, started again if it was killed."""
        self.check()
        return self if self.is_running else Stream(self.directory, self.options)

    def check(self) -> None:
        """Nothing but being killed may end it early."""
        if self.process.poll() not in (None, 0, -signal.SIGKILL):
            log = (self.directory / "log").read_text(encoding="utf-8")
            raise SystemExit("the stream failed; the end of its log:\n" + log[-3000:])

    def kill(self) -> str:
        """Kill the driver, in Python and in Java, without warning."""
        if self.is_running:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        return "driver"

    def kill_worker(self, chance: random.Random) -> str:
        """Kill one of the Python workers; Spark runs its task again.  If there is none, kill the driver."""
        workers = [pid for pid, parent in self._daemons().items() if parent in self._daemons()]
        if not workers:
            return self.kill()
        os.kill(chance.choice(workers), signal.SIGKILL)
        return "worker"

    def _daemons(self) -> dict[int, int]:
        """The processes of PySpark's daemon in this session, and their parents: its children are the workers."""
        found = {}
        for directory in Path("/proc").glob("[0-9]*"):
            try:
                command = (directory / "cmdline").read_bytes()
                _state, parent, _group, session = (directory / "stat").read_text().rpartition(")")[2].split()[:4]
            except OSError:
                continue  # it is gone already
            if b"pyspark" in command and b"daemon" in command and int(session) == self.process.pid:
                found[int(directory.name)] = int(parent)
        return found


def batches_done(directory: Path) -> int:
    """How many micro-batches are committed."""
    return sum(path.name.isdigit() for path in (directory / "checkpoint" / "commits").glob("*"))


def write_events(source: Path, files: int, chance: random.Random, corrections: bool) -> list[dict[str, Any]]:
    """Files of events out of order, the last one with an event long after all others; the events that are left."""
    source.mkdir()
    events: list[dict[str, Any]] = [
        {"eid": f"e{n}", "ts": n // 2, "type": chance.choice("ABCD"), "k": chance.randrange(9), "x": n % 3}
        for n in range(100 * files)
    ]
    arrivals = [(event["ts"] + chance.randint(0, DELAY), {**event, "op": 1}) for event in events]
    withdrawn = {event["eid"] for event in events if corrections and chance.random() < WITHDRAWN}
    arrivals += [
        (chance.randint(at, row["ts"] + DELAY), {**row, "op": -1})
        for at, row in arrivals
        if row["eid"] in withdrawn
    ]
    ordered = [row for _at, row in sorted(arrivals, key=lambda one: one[0])]
    size = -(-len(ordered) // files)
    for number in range(files):
        rows = ordered[size * number : size * (number + 1)]
        if number == files - 1:
            rows = [*rows, {**rows[-1], "eid": "end", "ts": 10**9, "type": "D", "op": 1}]
        path = source / f"{number:05}.json"
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        os.utime(path, (10**9 + number, 10**9 + number))
    return [event for event in events if event["eid"] not in withdrawn]


def run_stream(directory: Path, corrections: bool) -> None:
    """The process to be killed."""
    from ouzel.runtimes.spark.session import local_session

    spark = local_session("local[2, 4]", {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g"})
    events = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(directory / "source"))
    query, how = (CORRECTED, {"op": "op", "speculation": "inf"}) if corrections else (QUERY, {})
    matches = oz.match(events, query, watermark=DELAY, spark=oz.SparkOptions(buckets=4), **how)
    writer = matches.writeStream.option("checkpointLocation", str(directory / "checkpoint"))
    writer.trigger(availableNow=True).start(str(directory / "sink")).awaitTermination()
    # Spark reads only the files that its sink has committed: others are left from micro-batches cut short
    rows = [row.asDict() for row in spark.read.parquet(str(directory / "sink")).collect()]
    (directory / "found.json").write_text(json.dumps(rows), encoding="utf-8")


def standing(changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The matches that changes leave: what is inserted under an id, less what is withdrawn under it."""
    rows: dict[int, Counter[str]] = {}
    for row in changes:
        op, id_ = row.pop("op"), row.pop("match_id")
        rows.setdefault(id_, Counter())[json.dumps(row)] += op
    wrong = sum(any(count not in (0, 1) for count in one.values()) for one in rows.values())
    withdrawn = sum(not one.total() for one in rows.values())
    print(f"{len(rows)} matches inserted, {withdrawn} of them withdrawn, {wrong} ids used twice")
    return [json.loads(text) for one in rows.values() for text in one.elements()]


def compare(events: list[dict[str, Any]], query: str, rows: list[dict[str, Any]]) -> None:
    """Say whether every match came out, and came out once."""
    expected = Counter(map(json.dumps, oz.match(events, query, engine="reference")))
    got = Counter(map(json.dumps, rows))
    missing, surplus = (expected - got).total(), (got - expected).total()
    print(f"{expected.total()} matches expected, {missing} missing, {surplus} too many")
    if missing or surplus:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
