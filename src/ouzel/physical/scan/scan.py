"""A scan plan: the query as kernels, immutable; all that changes is in a matching."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ouzel.logical.query import BoundQuery
from ouzel.physical.compiled.filters import Filters
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.windows import window_limit
from ouzel.physical.contract import WRITTEN_OUT, Engine, Explained, Offer, Switch, Takes
from ouzel.physical.finish.negation import Between, Refutation
from ouzel.physical.limits import Limits
from ouzel.physical.scan.construction_source import construction_source, counts_first
from ouzel.physical.scan.explained import explained
from ouzel.physical.scan.matching import ScanMatching
from ouzel.physical.scan.shape import EQUIVALENCES, Negative, Shape, check_suitable, shape_of
from ouzel.physical.scan.source import scan_source
from ouzel.physical.scan.work import NANOSECONDS, scan_work
from ouzel.physical.statistics import Statistics, nanoseconds

# What an event takes, in nanoseconds.
COST = 10.0


@dataclass(frozen=True)
class ScanPlan:
    """A query of single events in sequence, with negation, under skip_till_any_match.

    Several equivalence tests are evaluated together, by partitions for each combination of keys (`combined`), or
    as SASE 4.2.2 compares it: the first by partitions and the others in construction (`dynamic`), partitions for
    each with cross-attribute filtering (`multi`), or all of them on complete sequences (`selection`).
    """

    query: BoundQuery
    equivalence: str
    takes = Takes.IN_ORDER

    @classmethod
    def of(cls, query: BoundQuery, equivalence: str = "combined") -> ScanPlan:
        """Make the plan, or say in an UnsuitableError why there is none."""
        check_suitable(query)
        return cls(query, equivalence)

    @cached_property
    def shape(self) -> Shape:
        """What it is written from."""
        return shape_of(self.query, self.equivalence)

    @cached_property
    def filters(self) -> Filters:
        """The conditions on single events."""
        return Filters(self.query)

    @cached_property
    def _construction(self) -> tuple[str, Operands]:
        operands = Operands()
        return construction_source(self.shape, operands), operands

    @property
    def source(self) -> str:
        """The kernel that constructs sequences."""
        return self._construction[0]

    @property
    def operands(self) -> Operands:
        """What that kernel reads of events."""
        return self._construction[1]

    @cached_property
    def scan_source(self) -> str:
        """The kernel that pushes events onto stacks."""
        return scan_source(self.shape)

    @property
    def counts_first(self) -> bool:
        """Whether sequences are counted before they are written."""
        return counts_first(self.shape)

    @cached_property
    def refutations(self) -> tuple[Refutation, ...]:
        """What refutes sequences from behind."""
        shape = self.shape
        return tuple(_refutation(shape, one) for one in shape.negatives if one.gap == shape.length)

    @property
    def queries(self) -> tuple[BoundQuery, ...]:
        """The one query."""
        return (self.query,)

    @property
    def limit(self) -> int:
        """The length of the window, in what its clock counts."""
        return window_limit(self.query)

    def begin(self, limits: Limits, *, once: bool = False, threads: int = 1) -> ScanMatching:
        """Begin to match; `once` if all events will be pushed at once."""
        return ScanMatching(self, limits, once=once, threads=threads)

    def estimate(self, statistics: Statistics) -> float:
        """About how many nanoseconds it takes for all events."""
        return nanoseconds(scan_work(self.shape, statistics), NANOSECONDS, statistics.windows)

    def explain(self, statistics: Statistics | None = None) -> Explained:  # noqa: ARG002 - it has no choice
        """Its stacks, and what construction decides."""
        return explained(self.query, self.shape)


def _offer(query: BoundQuery, equivalence: str = "combined") -> Offer:
    plan = ScanPlan.of(query, equivalence)
    if query.aggregates:
        drawback = "it writes matches out to total them"
        return Offer(COST * WRITTEN_OUT, lambda: plan, drawback, estimate=plan.estimate)
    return Offer(COST, lambda: plan, estimate=plan.estimate)


SCAN = Engine(
    "scan",
    "single events in sequence, all combinations: stacks of events, compiled",
    COST,
    _offer,
    switches=(Switch("equivalence", EQUIVALENCES),),
)


def _refutation(shape: Shape, negative: Negative) -> Refutation:
    """A negative component at the end of the pattern, which is postponed (SASE 3.3)."""
    between = Between((shape.positives[-1].variable,))
    return Refutation(shape.positives, frozenset(), negative.component, list(negative.conjuncts), between)
