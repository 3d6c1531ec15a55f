"""Batches for a matcher: each with the columns and types that were agreed on, or refused by name."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ouzel.errors import SchemaError, listed
from ouzel.logical.values import Kind, from_arrow
from ouzel.runtimes.kinds import with_indices


def fitted(events: Any, schema: pa.Schema) -> pa.Table:
    """A batch with the columns and types of a schema; values may be encoded otherwise, but mean the same."""
    batch = pa.Table.from_batches([events]) if isinstance(events, pa.RecordBatch) else events
    if not isinstance(batch, pa.Table):
        raise SchemaError(f"push: required a pyarrow record batch or table; got {type(events).__name__}")
    if batch.schema.equals(schema):
        return batch
    columns = []
    for name in schema.names:
        places = batch.schema.get_all_field_indices(name)
        if not places:
            raise SchemaError(f"push: required the columns {listed(schema.names)}; there is no '{name}'")
        if len(places) > 1:
            raise SchemaError(f"push: required one column '{name}'; got {len(places)}")
        given, agreed = batch.schema.field(name).type, schema.field(name).type
        if not is_same_meaning(given, agreed):
            raise SchemaError(
                f"push: column '{name}': required {agreed}, as in the matcher's schema; got {given}\n"
                "  hint: cast the column as it is meant, or make the matcher for the type it has"
            )
        columns.append(batch.column(places[0]))
    try:
        columns = [_cast(column, field.type) for column, field in zip(columns, schema, strict=True)]
        return pa.Table.from_arrays(columns, schema=schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
        raise SchemaError(f"push: required the types of the matcher's schema; {error}") from None


def _cast(column: pa.ChunkedArray, agreed: pa.DataType) -> pa.ChunkedArray:
    """A column in another type, or as it is."""
    given = column.type
    if given.equals(agreed):
        return column
    if pa.types.is_run_end_encoded(given):  # of a slice of it Arrow casts other rows
        column = pa.chunked_array([pc.run_end_decode(chunk) for chunk in column.chunks], given.value_type)
        return _cast(column, agreed)
    if pa.types.is_run_end_encoded(agreed):
        chunks = [pc.run_end_encode(one, agreed.run_end_type) for one in _cast(column, agreed.value_type).chunks]
        return pa.chunked_array(chunks, agreed)
    if pa.types.is_dictionary(given) and pa.types.is_dictionary(agreed) and given.value_type == agreed.value_type:
        return with_indices(column, agreed.index_type)
    return column.cast(agreed)


def with_room(schema: pa.Schema) -> pa.Schema:
    """A schema whose dictionaries have room for the values of all batches together.

    >>> with_room(pa.schema({"k": pa.dictionary(pa.int8(), pa.string())})).field("k").type.index_type
    DataType(int32)
    """
    for place, field in enumerate(schema):
        if pa.types.is_dictionary(field.type) and field.type.index_type.bit_width < _ROOM.bit_width:
            kind = pa.dictionary(_ROOM, field.type.value_type, field.type.ordered)
            schema = schema.set(place, field.with_type(kind))
    return schema


_ROOM = pa.int32()


def is_same_meaning(given: pa.DataType, agreed: pa.DataType) -> bool:
    """Whether values of one type are values of another, if they fit: Arrow would count seconds as milliseconds.

    >>> is_same_meaning(pa.int32(), pa.int64()), is_same_meaning(pa.timestamp("s"), pa.int64())
    (True, False)
    """
    if given.equals(agreed) or pa.types.is_null(given):
        return True
    if pa.types.is_struct(given) and pa.types.is_struct(agreed):
        parts = [agreed.get_all_field_indices(field.name) for field in given]
        return all(
            is_same_meaning(field.type, agreed.field(places[0]).type)
            for field, places in zip(given, parts, strict=True)
            if len(places) == 1
        )
    if hasattr(given, "value_field") and hasattr(agreed, "value_field"):
        return is_same_meaning(given.value_type, agreed.value_type)
    one, other = from_arrow(given), from_arrow(agreed)
    if one.is_number:
        return other.is_number
    if one.kind is Kind.TIMESTAMP and other.kind is Kind.TIMESTAMP:
        # a day is a moment, its midnight; of a moment more is known than the day
        return (one.zone is None) == (other.zone is None) and (one.unit == "d" or other.unit != "d")
    return one.kind is other.kind
