"""Into how many tasks events are spread: no more than their size is worth, for each costs a tenth of a second."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SMALL = 1 << 20
"""A task of fewer bytes is not worth a core of its own."""
LARGE = 16 << 20
"""More bytes than that, as files have them, are for another task, even if there is no core for it yet."""
# What Spark says of a size that it does not know.
_UNKNOWN = 1 << 60


def most_tasks(session: SparkSession) -> int:
    """As many tasks as the session has after a shuffle."""
    return int(session.conf.get("spark.sql.shuffle.partitions") or 1)


def merges_tasks(session: SparkSession) -> bool:
    """Whether Spark itself merges tasks after a shuffle, once it knows how large they are."""
    names = ("spark.sql.adaptive.enabled", "spark.sql.adaptive.coalescePartitions.enabled")
    return all(session.conf.get(name) == "true" for name in names)


def tasks_for(size: int | None, session: SparkSession) -> int:
    """How many tasks so many bytes are worth: one for each core that gets enough, more if they get too much."""
    most = most_tasks(session)
    if size is None:
        return most
    return max(1, min(most, max(min(_cores(session), size // SMALL), -(-size // LARGE))))


def estimated_bytes(events: DataFrame) -> int | None:
    """How many bytes Spark takes a DataFrame for, without reading it; None if it does not know."""
    plan = getattr(events, "_jdf", None)
    if plan is None:
        return None
    size = int(str(plan.queryExecution().optimizedPlan().stats().sizeInBytes()))
    return size if size < _UNKNOWN else None


def bytes_of_files(files: Iterable[str]) -> int:
    """How large some files are."""
    return sum(Path(file).stat().st_size for file in files)


def _cores(session: SparkSession) -> int:
    """How many tasks run at a time; over Spark Connect nobody says."""
    return session.sparkContext.defaultParallelism if hasattr(session, "_jsparkSession") else most_tasks(session)
