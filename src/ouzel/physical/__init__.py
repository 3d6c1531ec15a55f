"""Stage 4: engines that find matches."""

from ouzel.optimizer.choose_engine import Engine, Engines
from ouzel.physical.automaton import AutomatonPlan
from ouzel.physical.scan import ScanPlan

ENGINES: Engines = {
    "scan": Engine(
        ScanPlan.of,
        "single events in sequence, all combinations: stacks of events, compiled",
        switches=("equivalence",),
    ),
    "automaton": Engine(
        AutomatonPlan.of,
        "events and closures in sequence: runs over a shared match store, compiled",
        switches=("evaluation",),
    ),
}

__all__ = ["ENGINES"]
