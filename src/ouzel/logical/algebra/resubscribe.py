"""Stage 2, the algebra: resubscription (Cayuga 3.5).

One automaton runs a linear-plus expression, in which the right operands of ;θ and μ are unary.  Any other right
operand becomes a query of its own, whose results are events for the one that reads them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from ouzel.errors import Span
from ouzel.language import algebra_tree as algebra
from ouzel.language.notation import notation
from ouzel.language.tree import Name


@dataclass
class Parts:
    """The queries that an expression falls into, each before those that read it; the last is its own."""

    name: str
    taken: Collection[str]
    """Names of queries and types that are taken."""
    queries: dict[str, algebra.Query] = field(default_factory=dict)

    def cut(self, query: algebra.Query) -> dict[str, algebra.Query]:
        """Cut a query; what comes of it by name."""
        stream = self._linear(query.stream)
        cut = query if stream == query.stream else replace(query, stream=stream, source=notation(stream))
        return {**self.queries, self.name: cut}

    def _linear(self, stream: algebra.Stream) -> algebra.Stream:
        if isinstance(stream, algebra.Unary):
            return replace(stream, of=self._linear(stream.of))
        if not isinstance(stream, algebra.Binary):
            return stream
        left, right = self._linear(stream.left), self._linear(stream.right)
        if not isinstance(stream, algebra.Union) and not algebra.is_unary(right):
            right = self._subscribed(right)
        return replace(stream, left=left, right=right)

    def _subscribed(self, stream: algebra.Stream) -> algebra.Stream:
        """The results of another query as events, of a type that has its name."""
        number = len(self.queries) + 1
        while (name := f"{self.name}, operand {number}") in self.taken:
            number += 1
        self.queries[name] = algebra.Query(None, stream, Name(name, Span(0, 0)), notation(stream))
        return algebra.Events(name)
