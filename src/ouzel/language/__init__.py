"""Stage 1: query text becomes a syntax tree."""

from ouzel.language.program import parse

__all__ = ["parse"]
