"""Orders of joins that a user fixes: left-deep, right-deep, bushy, or written out, such as ((a b) c)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ouzel.errors import OuzelError
from ouzel.physical.tree.search import Order, fixed
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

    @property
    def names(self) -> frozenset[str]:
        return frozenset().union(*(frozenset({one}) if isinstance(one, str) else one.names for one in self.items))


def order_of(plan: str, solid: Solid) -> Order:
    """The order that a user asked for."""
    if plan in NAMED:
        return fixed(solid, NAMED[plan])
    return _Reader(plan).order(solid)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        tokens = re.findall(r"[()]|[^\s();]+", text)
        self.groups: list[_Group] = []
        stack: list[list[_Group | str]] = [[]]
        for piece in tokens:
            if piece == "(":
                stack.append([])
            elif piece == ")":
                if len(stack) == 1:
                    raise self._error("required as many '(' as ')'")
                group = _Group(tuple(stack.pop()))
                self.groups.append(group)
                stack[-1].append(group)
            else:
                stack[-1].append(piece)
        if len(stack) > 1:
            raise self._error("required as many ')' as '('")
        if len(stack[0]) > 1:
            self.groups.append(_Group(tuple(stack[0])))

    def order(self, solid: Solid) -> Order:
        known = set(solid.variables)
        unknown = sorted(set().union(*(one.names for one in self.groups)) - known) if self.groups else []
        if unknown or not self.groups:
            names = ", ".join(solid.variables)
            what = f"got '{unknown[0]}'" if unknown else f"got '{self.text}'"
            raise self._error(
                f"required {', '.join(NAMED)}, {AUTO}, or the variables {names} in parentheses; {what}"
            )
        return fixed(solid, self._split)

    def _split(self, items: tuple[Solid, ...]) -> int:
        """Where the parentheses split some solids."""
        if len(items) == 2:
            return 1
        names = frozenset(name for item in items for name in item.variables)
        for group in self.groups:
            if group.names == names and len(group.items) == 2:
                first = group.items[0]
                left = frozenset({first}) if isinstance(first, str) else first.names
                for at in range(1, len(items)):
                    if frozenset(name for item in items[:at] for name in item.variables) == left:
                        return at
        told = " ".join(name for item in items for name in item.variables)
        raise self._error(f"required two parts for ({told}), neighbours together, each in parentheses")

    def _error(self, what: str) -> OuzelError:
        return OuzelError(
            f"plan '{self.text}': {what}\n  hint: for A a; B b; C c write plan='((a b) c)' or '(a (b c))'"
        )


def choices(solid: Solid) -> int:
    """How many solids the largest row or heap has: with fewer than three there is nothing to choose."""
    match solid:
        case Single():
            return 1
        case Either(items):
            return max(choices(item) for item in items)
        case Row(items) | Heap(items):
            return max(len(items), *(choices(item) for item in items))
