"""Corrections in the buckets of a stream: rows that withdraw events go in, and changes of matches come out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.runtimes.op_column import INSERT, WITHDRAW
from ouzel.runtimes.reported import MATCH_ID, OP
from ouzel.runtimes.row_numbers import row_numbers
from ouzel.runtimes.spark.spreading import EVEN_FOR

# The lower bits of an id count the matches of a bucket, those above them say which bucket it is.
ID_BITS = 63 - EVEN_FOR.bit_length()


def insertions_first(rows: pa.Table, op: str, identity: Sequence[str] = ()) -> pa.Table:
    """The rows of a micro-batch, which Spark has in no order: those that insert events before all others.

    Where an identity says what is withdrawn, of insertions alike in it those come first to which a withdrawal is
    equal in all columns: it takes the first.

    >>> update = pa.table({"op": [1, -1, 1], "id": [7, 7, 7], "x": [200, 100, 100]})
    >>> insertions_first(update, "op", ["id"]).to_pydict()
    {'op': [1, 1, -1], 'id': [7, 7, 7], 'x': [100, 200, 100]}
    """
    is_other = pc.fill_null(pc.not_equal(rows.column(op), INSERT), True).to_numpy()
    rank = 2 * is_other.astype(np.int8)
    if identity and is_other.any():
        numbers = row_numbers(rows.drop_columns([op]))
        rank[~is_other] = ~np.isin(numbers[~is_other], numbers[is_other])
    return rows if np.all(rank[1:] >= rank[:-1]) else rows.take(pa.array(np.argsort(rank, kind="stable")))


def with_ids_of(changes: pa.Table, place: int) -> pa.Table:
    """Changes under ids that no other bucket has.

    >>> one = pa.table({"op": [1], "match_id": [7]})
    >>> with_ids_of(one, 0).to_pylist(), with_ids_of(one, 2).to_pylist()
    ([{'op': 1, 'match_id': 7}], [{'op': 1, 'match_id': 1125899906842631}])
    """
    ids = pc.add(changes.column(MATCH_ID), pa.scalar(place << ID_BITS, pa.int64()))
    return changes.set_column(changes.schema.get_field_index(MATCH_ID), MATCH_ID, ids)


def withdrawn_in(changes: pa.Table) -> int:
    """How many changes withdraw a match."""
    return int(pc.sum(pc.equal(changes.column(OP), WITHDRAW)).as_py() or 0)
