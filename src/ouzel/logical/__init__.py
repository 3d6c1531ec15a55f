"""Stage 2: queries bound to schemas; conjuncts classified."""

from ouzel.logical.program import bind_program
from ouzel.logical.query import BoundQuery

__all__ = ["BoundQuery", "bind_program"]
