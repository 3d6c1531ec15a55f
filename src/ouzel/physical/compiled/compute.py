"""Expressions of RETURN for all matches at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ouzel.logical.expressions import Expression, references
from ouzel.logical.values import Kind
from ouzel.optimizer.plan import UnsuitableError
from ouzel.physical.compiled.emit import ByVariable, Emitter
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.prepare import kernel_of
from ouzel.physical.event_table import EventTable
from ouzel.physical.match_table import Many, MatchTable, One
from ouzel.physical.reference.evaluate import Bindings, evaluate
from ouzel.physical.reference.events import Event, Stream, Values


def compute_by_row(matches: MatchTable, events: EventTable) -> Callable[[Expression], Any]:
    """A function that computes an expression for every match: by a kernel, or where none can, one by one."""

    def compute(expression: Expression) -> Any:
        try:
            return _by_kernel(expression, matches, events)
        except UnsuitableError:
            return _one_by_one(expression, matches, events)

    return compute


def _by_kernel(expression: Expression, matches: MatchTable, events: EventTable) -> Any:
    if expression.type.kind is Kind.STRING:
        raise UnsuitableError("texts are numbers in a kernel")
    variables = sorted({node.variable for node in references(expression)})
    bound = [matches.bound[variable] for variable in variables]
    if not variables or not all(isinstance(one, One) and np.all(one.rows >= 0) for one in bound):
        raise UnsuitableError("some variables are bound to no event or to several")
    operands = Operands()
    emitter = Emitter(operands, depth=2)
    value = emitter.value(expression, ByVariable({name: f"r{k}[i]" for k, name in enumerate(variables)}))
    rows = ", ".join(f"r{k}" for k in range(len(variables)))
    kind = {Kind.FLOAT: "float64", Kind.BOOLEAN: "bool_"}.get(value.kind, "int64")
    source = "\n".join(
        [
            "@jit",
            f"def kernel(count, {rows}, {operands.parameters}):",
            f"    values = np.empty(count, np.{kind})",
            "    nulls = np.zeros(count, np.bool_)",
            "    for i in range(count):",
            *emitter.lines,
            f"        values[i] = {value.text}",
            f"        nulls[i] = {value.null or 'False'}",
            "    return values, nulls",
            "",
        ]
    )
    # only the rows that occur are fetched; the kernel works on places among them
    used, places = np.unique(
        np.concatenate([one.rows for one in bound if isinstance(one, One)]), return_inverse=True
    )
    split = np.split(places.astype(np.int64), len(variables))
    arguments = operands.arguments(events.table, used, events.end_times[used])
    values, nulls = kernel_of(source, len(matches))(len(matches), *split, *arguments)
    return np.ma.masked_array(values, nulls) if np.any(nulls) else values


def _one_by_one(expression: Expression, matches: MatchTable, events: EventTable) -> list[Any]:
    stream = Stream([], Values(events.table))
    codes, names = events.types.codes, events.types.names

    def event(row: int) -> Event | None:
        if row < 0:
            return None
        moments = (int(events.starts[row]), int(events.ends[row]))
        times = (int(events.start_times[row]), int(events.end_times[row]))
        return Event(row, names[codes[row]], *moments, *times)

    def bound(one: One | Many, number: int) -> Event | tuple[Event, ...] | None:
        if isinstance(one, One):
            return event(int(one.rows[number]))
        rows = one.rows[one.offsets[number] : one.offsets[number + 1]].tolist()
        return tuple(found for row in rows if (found := event(row)) is not None)

    def bindings(number: int) -> Bindings:
        present = {v: one for v, one in matches.bound.items() if isinstance(one, One) or not one.unbound[number]}
        return {variable: bound(one, number) for variable, one in present.items()}

    return [evaluate(expression, bindings(number), stream) for number in range(len(matches))]
