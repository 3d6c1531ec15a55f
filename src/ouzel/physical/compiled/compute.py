"""Expressions of RETURN for all matches at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ouzel.language.tree import COUNT_DISTINCT
from ouzel.logical.expressions import Aggregate, Attribute, Element, Expression, Length, Moment, references
from ouzel.logical.read_functions import inlined
from ouzel.logical.values import Kind, ValueType
from ouzel.physical.compiled.by_match import by_match
from ouzel.physical.compiled.elements import Elements
from ouzel.physical.compiled.emit import Emitter
from ouzel.physical.compiled.fill import Failing, Wanted
from ouzel.physical.compiled.kernel import long_kernel_of
from ouzel.physical.compiled.operands import Operands, Source
from ouzel.physical.compiled.texts import Texts
from ouzel.physical.compiled.value import Value
from ouzel.physical.contract import UnsuitableError
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.match_table import Many, MatchTable, One
from ouzel.physical.stoppable import SEEN, stoppable

# In closures of more events than that, values are hashed to count the distinct ones.
MANY = 1_000


def compute_by_row(matches: MatchTable, events: EventTable) -> Callable[[Expression], Any]:
    """A function that computes an expression for every match: by a kernel, or where none can, one by one."""

    def compute(expression: Expression) -> Any:
        try:
            return stoppable(lambda: _by_kernel(expression, matches, events), size=_steps(expression, matches))
        except UnsuitableError:
            return by_match(expression, matches, events)

    return compute


def _steps(expression: Expression, matches: MatchTable) -> int:
    """How many steps it takes about: one for a match and for each event of a closure, or each pair of them."""
    steps = float(len(matches))
    for node in references(expression):
        one = matches.bound[node.variable]
        if isinstance(one, Many):
            lengths = np.diff(one.offsets).astype(np.float64)
            is_by_pairs = isinstance(node, Aggregate) and node.function == COUNT_DISTINCT
            steps += float((lengths**2).sum() if is_by_pairs else lengths.sum())
    return int(steps)


def _by_kernel(expression: Expression, matches: MatchTable, events: EventTable) -> Any:
    expression = inlined(expression)
    variables = sorted({node.variable for node in references(expression)})
    if not variables or not len(matches):
        raise UnsuitableError("there is nothing to go through")
    bound = {variable: matches.bound[variable] for variable in variables}
    rows = [one.rows for one in bound.values()]
    # to find out which of them occur takes longer than to fetch all
    used = np.arange(len(events)) if sum(map(len, rows)) >= len(events) else np.unique(np.concatenate(rows))
    used = used[np.searchsorted(used, 0) :]
    if not len(used):
        raise UnsuitableError("no variable is bound to an event")
    operands = Operands()
    emitter = Emitter(operands=operands, depth=2)
    value = emitter.value(expression, _MatchRows(bound))
    if operands.calls:
        raise UnsuitableError("it calls what no kernel can say")
    kind = {Kind.FLOAT: "float64", Kind.BOOLEAN: "bool_"}.get(value.kind, "int64")
    parameters = ", ".join(f"rows{k}, offsets{k}, unbound{k}" for k in range(len(variables)))
    source = "\n".join(
        [
            "@jit",
            f"def kernel(board, values, nulls, {parameters}, {operands.parameters}):",
            "    for i in range(len(values)):",
            f"        {SEEN}",
            "            return",
            *emitter.lines,
            f"        values[i] = {value.text}",
            f"        nulls[i] = {value.null or 'False'}",
            "",
        ]
    )
    arguments: list[Any] = []
    for one in bound.values():
        # only the rows that occur are fetched; the kernel works on places among them
        places = one.placed(used).rows
        arguments += [places, *((one.offsets, one.unbound) if isinstance(one, Many) else (places, one.rows < 0))]
    texts = Texts(operands.texts)
    arguments += operands.arguments(events, used, events.end_times[used], texts, _bound_by(bound, used))
    if any(isinstance(one, Failing) for one in arguments):
        raise UnsuitableError("a function fails for some event, and who has it tells")
    values, nulls = np.empty(len(matches), kind), np.zeros(len(matches), np.bool_)
    kernel = long_kernel_of(source, max(len(matches), *(len(one.rows) for one in bound.values())))
    kernel(values, nulls, *arguments)
    if expression.type.kind is Kind.STRING:
        return [None if is_null else texts.text(n) for n, is_null in zip(values.tolist(), nulls, strict=True)]
    if expression.type.kind is Kind.UNSIGNED:
        values = values.view(np.uint64)
    return np.ma.masked_array(values, nulls) if np.any(nulls) else values


def _bound_by(bound: dict[str, One | Many], used: Integers) -> Wanted:
    """Which of the rows in use a variable is bound to."""
    return lambda variable: np.isin(used, bound[variable].rows)


class _MatchRows:
    """Where an expression finds values: in the events that variables are bound to in match i."""

    def __init__(self, bound: dict[str, One | Many]) -> None:
        self.bound = bound
        self.places = {variable: place for place, variable in enumerate(bound)}

    def cell(self, node: Attribute | Moment, column: Source, value_type: ValueType, emitter: Emitter) -> Value:
        """The value of the variable's event, or of the first or last of a closure; null where there is none."""
        k = self.places[node.variable]
        text = f"rows{k}[i]"
        if isinstance(self.bound[node.variable], Many):
            at = f"offsets{k}[i + 1] - 1" if node.element is Element.LAST else f"offsets{k}[i]"
            text = f"rows{k}[{at}] if offsets{k}[i] < offsets{k}[i + 1] else -1"
        row = emitter.assigned(text, None, Kind.INTEGER).text
        found = emitter.cell(column, value_type, f"max({row}, 0)")
        absent = f"{row} < 0" + (f" or {found.null}" if found.null else "")
        return Value(found.text, emitter.assigned(absent, None, Kind.BOOLEAN).text, found.kind)

    def aggregate(self, node: Aggregate | Length, emitter: Emitter) -> Value:
        """An aggregate over the events of a closure; of none it is null, but for count."""
        k, one = self.places[node.variable], self.bound[node.variable]
        if not isinstance(one, Many):
            raise UnsuitableError("it aggregates what is not a closure")
        is_by_pairs = isinstance(node, Aggregate) and node.function == COUNT_DISTINCT
        if is_by_pairs and np.max(np.diff(one.offsets), initial=0) > MANY:
            raise UnsuitableError("to compare so many values with each other takes longer than to hash them")
        elements = Elements(f"rows{k}", f"offsets{k}[i]", f"offsets{k}[i + 1]", f"unbound{k}[i]")
        return elements.aggregate(node, emitter)
