"""A set of queries that share nothing: each is run by a plan of its own, which the runtime makes of it."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.logical.query import BoundQuery
from ouzel.physical.contract import Explained, Matching, Takes, UnsuitableError
from ouzel.physical.limits import Limits
from ouzel.physical.statistics import Statistics


@dataclass(frozen=True)
class ApartPlan:
    """A set of queries, one by one; `engine` and `tuning` are what was asked for."""

    query: BoundQuery
    why: str
    engine: str
    tuning: tuple[tuple[str, str], ...]

    @property
    def queries(self) -> tuple[BoundQuery, ...]:
        """The set."""
        return (self.query,)

    @property
    def takes(self) -> Takes:
        """Events for each query by itself."""
        return Takes.ONE_BY_ONE

    def begin(self, limits: Limits, *, once: bool = False, threads: int = 1) -> Matching:  # noqa: ARG002
        """It is for the runtime to begin each of them."""
        raise UnsuitableError(self.why)

    def explain(self, statistics: Statistics | None = None) -> Explained:  # noqa: ARG002 - it has no choice
        """That nothing is shared, and why."""
        members = self.query.members
        assert members is not None
        said = f"nothing: each of {len(members):,} queries runs on its own" + (f": {self.why}" if self.why else "")
        return Explained([("shared", [said])], [])
