"""Stage 3: a bound query becomes a plan; every choice comes with its reason."""

from ouzel.optimizer.choose_engine import choose_engine
from ouzel.optimizer.plan import Plan, UnsuitableError

__all__ = ["Plan", "UnsuitableError", "choose_engine"]
