"""What the records of a node consist of: columns of numbers of events (ZStream 4.2)."""

from __future__ import annotations

from ouzel.logical.pattern import Binds, Component
from ouzel.physical.tree.nodes import Kind, Leaf, Node

ENDS = ("first", "last")
"""The events with which a record starts and ends."""


def lasts(component: Component) -> bool:
    """Whether events of a component may last."""
    return any(one.lasts for one in component.types)


def own_columns(component: Component) -> tuple[str, ...]:
    """The columns of a component: an event; or what leads to the last of several, and their number.

    Of a group of events that last, those count that start after the end of another one, f.
    """
    n = component.position
    if not component.is_array:
        return (f"x{n}",)
    if component.binds is Binds.GROUP and lasts(component):
        return f"x{n}", f"k{n}", f"f{n}"
    return f"x{n}", f"k{n}"


def columns_of(node: Node) -> tuple[str, ...]:
    """The columns of a node's records."""
    if isinstance(node, Leaf) and node.kind is Kind.STOP:
        return (*ENDS, f"x{node.component.position}")
    return (*ENDS, *(name for component in node.components for name in own_columns(component)))
