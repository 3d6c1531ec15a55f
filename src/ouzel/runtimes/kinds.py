"""Kinds of table: what comes in is turned into Arrow, and what goes out is of the kind that came in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.errors import SchemaError, listed
from ouzel.logical.schema import NESTED
from ouzel.runtimes import pandas_frames, polars_frames
from ouzel.runtimes.files import FileEvents
from ouzel.runtimes.origins import Origins
from ouzel.runtimes.quarantine import Problem, bad_table, free_names
from ouzel.runtimes.rows import rows_to_arrow

# Narwhals is imported when a table of another kind comes in.
if TYPE_CHECKING:
    import narwhals as nw

Back = Callable[[pa.Table, Origins, Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Restore:
    """The way back from Arrow to a kind of table; `dtypes` are those of the columns of events, if any."""

    back: Back
    dtypes: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, result: pa.Table, origins: Origins) -> Any:
        """A result as a table of the kind; `origins` are the columns of events that it shows."""
        shown = {name for origin in origins.values() for name in origin.columns if NESTED in name}
        fields = {name: dtype for name in shown if (dtype := self._field(name)) is not None}
        return self.back(result, origins, {**self.dtypes, **fields})

    def _field(self, name: str) -> Any:
        """The dtype of a field of a column of structs, if that tells."""
        column, *fields = name.split(NESTED)
        dtype: Any = self.dtypes.get(column)
        for field_name in fields:
            if hasattr(dtype, "pyarrow_dtype"):
                dtype = type(dtype)(dtype.pyarrow_dtype.field(field_name).type)
            else:
                held = {one.name: one.dtype for one in getattr(dtype, "fields", ())}
                dtype = held.get(field_name)
        return dtype

    def with_composites(self, type_name: str, origins: Origins) -> Restore:
        """The same way back where a query's matches are events: their attributes are columns of events, too."""
        single = {name: one.column for name, one in origins.items() if one.column is not None and not one.is_list}
        held = {name: self.dtypes.get(column, self._field(column)) for name, column in single.items()}
        more = {f"{type_name}.{name}": dtype for name, dtype in held.items() if dtype is not None}
        return replace(self, dtypes={**self.dtypes, **more})

    def over(self, others: Sequence[tuple[Restore, Mapping[str, str]]]) -> Restore:
        """The same way back for what comes of several tables, with what the columns of each are called now.

        A column of several tables keeps its dtype only if it has that in all of them: categories of one table
        are none of another.
        """
        held: dict[str, Any] = {}
        unlike: set[str] = set()
        for restore, names in others:
            is_same_kind = restore.back is self.back
            for name, column in names.items():
                dtype = restore.dtypes.get(name) if is_same_kind else None
                if dtype is None or held.setdefault(column, dtype) != dtype:
                    unlike.add(column)
        return replace(self, dtypes={name: dtype for name, dtype in held.items() if name not in unlike})


@dataclass(frozen=True)
class Incoming:
    """Events as they came and as an Arrow table, the way back to their kind, and the values that do not fit."""

    native: Any
    table: pa.Table
    restore: Restore
    problems: list[Problem] = field(default_factory=list)
    place: Callable[[int], str] | None = None
    """Where a row is, if there is more to say than its number."""


def columns_in_words(schema: pa.Schema) -> str:
    """The columns of a schema, with their types."""
    return ", ".join(f"{field.name} {field.type}" for field in schema)


def _to_rows(result: pa.Table, _origins: Origins, _dtypes: Mapping[str, Any]) -> Any:
    return result.to_pylist()


def _to_table(result: pa.Table, _origins: Origins, _dtypes: Mapping[str, Any]) -> Any:
    return result


def to_arrow(events: Any) -> Incoming:
    """Read events of any kind."""
    if isinstance(events, FileEvents):
        return Incoming(events.written, events.table, Restore(_to_table), list(events.problems), events.place)
    if is_rows(events):
        table, problems = rows_to_arrow(events)
        return Incoming(events, table, Restore(_to_rows), problems)
    if isinstance(events, pa.RecordBatch):
        events = pa.Table.from_batches([events])
    if isinstance(events, pa.Table):
        plain = without_views(events)
        return Incoming(plain, plain, Restore(_to_table))
    if _is(events, "polars", "LazyFrame"):
        events = events.collect()
    if _is(events, "polars", "DataFrame"):
        table = polars_frames.frame_to_arrow(events)
        return Incoming(events, table, Restore(polars_frames.frame_from_arrow, dict(events.schema)))
    if _is(events, "pandas", "DataFrame"):
        table, problems = pandas_frames.frame_to_arrow(events)
        restore = Restore(pandas_frames.frame_from_arrow, dict(events.dtypes))
        return Incoming(events, table, restore, problems)
    frame = _frame(events)
    if frame is not None:
        table, problems = _frame_to_arrow(frame)
        return Incoming(events, table, _restore(frame), problems)
    events = _stream_to_arrow(events)
    if isinstance(events, pa.Table):
        plain = without_views(events)
        return Incoming(plain, plain, Restore(_to_table))
    raise SchemaError(
        f"events: required a pyarrow, pandas or Polars table, a list of dicts, the path of a file, "
        f"or a dict of them by event type; got {type(events).__name__}"
    )


def _is(events: Any, package: str, name: str) -> bool:
    """Whether events are of a class of a package that may not be installed."""
    classes = type(events).__mro__
    return any(one.__name__ == name and one.__module__.partition(".")[0] == package for one in classes)


def is_rows(events: Any) -> bool:
    """Whether events come as a list of dicts."""
    return isinstance(events, Sequence) and not isinstance(events, str | bytes)


def is_without_rows(events: Any) -> bool:
    """Whether events come as a list without rows, which has no columns either, or as a dict of such lists."""
    lists = events.values() if isinstance(events, Mapping) else [events]
    return bool(lists) and all(is_rows(one) and not one for one in lists)


def is_tables_by_type(events: Any) -> bool:
    """Whether events come as one table per type."""
    return isinstance(events, Mapping)


def bad_rows(incoming: Incoming, texts: Mapping[int, str]) -> Any:
    """Some rows as they came, of their kind, with their numbers and a text for each."""
    row, problem = free_names(incoming.table.column_names)
    if is_rows(incoming.native):
        return [{**incoming.native[number], row: number, problem: text} for number, text in texts.items()]
    if isinstance(incoming.native, pa.Table):
        return bad_table(incoming.native, texts)
    import narwhals as nw

    frame = nw.from_native(incoming.native, eager_only=True)
    backend = frame.implementation
    numbers = nw.new_series(row, list(texts), nw.Int64(), backend=backend)
    problems = nw.new_series(problem, list(texts.values()), nw.String(), backend=backend)
    return frame[list(texts)].with_columns(numbers, problems).to_native()


def _frame(events: Any) -> nw.DataFrame[Any] | None:
    import narwhals as nw

    try:
        return nw.from_native(events, eager_only=True)  # type: ignore[no-any-return]
    except TypeError:
        return None
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in events.columns]
        repeated = {name for name in names if names.count(name) > 1}
        raise SchemaError(f"columns of one name: {listed(repeated)}\n  hint: rename them") from None


def _restore(frame: nw.DataFrame[Any]) -> Restore:
    """The way back to the kind of a table."""
    import narwhals as nw

    backend = frame.implementation
    return Restore(lambda result, _origins, _dtypes: nw.from_arrow(result, backend=backend).to_native())


def _stream_to_arrow(events: Any) -> Any:
    try:
        return pa.table(events) if hasattr(events, "__arrow_c_stream__") else events
    except pa.ArrowInvalid:  # a stream of single values
        return events


def _frame_to_arrow(frame: nw.DataFrame[Any]) -> tuple[pa.Table, list[Problem]]:
    try:
        return _plain(frame.to_arrow()), []
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        # a column of Python objects may hold values of several types
        return rows_to_arrow(frame.rows(named=True))


def without_views(table: pa.Table) -> pa.Table:
    """Views of strings as strings, and runs of values as values: Arrow computes little with either."""
    for number, held in enumerate(table.schema):
        column = came = table.column(number)
        if pa.types.is_run_end_encoded(column.type):
            chunks = [pc.run_end_decode(chunk) for chunk in column.chunks]
            column = pa.chunked_array(chunks, held.type.value_type)
        if pa.types.is_dictionary(column.type) and pa.types.is_float16(column.type.value_type):
            # to make one of several such dictionaries, Arrow takes the bits of their values for numbers
            column = column.cast(pa.float16())
        value_type = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if value_type in _VIEWS:
            column = _with_values(column, _VIEWS[value_type])
        if pa.types.is_dictionary(column.type):
            column = _with_room(_with_nulls_outside(column))
        if column is not came:
            table = table.set_column(number, held.with_type(column.type), column)
    return table


def _with_values(column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    """A column, or the dictionary of one, with values of another type."""
    if not pa.types.is_dictionary(column.type):
        return column.cast(wanted)
    chunks = [pa.DictionaryArray.from_arrays(one.indices, one.dictionary.cast(wanted)) for one in column.chunks]
    return pa.chunked_array(chunks, pa.dictionary(column.type.index_type, wanted))


def _with_room(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A dictionary in several pieces with room for the values of all of them."""
    count = sum(len(chunk.dictionary) for chunk in column.chunks)
    if column.num_chunks < 2 or count < 1 << (column.type.index_type.bit_width - 1):
        return column
    return with_indices(column, pa.int32())


def with_indices(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A dictionary whose values are numbered by integers of another type; Arrow's cast takes some for others."""
    ordered = column.type.ordered
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices.cast(kind), chunk.dictionary, ordered=ordered)
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, pa.dictionary(kind, column.type.value_type, ordered))


def _with_nulls_outside(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A dictionary that holds no null: Arrow joins no others."""
    if not any(chunk.dictionary.null_count for chunk in column.chunks):
        return column
    chunks = []
    for chunk in column.chunks:
        held = chunk.dictionary.is_valid().to_numpy(zero_copy_only=False)
        places = np.append(np.where(held, np.cumsum(held) - 1, -1), -1)
        indices = places[chunk.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)]
        numbers = pa.array(indices, pa.int64(), mask=indices < 0).cast(column.type.index_type)
        chunks.append(pa.DictionaryArray.from_arrays(numbers, chunk.dictionary.drop_null()))
    return pa.chunked_array(chunks, column.type)


_VIEWS = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}


def _plain(table: pa.Table) -> pa.Table:
    """Pandas leaves its index and metadata in the table: they are no attributes."""
    names = [name for name in table.column_names if not name.startswith("__index_level_")]
    return table.select(names).replace_schema_metadata(None)


def is_spark(events: Any) -> bool:
    """Whether events are a Spark DataFrame, of Spark Connect or not."""
    return type(events).__module__.startswith("pyspark.sql") and hasattr(events, "mapInArrow")
