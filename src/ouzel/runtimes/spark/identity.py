"""What a stream is, kept in its checkpoint: so that another query is refused when it starts, not while it runs.

The state knows it too, and has the last word; but it is first read within a micro-batch, where errors are Spark's.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ouzel.errors import StateError
from ouzel.logical.members import rows_name
from ouzel.runtimes.fingerprint import differences

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame

    from ouzel.runtimes.spark.processor import StreamTask

FILE = "ouzel.json"
NO_RULES = "none"
TABLE = "table"

_streams: WeakKeyDictionary[DataFrame, StreamTask] = WeakKeyDictionary()


def remember(matches: DataFrame, stream: StreamTask) -> None:
    """Of a stream of matches, what it is a stream of."""
    _streams[matches] = stream


def is_in_json(matches: DataFrame) -> bool:
    """Whether matches are texts in JSON beside the names of their queries, as of rules that are texts."""
    stream = _streams.get(matches)
    return stream is not None and stream.task.open and len(stream.outputs) == 1


def is_begun(matches: DataFrame, checkpoint: str | Path) -> bool:
    """Whether a stream goes on from a checkpoint, and does not begin there."""
    session = matches.sparkSession
    return hasattr(session, "_jvm") and _Place(session, str(checkpoint)).is_begun()


def check_checkpoint(matches: DataFrame, checkpoint: str | Path, table: str | None = None) -> None:
    """Refuse the checkpoint of another query; in a new one, write down which query begins it.

    A `table` to which changes are applied is to be the same, too: one half of the matches in each would be none.
    """
    stream = _streams.get(matches)
    session = matches.sparkSession
    if stream is None or not hasattr(session, "_jvm"):
        return
    place = _Place(session, str(checkpoint))
    own = _identity(stream) | ({} if table is None else {TABLE: table})
    if not place.is_begun():
        place.write(json.dumps(own, indent=1))
        return
    before = place.read()
    if before is not None:
        check_identity(before, own, str(checkpoint))


def check_identity(text: str, own: dict[str, Any], checkpoint: str) -> None:
    """Refuse what is written of another query, or by something else."""
    try:
        before = json.loads(text)
    except ValueError:
        return  # cut short, perhaps: the state will tell
    try:
        different = differences(before["queries"], own["queries"])
        for part in ("columns", "events", "rules"):
            old, new = ((one.get(part, NO_RULES) if part == "rules" else one[part]) for one in (before, own))
            if old != new:
                different.append(f"{part}: {old}, now {new}")
        table = before.get(TABLE)
    except (AttributeError, KeyError, TypeError):
        raise StateError(
            f"checkpoint '{checkpoint}': required an {FILE} that Ouzel has written; got another\n"
            "  hint: begin a new checkpoint, or remove that file if something else has written it"
        ) from None
    if table is not None and table != own.get(TABLE):
        raise StateError(
            f"checkpoint '{checkpoint}': required the table to which its changes were applied, {table}; got "
            f"{own.get(TABLE, 'none')}\n  hint: go on with that table, or begin a new checkpoint; if it was "
            f"moved, write its new place into the {FILE} of the checkpoint"
        )
    if different:
        raise StateError(
            f"checkpoint '{checkpoint}': required the query that it was begun with; got another\n  "
            + "\n  ".join(different)
            + "\n  hint: go on with that query, or begin a new checkpoint"
        )


def _identity(stream: StreamTask) -> dict[str, Any]:
    schema = stream.task.schema
    return {
        "queries": stream.task.matcher().fingerprint,
        "columns": ", ".join(f"{field.name} {field.type}" for field in schema),
        "events": stream.layout,
        "rules": _rules(stream),
    }


def _rules(stream: StreamTask) -> str:
    if stream.arced:
        return "arcs"
    if not stream.ruled:
        return NO_RULES
    return "some" if stream.first is None else f"those of {rows_name(stream.first)}"


class _Place:
    """A checkpoint, on whichever file system it is: through Hadoop, as Spark itself sees it."""

    def __init__(self, session: Any, checkpoint: str) -> None:
        self.jvm = session._jvm
        path = self.jvm.org.apache.hadoop.fs.Path
        self.file, self.offsets = path(checkpoint, FILE), path(checkpoint, "offsets")
        self.files = self.file.getFileSystem(session._jsparkSession.sessionState().newHadoopConf())

    def is_begun(self) -> bool:
        """Whether a micro-batch was ever planned from here."""
        return bool(self.files.exists(self.offsets)) and len(self.files.listStatus(self.offsets)) > 0

    def read(self) -> str | None:
        """What is written there, if it is."""
        if not self.files.exists(self.file):
            return None
        stream = self.files.open(self.file)
        try:
            return str(self.jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, text: str) -> None:
        stream = self.files.create(self.file, True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
