"""Stage 4: engines that find matches."""

from ouzel.logical.query import BoundQuery
from ouzel.optimizer.choose_engine import Engine, Engines
from ouzel.physical.automaton import AutomatonPlan
from ouzel.physical.scan import ScanPlan


def _leaves_totals(query: BoundQuery) -> str | None:
    negated = any(component.negative for component in query.components)
    return "the automaton totals matches without writing them out" if query.aggregates and not negated else None


ENGINES: Engines = {
    "scan": Engine(
        ScanPlan.of,
        "single events in sequence, all combinations: stacks of events, compiled",
        switches=("equivalence",),
        yields=_leaves_totals,
    ),
    "automaton": Engine(
        AutomatonPlan.of,
        "events and closures in sequence: runs over a shared match store, compiled",
        switches=("evaluation",),
    ),
}

__all__ = ["ENGINES"]
