"""Expressions of RETURN for all matches at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ouzel.language.tree import COUNT_DISTINCT
from ouzel.logical.expressions import Aggregate, Expression, Length, references
from ouzel.logical.read_functions import inlined
from ouzel.logical.values import Kind
from ouzel.physical.compiled.by_match import by_match
from ouzel.physical.compiled.emit import Emitter
from ouzel.physical.compiled.fill import Failing, Wanted
from ouzel.physical.compiled.kernel import long_kernel_of
from ouzel.physical.compiled.match_rows import MatchRows
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.texts import Texts
from ouzel.physical.contract import UnsuitableError
from ouzel.physical.each_once import each_once
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
    used = np.arange(len(events)) if sum(map(len, rows)) >= len(events) else each_once(*rows)
    used = used[np.searchsorted(used, 0) :]
    if not len(used):
        raise UnsuitableError("no variable is bound to an event")
    _check(expression, bound)
    operands = Operands()
    emitter = Emitter(operands=operands, depth=2)
    rows_of = MatchRows({variable: isinstance(one, Many) for variable, one in bound.items()})
    value = emitter.value(expression, rows_of)
    if operands.calls:
        raise UnsuitableError("it calls what no kernel can say")
    kind = {Kind.FLOAT: "float64", Kind.BOOLEAN: "bool_"}.get(value.kind, "int64")
    source = "\n".join(
        [
            "@jit",
            f"def kernel(board, values, nulls, {rows_of.parameters}{operands.parameters}):",
            "    for i in range(len(values)):",
            f"        {SEEN}",
            "            return",
            *emitter.lines,
            f"        values[i] = {value.text}",
            f"        nulls[i] = {value.null or 'False'}",
            "",
        ]
    )
    # only the rows that occur are fetched; the kernel works on places among them
    arguments = rows_of.arguments(bound, used)
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


def _check(expression: Expression, bound: dict[str, One | Many]) -> None:
    """Refuse aggregates that a kernel takes longer to compute, or whose values it cannot hand back."""
    for node in references(expression):
        if not isinstance(node, Aggregate | Length):
            continue
        one = bound[node.variable]
        if not isinstance(one, Many):
            raise UnsuitableError("it aggregates what is not a closure")
        if isinstance(node, Length) or node.input_type is None:
            continue
        held = node.input_type
        if node.function != "count" and held.kind is Kind.OTHER:
            raise UnsuitableError(f"{node.function} of {held}")
        if node.function == COUNT_DISTINCT and np.max(np.diff(one.offsets), initial=0) > MANY:
            raise UnsuitableError("to compare so many values with each other takes longer than to hash them")
