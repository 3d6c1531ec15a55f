"""Stage 4: a bound query becomes a plan; every choice comes with its reason."""

from ouzel.optimizer.choose_engine import check_engine, choose_engine
from ouzel.optimizer.choose_for_set import choose_for_set
from ouzel.optimizer.fit import fitted, known
from ouzel.optimizer.plan import Plan
from ouzel.optimizer.switches import check_switches

__all__ = ["Plan", "check_engine", "check_switches", "choose_engine", "choose_for_set", "fitted", "known"]
