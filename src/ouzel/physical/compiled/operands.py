"""What a kernel is given: constants, the order of texts, what it calls, and columns as arrays with null flags.

Strings are numbers to a kernel: equal text, equal number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ouzel.logical.pattern import Component
from ouzel.logical.values import ValueType
from ouzel.physical.compiled.calls import Call, Calls, Collect
from ouzel.physical.compiled.derived import Array
from ouzel.physical.compiled.fill import Filling, Wanted
from ouzel.physical.compiled.kernel import OnlyPython
from ouzel.physical.compiled.sources import (
    COMPUTED,
    START,
    TIME,
    TIMES,
    TYPE,
    Among,
    Derived,
    Limb,
    Source,
    Written,
)
from ouzel.physical.compiled.texts import Texts
from ouzel.physical.event_table import EventTable, Integers

__all__ = [
    "COMPUTED",
    "HEAD",
    "START",
    "TIME",
    "TIMES",
    "TYPE",
    "Among",
    "Array",
    "Derived",
    "Limb",
    "Operands",
    "Source",
    "Written",
    "may_be",
]

# So many arguments stand before the columns.
HEAD = 4
_NOTHING = np.zeros(1, np.int64)


@dataclass(frozen=True)
class _LiveRanks(OnlyPython):
    """The ranks of texts as they are when they are asked for."""

    texts: Texts

    def __getitem__(self, number: int) -> int:
        """The rank of a text."""
        return int(self.texts.ranks()[number])


@dataclass
class Operands:
    """Collects what an expression needs while its source is written, and fills it with data later."""

    columns: list[tuple[Source, ValueType]] = field(default_factory=list)
    integers: list[int] = field(default_factory=list)
    floats: list[float] = field(default_factory=list)
    texts: Texts = field(default_factory=Texts)
    calls: list[Call | Collect] = field(default_factory=list)
    orders_texts: bool = False

    def column(self, column: Source, value_type: ValueType) -> int:
        """The place of a column among the kernel's arguments."""
        if (column, value_type) not in self.columns:
            self.columns.append((column, value_type))
        return self.columns.index((column, value_type))

    def constant(self, value: Any) -> str:
        """A constant as the kernel sees it: an argument, so that the source does not depend on it."""
        if isinstance(value, bool):
            value = int(value)
        if isinstance(value, str):
            value = self.texts.number(value)
        if isinstance(value, int):
            self.integers.append(value)
            return f"ints[{len(self.integers) - 1}]"
        self.floats.append(value)
        return f"floats[{len(self.floats) - 1}]"

    def rank(self, text: str) -> str:
        """What the number of a text is compared by."""
        self.orders_texts = True
        return f"ranks[{text}]"

    def call(self, call: Call | Collect) -> str:
        """The name of a function that Python calls."""
        if call not in self.calls:
            self.calls.append(call)
        return f"calls[{self.calls.index(call)}]"

    @property
    def parameters(self) -> str:
        """The kernel's parameters for all of it: HEAD ones, and two for each column."""
        columns = "".join(f", c{k}, n{k}" for k in range(len(self.columns)))
        return "ints, floats, ranks, calls" + columns

    def arguments(
        self,
        events: EventTable,
        rows: Integers,
        times: Integers,
        texts: Texts | None = None,
        wanted: Wanted | None = None,
    ) -> list[Any]:
        """The arguments for those parameters, for some rows of the event table.

        `texts` are the numbers of texts so far, kept by who needs the same numbers again; they begin with ours.
        `wanted` tells which rows a variable may be bound to: for others nothing need be computed.
        """
        texts = Texts(self.texts) if texts is None else texts
        filling = Filling(events, rows, times, texts, wanted)
        columns = [one for column, value_type in self.columns for one in filling.arrays(column, value_type)]
        ranks: Any = texts.ranks() if self.orders_texts else _NOTHING
        if self.orders_texts and self.calls:
            ranks = _LiveRanks(texts)  # what is called may make new texts
        calls = Calls(self.calls, texts) if self.calls else _NOTHING
        constants = np.array(self.integers, np.int64), np.array(self.floats, np.float64)
        return [*constants, ranks, calls, *columns]


def may_be(components: Sequence[Component], masks: Integers) -> Wanted:
    """Which events a variable may be bound to, by their masks."""

    def wanted(variable: str) -> Any:
        # asked for rarely, and made for every batch
        (bit,) = (component.bit for component in components if component.variable == variable)
        return (masks & (1 << bit)) != 0

    return wanted
