"""What a run has to remember for the formulas of a state: the vector V of SASE+ 5.2.1, in words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.expressions import (
    Aggregate,
    Attribute,
    Element,
    Events,
    Extent,
    Length,
    Moment,
    Variable,
    references,
)


def values_of(
    conjuncts: Sequence[Conjunct], optional: Collection[str], binding: str = "", *, first: bool = False
) -> list[str]:
    """The values that conjuncts need of events bound before; `binding` is the variable that binds the current one.

    With `first`, the current event is the variable's first.
    """
    nodes = [node for c in conjuncts for literal in c.literals for node in references(literal)]
    earlier = [node for node in nodes if not (node.variable == binding and _is_current(node, first=first))]
    uncertain = {variable: None for c in conjuncts for variable in may_be_absent(c, optional, binding)}
    return [*dict.fromkeys(_words(node) for node in earlier), *(f"whether there is {one}" for one in uncertain)]


def may_be_absent(conjunct: Conjunct, optional: Collection[str], binding: str = "") -> list[str]:
    """The variables of which a conjunct mentions an event that may not be there; then it is not applied."""
    nodes = [node for literal in conjunct.literals for node in references(literal)]
    found = {node.variable for node in nodes if isinstance(node, Attribute | Moment)}
    return sorted(found.intersection(optional) - {binding})


def _is_current(node: Variable, *, first: bool) -> bool:
    """Whether a reference to the component that binds an event means that event."""
    if isinstance(node, Aggregate | Length | Events):
        return False
    return node.element in (Element.SINGLE, Element.CURRENT) or (first and node.element is Element.FIRST)


def _words(node: Variable) -> str:
    match node:
        case Length():
            return f"{node.variable}.LEN"
        case Aggregate():
            return _aggregate(node)
        case Events():
            return f"{node.variable}[]"
    event = _event(node.variable, node.element)
    return f"{event}.{node.name}" if isinstance(node, Attribute) else f"{node.which}({event})"


def _event(variable: str, element: Element) -> str:
    return f"{variable}[{variable}.LEN]" if element is Element.LAST else variable + element.value


def _aggregate(node: Aggregate) -> str:
    """A running value, or two for an average, kept up to date as the closure takes events."""
    if node.name is None:
        return f"{node.variable}.LEN"
    if node.function in ("first", "last"):
        return f"{_event(node.variable, Element.FIRST if node.function == 'first' else Element.LAST)}.{node.name}"
    extent = "[..i-1]" if node.extent is Extent.SO_FAR else "[]"
    function = {"avg": "sum and count", "stddev": "mean, squares and count"}.get(node.function, node.function)
    return f"running {function} of {node.variable}{extent}.{node.name}"
