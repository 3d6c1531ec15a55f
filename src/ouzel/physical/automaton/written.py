"""What a plan with an automaton is written as: the columns of its runs, and the kernel that drives them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

from ouzel.physical.automaton.drivers import breadth_first, depth_first, kernel_source
from ouzel.physical.automaton.registers import Slots
from ouzel.physical.automaton.run_rows import allotted
from ouzel.physical.automaton.states import Automaton
from ouzel.physical.compiled.operands import Operands


class WrittenRuns(ABC):
    """The part of a plan that depends on its automaton alone, and on how runs are evaluated."""

    evaluation: str

    @property
    @abstractmethod
    def automaton(self) -> Automaton:
        """States and their moves."""

    @cached_property
    def slots(self) -> Slots:
        """Where a run keeps its registers."""
        return allotted(self.automaton)

    @cached_property
    def _kernel(self) -> tuple[str, Operands]:
        operands = Operands()
        driver = depth_first if self.evaluation == "backtracking" else breadth_first
        return kernel_source(self.slots, operands, driver), operands

    @property
    def source(self) -> str:
        """The kernel that drives runs."""
        return self._kernel[0]

    @property
    def operands(self) -> Operands:
        """What that kernel reads of events."""
        return self._kernel[1]

    @property
    def widths(self) -> tuple[int, int]:
        """The number of integers and of floats in a run."""
        return self.slots.widths
