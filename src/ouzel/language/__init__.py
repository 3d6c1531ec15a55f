"""Stage 1: query text becomes a syntax tree."""

from ouzel.language.parser import parse

__all__ = ["parse"]
