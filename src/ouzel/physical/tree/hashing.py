"""Equality between the two sides of a join: looked up in a hash table (ZStream 5.2.2).

Where the paper has a primary table on one attribute and secondary ones on others, there is one here for all
attributes, and the partition: records of one bucket are linked, and the conditions still decide.
"""

from __future__ import annotations

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.expressions import Apply, Attribute, Element
from ouzel.logical.values import Kind
from ouzel.physical.tree.nodes import Join, Node, Union, variables, walk

_KINDS = (Kind.INTEGER, Kind.STRING, Kind.TIMESTAMP)

Equal = tuple[Attribute, Attribute]
"""An attribute on the left that must equal one on the right."""


def hashed_in(node: Node) -> tuple[Equal, ...]:
    """The equalities by which the records of a join are looked up."""
    if not isinstance(node, Join):
        return ()
    found = [equality(one, variables(node.left), variables(node.right)) for one in node.conjuncts]
    # what may be unbound equals everything
    loose = {name for one in walk(node) if isinstance(one, Union) for name in variables(one)}
    return tuple(one for one in found if one and not {side.variable for side in one} & loose)


def equality(conjunct: Conjunct, left: frozenset[str], right: frozenset[str]) -> Equal | None:
    """What a condition requires to be equal, of single events on either side."""
    if len(conjunct.literals) != 1:
        return None
    match conjunct.literals[0]:
        case Apply(function, (Attribute() as one, Attribute() as other)) if function.name == "=":
            pair = (one, other) if one.variable in left else (other, one)
            is_across = pair[0].variable in left and pair[1].variable in right
            if is_across and all(map(_is_plain, pair)) and one.type == other.type and one.type.kind in _KINDS:
                return pair
    return None


def is_equality(conjunct: Conjunct) -> bool:
    """Whether a condition is an equality between two events that can be looked up, whichever is on the left."""
    names = sorted(conjunct.variables)
    return len(names) == 2 and equality(conjunct, frozenset(names[:1]), frozenset(names[1:])) is not None


def _is_plain(node: Attribute) -> bool:
    """Whether a value is that of one event, which has it."""
    return node.element is Element.SINGLE and not node.missing_in
