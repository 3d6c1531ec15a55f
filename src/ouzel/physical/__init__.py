"""Stage 4: engines that find matches."""

from ouzel.optimizer.choose_engine import Engines
from ouzel.physical.scan import ScanPlan

ENGINES: Engines = {
    "scan": (ScanPlan.of, "single events in sequence, all combinations: stacks of events, compiled"),
}

__all__ = ["ENGINES"]
