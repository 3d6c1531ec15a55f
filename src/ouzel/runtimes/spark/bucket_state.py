"""The state of a bucket in Spark's store: a head, a snapshot, and the events that came after it.

A checkpoint can be damaged without Spark's noticing: a change log copied over another is one that it can read.
So each part is known to the head by a running digest, and no change is one that could be made twice: every
micro-batch adds to a list, its events to `deltas`, or what it knows of its snapshot to `marks`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from hashlib import blake2b
from typing import Any

from ouzel.errors import StateError
from ouzel.logical.times import BEGINNING

# What is told of a bucket after a micro-batch; no query can have such a name.
RUNS, STATE, TIME = "#runs", "#state", "#time"
# After so many micro-batches at the latest, a new snapshot is written.
DELTAS = 32
# So many snapshots are marked before the marks are dropped, but for the last.
MARKS = 16


@dataclass(frozen=True)
class Head:
    """What is known of a bucket's state without reading it.

    `version` is a digest of all that the bucket was ever given.  So a matcher that a worker has kept is the right
    one if it has that version, whatever tasks were retried and whichever checkpoint was restored.  `snapshot` and
    `size` are bytes, of the snapshot and of the events since; `runs` are open, and `now` is the bucket's time.
    `marks` are how many snapshots are marked, and `marked` is a running digest of the marks.
    """

    layout: str
    version: bytes
    snapshot: int
    deltas: int
    size: int
    runs: int
    now: int
    marks: int
    marked: bytes

    DDL = (
        "layout string, version binary, snapshot long, deltas long, size long, runs long, now long, "
        "marks long, marked binary"
    )

    def told(self) -> Iterator[tuple[str, int, bytes]]:
        """What a query's progress tells of it."""
        yield RUNS, self.runs, b""
        yield STATE, self.snapshot + self.size, b""
        if self.now > BEGINNING:
            yield TIME, self.now, b""


def version_after(before: bytes, now: int, data: bytes) -> bytes:
    """The version of a bucket that was given events and a time."""
    return _digest(b"%d %d " % (now, len(data)) + before + data)


class BucketState:
    """The parts of the state under the key at hand."""

    def __init__(self, handle: Any) -> None:
        """Of a handle of Spark's."""
        self.head = handle.getValueState("head", Head.DDL)
        self.snapshot = handle.getValueState("snapshot", "data binary")
        self.marks = handle.getListState("marks", "version binary, digest binary")
        self.deltas = handle.getListState("deltas", "now long, data binary")

    def read_head(self) -> Head | None:
        """What is known of the state, if there is any."""
        found = self.head.get()
        if not found:
            return None
        head = Head(*found)
        return replace(head, version=bytes(head.version), marked=bytes(head.marked))

    def read(self, head: Head) -> tuple[bytes, list[tuple[int, bytes]]]:
        """The snapshot, and the times and events since; refused if they are not those that the head knows."""
        [snapshot] = map(bytes, self.snapshot.get() or (b"",))
        marks = [(bytes(version), bytes(digest)) for version, digest in self.marks.get()]
        deltas = [(now, bytes(data)) for now, data in self.deltas.get()]
        marked = b""
        for mark in marks:
            marked = _marked(marked, *mark)
        _require(len(marks) == head.marks and marked == head.marked, "its snapshots are not those it had written")
        version, digest = marks[-1]
        _require(_digest(snapshot) == digest, "its snapshot is not the one last written")
        _require(len(deltas) == head.deltas, f"required {head.deltas} micro-batches in it; got {len(deltas)}")
        for now, data in deltas:
            version = version_after(version, now, data)
        _require(version == head.version, "a micro-batch in it is not the one that was written")
        return snapshot, deltas

    def write(self, matcher: Any, layout: str, head: Head | None, version: bytes, now: int, data: bytes) -> Head:
        """Write what has changed: the new events, or, where those outweigh it, a new snapshot."""
        is_light = head is not None and head.deltas < DELTAS and head.size + len(data) <= head.snapshot
        if head is not None and (is_light or head.marks >= MARKS):
            self.deltas.appendValue((now, data))
            sizes = (head.snapshot, head.deltas + 1, head.size + len(data))
            marks = self._last_mark() if head.marks >= MARKS else (head.marks, head.marked)
        else:
            snapshot = matcher.snapshot()
            mark = (version, _digest(snapshot))
            self.snapshot.update((snapshot,))
            self.deltas.clear()
            self.marks.appendValue(mark)
            sizes = (len(snapshot), 0, 0)
            marks = (head.marks + 1, _marked(head.marked, *mark)) if head else (1, _marked(b"", *mark))
        new = Head(layout, version, *sizes, matcher.open_runs, matcher.now, *marks)
        self.head.update(astuple(new))
        return new

    def _last_mark(self) -> tuple[int, bytes]:
        """Drop all marks but the last; their number and digest."""
        *_, (version, digest) = self.marks.get()
        self.marks.clear()
        self.marks.appendValue((bytes(version), bytes(digest)))
        return 1, _marked(b"", bytes(version), bytes(digest))


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=20).digest()


def _marked(before: bytes, version: bytes, digest: bytes) -> bytes:
    return _digest(before + version + digest)


def _require(is_right: bool, what: str) -> None:
    if not is_right:
        raise StateError(
            f"checkpoint: it is damaged: {what}\n"
            "  hint: put back a copy of the whole checkpoint, or begin a new one; "
            "a single file of it in the place of another cannot be made up for"
        )
