"""Where conditions find what a record binds: events by name, the elements of closures and groups in arrays.

Of the component at place n, x<n> is the event, or what leads to the last one of several; k<n> is how many there
are, -1 if it is unbound; they stand in e<n> from a<n> on, once `elements` wrote them there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ouzel.logical.conjuncts import Conjunct, is_iterated
from ouzel.logical.expressions import Aggregate, Attribute, Element, Extent, Length, Moment
from ouzel.logical.pattern import Binds, Component
from ouzel.logical.values import ValueType
from ouzel.physical.compiled.elements import Elements
from ouzel.physical.compiled.emit import Emitter
from ouzel.physical.compiled.operands import Source
from ouzel.physical.compiled.value import Value
from ouzel.physical.contract import UnsuitableError


@dataclass(frozen=True)
class RecordRows:
    """The components of a record by variable, and those that may be unbound in it."""

    components: Mapping[str, Component]
    loose: frozenset[str] = frozenset()

    def cell(self, node: Attribute | Moment, column: Source, value_type: ValueType, emitter: Emitter) -> Value:
        """The value in a column of the event that a reference means."""
        return emitter.cell(column, value_type, self._row(node))

    def _row(self, node: Attribute | Moment) -> str:
        component = self.components[node.variable]
        n = component.position
        if not component.is_array:
            return f"x{n}"
        match node.element:
            case Element.CURRENT | Element.EVERY:
                return f"e{n}[i{n}]"
            case Element.PREVIOUS:
                return f"e{n}[i{n} - 1]"
        # it may be empty, and what is read then matters to nobody
        at = f"a{n} + k{n} - 1" if node.element is Element.LAST else f"a{n}"
        return f"(e{n}[{at}] if k{n} > 0 else 0)"

    def aggregate(self, node: Aggregate | Length, emitter: Emitter) -> Value:
        """The value of an aggregate over all elements, or those before the current one."""
        component = self.components[node.variable]
        if not component.is_array:
            raise UnsuitableError("it aggregates what is not a closure")
        n = component.position
        so_far = isinstance(node, Aggregate) and node.extent is Extent.SO_FAR
        return Elements(f"e{n}", f"a{n}", f"i{n}" if so_far else f"a{n} + k{n}").aggregate(node, emitter)

    def holds(self, conjunct: Conjunct, emitter: Emitter, *, taken: str | None = None) -> str:
        """Write a condition, for every element of what it iterates over; of a closure that has just `taken` one,
        for that one.
        """
        absent = sorted({test for node in conjunct.references if (test := self._absent(node))})
        iterated = sorted({node.variable for node in conjunct.references if is_iterated(node)})
        loops = [variable for variable in iterated if self.components[variable].is_array]
        if not loops:
            return emitter.holds(conjunct, self, absent)
        name = emitter.fresh()
        emitter.line(f"{name} = True")
        with emitter.scope():
            for variable in loops:
                n = self.components[variable].position
                begin = f"a{n} + 1" if variable in conjunct.from_second else f"a{n}"
                if variable == taken:
                    begin = f"max({begin}, a{n} + k{n} - 1)"
                emitter.begin(f"for i{n} in range({begin}, a{n} + k{n}):")
                emitter.write(f"if not {name}:", "    break")
            flag = emitter.holds(conjunct, self, absent)
            emitter.write(f"if not ({flag}):", f"    {name} = False")
        return name

    def _absent(self, node: object) -> str:
        """The test that an event is not there, which a condition mentions: it is not applied then."""
        if not isinstance(node, Attribute | Moment | Aggregate | Length):
            return ""
        component = self.components[node.variable]
        n = component.position
        if not component.is_array:
            return f"x{n} < 0" if node.variable in self.loose else ""
        is_event = isinstance(node, Attribute | Moment) and not is_iterated(node)
        if is_event and component.binds is Binds.GROUP and component.least == 0:
            return f"k{n} <= 0"
        return f"k{n} < 0" if node.variable in self.loose else ""


def arrays_in(conjunct: Conjunct, components: Mapping[str, Component]) -> list[Component]:
    """The closures and groups whose elements a condition reads."""
    return [components[variable] for variable in sorted(conjunct.variables) if components[variable].is_array]
