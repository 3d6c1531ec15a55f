"""An automaton plan: the query as kernels, immutable; all that changes is in a matching."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.errors import OuzelError
from ouzel.logical.query import BoundQuery
from ouzel.physical.automaton.drivers import breadth_first, depth_first
from ouzel.physical.automaton.expand import expand_source
from ouzel.physical.automaton.matching import AutomatonMatching
from ouzel.physical.automaton.negation import Refutation, refutations
from ouzel.physical.automaton.shape import Shape, shape_of
from ouzel.physical.automaton.source import automaton_source
from ouzel.physical.compiled.filters import Filters
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.windows import NO_LIMIT
from ouzel.physical.limits import Limits

EVALUATIONS = ("merging", "basic", "backtracking")


@dataclass(frozen=True)
class AutomatonPlan:
    """A query of events, closures and alternatives in sequence, with negation, under any strategy.

    `evaluation` is how runs are evaluated: `basic` each for itself (SASE+ 5.2.1), `merging` with equal ones made
    one (5.2.2), `backtracking` one after the other (5.2.3).
    """

    query: BoundQuery
    shape: Shape
    filters: Filters
    operands: Operands
    source: str
    widths: tuple[int, int]
    expand_source: str
    refutations: tuple[Refutation, ...]
    evaluation: str

    @classmethod
    def of(cls, query: BoundQuery, evaluation: str = "merging") -> AutomatonPlan:
        """Make the plan, or say in an UnsuitableError why there is none."""
        if evaluation not in EVALUATIONS:
            raise OuzelError(f"evaluation: required one of {', '.join(EVALUATIONS)}; got {evaluation!r}")
        shape, filters = shape_of(query)
        operands = Operands()
        driver = depth_first if evaluation == "backtracking" else breadth_first
        source, widths = automaton_source(shape, operands, driver)
        refuting = tuple(refutations(shape))
        return cls(query, shape, filters, operands, source, widths, expand_source(shape), refuting, evaluation)

    @property
    def limit(self) -> int:
        """The length of the window, in what its clock counts."""
        return self.query.window.limit if self.query.window else NO_LIMIT

    def begin(self, limits: Limits, *, once: bool = False, threads: int = 1) -> AutomatonMatching:
        """Begin to match; `once` if all events will be pushed at once, which several threads may share."""
        if self.evaluation == "backtracking" and not once:
            raise OuzelError("evaluation: backtracking needs all events at once; required merging or basic")
        return AutomatonMatching(self, limits, once=once, threads=threads)
