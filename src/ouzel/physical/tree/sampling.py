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
from ouzel.physical.memory.growing import marked
from ouzel.physical.memory.retained import Retained
from ouzel.physical.statistics import Statistics
from ouzel.physical.tree.arrivals import Arrivals
from ouzel.physical.tree.rows import RecordRows

# So many combinations of events are tried for each condition and round.
SAMPLE = 128
# The weight of what came last in averages, which is all that counts where it was so many events.
WEIGHT, MANY = 0.5, 4_096


@dataclass(frozen=True)
class Trial:
    """A condition on several single events, and a kernel that tries it on combinations of such."""

    conjunct: Conjunct
    variables: tuple[str, ...]
    source: str
    operands: Operands

    def share(self, drawn: Sequence[Any], values: Sequence[Any]) -> float:
        """The share of combinations for which it holds; an array for each variable has their events."""
        kernel = kernel_of(self.source, len(drawn[0]))
        flags = kernel(np.zeros(len(drawn[0]), np.bool_), *drawn, *values)
        # of what never held in a sample, it is not known that it never does
        return max(float(np.mean(flags)), 0.5 / len(flags))


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

    def see(self, arrivals: Arrivals, retained: Retained, values: Any) -> None:
        """Sample the events of a round."""
        if not len(arrivals):
            return
        window, count = self.query.window, len(arrivals)
        begin, end = arrivals.begin, arrivals.begin + count
        counts_events = window is not None and window.counts_events
        # they are in order of the times at which they end
        span = float(count) if counts_events else float(retained.clocks[end - 1] - retained.clocks[begin]) + 1
        limit = float(window.limit) if window else span
        weight = max(WEIGHT, min(count / MANY, 1.0)) if self.rounds else 1.0
        numbers = {one.variable: arrivals.of(one) for one in self.query.components}
        for name, own in numbers.items():
            card = len(own) / span * limit
            self.rates[name] = weight * card + (1 - weight) * self.rates.get(name, card)
        within = max(1, min(int(count * min(limit / span, 1.0)), MANY))
        # an event of no partition marks the place behind them
        parts = np.count_nonzero(marked(retained.partitions.count + 1, retained.parts[end - within : end]))
        self.partitions = weight * parts + (1 - weight) * self.partitions
        for trial in self.trials:
            self._try(trial, numbers, values)
        self.rounds += 1

    def _try(self, trial: Trial, numbers: dict[str, Integers], values: Any) -> None:
        events = [numbers[name] for name in trial.variables]
        if not all(map(len, events)):
            return
        drawn = [one[self._random.integers(0, len(one), SAMPLE)].astype(np.int32) for one in events]
        share = trial.share(drawn, values(trial.operands))
        text = trial.conjunct.text
        # such are multiplied: half as many and twice as many are as far away
        self.shares[text] = share**WEIGHT * self.shares.get(text, share) ** (1 - WEIGHT)

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
