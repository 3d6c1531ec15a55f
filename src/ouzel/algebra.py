"""The algebra as a builder: `oz.stream("Stock").where("vol > 10000").next(…)` (Cayuga 2).

Every method gives a new stream; predicates and values are texts of the query language, read at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

from ouzel.errors import OuzelError
from ouzel.language import algebra_tree as algebra
from ouzel.language.document import document, expression_entry, formula
from ouzel.language.notation import notation

_UNSEEN = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, repr=False)
class Stream:
    """An expression of the algebra, which is a query like any other; see `oz.stream`."""

    tree: algebra.Stream
    name: str | None = None
    type: str | None = None
    """What `into` said: the type of the events that its results are for other queries."""

    # ---- σ π ρ α -----------------------------------------------------------------------------------------

    def where(self, condition: str) -> Stream:
        """σ: the events of which a condition is true.

        >>> stream("Stock").where("vol > 10000")
        σ[vol > 10000](Stock)
        """
        return self._made(algebra.Where(self.tree, _formula("where", condition)))

    def select(self, *names: str) -> Stream:
        """π: some attributes, in the order in which they are listed.

        >>> stream("Stock").select("name", "price")
        π[name, price](Stock)
        """
        if not names:
            raise OuzelError("select: required the names of attributes; got none")
        return self._made(algebra.Select(self.tree, tuple(_unique("select", names))))

    def rename(self, **names: str) -> Stream:
        """ρ: attributes by new names, `rename(new="old")`, which keep their places; all at once.

        >>> stream("Stock").rename(company="name")
        ρ[name ↦ company](Stock)
        """
        if not names:
            raise OuzelError("rename: required new names and old ones, rename(new='old'); got none")
        _unique("rename", tuple(names.values()))
        return self._made(
            algebra.Rename(self.tree, tuple((_name("rename", new), old) for new, old in names.items()))
        )

    def extend(self, **values: str) -> Stream:
        """α: attributes that are computed, `extend(name="expression")`: new ones, or others in place; all at once.

        >>> stream("Stock").extend(total="price * vol")
        α[total ↦ price * vol](Stock)
        """
        if not values:
            raise OuzelError("extend: required names and expressions, extend(name='expression'); got none")
        made = ((_name("extend", name), _formula(f"extend({name}=…)", text)) for name, text in values.items())
        return self._made(algebra.Extend(self.tree, tuple(made)))

    def prefixed(self, prefix: str) -> Stream:
        """ρ of all attributes: `price` becomes `S1.price`.

        >>> stream("Stock").prefixed("S1")
        ρ[S1.*](Stock)
        """
        return self._made(algebra.Prefixed(self.tree, _name("prefixed", prefix)))

    # ---- ∪ ;θ μ ------------------------------------------------------------------------------------------

    def union(self, other: Stream) -> Stream:
        """∪: the events of both, which must have the same attributes.

        >>> stream("A").union(stream("B"))
        (A ∪ B)
        """
        return self._made(algebra.Union(self.tree, _stream("union", other)))

    def next(self, other: Stream, where: str | None = None) -> Stream:
        """;θ: each event with the first of another stream that starts after it and satisfies a condition with it.

        >>> stream("A").prefixed("a").next(stream("B"), where="x > a.x")
        (ρ[a.*](A) ;[x > a.x] B)
        """
        condition = None if where is None else _formula("next(where=…)", where)
        return self._made(algebra.Next(self.tree, _stream("next", other), condition))

    def fold(
        self, other: Stream, where: str | None = None, step: str | Callable[[Stream], Stream] | None = None
    ) -> Stream:
        """μ: `next` again and again, each time with what a step makes of the result; all that ever came of it.

        In `where` and in the step `x.last` is the value of `x` before this iteration.  A step is a condition, or a
        function from a stream to what `where`, `extend` and `select` make of it.

        >>> stream("Stock").fold(stream("Stock"), where="name = name.last", step="price > price.last")
        μ[σ[price > price.last](·), name = name.last](Stock, Stock)
        """
        condition = None if where is None else _formula("fold(where=…)", where)
        return self._made(algebra.Fold(self.tree, _stream("fold", other), condition, _step(step)))

    # ---- names -------------------------------------------------------------------------------------------

    def named(self, name: str) -> Stream:
        """The same as a query of a name, by which its results go among those of others."""
        return Stream(self.tree, _name("named", name), self.type)

    def into(self, type: str) -> Stream:
        """The same, whose results are events of a new type for other queries."""
        return Stream(self.tree, self.name, _name("into", type))

    @property
    def text(self) -> str:
        """The query as one text."""
        return document([self.entry], "expression")

    @property
    def entry(self) -> dict[str, Any]:
        """The query as an entry of a document."""
        return expression_entry(self.tree, self.name, self.type)

    def __repr__(self) -> str:
        """The expression in the paper's notation."""
        return notation(self.tree)

    def __bool__(self) -> bool:
        """Refuse to be taken for a condition: `a and b` would be b."""
        raise OuzelError("a stream is neither true nor false\n  hint: join streams with union, next or fold")

    def _made(self, tree: algebra.Stream) -> Stream:
        if self.name is not None or self.type is not None:
            last = "named" if self.type is None else "into"
            raise OuzelError(
                f"{last}: required last, when the expression is whole; got another operator behind it"
            )
        depth, size = algebra.extent(tree)
        if depth > algebra.MAX_DEPTH:
            raise OuzelError(f"an expression nests {depth} deep: required {algebra.MAX_DEPTH} at most")
        if size > algebra.MAX_SIZE:
            raise OuzelError(f"an expression of {size:,} operators: required {algebra.MAX_SIZE:,} at most")
        return Stream(tree)


def stream(type: str | None = None) -> Stream:
    """The events of a type, or all events, as a stream of the algebra.

    >>> S = stream("Stock")
    >>> S.prefixed("S1").next(S.prefixed("S2"), where="S1.name = S2.name").where("S2.price > 1.05 * S1.price")
    σ[S2.price > 1.05 * S1.price]((ρ[S1.*](Stock) ;[S1.name = S2.name] ρ[S2.*](Stock)))
    """
    return Stream(algebra.Events(None if type is None else _name("stream", type)))


# ---- arguments -------------------------------------------------------------------------------------------


def _formula(where: str, text: Any) -> algebra.Formula:
    if not isinstance(text, str):
        hint = "\n  hint: write numbers and texts as in a query: '1', \"'IBM'\"" if text is not None else ""
        raise OuzelError(f"{where}: required an expression as text; got {text!r}{hint}")
    return formula(text)


def _name(where: str, name: Any) -> str:
    if not isinstance(name, str) or not name or _UNSEEN.search(name):
        raise OuzelError(f"{where}: required a name; got {name!r}")
    return name


def _unique(where: str, names: tuple[Any, ...]) -> list[str]:
    for name in names:
        _name(where, name)
        if names.count(name) > 1:
            raise OuzelError(f"{where}: required each attribute once; got '{name}' twice")
    return list(names)


def _stream(where: str, other: Any) -> algebra.Stream:
    if not isinstance(other, Stream):
        hint = f"\n  hint: write oz.stream({other!r})" if isinstance(other, str) else ""
        raise OuzelError(f"{where}: required a stream, oz.stream(…); got {other!r}{hint}")
    if other.name is not None or other.type is not None:
        raise OuzelError(
            f"{where}: required a stream without a name; got one that is {'named' if other.name else 'made into'} "
            f"'{other.name or other.type}'\n  hint: read its results: oz.stream('{other.type or 'T'}')"
        )
    return other.tree


_HOLE = Stream(algebra.Hole())
_STEPS = algebra.Where | algebra.Extend | algebra.Select


def _step(step: Any) -> algebra.Stream | None:
    """What is to be done with what came of an iteration."""
    if step is None:
        return None
    if isinstance(step, str):
        return _HOLE.where(step).tree
    if isinstance(step, Stream) or not callable(step):
        raise OuzelError(f"fold(step=…): required a condition as text, or a function of a stream; got {step!r}")
    try:
        signature(step).bind(_HOLE)
    except TypeError:
        raise OuzelError(f"fold(step=…): required a function of one stream; got {step!r}") from None
    except ValueError:
        pass  # nothing is known of what it takes
    made = step(_HOLE)
    if not isinstance(made, Stream):
        raise OuzelError(f"fold(step=…): required a function that returns a stream; got {made!r}")
    within = made.tree
    while isinstance(within, _STEPS):
        within = within.of
    if within != algebra.Hole() or made.name or made.type:
        raise OuzelError(
            f"fold(step=…): required where, extend and select of the stream that the step is given; got {made!r}"
        )
    return made.tree
