"""Which share of random queries each engine gets, and why the reference matcher gets some, wholly or in part.

The queries have all operators, and order of texts, registered functions, composite events, columns of nulls and
long patterns among them; each is run over a few events, for some engines find out
only then.

python tests/engine_shares.py --queries 10000 --seed 20261115
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import ouzel as oz
from ouzel.compile import compile_query
from ouzel.physical.compiled import by_match, calls, compute, operands
from ouzel.runtimes import embedded
from ouzel.runtimes.ingest import ingest
from ouzel.runtimes.quarantine import Report
from ouzel.runtimes.reading import Reading
from ouzel.testing.combinations import combinations
from ouzel.testing.programs import long_patterns, program_text, programs
from ouzel.testing.strategies import queries, register_functions, streams

Case = tuple[str, list[dict[str, Any]]]
"""A program, and events for it."""

# One in so many programs is a long pattern.
LONG = 50
# All combinations of all combinations are too many to wait for.
FEW = oz.Limits(max_matches=1_000, max_runs=10_000)
NUMBERS = {name: pa.int64() for name in ("ts", "k", "x", "y")}
SCHEMA = pa.schema(
    {"eid": pa.string(), "type": pa.string(), **NUMBERS, "s": pa.string(), "u": pa.uint64(), "z": pa.null()}
)
TYPES = {name: ["eid", "k", "x", "y", "s", "u", "z"] for name in "ABC"} | {"D": ["eid", "x", "y", "s", "u", "z"]}


class Shares:
    """What was counted: queries by engine, and reasons for the reference, each once per query."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.engines: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.queries = self.wholly = self.partly = self.refused = 0
        self._seen: set[str] = set()

    def add(self, case: Case) -> None:
        """Count the queries of a program."""
        text, events = case
        try:
            plans = compile_query(text, _schema(), {}).plans
        except oz.QueryError:
            self.refused += 1
            return
        self._seen = set()
        for plan in plans:
            self.queries += 1
            self.engines[plan.engine] += 1
            if plan.engine == "reference":
                self._note("wholly", plan.passed_over[-1][1])
        # a function may fail, and there may be too many matches: what ran is counted all the same
        with self._listening(), suppress(oz.OuzelError):
            oz.match(pa.Table.from_pylist(events, SCHEMA), text, types=TYPES, limits=FEW)
        is_whole = any(reason.startswith("wholly") for reason in self._seen)
        self.wholly += is_whole
        self.partly += bool(self._seen) and not is_whole
        self.reasons.update(self._seen)

    def _note(self, how: str, why: str) -> None:
        without_names = re.sub(r"'[^']*'", "'…'", why)
        self._seen.add(f"{how}: {without_names}")

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Note what is left to the reference, or to Python value by value, while a query runs."""

        def slow(engine: str, _events: int, why: str) -> None:
            if engine == "reference" and why.startswith("not ") and ";" not in why:
                self._note("wholly, over these events", why)

        def listened(called: Sequence[Any], *others: Any) -> Any:
            for one in called:
                name = getattr(getattr(one, "expression", None), "function", None)
                self._note("partly, called by a kernel", getattr(name, "name", "count(distinct)"))
            return made(called, *others)

        def matches(expression: Any, *others: Any) -> Any:
            self._note("partly, match by match in RETURN", type(expression).__name__)
            return computed(expression, *others)

        made, computed = calls.Calls, by_match.by_match
        with (
            patch.object(embedded, "_warn_of_slowness", slow),
            patch.object(operands, "Calls", listened),
            patch.object(compute, "by_match", matches),
        ):
            yield

    def __str__(self) -> str:
        """The shares and the reasons, most frequent first."""
        lines = [f"{self.queries:,} queries; {self.refused:,} programs refused as wrong"]
        lines += [
            f"  {name}: {count:,} ({count / self.queries:.1%})" for name, count in self.engines.most_common()
        ]
        lines += [f"programs that the reference gets, or some query of which: {self.wholly:,}"]
        lines += [f"programs of which Python computes something value by value: {self.partly:,}"]
        return "\n".join(lines + [f"  {count:,}  {reason}" for reason, count in self.reasons.most_common()])


def _schema() -> Any:
    return ingest(SCHEMA.empty_table(), Reading(types=TYPES), Report())[0].schema


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A query with values of all kinds or of all operators, queries that feed each other, or a long pattern."""
    kind = draw(st.integers(1, LONG))
    if kind == LONG:
        query, events = draw(long_patterns())
        return query.text, events
    if kind % 4 == 1:
        return draw(combinations()).text, draw(streams(kinds=True))
    if kind % 4 == 0:
        return program_text(draw(programs())), draw(streams(10, min_events=5))
    return draw(queries(non_overlap=True, totals=True, kinds=True, lacking=True)).text, draw(streams(kinds=True))


def main() -> None:
    """Draw, count and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=20261115)
    options = parser.parse_args()
    register_functions()
    shares = Shares()

    @seed(options.seed)
    @settings(
        max_examples=options.queries,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases())
    def count(case: Case) -> None:
        if shares.queries < options.queries:
            shares.add(case)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oz.OuzelWarning)
        count()
    print(shares)


if __name__ == "__main__":
    main()
