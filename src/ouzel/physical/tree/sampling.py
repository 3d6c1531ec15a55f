"""Statistics of events, as they come: windowed averages over samples (ZStream 5.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.query import BoundQuery
from ouzel.physical.compiled.emit import Emitter
from ouzel.physical.compiled.kernel import kernel_of
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.user_calls import calls_users
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
    """The conditions that can be tried: those without closures, groups, and functions of the user's."""
    components = {one.variable: one for one in query.components}
    found = []
    for conjunct in conjuncts:
        names = tuple(sorted(conjunct.variables))
        if len(names) < 2 or any(components[name].is_array for name in names):
            continue
        if any(map(calls_users, conjunct.literals)):
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


class Sampler:
    """Knows what the events so far are like."""

    def __init__(self, query: BoundQuery, trials: Sequence[Trial]) -> None:
        """Begin with nothing known."""
        self.query, self.trials = query, trials
        self.statistics = Statistics({})
        self.rounds = 0

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
        before, cards = self.statistics, {}
        for one in self.query.components:
            card = len(arrivals.of(one)) / span * limit
            cards[one.variable] = weight * card + (1 - weight) * before.cards.get(one.variable, card)
        within = max(1, min(int(count * min(limit / span, 1.0)), MANY))
        # an event of no partition marks the place behind them
        parts = np.count_nonzero(marked(retained.partitions.count + 1, retained.parts[end - within : end]))
        partitions = weight * parts + (1 - weight) * before.partitions
        shares = {**before.selectivities, **self._shares(arrivals, values)}
        self.statistics = Statistics(cards, shares, partitions)
        self.rounds += 1

    def _shares(self, arrivals: Arrivals, values: Any) -> dict[str, float]:
        """For which shares of combinations conditions hold that can be tried on some."""
        # what is drawn must not differ from run to run, nor after a snapshot
        random = np.random.default_rng(self.rounds)
        numbers = {one.variable: arrivals.of(one) for one in self.query.components}
        found = {}
        for trial in self.trials:
            events = [numbers[name] for name in trial.variables]
            if not all(map(len, events)):
                continue
            drawn = [one[random.integers(0, len(one), SAMPLE)].astype(np.int32) for one in events]
            share, text = trial.share(drawn, values(trial.operands)), trial.conjunct.text
            # such are multiplied: half as many and twice as many are as far away
            found[text] = share**WEIGHT * self.statistics.selectivities.get(text, share) ** (1 - WEIGHT)
        return found


def state_of(statistics: Statistics) -> dict[str, Any]:
    """Statistics as arrays and texts."""
    values = {"cards": statistics.cards, "selectivities": statistics.selectivities}
    names = {name: list(one) for name, one in values.items()}
    arrays = {f"{name}.values": np.array(list(one.values()), np.float64) for name, one in values.items()}
    return {**names, **arrays, "partitions": np.array([statistics.partitions], np.float64)}


def statistics_of(state: dict[str, Any]) -> Statistics:
    """Statistics of a state."""
    values = {name: state[f"{name}.values"].tolist() for name in ("cards", "selectivities")}
    cards, selectivities = (dict(zip(state[name], one, strict=True)) for name, one in values.items())
    return Statistics(cards, selectivities, float(state["partitions"][0]))


def differ(one: Statistics, other: Statistics, threshold: float) -> bool:
    """Whether some statistic has changed by more than a share of what it was (t of ZStream 5.3)."""
    for old, new in ((one.cards, other.cards), (one.selectivities, other.selectivities)):
        for name, value in new.items():
            before = old.get(name, 0.0)
            if abs(value - before) > threshold * max(before, value, 1e-9):
                return True
    return False
