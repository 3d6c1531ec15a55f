"""Stage 2: queries bound to schemas; conjuncts classified."""

from ouzel.logical.program import Program, bind_program
from ouzel.logical.query import BoundQuery

__all__ = ["BoundQuery", "Program", "bind_program"]
