"""A tree plan: a tree for each variant of a pattern, with the kernels of its nodes; it never changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from ouzel.language.tree import Strategy
from ouzel.logical.conjuncts import Place
from ouzel.logical.pattern import Binds, Disjunction, Pattern, Step, may_be_empty
from ouzel.logical.query import BoundQuery
from ouzel.logical.rewrites import Rewritten, rewrite
from ouzel.physical.compiled.filters import Filters
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.windows import window_limit
from ouzel.physical.contract import WRITTEN_OUT, Engine, Explained, Offer, Switch, Takes, UnsuitableError
from ouzel.physical.finish.negation import Refutation
from ouzel.physical.limits import Limits
from ouzel.physical.statistics import Statistics, nanoseconds
from ouzel.physical.tree.assembly import needs_kernel
from ouzel.physical.tree.build import Tree, applied, build, can_match
from ouzel.physical.tree.cost import NANOSECONDS, Estimate, tree_work
from ouzel.physical.tree.explained import explained
from ouzel.physical.tree.matching import TreeMatching
from ouzel.physical.tree.negation import Negated, on_top, refutation
from ouzel.physical.tree.nodes import walk
from ouzel.physical.tree.order_checks import check_order, choices
from ouzel.physical.tree.orders import AUTO, NAMED, order_of
from ouzel.physical.tree.sampling import Trial, trials_of
from ouzel.physical.tree.search import Order, Search
from ouzel.physical.tree.shape import Variant, variants_of
from ouzel.physical.tree.source import Written, written

# What an event takes, in nanoseconds.
COST = 300.0
# Where negation is decided: as far down as can be, or on top.
PUSHED, TOP = "pushed", "top"
# Whether the order of joins changes with events, or stays as the first of them would have it.
ON, OFF = "on", "off"


@dataclass(frozen=True)
class TreePlan:
    """A query under skip_till_any_match: a tree for each of its variants.

    `written` is the query as it was before it was `rewritten` to be simpler.
    """

    written: BoundQuery
    rewritten: Rewritten
    variants: tuple[Variant, ...]
    plan: str = AUTO
    negation: str = PUSHED
    adapt: str = ON

    @classmethod
    def of(cls, query: BoundQuery, plan: str = AUTO, negation: str = PUSHED, adapt: str = ON) -> TreePlan:
        """Make the plan, or say in an UnsuitableError why there is none."""
        if query.strategy is not Strategy.SKIP_TILL_ANY_MATCH:
            raise UnsuitableError(f"a tree finds all combinations, and the strategy is {query.strategy.value}")
        if query.shares_bits:
            raise UnsuitableError("a tree takes at most 62 components")
        # who spells an order out means the pattern as it is written
        simpler = rewrite(query) if plan in (AUTO, *NAMED) else Rewritten(query)
        found = variants_of(simpler.query.pattern)
        variants = [one for one in found if one.variables and can_match(simpler.query, one)]
        if not variants:
            raise UnsuitableError("a tree takes what binds some event")
        if plan != AUTO:
            check_order(plan, simpler.query, variants)
        return cls(query, simpler, tuple(variants), plan, negation, adapt)

    @property
    def query(self) -> BoundQuery:
        """The query that the trees are for."""
        return self.rewritten.query

    @property
    def drops_negatives(self) -> bool:
        """Whether negative components were left out that others imply."""
        return any(name == "drop implied negatives" for name, _query in self.rewritten.steps)

    @cached_property
    def filters(self) -> Filters:
        """The conditions on single events."""
        return Filters(self.query)

    @property
    def takes(self) -> Takes:
        """What its matchings can be given."""
        return Takes.ALL_AT_ONCE if self.query.shares_events else Takes.IN_ORDER

    @cached_property
    def repeats(self) -> bool:
        """Whether a match may be found twice: in several partitions, or where alternatives can be empty."""
        twice = len(self.variants) > 1 and _may_both_be_empty(self.query.pattern)
        return self.query.shares_events or twice

    @cached_property
    def _known(self) -> tuple[Operands, tuple[Trial, ...]]:
        """All columns that kernels may read, whatever the order of joins, and the conditions that can be tried."""
        together = Operands()

        def own() -> Operands:
            return Operands(texts=together.texts)

        trials = trials_of(self.query, [c for c in self.query.relations if c.place is not Place.NEGATIVE], own)
        operands = [one.operands for one in trials]
        for variant in self.variants:
            order = None if variant.root is None else order_of("left-deep", variant.root)
            tree = build(self.query, variant, order, pushes=self.pushes)
            operands += [
                written(node, own(), self.query).operands for node in walk(tree.root) if needs_kernel(node)
            ]
        for one in operands:
            for column in one.columns:
                together.column(*column)
            together.orders_texts |= one.orders_texts
        return together, tuple(trials)

    @property
    def operands(self) -> Operands:
        """What all kernels read of events."""
        return self._known[0]

    @property
    def trials(self) -> tuple[Trial, ...]:
        """The conditions that can be tried on samples."""
        return self._known[1]

    @property
    def can_choose(self) -> bool:
        """Whether there are several orders of joins, and none was asked for."""
        return self.plan == AUTO and any(one.root and choices(one.root) > 2 for one in self.variants)

    @cached_property
    def leaves(self) -> int:
        """How many leaves its largest tree has."""
        return max(len(one.variables) for one in self.variants)

    @cached_property
    def has_closures(self) -> bool:
        """Whether some component takes any choice of events."""
        return any(one.binds is Binds.CLOSURE and one.is_array for one in self.query.components)

    def may_change(self, seen: int) -> bool:
        """Whether the order of joins may change when events were looked at so many times."""
        return self.adapt == ON or not seen

    def orders(self, statistics: Statistics) -> tuple[Order | None, ...]:
        """The order of joins of each variant: the best, or the one that was asked for."""
        if self.plan != AUTO:
            return tuple(None if one.root is None else order_of(self.plan, one.root) for one in self.variants)
        return tuple(
            None if one.root is None else Search(one, applied(self.query, one), statistics).best(one.root)
            for one in self.variants
        )

    def cost(self, orders: tuple[Order | None, ...], statistics: Statistics) -> float:
        """What some orders cost: the records that are touched and made in a window."""
        return sum(one.cost + one.card for one in self._estimates(orders, statistics))

    def _estimates(self, orders: tuple[Order | None, ...], statistics: Statistics) -> list[Estimate]:
        return [
            Search(variant, applied(self.query, variant), statistics).estimate(order)
            for variant, order in zip(self.variants, orders, strict=True)
            if order
        ]

    def estimate(self, statistics: Statistics) -> float:
        """About how many nanoseconds it takes for all events."""
        work = tree_work(statistics, self._estimates(self.orders(statistics), statistics))
        return nanoseconds(work, NANOSECONDS, statistics.windows)

    @property
    def pushes(self) -> bool:
        """Whether negation is pushed down where that can be."""
        return self.negation != TOP

    def trees(self, orders: tuple[Order | None, ...]) -> list[Tree]:
        """The trees of some orders."""
        pairs = zip(self.variants, orders, strict=True)
        return [build(self.query, variant, order, pushes=self.pushes) for variant, order in pairs]

    def kernels(self, tree: Tree) -> dict[int, Written]:
        """The kernels of a tree's nodes, by their numbers."""
        return {
            number: written(node, Operands(texts=self.operands.texts), self.query)
            for number, node in enumerate(walk(tree.root))
            if needs_kernel(node)
        }

    @cached_property
    def negated(self) -> tuple[Negated, ...]:
        """The negative components that are decided on top of the trees."""
        return on_top(self.query, self.variants, pushes=self.pushes)

    @cached_property
    def refutations(self) -> tuple[Refutation, ...]:
        """What refutes matches."""
        return tuple(refutation(self.query, one) for one in self.negated)

    @property
    def queries(self) -> tuple[BoundQuery, ...]:
        """The one query."""
        return (self.written,)

    @property
    def limit(self) -> int:
        """The length of the window, in what its clock counts."""
        return window_limit(self.query)

    def begin(self, limits: Limits, *, once: bool = False, threads: int = 1) -> TreeMatching:
        """Begin to match; `once` if all events will be pushed at once, which several threads may prepare."""
        return TreeMatching(self, limits, once=once, threads=threads)

    def explain(self, statistics: Statistics | None = None) -> Explained:
        """Its trees, as they are for what is known of events, if something is."""
        orders = self.orders(statistics or Statistics({}))
        order = [self._chosen(statistics)]
        if self.can_choose and statistics:
            order += self._alternatives(orders, statistics)
        return explained(self.written, self.rewritten, self.trees(orders), self.negated, order)

    def _chosen(self, statistics: Statistics | None) -> str:
        """How the order of joins comes about."""
        if not self.can_choose:
            return "there is but one" if self.plan == AUTO else "as asked for"
        changes = self.adapt == ON
        if statistics is None:
            return "chosen before any event was seen: the first events decide" + (", and those after" * changes)
        return "the cheapest, which may change as events come" if changes else "the cheapest, which is kept"

    def _alternatives(self, orders: tuple[Order | None, ...], statistics: Statistics) -> list[str]:
        """What the order that is taken costs, and others."""
        taken, found = self.cost(orders, statistics), []
        for name in NAMED:
            fixed = replace(self, plan=name)
            cost = self.cost(fixed.orders(statistics), statistics)
            found.append(f"{name} {_rounded(cost)}")
        return [f"records touched and made in a window: {_rounded(taken)} ({', '.join(found)})"]


def _rounded(cost: float) -> str:
    return f"{cost:,.0f}" if cost >= 10 else f"{cost:.2g}"


def _may_both_be_empty(pattern: Pattern) -> bool:
    if isinstance(pattern, Step):
        return False
    own = isinstance(pattern, Disjunction) and sum(map(may_be_empty, pattern.items)) > 1
    return own or any(map(_may_both_be_empty, pattern.items))


def _offer(query: BoundQuery, plan: str = AUTO, negation: str = PUSHED, adapt: str = ON) -> Offer:
    made = TreePlan.of(query, plan, negation, adapt)
    return Offer(COST * WRITTEN_OUT if query.aggregates else COST, lambda: made, estimate=made.estimate)


TREE = Engine(
    "tree",
    "all combinations of events: joins of buffers, in the best order, compiled",
    COST,
    _offer,
    switches=(Switch("plan"), Switch("negation", (PUSHED, TOP)), Switch("adapt", (ON, OFF))),
)
