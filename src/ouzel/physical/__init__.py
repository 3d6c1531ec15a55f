"""Stage 4: engines that find matches."""

from ouzel.optimizer.choose_engine import Engines
from ouzel.physical.automaton import AutomatonPlan
from ouzel.physical.scan import ScanPlan

ENGINES: Engines = {
    "scan": (ScanPlan.of, "single events in sequence, all combinations: stacks of events, compiled"),
    "automaton": (AutomatonPlan.of, "events and closures in sequence: runs over a shared match store, compiled"),
}

__all__ = ["ENGINES"]
