"""The partitions of matches: the values that equivalence tests have in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.logical.equivalence import EquivalenceTest
from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import Column
from ouzel.logical.values import common_type, to_arrow
from ouzel.physical import meaning
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.match_table import Flags, MatchTable, One
from ouzel.physical.meaning import constant_in, encoded, floats


@dataclass(frozen=True)
class Groups:
    """Matches, or totals over some of them, by partition and window.

    `numbers` has the group of each.  Of each group, `keys` has for every test a row with the partition's value, -1
    where there is none, and `windows` the window, if there are windows.
    """

    numbers: Integers
    count: int
    keys: tuple[Integers, ...]
    windows: Integers | None = None


def groups(
    query: BoundQuery, keys: Sequence[Integers], windows: Integers | None, size: int, events: EventTable
) -> Groups:
    """Group `size` things, of which each test has a row with the value in `keys`."""
    numbers, count = np.zeros(size, np.int64), 1
    if windows is None and not keys:
        return Groups(numbers, count, ())
    if windows is not None and size:
        used, numbers = np.unique(windows, return_inverse=True)
        count = len(used)
    for test, own in zip(query.equivalences, keys, strict=True):
        if test.constant is None and size:
            used, places = compact(own, len(events))
            codes, distinct = _codes(test, used, events)
            numbers, count = _joined(numbers, count, codes[places] + 1, distinct + 1)
    first = np.zeros(min(count, size), np.int64)
    first[numbers[::-1]] = np.arange(size)[::-1]
    of_windows = None if windows is None else windows[first]
    return Groups(numbers, len(first), tuple(own[first] for own in keys), of_windows)


def groups_of_matches(query: BoundQuery, matches: MatchTable, events: EventTable) -> Groups:
    """The groups that matches are in; the window of a match is the one in which it ends."""
    keys = [_rows_with(test, query, matches, events) for test in query.equivalences]
    windows = None if query.every is None else matches.end_times // query.every.length
    return groups(query, keys, windows, len(matches), events)


def match_numbers(query: BoundQuery, matches: MatchTable, events: EventTable) -> Integers:
    """The place of each match among those of its partition, from 1."""
    numbers = groups_of_matches(query, matches, events).numbers
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    places = np.empty(len(matches), np.int64)
    places[order] = np.arange(1, len(matches) + 1) - np.searchsorted(ordered, ordered)
    return places


def _codes(test: EquivalenceTest, rows: Integers, events: EventTable) -> tuple[Integers, int]:
    """Numbers for the values of a test's attribute in some rows, -1 for none, and how many there are."""
    columns = _columns(test)
    if len(columns) == 1:
        codes, values = encoded(attribute_values(test, rows, events))
        return codes, len(values)
    keys: list[Any] = [None] * len(rows)
    for column in columns:
        types = test.types_by_column[column.name]
        places = np.flatnonzero((rows >= 0) & (events.types.among(types)[rows] >= 0))
        held = events.table.column(column.name).take(pa.array(rows[places]))
        for place, key in zip(places.tolist(), meaning.key_values(held, real=test.is_real), strict=True):
            keys[place] = key
    known = {key: number for number, key in enumerate(dict.fromkeys(key for key in keys if key is not None))}
    return np.array([-1 if key is None else known[key] for key in keys], np.int64), len(known)


def _joined(numbers: Integers, count: int, codes: Integers, distinct: int) -> tuple[Integers, int]:
    """Number the pairs of two numberings that occur."""
    pairs = numbers * distinct + codes
    if count * distinct <= 4 * len(pairs) + 1024:
        used, places = compact(pairs, count * distinct)
    else:
        used, places = np.unique(pairs, return_inverse=True)
    return places, len(used)


def compact(rows: Integers, count: int) -> tuple[Integers, Integers]:
    """The distinct ones of numbers from -1 to `count` - 1, and the place of each among them.

    >>> [one.tolist() for one in compact(np.array([5, 2, 5, -1]), 6)]
    [[2, 5, -1], [1, 0, 1, 2]]
    """
    places = np.zeros(count + 1, np.int64)
    places[rows] = 1
    used = np.flatnonzero(places)
    places[used] = np.arange(len(used))
    return np.where(used == count, -1, used), places[rows]


def bindings(matches: MatchTable, variable: str) -> tuple[Integers, Integers]:
    """The events that a variable is bound to in all matches: the numbers of the matches, and the rows."""
    bound = matches.bound[variable]
    if isinstance(bound, One):
        numbers = np.flatnonzero(bound.rows >= 0)
        return numbers, bound.rows[numbers]
    return np.repeat(np.arange(len(matches)), bound.offsets[1:] - bound.offsets[:-1]), bound.rows


def _rows_with(test: EquivalenceTest, query: BoundQuery, matches: MatchTable, events: EventTable) -> Integers:
    """A row of each match that has the test's attribute, -1 where no event of it has."""
    found = np.full(len(matches), -1, np.int64)
    for component in query.components:
        having = tuple(sorted(name for name in component.type_names if test.column(name) is not None))
        if component.negative or not having:
            continue
        numbers, rows = bindings(matches, component.variable)
        if len(having) < len(component.type_names):
            has = events.types.among(having)[rows] >= 0
            numbers, rows = numbers[has], rows[has]
        found[numbers] = rows
        if np.all(found >= 0):
            break
    return found


def attribute_values(test: EquivalenceTest, rows: Integers, events: EventTable) -> pa.ChunkedArray:
    """A test's attribute in some rows, in the type that the events have; for -1 the test's constant or null."""
    columns = _columns(test)
    arrow = _common_type(test, columns)
    if len(columns) == 1:
        values = _gathered(events.table.column(columns[0].name), rows, rows < 0, arrow)
    else:
        values = pa.chunked_array([pa.nulls(len(rows), arrow)])
        for column in columns:
            types = test.types_by_column[column.name]
            missing = (rows < 0) | (events.types.among(types)[rows] < 0)
            values = pc.coalesce(values, _gathered(events.table.column(column.name), rows, missing, arrow))
    if test.constant is not None and values.null_count:
        values = _filled(values, constant_in(test.constant, arrow))
    # 0.0 and -0.0 are equal: one partition
    return pc.add(values, pa.scalar(0, arrow)) if arrow in (pa.float64(), pa.float32()) else values


def _gathered(column: pa.ChunkedArray, rows: Integers, missing: Flags, arrow: pa.DataType) -> pa.ChunkedArray:
    found = column.take(pa.array(rows, mask=missing))
    if pa.types.is_decimal(found.type) and pa.types.is_floating(arrow):
        # Arrow's own cast is not to the nearest double
        return pa.chunked_array([pa.array(floats(found), arrow, mask=found.is_null().to_numpy())])
    return found if found.type == arrow else found.cast(arrow, safe=False)


def _filled(values: pa.ChunkedArray, constant: pa.Scalar | None) -> pa.ChunkedArray:
    arrow = values.type
    if not pa.types.is_dictionary(arrow):
        return values.fill_null(constant)
    return values.cast(arrow.value_type).fill_null(constant).dictionary_encode().cast(arrow)


def _columns(test: EquivalenceTest) -> list[Column]:
    """The columns that hold a test's attribute, in all types of the pattern."""
    found: dict[str, Column] = {}
    for name in sorted(test.pattern_types):
        event_type = test.schema.event_type(name)
        column = event_type.column(test.attribute) if event_type else None
        if column is not None:
            found.setdefault(column.name, column)
    return list(found.values())


def _common_type(test: EquivalenceTest, columns: list[Column]) -> pa.DataType:
    """The type of a key: that of its column, or what the values of several columns, and the constant, are."""
    known = [column for column in columns if not pa.types.is_null(column.arrow)]
    arrows = {column.arrow for column in known}
    if not known:
        return pa.null() if test.constant is None else to_arrow(test.constant.type)
    one = len(arrows) == 1 and (len(columns) == 1 or not pa.types.is_dictionary(known[0].arrow))
    types = [column.type for column in known]
    arrow = known[0].arrow if one else to_arrow(common_type(types))
    if test.constant is None or constant_in(test.constant, arrow) is not None:
        return arrow
    wider = common_type([*types, test.constant.type])
    if constant_in(test.constant, to_arrow(wider)) is not None:
        return to_arrow(wider)
    # beyond what the finest unit counts
    units = () if wider.is_number else ("us", "ms", "s")
    coarser = [to_arrow(replace(wider, unit=unit)) for unit in units]
    return next((one for one in coarser if constant_in(test.constant, one) is not None), pa.float64())
