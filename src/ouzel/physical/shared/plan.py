"""A shared plan: many queries, and sets of them, as one graph of states (Cayuga 4)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from ouzel.logical.query import BoundQuery
from ouzel.physical.contract import Engine, Explained, Offer, Switch, Takes, UnsuitableError
from ouzel.physical.limits import Limits
from ouzel.physical.shared.columns import Columns
from ouzel.physical.shared.conditions import Reader
from ouzel.physical.shared.matching import SharedMatching
from ouzel.physical.shared.parameters import check_parameters
from ouzel.physical.shared.served import Served, outline_for
from ouzel.physical.statistics import Statistics

# What an event takes, in nanoseconds, however many queries there are: too much for one of them.
COST = 1_000_000.0
ON = ("on", "off")


@dataclass(frozen=True)
class SharedPlan:
    """Queries and sets as one graph; without `merging`, or without an index, for comparison (Figure 17)."""

    queries: tuple[BoundQuery, ...]
    merging: bool = True
    indexed: bool = True
    at_work: Served | None = field(default=None, compare=False, repr=False)
    """Who is served now, if it runs."""

    @property
    def takes(self) -> Takes:
        """Events in order."""
        return Takes.IN_ORDER

    def begin(self, limits: Limits, *, once: bool = False, threads: int = 1) -> SharedMatching:  # noqa: ARG002
        """Begin to match."""
        return SharedMatching(self, limits, once=once)

    def served(self, apart: Collection[int] = ()) -> Served:
        """All queries in a graph, which a matching changes; some of the one set are apart, by their places."""
        return Served(self.queries, merging=self.merging, indexed=self.indexed, apart=apart)

    def explain(self, statistics: Statistics | None = None) -> Explained:  # noqa: ARG002 - it has no choice
        """How much is shared."""
        if any(is_open(one if one.members is None else one.members.template) for one in self.queries):
            return Explained([("shared", ["what is known once there are events"])], [])
        served = self.at_work or self.served()
        graph, queries = served.graph, len(served.live())
        said = [
            f"{queries:,} queries, whose {graph.states:,} states are {graph.live_nodes:,} after merging",
            f"{graph.live_edges:,} edges, found by the values of {_signatures(served)}",
        ]
        ranged = graph.buckets.in_use
        said += [f"{ranged:,} of them by the bounds of ranges"] if ranged else []
        return Explained([("shared", said)], [])


def _signatures(served: Served) -> str:
    graph = served.graph
    count = graph.signatures.count
    return f"{count} set{'s' if count > 1 else ''} of columns"


def is_open(query: BoundQuery) -> bool:
    """Whether there are no data yet, so that it is not known what a query asks."""
    return query.schema.is_open or any(one.attributes is None for c in query.components for one in c.types)


class Fitting:
    """Finds queries that fit into one plan: what all of them look at has to."""

    def __init__(self) -> None:
        """Begin with none."""
        self._reader = Reader(Columns())

    def takes(self, query: BoundQuery) -> bool:
        """Whether a query fits beside those that did before."""
        try:
            check_suitable(query, self._reader)
        except UnsuitableError:
            return False
        return True


def check_suitable(query: BoundQuery, reader: Reader | None = None) -> None:
    """Refuse a query or a set that cannot be shared, with an UnsuitableError that says why."""
    members = query.members
    plain = query if members is None else members.template
    if plain.automaton is not None:
        raise UnsuitableError("it is a register automaton, whose runs consume every event")
    if plain.composites:
        raise UnsuitableError("it reads matches of other queries")
    if is_open(plain):
        return  # what it asks is not known yet
    parameters = frozenset() if members is None else frozenset(members.parameters)
    outline = outline_for(plain, reader or Reader(Columns()), parameters)
    if members is not None:
        check_parameters(query, outline)


def _offer(query: BoundQuery, merging: str = "on", index: str = "on") -> Offer:
    check_suitable(query)
    plan = SharedPlan((query,), merging == "on", index == "on")
    return Offer(COST, lambda: plan, drawback="it is for very many queries")


SHARED = Engine(
    "shared",
    "very many queries at once: automata with merged beginnings, and indexes over what they wait for",
    COST,
    _offer,
    switches=(Switch("merging", ON), Switch("index", ON)),
    runs_automata=True,
)
