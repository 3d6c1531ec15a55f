"""Stage 3: a bound query becomes a plan; every choice comes with its reason."""

from ouzel.optimizer.choose_engine import ENGINES, choose_engine
from ouzel.optimizer.plan import Plan

__all__ = ["ENGINES", "Plan", "choose_engine"]
