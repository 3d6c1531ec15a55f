"""Corrections where all events are there: what withdrawals leave of a table, before anything is matched."""

from __future__ import annotations

import pyarrow as pa

from ouzel.physical.event_table import Integers
from ouzel.runtimes.ingest import Net
from ouzel.runtimes.op_column import netted
from ouzel.runtimes.quarantine import Problem
from ouzel.runtimes.reading import Reading
from ouzel.runtimes.revision import Revision, check_revision


def netting(revision: Revision | None) -> Net | None:
    """How a table is netted out; None where no column says that events are withdrawn."""
    if revision is None or revision.op is None:
        return None
    op = revision.op

    def net(table: pa.Table, reading: Reading) -> tuple[pa.Table, Integers, list[Problem]]:
        check_revision(revision, table.schema, reading)
        own = table.drop_columns([op])
        columns = [*reading.times, *revision.identity] if revision.identity else own.column_names
        return own, *netted(table, op, columns)

    return net
