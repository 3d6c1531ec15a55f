"""What a query means and how it will be run, in words: the logical query, then the physical plan of its engine."""

from ouzel.explain.explanation import explain
from ouzel.explain.layout import Sections

__all__ = ["Sections", "explain"]
