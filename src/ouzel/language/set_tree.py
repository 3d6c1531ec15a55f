"""Stage 1, a set of queries as written: a template, and where the values of its parameters are."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.errors import Span
from ouzel.language import algebra_tree as algebra
from ouzel.language import automaton_tree, tree


@dataclass(frozen=True)
class QuerySet:
    """A query for every row: `id` is the column that names it, all other columns are values of parameters.

    `rows` is the name under which the table travels among the values of parameters.  `valid` are the columns that
    say from when on a query sees events, and until when, if there are such columns.
    """

    template: tree.Query | algebra.Query | automaton_tree.Query
    id: str
    rows: str
    valid: tuple[str | None, str | None] = (None, None)

    @property
    def name(self) -> tree.Name | None:
        """The name of the set: that of its template."""
        return self.template.name

    @property
    def into(self) -> tree.Name | None:
        """The type of the events that its matches are."""
        return self.template.into

    @property
    def source(self) -> str:
        """The template's text, or the expression in the paper's notation."""
        return self.template.source

    @property
    def span(self) -> Span | None:
        """Where the template stands in its text."""
        return self.template.span
