"""Results that are rows: attributes of events that runs handed over, and values that they computed.

Attributes that are columns of events are gathered, so that they keep their exact types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.logical.algebra.streams import StreamAttribute
from ouzel.logical.expressions import Attribute, Expression, references
from ouzel.logical.query import BoundQuery
from ouzel.logical.values import Kind
from ouzel.physical.automaton.closing import window_ends
from ouzel.physical.automaton.edges import End
from ouzel.physical.automaton.registers import Slot, Slots
from ouzel.physical.automaton.states import EventNumber, key_of
from ouzel.physical.compiled.compute import compute_by_row
from ouzel.physical.compiled.sources import is_register
from ouzel.physical.compiled.texts import Texts
from ouzel.physical.contract import Compute, Found, Intervals
from ouzel.physical.each_once import each_once
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.finish.distinct_rows import rows_in_order, with_one_form
from ouzel.physical.match_table import Flags, MatchTable, One
from ouzel.physical.meaning import arrow_values
from ouzel.physical.memory.retained import Retained

_PARTS = ("found", "integers", "floats")


@dataclass(frozen=True)
class Handed:
    """What the runs of some matches hand over: (node, last event, state) of each, integers and floats."""

    found: Any
    integers: Any
    floats: Any

    @classmethod
    def joined(cls, parts: Sequence[Handed]) -> Handed:
        """All of some."""
        if len(parts) == 1:
            return parts[0]
        return cls(*(np.concatenate([getattr(one, name) for one in parts]) for name in _PARTS))

    def chosen(self, chosen: Flags) -> Handed:
        """Those for which a flag is set."""
        return Handed(self.found[chosen], self.integers[chosen], self.floats[chosen])

    def at(self, state: int) -> Handed:
        """Those that end at a state."""
        chosen = np.flatnonzero(self.found[:, 2] == state)
        if len(chosen) == len(self.found):
            return self
        return Handed(self.found[chosen], self.integers[chosen], self.floats[chosen])


def found_rows(
    query: BoundQuery, ends: Mapping[int, End], slots: Slots, handed: Handed, retained: Retained, texts: Texts
) -> Found:
    """The results of a batch, by end, start and values; of the algebra each once, as streams are sets."""
    attributes = query.attributes
    assert attributes is not None
    by_state = [
        _Results(slots, state, end, own) for state, end in ends.items() if len((own := handed.at(state)).found)
    ]
    used = each_once(*(one for results in by_state for one in results.numbers()))
    columns = {column for results in by_state for column in results.columns()}
    events, rows = retained.events(used, frozenset(columns))
    places = np.empty(int(used[-1]) + 1, np.int64)
    places[used] = rows
    tables, intervals = zip(
        *(results.written(attributes, events, places, texts) for results in by_state), strict=True
    )
    table = pa.concat_tables(tables)
    table = table if query.algebra is None else with_one_form(table)
    starts, ends_, start_times, end_times = (np.concatenate(some) for some in zip(*intervals, strict=True))
    order = rows_in_order(table, starts, ends_, distinct=query.algebra is not None)
    spans: Intervals = starts[order], ends_[order], start_times[order], end_times[order]
    return Found.of_rows(query, table.take(pa.array(order)), spans, events)


@dataclass(frozen=True)
class _Results:
    """The results that end at one state."""

    slots: Slots
    state: int
    end: End
    handed: Handed

    def events_of(self, variable: str) -> Integers:
        """The numbers of the events that a variable is bound to."""
        if variable == self.end.last:
            last: Integers = self.handed.found[:, 1].astype(np.int64)
            return last
        return self._integers(key_of(EventNumber(variable)))

    def variables(self) -> set[str]:
        """The variables whose events results are made of."""
        values = self.end.attributes.values()
        read = {node.variable for value in values for node in references(value) if not is_register(node)}
        return {self.end.first, self.end.last, *read}

    def numbers(self) -> list[Integers]:
        """The numbers of all events."""
        return [self.events_of(variable) for variable in sorted(self.variables())]

    def columns(self) -> set[str]:
        """The columns of events that results are made of."""
        nodes = (node for value in self.end.attributes.values() for node in references(value))
        return {node.column for node in nodes if isinstance(node, Attribute) and not is_register(node)}

    def written(
        self, attributes: tuple[StreamAttribute, ...], events: EventTable, places: Integers, texts: Texts
    ) -> tuple[pa.Table, Intervals]:
        """Their columns, and when they start and end; `places` are the rows of events by number."""
        bound = {variable: One(places[self.events_of(variable)]) for variable in sorted(self.variables())}
        intervals = events.intervals(bound[self.end.first].rows, bound[self.end.last].rows)
        if self.end.window is not None:
            intervals = _closed(intervals, self.end.window)
        compute = compute_by_row(MatchTable({**bound}, lambda: intervals), events)
        columns = {}
        for one in attributes:
            value = self.end.attributes[one.name]
            if isinstance(value, Attribute) and not is_register(value):
                column = events.table.column(value.column).take(pa.array(bound[value.variable].rows))
                columns[one.name] = column if column.type == one.arrow else column.cast(one.arrow)
            else:
                computed = self._register(value, texts) if is_register(value) else self._computed(value, compute)
                columns[one.name] = pa.chunked_array([arrow_values(computed, one.type, one.arrow)])
        return pa.table(columns), intervals

    def _computed(self, value: Expression, compute: Compute) -> Any:
        return compute(value)

    def _register(self, value: Expression, texts: Texts) -> Any:
        """What runs computed; what is not there is always null."""
        assert isinstance(value, Attribute)
        integers, floats = self.slots.handed(self.state)
        if ("value", *slot_of(value)) not in integers + floats:
            return [None] * len(self.handed.found)
        return register_values(value, self._slot, texts)

    def _slot(self, slot: Slot) -> Any:
        _integers, floats = self.slots.handed(self.state)
        return self.handed.floats[:, floats.index(slot)] if slot in floats else self._integers(slot)

    def _integers(self, slot: Any) -> Integers:
        integers, _floats = self.slots.handed(self.state)
        column: Integers = self.handed.integers[:, integers.index(slot)]
        return column


def _closed(intervals: Intervals, window: int) -> Intervals:
    """From first events to the ends of windows; where ranks order events, none is of that time."""
    starts, ends, start_times, end_times = intervals
    over = window_ends(start_times, window)
    return starts, np.where(ends == end_times, over, ends), start_times, over


def slot_of(value: Attribute) -> Slot:
    """What tells the slots of a register that runs compute from those of others."""
    return key_of(value), value.column, value.type


def register_values(value: Any, slot: Callable[[Slot], Any], texts: Texts) -> Any:
    """The values of a register that runs compute, of what is in its slots; texts are numbers there."""
    of = slot_of(value)
    values, nulls = slot(("value", *of)), slot(("null", *of)) != 0
    if value.type.kind is Kind.STRING:
        pairs = zip(values.tolist(), nulls, strict=True)
        return [None if is_null else texts.text(number) for number, is_null in pairs]
    if value.type.kind is Kind.BOOLEAN:
        values = values != 0
    if value.type.kind is Kind.UNSIGNED:
        values = values.astype(np.uint64)
    return np.ma.masked_array(values, nulls) if nulls.any() else values
