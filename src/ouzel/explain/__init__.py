"""What a query means and how it will be run, in words: the logical query, then the physical plan of its engine."""

from ouzel.explain.explanation import explain

__all__ = ["explain"]
