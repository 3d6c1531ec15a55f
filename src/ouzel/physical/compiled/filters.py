"""Conditions on single events, which become bits of their masks before any engine sees them."""

from __future__ import annotations

import pyarrow as pa

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.pattern import Component
from ouzel.physical.compiled.emit import ByVariable, Emitter
from ouzel.physical.compiled.kernel import kernel_of
from ouzel.physical.compiled.operands import Array, Operands
from ouzel.physical.event_table import Integers


class Filters:
    """Conditions on one event each, evaluated once per event into the mask of its component."""

    def __init__(self, conjuncts: list[tuple[Component, list[Conjunct]]]) -> None:
        """Write the kernel."""
        self.operands = Operands()
        emitter = Emitter(operands=self.operands, depth=2)
        emitter.line("m = masks[i]")
        for component, own in conjuncts:
            if own:
                self._filter(emitter, component, own)
        emitter.line("masks[i] = m")
        self.is_empty = not any(own for _component, own in conjuncts)
        head = f"@jit\ndef kernel(masks, {self.operands.parameters}):\n    for i in range(len(masks)):\n"
        self.source = head + "\n".join(emitter.lines) + "\n    return masks\n"

    def _filter(self, emitter: Emitter, component: Component, conjuncts: list[Conjunct]) -> None:
        bit = 1 << component.position
        emitter.line(f"if m & {bit}:")
        emitter.depth += 1
        for conjunct in conjuncts:
            flag = emitter.holds(conjunct, ByVariable({component.variable: "i"}))
            emitter.line(f"if not ({flag}):")
            emitter.line(f"    m &= ~{bit}")
        emitter.depth -= 1

    def apply(self, masks: Integers, table: pa.Table, rows: Integers, times: Integers) -> Integers:
        """The masks without the components whose conditions an event fails."""
        if self.is_empty:
            return masks
        arguments: list[Array] = self.operands.arguments(table, rows, times)
        return kernel_of(self.source, len(rows))(masks, *arguments)  # type: ignore[no-any-return]
