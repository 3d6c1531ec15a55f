"""Malformed events in a DataFrame: without a time, a type or a value to order by, or of a type unheard of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ouzel.errors import listed
from ouzel.logical.times import EARLIEST, LATEST, too_far_off
from ouzel.runtimes.quarantine import free_names
from ouzel.runtimes.reading import Reading, type_column_of
from ouzel.runtimes.revision import Revision
from ouzel.runtimes.spark.columns import backquoted
from ouzel.runtimes.spark.task import Task
from ouzel.runtimes.spark.withdrawals import wrong_withdrawals

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True)
class Required:
    """What an event must have: values in some columns, and a type that is declared if any are."""

    values: dict[str, str]
    """By column, what its value is to an event."""
    types: tuple[str, list[str]] | None
    """The column of types, and those declared."""
    long_times: tuple[str, ...] = ()
    """The columns of times that hold integers, which may be too far off to be counted; Spark's times never are."""
    interval: tuple[str, ...] | None = None
    """The columns in which events start and end, if they last."""

    @classmethod
    def by(cls, reading: Reading, columns: Sequence[str], long: Collection[str]) -> Required:
        """What is required by how events are read, of columns with those names; `long` are integers of 64 bits."""
        type_name = type_column_of(columns, reading)
        roles = ("time",) if reading.start is None else ("start", "end")
        values = {**dict(zip(reading.times, roles, strict=True)), **({type_name: "type"} if type_name else {})}
        values |= {name: "value to order by" for name in reading.order if name not in values}
        declared = (type_name, sorted(reading.types)) if type_name and reading.types is not None else None
        interval = None if reading.start is None else reading.times
        return cls(values, declared, tuple(name for name in reading.times if name in long), interval)

    @classmethod
    def of(cls, task: Task) -> Required:
        """What a task requires of its events."""
        long = [field.name for field in task.schema if pa.types.is_int64(field.type)]
        return cls.by(task.reading, task.schema.names, long)

    def broken(self, field: Callable[[str], Any]) -> Any:
        """A condition for malformed events, of fields of Arrow's, or in SQL."""
        conditions = [field(name).is_null() for name in self.values]
        if self.types is not None:
            column, declared = self.types
            conditions.append(~field(column).isin(declared))
        conditions += [_too_far_off(field(name)) for name in self.long_times]
        if self.interval is not None:
            start, end = map(field, self.interval)
            conditions.append(start > end)
        return reduce(or_, conditions)

    def problem(self) -> Column:
        """What is wrong with an event, in words; nothing if it is as it must be."""
        from pyspark.sql import functions as f

        texts = [
            f.when(f.col(backquoted(name)).isNull(), f.lit(f"column '{name}': the event has no {role}"))
            for name, role in self.values.items()
        ]
        if self.types is not None:
            name, declared = self.types
            column = f.col(backquoted(name))
            said = f.lit(f"'; required one of {listed(declared)}")
            text = f.concat(f.lit(f"column '{name}': unknown event type '"), column, said)
            texts.append(f.when(~column.isin(declared), text))
        for name in self.long_times:
            column = f.col(backquoted(name))
            before, after = too_far_off("\0").split("\0")
            text = f.concat(f.lit(f"column '{name}': {before}"), column.cast("string"), f.lit(after))
            texts.append(f.when(_too_far_off(column), text))
        if self.interval is not None:
            start, end = (f.col(backquoted(name)) for name in self.interval)
            first, last = f.lit(f"column '{self.interval[0]}': the event starts at "), f.lit(", after its end ")
            text = f.concat(first, start.cast("string"), last, end.cast("string"))
            texts.append(f.when(start > end, text))
        return f.concat_ws("; ", *texts)


def _too_far_off(time: Any) -> Any:
    """A condition for times that cannot be counted."""
    return (time < EARLIEST) | (time > LATEST)


def malformed_events(events: DataFrame, reading: Reading, revision: Revision | None = None) -> DataFrame:
    """The malformed events as they came, with what is wrong with them; computed when it is used."""
    from pyspark.sql import functions as f

    _row, problem = free_names(events.columns)
    long = [name for name, kind in events.dtypes if kind == "bigint"]
    text, rows = Required.by(reading, events.columns, long).problem(), events
    if revision is not None and revision.op is not None:
        rows, wrong = wrong_withdrawals(events, reading, revision)
        said = f.concat(f.lit(f"column '{revision.op}': "), wrong)
        text = f.concat_ws("; ", f.when(text != "", text), said)
    told = rows.withColumn(problem, text).select(*(backquoted(name) for name in (*events.columns, problem)))
    return told.where(f"{backquoted(problem)} != ''")
