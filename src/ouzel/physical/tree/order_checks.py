"""What is wrong with an order of joins that a user fixes, or where there is nothing to choose, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ouzel.errors import OuzelError, did_you_mean
from ouzel.logical.pattern import Binds, Component
from ouzel.logical.query import BoundQuery
from ouzel.physical.tree.orders import AUTO, NAMED, names_in, order_of, written
from ouzel.physical.tree.search import fixed
from ouzel.physical.tree.shape import Either, Heap, Many, Row, Single, Solid, Variant


def choices(solid: Solid) -> int:
    """How many solids the largest row or heap has: with fewer than three there is nothing to choose."""
    match solid:
        case Single():
            return 1
        case Either(items):
            return max(choices(item) for item in items)
        case Row(items) | Heap(items):
            return max(len(items), *(choices(item) for item in items))


def check_order(plan: str, query: BoundQuery, variants: Sequence[Variant]) -> None:
    """Refuse an order that is none, and one where there is nothing to choose."""
    roots = sorted((one.root for one in variants if one.root), key=lambda root: -len(root.variables))
    if not any(choices(root) > 2 for root in roots):
        why = "; ".join(
            dict.fromkeys([*(told for root in roots[:1] for told in _no_choice(root)), *_beside(query)])
        )
        raise OuzelError(
            f"plan '{plan}': required three components or more that bind events in sequence or with '&'; "
            f"got {why}\n  hint: leave out plan"
        )
    if plan in NAMED:
        return
    largest = next(root for root in roots if choices(root) > 2)
    examples = dict.fromkeys(written(fixed(largest, NAMED[name])) for name in ("left-deep", "right-deep"))
    hint = f"\n  hint: write plan={' or '.join(map(repr, examples))}"
    try:
        _check_names(plan, query, roots)
        for root in roots:
            order_of(plan, root)
    except OuzelError as error:
        raise OuzelError(f"{error}" + hint) from None


def _check_names(plan: str, query: BoundQuery, roots: Sequence[Solid]) -> None:
    """Each variable once, but for those that may be left empty."""
    names = names_in(plan)
    known = dict.fromkeys(name for root in roots for name in root.variables)
    needed = [name for name in known if all(name in root.variables for root in roots)]
    listed = ", ".join(known)
    components = {one.variable: one for one in query.components}
    for name, count in Counter(names).items():
        if name in known and count > 1:
            raise OuzelError(f"plan '{plan}': required each variable once; got {name} {count} times")
        if name in components and name not in known:
            raise OuzelError(f"plan '{plan}': required some of {listed}; {_is_beside(components[name])}")
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None or not names:
        meant = did_you_mean(plan, [*NAMED, AUTO]) if len(names) < 2 else did_you_mean(unknown or "", known)
        raise OuzelError(
            f"plan '{plan}': required {', '.join(NAMED)}, {AUTO}, or the variables {listed} in parentheses; "
            f"got '{unknown or plan}'" + (f"; {meant}" if meant else "")
        )
    missing = [name for name in needed if name not in names]
    if missing:
        raise OuzelError(f"plan '{plan}': required all of {listed}; {', '.join(missing)} is missing")


def _no_choice(solid: Solid) -> Iterator[str]:
    """Of each part of a pattern, why there is but one way to join it."""
    match solid:
        case Single(component):
            yield f"{component.variable} alone"
        case Row() | Heap():
            yield f"'{_words(solid)}', which is joined of two parts, in one way"
        case Either():
            yield f"'{_words(solid)}', of which each alternative is found by itself"
    for item in solid.items if isinstance(solid, Many) else ():
        if isinstance(item, Many):
            yield from _no_choice(item)


def _beside(query: BoundQuery) -> Iterator[str]:
    for component in query.components:
        if component.binds in (Binds.NONE, Binds.GROUP):
            yield _is_beside(component)


def _is_beside(component: Component) -> str:
    kind = "a negative component" if component.negative else "a grouping closure"
    return f"{component.variable} is {kind}, and belongs to those beside it"


def _words(solid: Solid, *, inner: bool = False) -> str:
    if isinstance(solid, Single):
        return solid.component.variable
    sign = {Heap: " & ", Either: " | "}.get(type(solid), "; ")
    text = sign.join(_words(item, inner=True) for item in solid.items)
    return f"({text})" if inner else text
