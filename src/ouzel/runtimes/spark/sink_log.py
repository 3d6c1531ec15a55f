"""What a directory of files has had from streams: Spark notes there which micro-batches it has written.

It writes none twice, by their numbers alone.  So a stream that begins anew beside the files of another would lose
all that it finds in its first micro-batches, without a word.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ouzel.errors import StateError
from ouzel.runtimes.spark.watching import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOG, OFFSETS = "_spark_metadata", "offsets"


def check_written(session: SparkSession, to: str | Path, checkpoint: str | Path) -> None:
    """Refuse a directory that has had micro-batches which the checkpoint does not know of."""
    if is_connect(session):
        return  # files are out of sight
    if _latest(session, to, LOG) > _latest(session, checkpoint, OFFSETS):
        raise StateError(
            f"'{to}': required a directory without files of a stream that checkpoint '{checkpoint}' does not know "
            "of, as Spark leaves out micro-batches whose numbers have been written; got one with such files\n"
            "  hint: go on with the checkpoint of that stream, or write to another directory"
        )


def _latest(session: Any, directory: str | Path, log: str) -> int:
    """The number of the last micro-batch in one of Spark's logs, -1 if there is none."""
    path = session._jvm.org.apache.hadoop.fs.Path(str(directory), log)
    files = path.getFileSystem(session._jsparkSession.sessionState().newHadoopConf())
    if not files.exists(path):
        return -1
    names = [str(one.getPath().getName()).removesuffix(".compact") for one in files.listStatus(path)]
    return max((int(name) for name in names if name.isdecimal()), default=-1)
