"""Cayuga's technical benchmark (5.1): a stream of eight attributes, and very many queries for it, by Table 2.

Queries of one template whose attributes are fixed are one set.  Where attributes are drawn too, each choice of
them is a set of its own, in a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import ouzel as oz

DISCRETE = ("d1", "d2", "d3", "d4")
CONTINUOUS = ("c1", "c2", "c3", "c4")
STEPS = (1, 2, 3)
RANGES = 25
DURATION = 20
Numbers = npt.NDArray[np.int64]


class Attributes(NamedTuple):
    """What a query asks of the events of all its steps: the primary attribute, another one, and two in ranges."""

    primary: str = "d1"
    other: str = "d2"
    first: str = "c1"
    second: str = "c2"


@dataclass(frozen=True)
class Workload:
    """The queries of one template, with the other parameters of Table 2 and their default values."""

    queries: int
    template: str = "Filter"
    drawn: bool = False
    """Whether attributes are drawn for each query; else all have those that would be drawn most often."""
    zipf: tuple[float, float, float] = (1, 1, 0.8)
    selectivity: float = 0.7
    domain: int = 100
    seed: int = 1

    def form(self) -> Any:
        """The queries as Ouzel takes them."""
        sets = [
            oz.queries(TEMPLATES[self.template](attributes).named("_".join(attributes)), parameters)
            for attributes, parameters in self.sets()
        ]
        return sets if self.drawn else sets[0]

    def sets(self) -> Iterator[tuple[Attributes, pa.Table]]:
        """The parameters of the queries of each choice of attributes."""
        rng = np.random.default_rng(self.seed)
        parameters = self._parameters(rng)
        if not self.drawn:
            yield Attributes(), parameters
            return
        choices = np.hstack([_two_of(4, self.zipf[0], self.queries, rng), self._ranged(rng)])
        found, which = np.unique(choices, axis=0, return_inverse=True)
        for number, (primary, other, first, second) in enumerate(found.tolist()):
            attributes = Attributes(DISCRETE[primary], DISCRETE[other], CONTINUOUS[first], CONTINUOUS[second])
            yield attributes, parameters.filter(pa.array(which.ravel() == number))

    def _ranged(self, rng: np.random.Generator) -> Numbers:
        # which of the two comes first makes no difference
        return np.sort(_two_of(4, self.zipf[0], self.queries, rng), axis=1)

    def _parameters(self, rng: np.random.Generator) -> pa.Table:
        """A row for each query: its number and its constants."""
        columns: dict[str, Any] = {"id": np.arange(self.queries)}
        columns["value"] = _zipf(self.domain, self.zipf[0], self.queries, rng)
        lowest = np.linspace(0, 1 - self.selectivity, RANGES)
        for step, parameter in zip(STEPS, self.zipf, strict=True):
            columns[f"other{step}"] = _zipf(self.domain, parameter, self.queries, rng)
            for place in ("first", "second"):
                low = lowest[rng.integers(0, RANGES, self.queries)]
                columns[f"{place}{step}_low"] = low
                columns[f"{place}{step}_high"] = low + self.selectivity
        return pa.table(columns)


def technical_stream(events: int, begin: int = 0, domain: int = 100, *, seed: int = 1) -> pa.Table:
    """Events with four discrete attributes and four continuous ones, all uniform; one event per tick.

    >>> technical_stream(3).column_names
    ['ts', 'd1', 'd2', 'd3', 'd4', 'c1', 'c2', 'c3', 'c4']
    """
    rng = np.random.default_rng(seed + begin)
    columns: dict[str, Any] = {"ts": np.arange(begin, begin + events)}
    columns |= {name: rng.integers(0, domain, events) for name in DISCRETE}
    columns |= {name: rng.random(events) for name in CONTINUOUS}
    return pa.table(columns)


# ---- the five templates ------------------------------------------------------------------------------------


def linear_stat(attributes: Attributes) -> oz.Stream:
    """Three consecutive events."""
    found = _first(attributes)
    for step in STEPS[1:]:
        found = found.next(_events(step)).where(_theta(step, attributes))
    return found


def linear_dyn(attributes: Attributes) -> oz.Stream:
    """The same, where a value must be 1% above that of the event before: a predicate on two events."""
    found = _first(attributes)
    for step in STEPS[1:]:
        above = f"s{step}.{attributes.first} > 1.01 * s{step - 1}.{attributes.first}"
        found = found.next(_events(step)).where(f"{_theta(step, attributes)} AND {above}")
    return found


def filtered(attributes: Attributes) -> oz.Stream:
    """Events are passed over, for some time, that do not have the primary attribute's value."""
    found = _first(attributes)
    for step in STEPS[1:]:
        found = found.next(_events(step), where=_filter(step, attributes)).where(_theta(step, attributes))
    return found


def non_deterministic(attributes: Attributes) -> oz.Stream:
    """Any three events, whatever lies between them: folds whose step is the identity."""
    found = _first(attributes)
    for step in STEPS[1:]:
        found = _folded(found, step, attributes)
    return found


def non_deterministic_agg(attributes: Attributes) -> oz.Stream:
    """The same, with the sum of the continuous attributes of all three."""
    found = _first(attributes).extend(total=_sum(1))
    for step in STEPS[1:]:
        found = _folded(found, step, attributes).extend(total=f"total + {_sum(step)}")
    return found


TEMPLATES: dict[str, Callable[[Attributes], oz.Stream]] = {
    "LinearStat": linear_stat,
    "LinearDyn": linear_dyn,
    "Filter": filtered,
    "NonDeterministic": non_deterministic,
    "NonDeterministicAgg": non_deterministic_agg,
}


def _events(step: int) -> oz.Stream:
    return oz.stream().prefixed(f"s{step}")


def _first(attributes: Attributes) -> oz.Stream:
    return _events(1).where(_theta(1, attributes))


def _folded(found: oz.Stream, step: int, attributes: Attributes) -> oz.Stream:
    # a fold begins with a value of every attribute that its iterations overwrite
    begun = {f"s{step}.{name}": f"s{step - 1}.{name}" for name in (*DISCRETE, *CONTINUOUS)}
    folded = found.extend(**begun).fold(_events(step), where=_filter(step, attributes))
    return folded.where(_theta(step, attributes))


def _theta(step: int, attributes: Attributes) -> str:
    """θ1, θ2 or θ3: two equalities and two ranges."""
    terms = [f"s{step}.{attributes.primary} = $value", f"s{step}.{attributes.other} = $other{step}"]
    for place, name in (("first", attributes.first), ("second", attributes.second)):
        terms.append(f"s{step}.{name} >= ${place}{step}_low AND s{step}.{name} < ${place}{step}_high")
    return " AND ".join(terms)


def _filter(step: int, attributes: Attributes) -> str:
    """θ4 or θ5."""
    return f"duration() <= {DURATION} AND s{step}.{attributes.primary} = $value"


def _sum(step: int) -> str:
    return " + ".join(f"s{step}.{name}" for name in CONTINUOUS)


# ---- what is drawn -----------------------------------------------------------------------------------------


def _weights(domain: int, parameter: float) -> npt.NDArray[np.float64]:
    weights = 1 / np.arange(1, domain + 1, dtype=np.float64) ** parameter
    return np.asarray(weights / weights.sum(), np.float64)


def _zipf(domain: int, parameter: float, count: int, rng: np.random.Generator) -> Numbers:
    return rng.choice(domain, count, p=_weights(domain, parameter))


def _two_of(domain: int, parameter: float, count: int, rng: np.random.Generator) -> Numbers:
    """Two different ones each time, the second by Zipf among those that are left.

    With Gumbel's noise upon the logarithms of weights, the order is that of drawing without putting back.
    """
    drawn = np.log(_weights(domain, parameter)) + rng.gumbel(size=(count, domain))
    return np.argsort(-drawn, axis=1)[:, :2]
