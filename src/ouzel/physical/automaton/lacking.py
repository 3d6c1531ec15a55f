"""Attributes that some types of a stream do not have: of their events these are null, whatever the table holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ouzel.logical.algebra.streams import Stream, bases
from ouzel.physical.event_table import EventTable


def lacking_types(stream: Stream) -> Mapping[str, frozenset[str]]:
    """By column, the types whose events do not have what is in it."""
    found: dict[str, set[str]] = {}
    for base in bases(stream):
        for one in base.types:
            for attribute, column in zip(base.attributes, base.columns, strict=True):
                if one.attributes is not None and attribute.name not in one.attributes:
                    found.setdefault(column.name, set()).add(one.name)
    return {column: frozenset(types) for column, types in found.items()}


def without_lacking(events: EventTable, lacking: Mapping[str, frozenset[str]]) -> EventTable:
    """The events with nulls for what their types do not have."""
    table = events.table
    for column, types in lacking.items():
        absent = events.types.among(tuple(sorted(types))) >= 0
        if absent.any():
            rows = pa.array(np.arange(len(events)), mask=absent)
            place = table.schema.get_field_index(column)
            table = table.set_column(
                place, table.schema.field(place).with_nullable(True), table[column].take(rows)
            )
    return events if table is events.table else replace(events, table=table)
