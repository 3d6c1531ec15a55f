"""The automaton of SASE+ (sections 3 to 5): runs that take, begin and ignore, under all four strategies."""

from ouzel.physical.automaton.automaton import AUTOMATON, AutomatonPlan

__all__ = ["AUTOMATON", "AutomatonPlan"]
