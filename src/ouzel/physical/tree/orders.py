"""Orders of joins that a user fixes: left-deep, right-deep, bushy, or written out, such as ((a b) c)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ouzel.errors import OuzelError
from ouzel.physical.tree.cost import Estimate
from ouzel.physical.tree.search import Order, fixed, items_of
from ouzel.physical.tree.shape import Either, Heap, Row, Single, Solid

NAMED = {
    "left-deep": lambda items: len(items) - 1,
    "right-deep": lambda _items: 1,
    "bushy": lambda items: len(items) // 2,
}
AUTO = "auto"


@dataclass(frozen=True)
class _Group:
    """What stands in parentheses: names, and groups of them."""

    items: tuple[_Group | str, ...]


_Part = _Group | str


def order_of(plan: str, solid: Solid) -> Order:
    """The order that a user asked for: of names that are written out, those count that a solid has."""
    if plan in NAMED:
        return fixed(solid, NAMED[plan])
    return _Written(plan).order(solid)


def names_in(plan: str) -> list[str]:
    """The names that an order mentions, in order; an error where parentheses do not match."""
    return _Written(plan).names


class _Written:
    """An order that is written out."""

    def __init__(self, text: str) -> None:
        self.text = text
        stack: list[list[_Part]] = [[]]
        for piece in re.findall(r"[()]|[^\s();,&]+", text):
            if piece == "(":
                stack.append([])
            elif piece == ")":
                if len(stack) == 1:
                    raise self._error("required as many '(' as ')'")
                group = _Group(tuple(stack.pop()))
                stack[-1].append(group)
            else:
                stack[-1].append(piece)
        if len(stack) > 1:
            raise self._error("required as many ')' as '('")
        self.whole = _Group(tuple(stack[0]))
        self.names = _names(self.whole)

    def order(self, solid: Solid) -> Order:
        part = _of(self.whole, frozenset(solid.variables))
        if part is None or isinstance(solid, Single):
            return fixed(solid, NAMED["left-deep"])  # none of it is named: it may be left empty
        if isinstance(solid, Either):
            return Order(Estimate(0.0, 0.0), solid, parts=tuple(map(self.order, solid.items)))
        return self._split(type(solid), _with_unnamed(solid.items, frozenset(self.names)))

    def _split(self, kind: type[Row] | type[Heap], items: list[tuple[Solid, ...]]) -> Order:
        """Solids joined as the parentheses around their names say, each with those beside it that have none."""
        if len(items) == 1:
            return self._joined(kind, [self.order(item) for item in items[0]])
        own = [_variables(item).intersection(self.names) for item in items]
        part = _of(self.whole, frozenset().union(*own))
        assert isinstance(part, _Group)
        halves = _halves(own, part)
        if halves is None or (kind is Row and sorted(halves[0]) + sorted(halves[1]) != list(range(len(own)))):
            if halves is not None and sorted(halves[1]) + sorted(halves[0]) == list(range(len(own))):
                first, second = (", ".join(sorted(names)) for names in _sides(own, part) or ())
                raise self._error(f"required {second} before {first}: a sequence keeps its order")
            told = " ".join(name for one in own for name in sorted(one, key=self.names.index))
            neighbours = "neighbours together, " if kind is Row else ""
            raise self._error(f"required two parts for ({told}), {neighbours}each in parentheses")
        return self._joined(kind, [self._split(kind, [items[n] for n in half]) for half in halves])

    def _joined(self, kind: type[Row] | type[Heap], orders: list[Order]) -> Order:
        """Orders joined one after the other."""
        joined = orders[0]
        for other in orders[1:]:
            items = (*items_of(joined, kind), *items_of(other, kind))
            joined = Order(Estimate(0.0, 0.0), kind(items), joined, other)
        return joined

    def _error(self, what: str) -> OuzelError:
        return OuzelError(f"plan '{self.text}': {what}")


def _halves(own: list[frozenset[str]], part: _Group) -> tuple[list[int], list[int]] | None:
    """Which solids, by their names, are in each of two parts; None if some is in both, or there are not two."""
    sides = _sides(own, part)
    if sides is None:
        return None
    left, right = ([n for n, one in enumerate(own) if one <= side] for side in sides)
    return (left, right) if len(left) + len(right) == len(own) else None


def _sides(own: list[frozenset[str]], part: _Group) -> tuple[frozenset[str], frozenset[str]] | None:
    """The names on the left and on the right; of two solids, these are told apart without parentheses."""
    if len(part.items) == 2:
        left, right = (frozenset(_names(one)) for one in part.items)
        return left, right
    if len(own) != 2:
        return None
    names = _names(part)
    left, right = own if names[0] in own[0] else reversed(own)
    return (left, right) if left == frozenset(names[: len(left)]) else None


def _names(part: _Part) -> list[str]:
    return [part] if isinstance(part, str) else [name for one in part.items for name in _names(one)]


def _of(part: _Part, names: frozenset[str]) -> _Part | None:
    """What is left of a part with some of its names; a group of one is that one."""
    if isinstance(part, str):
        return part if part in names else None
    left = [one for item in part.items if (one := _of(item, names)) is not None]
    return left[0] if len(left) == 1 else _Group(tuple(left)) if left else None


def _variables(items: Sequence[Solid]) -> frozenset[str]:
    return frozenset(name for item in items for name in item.variables)


def _with_unnamed(items: tuple[Solid, ...], names: frozenset[str]) -> list[tuple[Solid, ...]]:
    """Solids, each with those behind it of which an order names nothing; at the beginning, with those before."""
    found: list[tuple[Solid, ...]] = []
    for item in items:
        is_apart = not found or (names & _variables([item]) and names & _variables(found[-1]))
        found = [*found, (item,)] if is_apart else [*found[:-1], (*found[-1], item)]
    return found


def written(order: Order) -> str:
    """An order as one writes it.

    >>> from ouzel.physical.tree.shape import Row
    >>> written(Order(Estimate(0.0, 0.0), Row(())))
    '()'
    """
    if isinstance(order.solid, Single):
        return order.solid.component.variable
    parts = order.parts or tuple(one for one in (order.left, order.right) if one)
    return f"({' '.join(map(written, parts))})"
