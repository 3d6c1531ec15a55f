"""What a batch brings to a matcher that corrects itself: insertions, withdrawals, and rows that are neither.

Rows that cannot be are refused, or set aside; nothing has changed by then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa

from ouzel.runtimes.by_event import ByEvent
from ouzel.runtimes.counted_rows import counted_one_by_one
from ouzel.runtimes.intake import Intake
from ouzel.runtimes.op_column import (
    INSERT,
    Batch,
    Withdrawn,
    miscounted_rows,
    read_batch,
    set_aside,
    withdrawn,
    without_event,
)
from ouzel.runtimes.quarantine import Problem, Report, refuse
from ouzel.runtimes.reading import Reading
from ouzel.runtimes.revision import Revision
from ouzel.runtimes.tail import Tail, in_order


@dataclass
class Arrivals:
    """A batch as it is read, and what there is to report of it."""

    table: pa.Table
    revision: Revision
    reading: Reading
    report: Report
    batch: Batch

    @classmethod
    def read(cls, table: pa.Table, revision: Revision, intake: Intake) -> Self:
        """Those of a table; where events are counted, they have numbers."""
        report = Report()
        found = cls(table, revision, intake.reading, report, read_batch(table, revision.op, intake, report))
        sequence = revision.sequence
        if sequence is not None and found.batch.events.table.column(sequence).null_count:
            lacking = found.batch.events.table.column(sequence).is_null().to_numpy()
            lacking = lacking & (found.batch.signs == INSERT)  # of a withdrawal its identity may be enough
            said = "required the number of the event in its partition; got null"
            found._refuse([Problem(int(row), sequence, said) for row in found.batch.rows[lacking]])
            found.batch = found.batch.taken(np.flatnonzero(~lacking))
        return found

    def withdrawn(self, tail: Tail) -> Withdrawn:
        """Which events are withdrawn, of a tail and of these."""
        return self._noted(withdrawn(self.batch, tail, self.revision.identity, self.reading))

    def counted(self, tail: Tail, way: ByEvent) -> Withdrawn:
        """The same, where events are counted: without insertions whose numbers contradict those of others."""
        ordered = self.batch.by_time  # in which numbers mostly are in order, too
        is_inserted = ordered.signs == INSERT
        # beside all that is there, be it withdrawn in this batch or not
        if way.are_well_counted(in_order(ordered.events, is_inserted)):
            self.batch = ordered
            return self.withdrawn(tail)
        return self._noted(counted_one_by_one(self.batch, tail, self.revision, self.reading, way))

    def _noted(self, found: Withdrawn) -> Withdrawn:
        """What is withdrawn, once all that cannot be is refused."""
        op, sequence, problems = self.revision.op, self.revision.sequence, list[Problem]()
        if op is not None:
            problems += without_event(self.batch, found.without, op)
        if sequence is not None:
            problems += miscounted_rows(self.batch, found.refused, sequence)
        self._refuse(problems)
        self.report.withdrawn = len(found.kept) + len(found.own)
        return found

    def _refuse(self, problems: list[Problem]) -> None:
        """Raise for malformed rows, or set them aside."""
        if not problems:
            return
        problems = sorted(problems, key=lambda one: one.row)
        if self.reading.on_bad == "error":
            refuse(problems)
        set_aside(self.table, [*self.report.problems, *problems], self.report)
