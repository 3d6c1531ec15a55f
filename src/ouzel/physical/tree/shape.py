"""A pattern as trees are planned over it: what binds events, what may lie between, every choice decided.

What binds events are *solids*: single events and closures, rows and heaps of solids, and alternatives.  Negative
components and grouping closures stand in the *gaps* between them.  A closure that may be empty is there or is not:
a pattern has a *variant* for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, product

from ouzel.logical.pattern import Binds, Component, Conjunction, Disjunction, Pattern, Sequence, Step
from ouzel.physical.contract import UnsuitableError

# So many variants, of one pattern, have a tree each.
MOST_VARIANTS = 64


@dataclass(frozen=True)
class Single:
    """A component that binds one event, or a closure that binds some."""

    component: Component

    @property
    def variables(self) -> tuple[str, ...]:
        """What it binds."""
        return (self.component.variable,)


@dataclass(frozen=True)
class Many:
    """Several solids."""

    items: tuple[Solid, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        """What they bind."""
        return tuple(variable for item in self.items for variable in item.variables)


class Row(Many):
    """Each ends before the next begins."""


class Heap(Many):
    """All of them, in any order, on distinct events."""


class Either(Many):
    """One of them."""


Solid = Single | Row | Heap | Either


@dataclass(frozen=True)
class Gap:
    """Negative components, and at most one grouping closure, in order: what they lie between, by its variables.

    Without any they are open: to the start or to the end of the pattern, or to what is beside the heap that they
    are `inside` of.  What is `around` looks at the whole match.
    """

    components: tuple[Component, ...]
    after: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    around: bool = False

    @property
    def group(self) -> Component | None:
        """The grouping closure."""
        return next((one for one in self.components if one.binds is Binds.GROUP), None)


@dataclass(frozen=True)
class Variant:
    """A pattern in which every closure has an event or none (`empty`); without a solid, it is but a group."""

    root: Solid | None
    gaps: tuple[Gap, ...]
    empty: frozenset[str] = frozenset()

    @property
    def variables(self) -> tuple[str, ...]:
        """What it binds, but for empty closures."""
        groups = [gap.group.variable for gap in self.gaps if gap.group]
        return (*(self.root.variables if self.root else ()), *groups)


@dataclass(frozen=True)
class _Piece:
    """Part of a sequence: solids and components of gaps in order; gaps inside of it; closures left empty."""

    items: tuple[Solid | Component, ...] = ()
    gaps: tuple[Gap, ...] = ()
    empty: frozenset[str] = frozenset()


def variants_of(pattern: Pattern) -> tuple[Variant, ...]:
    """All variants of a pattern."""
    found: list[Variant] = []
    for piece in _pieces(pattern):
        found += _with_or_without(_variant(piece))
        if len(found) > MOST_VARIANTS:
            raise _too_many()
    return tuple(found)


def _too_many() -> UnsuitableError:
    return UnsuitableError(f"closures and alternatives may be there or not in more than {MOST_VARIANTS} ways")


def _variant(piece: _Piece) -> Variant:
    root, gaps = _row(piece)
    return Variant(root, gaps, piece.empty)


def _with_or_without(variant: Variant) -> list[Variant]:
    """A closure of any number at the end of a pattern: each of its events may be the last, or it has none."""
    for number, gap in enumerate(variant.gaps):
        group = gap.group
        if group is not None and not gap.before and group.least == 0:
            gaps = list(variant.gaps)
            gaps[number] = replace(
                gap, components=tuple(replace(c, least=1) if c is group else c for c in gap.components)
            )
            some = replace(variant, gaps=tuple(gaps))
            gaps[number] = replace(gap, components=tuple(c for c in gap.components if c is not group))
            left = tuple(one for one in gaps if one.components)
            none = replace(variant, gaps=left, empty=variant.empty | {group.variable})
            rest = [some] if variant.root is None else [some, none]
            return [one for each in rest for one in _with_or_without(each)]
    return [variant]


def _pieces(pattern: Pattern) -> Iterator[_Piece]:
    """The ways to decide what a pattern leaves open."""
    match pattern:
        case Step(component):
            yield from _step(component)
        case Sequence(items):
            for chosen in product(*map(_some_pieces, items)):
                yield _Piece(
                    tuple(item for piece in chosen for item in piece.items),
                    tuple(gap for piece in chosen for gap in piece.gaps),
                    frozenset().union(*(piece.empty for piece in chosen)),
                )
        case Disjunction(items):
            pieces = [piece for item in items for piece in _some_pieces(item)]
            rows = [_row(piece) for piece in pieces]
            if all(_is_closed(piece, gaps) for piece, (_row_, gaps) in zip(pieces, rows, strict=True)):
                solids = tuple(solid for solid, _gaps in rows if solid is not None)
                yield _Piece((Either(solids),), tuple(gap for _solid, gaps in rows for gap in gaps))
            else:
                yield from pieces
        case Conjunction(items):
            yield from _heaps(items)


def _some_pieces(pattern: Pattern) -> list[_Piece]:
    """The same, of a part of a pattern, if they are few."""
    found = list(islice(_pieces(pattern), MOST_VARIANTS + 1))
    if len(found) > MOST_VARIANTS:
        raise _too_many()
    return found


def _step(component: Component) -> Iterator[_Piece]:
    if component.binds is not Binds.CLOSURE:
        yield _Piece((Single(component) if component.binds is Binds.ONE else component,))
        return
    yield _Piece((Single(replace(component, least=max(component.least, 1))),))
    if component.least == 0:
        yield _Piece(empty=frozenset({component.variable}))


def _heaps(items: tuple[Pattern, ...]) -> Iterator[_Piece]:
    negative = [item.component for item in items if isinstance(item, Step) and item.component.negative]
    around = tuple(Gap((component,), around=True) for component in negative)
    others = [item for item in items if not (isinstance(item, Step) and item.component.negative)]
    for chosen in product(*map(_some_pieces, others)):
        rows = [_row(piece) for piece in chosen]
        solids = tuple(solid for solid, _gaps in rows if solid is not None)
        gaps = (*(gap for _solid, own in rows for gap in own), *around)
        empty = frozenset().union(*(piece.empty for piece in chosen))
        if not solids:
            # a group of its own, or nothing at all
            yield _Piece((), gaps, empty)
            continue
        heap = Heap(solids) if len(solids) > 1 else solids[0]
        gaps = tuple(gap if gap.after or gap.before else replace(gap, inside=heap.variables) for gap in gaps)
        yield _Piece((heap,), gaps, empty)


def _row(piece: _Piece) -> tuple[Solid | None, tuple[Gap, ...]]:
    """The solids of a sequence as one, and its gaps, each with what it lies between."""
    solids: list[Solid] = []
    gaps: list[Gap] = []
    inner = list(piece.gaps)
    waiting: list[Component] = []
    for item in piece.items:
        if isinstance(item, Component):
            waiting.append(item)
            continue
        after = solids[-1].variables if solids else ()
        # gaps inside of solids that are open have their neighbours here
        gaps = [gap if gap.before or gap.around else replace(gap, before=item.variables) for gap in gaps]
        own = [gap for gap in inner if _is_within(gap, item)]
        inner = [gap for gap in inner if not _is_within(gap, item)]
        gaps += [gap if gap.after or gap.around else replace(gap, after=after) for gap in own]
        if waiting:
            gaps.append(Gap(tuple(waiting), after, item.variables))
        waiting = []
        solids.append(item)
    if waiting:
        gaps.append(Gap(tuple(waiting), solids[-1].variables if solids else ()))
    root: Solid | None = None
    if solids:
        root = Row(tuple(solids)) if len(solids) > 1 else solids[0]
    return root, (*gaps, *inner)


def _is_within(gap: Gap, solid: Solid) -> bool:
    return bool({*gap.after, *gap.before, *gap.inside} & set(solid.variables))


def _is_closed(piece: _Piece, gaps: tuple[Gap, ...]) -> bool:
    """Whether a piece is a choice among others that nothing around it has to know of."""
    return bool(piece.items) and not piece.empty and all(gap.after and gap.before for gap in gaps)
