"""Changes of matches applied to a table by `match_id`: what is withdrawn goes, what is inserted comes.

A micro-batch that is written again, as after a crash, changes nothing: an id that is there is left as it is, and
one that is gone stays so, as the same micro-batch or a later one withdraws it again.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

from ouzel.errors import OuzelError, listed
from ouzel.runtimes.op_column import INSERT, WITHDRAW
from ouzel.runtimes.reported import MATCH_ID, OP
from ouzel.runtimes.spark.columns import backquoted
from ouzel.runtimes.spark.postgres import Postgres, is_postgres

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class Upsert(Protocol):
    """What is done with the changes of a micro-batch."""

    def check(self, changes: DataFrame, *, begins: bool = False) -> None:
        """Refuse what cannot work, before the stream is started; for the first time, or again."""

    def __call__(self, changes: DataFrame, batch: int) -> None:
        """Apply them."""


def upsert_to(changes: DataFrame, to: str, upsert: Any, options: dict[str, Any]) -> Upsert:
    """How changes are applied: in a table of PostgreSQL that `upsert` names, or in one of Delta Lake."""
    missing = [name for name in (OP, MATCH_ID) if name not in changes.columns]
    if missing:
        got = listed(changes.columns)
        raise OuzelError(
            f"upsert: required a stream of changes, with the columns op and match_id; got {got}"
            "\n  hint: oz.match(…, op=…) and oz.match(…, speculation=…) make one; of several queries, select one"
        )
    if is_postgres(to):
        if not isinstance(upsert, str) or not upsert:
            raise OuzelError(f"upsert: required the name of a table in '{without_secrets(to)}'; got {upsert!r}")
        return Postgres(to, upsert, options)
    if to.startswith("jdbc:") or upsert is not True:
        raise OuzelError(
            "upsert: required a table's name beside jdbc:postgresql://HOST:PORT/DATABASE, or True beside the "
            f"directory of a Delta table; got {upsert!r} beside '{without_secrets(to)}'"
        )
    if options:
        raise OuzelError(f"upsert: required no options for a Delta table; got {listed(options)}")
    return Delta(to)


def without_secrets(place: str) -> str:
    """A URL without what is said behind it, which may be a password."""
    return place.partition("?")[0]


class Delta:
    """A table of Delta Lake, by its directory."""

    def __init__(self, path: str) -> None:
        """It is made when the first changes come, if it is not there."""
        self.path = path

    def check(self, changes: DataFrame, *, begins: bool = False) -> None:  # noqa: ARG002
        """Refuse to begin without the package."""
        if find_spec("delta") is None:
            raise OuzelError(
                "Delta Lake is not installed\n  required: the package delta-spark, for this version of Spark, and "
                "a session with its extensions\n  hint: pip install delta-spark"
            )

    def __call__(self, changes: DataFrame, batch: int) -> None:  # noqa: ARG002
        """Merge the changes of a micro-batch."""
        from delta.tables import DeltaTable  # type: ignore[import-not-found, unused-ignore]

        session = changes.sparkSession
        columns = [name for name in changes.columns if name != OP]
        kept = changes.persist()  # else the micro-batch would be computed twice
        try:
            made = DeltaTable.createIfNotExists(session).location(self.path)
            made.addColumns(changes.select([backquoted(name) for name in columns]).schema).execute()
            table = DeltaTable.forPath(session, self.path).alias("table")
            merge = table.merge(_last(kept).alias("new"), f"table.{MATCH_ID} = new.{MATCH_ID}")
            values: dict[str, str | Column] = {backquoted(name): f"new.{backquoted(name)}" for name in columns}
            merge = merge.whenMatchedDelete(f"new.{OP} = {WITHDRAW}")
            merge.whenNotMatchedInsert(f"new.{OP} = {INSERT}", values).execute()
        finally:
            kept.unpersist()


def _last(changes: DataFrame) -> DataFrame:
    """One change for each id: what is inserted and withdrawn in one micro-batch is withdrawn."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    number = f.row_number().over(Window.partitionBy(MATCH_ID).orderBy(OP))
    return changes.withColumn("ouzel_number", number).where("ouzel_number = 1").drop("ouzel_number")
