"""What a run remembers, in words: the vector V of SASE+ 5.2.1."""

from __future__ import annotations

from ouzel.logical.expressions import Aggregate, Attribute, Element, Extent, Moment
from ouzel.physical.automaton.states import Elements, EventNumber, Presence, Register
from ouzel.physical.compiled.operands import COMPUTED


def register_words(register: Register) -> str:
    """A register by what it holds."""
    match register.of:
        case Presence(variable=variable, empty=empty):
            return f"whether {variable} was chosen" if empty else f"whether there is {variable}"
        case Elements(variable=variable):
            return f"all events of {variable}"
        case EventNumber(variable=variable):
            return f"event {variable}"
        case Attribute(name=name, column=column) if column == COMPUTED:
            return name
        case Attribute(variable=variable, element=element, name=name):
            return f"{_event(variable, element)}.{name}"
        case Moment(which=which, variable=variable, element=element):
            return f"{which}({_event(variable, element)})"
        case Aggregate() as node:
            return _aggregate(node)
    enough = f", up to {register.most}" if register.most is not None else ""
    return f"{register.of.variable}.LEN{enough}"


def _event(variable: str, element: Element) -> str:
    return f"{variable}[{variable}.LEN]" if element is Element.LAST else variable + element.value


def _aggregate(node: Aggregate) -> str:
    """A running value, or two for an average, kept up to date as the closure takes events."""
    extent = "[..i-1]" if node.extent is Extent.SO_FAR else "[]"
    function = {"avg": "sum and count", "stddev": "mean, squares and count"}.get(node.function, node.function)
    return f"running {function} of {node.variable}{extent}.{node.name}"
