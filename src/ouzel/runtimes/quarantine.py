"""Malformed events: an error that names row and column, or set aside, counted, and to be had."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ouzel.errors import DataError, OuzelError
from ouzel.physical.contract import Counters

POLICIES = ("error", "quarantine")
_PROBLEMS = pa.schema({"row": pa.int64(), "column": pa.string(), "text": pa.string()})


@dataclass(frozen=True)
class Problem:
    """What is wrong with one event; `table` is its type where there is one table per type."""

    row: int
    column: str
    text: str
    table: str = ""
    place: str = ""

    def __str__(self) -> str:
        """The message of a DataError."""
        where = f" of '{self.table}'" if self.table else ""
        return f"{self.place or f'row {self.row}'}{where}, column '{self.column}': {self.text}"


@dataclass
class Report:
    """What a run has to tell besides its matches.

    Pass one to `match(report=…)`; after the call it holds the events set aside and what was done.
    """

    events: int = 0
    matches: int = 0
    seconds: float = 0.0
    """How long it took; of a matcher, all pushes since it was made or restored."""
    late: int = 0
    withdrawn: int = 0
    """How many events a matcher took back again, as rows of withdrawals asked for."""
    counters: Counters = field(default_factory=Counters)
    """What engines did; `shed_runs` and `shed_matches` are what went beyond limits under `on_limit='shed'`."""
    problems: list[Problem] = field(default_factory=list)
    quarantined: Any = None
    """The events set aside, of the kind that came in, with their row and what is wrong with them."""
    quarantined_count: int = 0
    """How many events were set aside."""
    refused_rules: Any = None
    """Of a Spark stream, the stream of the rules that make no sense, with what is wrong with them."""

    def add(self, batch: Report) -> None:
        """What one more batch of a stream, of Arrow tables, had to tell; rows count from the first batch on."""
        if batch.problems:
            self.problems += [replace(problem, row=problem.row + self.events) for problem in batch.problems]
            place = batch.quarantined.num_columns - 2
            rows = pc.add(batch.quarantined.column(place), self.events)
            bad = batch.quarantined.set_column(place, batch.quarantined.field(place), rows)
            self.quarantined = pa.concat_tables([self.quarantined, bad])
            self.quarantined_count += batch.quarantined_count
        self.events += batch.events
        self.withdrawn += batch.withdrawn

    def take_quarantined(self) -> Any:
        """The events set aside so far, which the report forgets."""
        taken, self.quarantined = self.quarantined, self.quarantined.slice(0, 0)
        self.problems = []
        return taken

    def state(self) -> dict[str, Any]:
        """What a snapshot keeps."""
        counts = [self.events, self.matches, self.late, self.quarantined_count, self.withdrawn]
        problems = [{"row": one.row, "column": one.column, "text": one.text} for one in self.problems]
        return {
            "counts": pa.array(counts).to_numpy(),
            "counters": pa.array(astuple(self.counters)).to_numpy(),
            "quarantined": self.quarantined,
            "problems": pa.Table.from_pylist(problems, _PROBLEMS),
        }

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on from a snapshot."""
        counts = state["counts"].tolist()
        self.events, self.matches, self.late, self.quarantined_count = counts[:4]
        self.withdrawn = sum(counts[4:])  # there was none in snapshots of before
        self.counters = Counters(*state["counters"].tolist())
        self.quarantined = state["quarantined"]
        self.problems = [Problem(**row) for row in state["problems"].to_pylist()]


def check_policy(on_bad: str) -> None:
    """Refuse a policy that does not exist."""
    if on_bad not in POLICIES:
        raise OuzelError(f"on_bad='{on_bad}': required one of {', '.join(POLICIES)}")


def refuse(problems: list[Problem], places: Mapping[str, Callable[[int], str] | None] | None = None) -> None:
    """Raise for malformed events; `places` say by table where a row is, in the words of its file."""
    if problems:
        first = min(problems, key=lambda problem: (problem.table, problem.row))
        rows = len({(problem.table, problem.row) for problem in problems})
        more = f" ({rows:,} malformed events in all)" if rows > 1 else ""
        place = (places or {}).get(first.table)
        first = first if place is None else replace(first, place=place(first.row))
        raise DataError(f"{first}{more}\n  hint: mend the data, or set such events aside with on_bad='quarantine'")


def described(problems: list[Problem]) -> dict[int, str]:
    """By row, in order, what is wrong with it."""
    texts: dict[int, list[str]] = {}
    for problem in problems:
        texts.setdefault(problem.row, []).append(f"column '{problem.column}': {problem.text}")
    return {row: "; ".join(texts[row]) for row in sorted(texts)}


def bad_table(table: pa.Table, texts: Mapping[int, str]) -> pa.Table:
    """The malformed rows of a table, with their row numbers and what is wrong."""
    row, problem = free_names(table.column_names)
    bad = table.take(pa.array(texts, pa.int64())) if texts else table.slice(0, 0)
    bad = bad.append_column(row, pa.array(texts, pa.int64()))
    return bad.append_column(problem, pa.array(texts.values(), pa.string()))


def free_names(taken: Iterable[str]) -> tuple[str, str]:
    """What the columns `row` and `problem` are called beside others: with underscores if those are taken.

    >>> free_names(["ts", "row"])
    ('row_', 'problem')
    """
    names = set(taken)
    row, problem = "row", "problem"
    while row in names:
        row += "_"
    while problem in names:
        problem += "_"
    return row, problem
