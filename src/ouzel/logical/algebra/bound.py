"""Stage 2, the algebra: streams on their way to be bound."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.logical.algebra.bind_formula import Scope
from ouzel.logical.algebra.streams import Stream, StreamAttribute

Attributes = tuple[StreamAttribute, ...]


@dataclass(frozen=True)
class Bound:
    """A stream that is bound; without data it may have other attributes than those known: it `is_open`."""

    stream: Stream
    is_open: bool = False

    @property
    def attributes(self) -> Attributes:
        """Those that are known."""
        return self.stream.attributes

    @property
    def names(self) -> list[str]:
        """Their names."""
        return [one.name for one in self.stream.attributes]

    def scope(self, last: Attributes | None = None) -> Scope:
        """What formulas over it may read; `last` are the attributes of the event before, if there is one."""
        return Scope.of(self.attributes, last, is_open=self.is_open)
