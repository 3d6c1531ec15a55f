"""Statistics of events, as they come: windowed averages over samples (ZStream 5.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.query import BoundQuery
from ouzel.physical.compiled.emit import Emitter
from ouzel.physical.compiled.kernel import kernel_of
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.event_table import Integers
from ouzel.physical.memory.retained import Retained
from ouzel.physical.tree.cost import Statistics
from ouzel.physical.tree.rows import RecordRows

# So many combinations of events are tried for each condition and round.
SAMPLE = 256
# The weight of what came last in averages.
WEIGHT = 0.5


@dataclass(frozen=True)
class Trial:
    """A condition on several single events, and a kernel that tries it on combinations of such."""

    conjunct: Conjunct
    variables: tuple[str, ...]
    source: str
    operands: Operands


def trials_of(query: BoundQuery, conjuncts: Sequence[Conjunct], make: Callable[[], Operands]) -> list[Trial]:
    """The conditions that can be tried: those that mention no closure and no group."""
    components = {one.variable: one for one in query.components}
    found = []
    for conjunct in conjuncts:
        names = tuple(sorted(conjunct.variables))
        if len(names) < 2 or any(components[name].is_array for name in names):
            continue
        emitter = Emitter(operands=make(), depth=1)
        with emitter.block("for i in range(len(flags)):"):
            for name in names:
                n = components[name].position
                emitter.line(f"x{n} = s{n}[i]")
            emitter.line(f"flags[i] = {RecordRows(components).holds(conjunct, emitter)}")
        columns = ", ".join(f"s{components[name].position}" for name in names)
        head = f"@jit\ndef kernel(flags, {columns}, {emitter.operands.parameters}):\n"
        found.append(Trial(conjunct, names, head + emitter.text + "\n    return flags\n", emitter.operands))
    return found


@dataclass
class Sampler:
    """What is known of the events so far."""

    query: BoundQuery
    trials: Sequence[Trial]
    rates: dict[str, float] = field(default_factory=dict)
    shares: dict[str, float] = field(default_factory=dict)
    partitions: float = 1.0
    rounds: int = 0

    def __post_init__(self) -> None:
        """What is drawn must not differ from run to run."""
        self._random = np.random.default_rng(0)

    def see(self, begin: int, masks: Integers, retained: Retained, values: Any) -> None:
        """Sample the events from a number on."""
        if not len(masks):
            return
        window = self.query.window
        clocks = retained.clocks[begin : begin + len(masks)]
        counts_events = window is not None and window.counts_events
        span = float(len(masks)) if counts_events else float(clocks.max()) - float(clocks.min()) + 1
        limit = float(window.limit) if window else span
        weight = WEIGHT if self.rounds else 1.0
        numbers: dict[str, Integers] = {}
        for one in self.query.components:
            numbers[one.variable] = begin + np.flatnonzero(masks & (1 << one.bit))
            card = len(numbers[one.variable]) / span * limit
            self.rates[one.variable] = weight * card + (1 - weight) * self.rates.get(one.variable, card)
        parts = len(np.unique(retained.parts[begin : begin + len(masks)])) if self.query.equivalences else 1
        within = max(1.0, min(parts, len(masks) * min(limit / span, 1.0)))
        self.partitions = weight * within + (1 - weight) * self.partitions
        for trial in self.trials:
            self._try(trial, numbers, values, weight)
        self.rounds += 1

    def _try(self, trial: Trial, numbers: dict[str, Integers], values: Any, weight: float) -> None:
        events = [numbers[name] for name in trial.variables]
        if not all(map(len, events)):
            return
        drawn = [self._random.choice(one, SAMPLE).astype(np.int32) for one in events]
        kernel = kernel_of(trial.source, SAMPLE)
        flags = kernel(np.zeros(SAMPLE, np.bool_), *drawn, *values(trial.operands))
        # of what never held in a sample, it is not known that it never does
        share = max(float(np.mean(flags)), 0.5 / SAMPLE)
        text = trial.conjunct.text
        self.shares[text] = weight * share + (1 - weight) * self.shares.get(text, share)

    def state(self) -> dict[str, Any]:
        """What is known, by name."""
        names = sorted(self.rates), sorted(self.shares)
        return {
            "components": names[0],
            "conditions": names[1],
            "rates": np.array([self.rates[name] for name in names[0]], np.float64),
            "shares": np.array([self.shares[name] for name in names[1]], np.float64),
            "partitions": np.array([self.partitions], np.float64),
            "rounds": self.rounds,
        }

    def resume(self, state: dict[str, Any]) -> None:
        """Know what another one knew."""
        self.rates = dict(zip(state["components"], state["rates"].tolist(), strict=True))
        self.shares = dict(zip(state["conditions"], state["shares"].tolist(), strict=True))
        self.partitions, self.rounds = float(state["partitions"][0]), int(state["rounds"])

    @property
    def statistics(self) -> Statistics:
        """What is known, for the cost of plans."""
        return Statistics(dict(self.rates), dict(self.shares), self.partitions)


def differ(one: Statistics, other: Statistics, threshold: float) -> bool:
    """Whether some statistic has changed by more than a share of what it was (t of ZStream 5.3)."""
    for old, new in ((one.cards, other.cards), (one.selectivities, other.selectivities)):
        for name, value in new.items():
            before = old.get(name, 0.0)
            if abs(value - before) > threshold * max(before, value, 1e-9):
                return True
    return False
