"""Rows that withdraw events, in a DataFrame: those of a batch are netted out before anything is matched.

Rows of a DataFrame are in no order, so a withdrawal may stand before its event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ouzel.runtimes.op_column import INSERT, NOT_THERE, WITHDRAW
from ouzel.runtimes.quarantine import free_names
from ouzel.runtimes.reading import Reading, settled
from ouzel.runtimes.revision import Revision, check_revision
from ouzel.runtimes.spark.columns import arrow_schema, backquoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def surviving(events: DataFrame, reading: Reading, revision: Revision | None) -> DataFrame:
    """The events of a batch that are not withdrawn, without the column that says so."""
    from pyspark.sql import functions as f

    if revision is None or revision.op is None:
        return events
    check_revision(revision, arrow_schema(events), settled(reading, events.columns))
    paired, lives, problem = _paired(events, reading, revision)
    if reading.on_bad == "error":
        told = f.concat(f.lit(f"column '{revision.op}': "), problem)
        lives = f.when(problem.isNotNull(), f.raise_error(told).cast("boolean")).otherwise(lives)
    names = [name for name in events.columns if name != revision.op]
    return paired.where(lives).select([paired[backquoted(name)] for name in names])


def wrong_withdrawals(events: DataFrame, reading: Reading, revision: Revision) -> tuple[DataFrame, Column]:
    """The rows, and what is wrong with what they say of withdrawals, which of a stream no row alone can tell."""
    if events.isStreaming:
        return events, _no_sign(revision)
    paired, _lives, problem = _paired(events, reading, revision)
    return paired, problem


def _no_sign(revision: Revision) -> Column:
    """What is wrong with a row that neither inserts nor withdraws; null if it does."""
    from pyspark.sql import functions as f

    sign = f.col(backquoted(revision.op or ""))
    got = f.coalesce(sign.cast("string"), f.lit("null"))
    said = f.lit("required +1, to insert the event, or -1, to withdraw it; got ")
    return f.when(~f.coalesce(sign.isin(INSERT, WITHDRAW), f.lit(False)), f.concat(said, got))


def _paired(events: DataFrame, reading: Reading, revision: Revision) -> tuple[DataFrame, Column, Column]:
    """The rows, a condition for those that are events and stay so, and what is wrong with others, or null."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    sign = f.col(backquoted(revision.op or ""))
    others = [name for name in events.columns if name != revision.op]
    names = [*reading.times, *revision.identity] if revision.identity else others
    same = [f.col(backquoted(name)) for name in names]
    number, inserted, withdrawn = (f"{free_names(events.columns)[0]} {one}" for one in ("of", "in", "out"))
    counts = {
        # in the order in which files hold rows, as far as there is one
        number: f.row_number().over(Window.partitionBy(*same, sign).orderBy(f.monotonically_increasing_id())),
        inserted: f.count(f.when(sign == INSERT, True)).over(Window.partitionBy(*same)),
        withdrawn: f.count(f.when(sign == WITHDRAW, True)).over(Window.partitionBy(*same)),
    }
    lives = (sign == INSERT) & (f.col(number) > f.col(withdrawn))
    without = (sign == WITHDRAW) & (f.col(number) > f.col(inserted))
    problem = f.coalesce(_no_sign(revision), f.when(without, f.lit(NOT_THERE)))
    return events.withColumns(counts), lives, problem
