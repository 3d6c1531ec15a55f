"""Expressions over the events of a match that is found: what RETURN and negation read, as source.

A kernel is given the rows of each variable, and of a closure where those of each match begin, as places in the
columns that it is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ouzel.logical.expressions import Aggregate, Attribute, Element, Length, Moment
from ouzel.logical.values import Kind, ValueType
from ouzel.physical.compiled.elements import Elements
from ouzel.physical.compiled.emit import Emitter
from ouzel.physical.compiled.operands import Source
from ouzel.physical.compiled.value import Value
from ouzel.physical.event_table import Integers
from ouzel.physical.match_table import Bound, Many


class MatchRows:
    """Where an expression finds values: in the events that variables are bound to in match i."""

    def __init__(self, arrays: Mapping[str, bool]) -> None:
        """Name the variables, in the order of the kernel's parameters, and say which are closures."""
        self.arrays = arrays
        self.places = {variable: place for place, variable in enumerate(arrays)}

    @property
    def parameters(self) -> str:
        """The kernel's parameters for what variables are bound to, each with a comma behind."""
        return "".join(f"rows{k}, offsets{k}, unbound{k}, " for k in self.places.values())

    def arguments(self, bound: Bound, used: Integers) -> list[Any]:
        """The arguments for those parameters; rows are places among those in use."""
        arguments: list[Any] = []
        for variable in self.places:
            one = bound[variable]
            places = one.placed(used).rows
            many = (one.offsets, one.unbound) if isinstance(one, Many) else (places, one.rows < 0)
            arguments += [places, *many]
        return arguments

    def absent(self, node: Attribute | Moment) -> str:
        """Whether there is no event that a reference means."""
        k = self.places[node.variable]
        return f"offsets{k}[i] == offsets{k}[i + 1]" if self.arrays[node.variable] else f"rows{k}[i] < 0"

    def cell(self, node: Attribute | Moment, column: Source, value_type: ValueType, emitter: Emitter) -> Value:
        """The value of the variable's event, or of the first or last of a closure; null where there is none."""
        k = self.places[node.variable]
        text = f"rows{k}[i]"
        if self.arrays[node.variable]:
            at = f"offsets{k}[i + 1] - 1" if node.element is Element.LAST else f"offsets{k}[i]"
            text = f"rows{k}[{at}] if offsets{k}[i] < offsets{k}[i + 1] else -1"
        row = emitter.assigned(text, None, Kind.INTEGER).text
        found = emitter.cell(column, value_type, f"max({row}, 0)")
        absent = f"{row} < 0" + (f" or {found.null}" if found.null else "")
        return Value(found.text, emitter.assigned(absent, None, Kind.BOOLEAN).text, found.kind)

    def aggregate(self, node: Aggregate | Length, emitter: Emitter) -> Value:
        """An aggregate over the events of a closure."""
        k = self.places[node.variable]
        elements = Elements(f"rows{k}", f"offsets{k}[i]", f"offsets{k}[i + 1]", f"unbound{k}[i]")
        return elements.aggregate(node, emitter)
