"""Stage 2, sets of queries: a template bound once for all, and each of its queries as it is on its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from ouzel.errors import OuzelError
from ouzel.language.set_tree import QuerySet
from ouzel.logical.lifetimes import lives_of
from ouzel.logical.parameters import ROWS
from ouzel.logical.schema import Schema

if TYPE_CHECKING:
    from ouzel.logical.query import BoundQuery

MOST = 2**63 - 1
"""No integer of the language is larger."""
# What stands for values of a set, by a test of Arrow's: what its queries have in common depends on none of them.
_STAND_INS = (
    (pa.types.is_boolean, False),
    (pa.types.is_integer, 1),
    (pa.types.is_floating, 1.5),
    (pa.types.is_decimal, Decimal(1)),
    (pa.types.is_temporal, "1970-01-01"),
)


@dataclass(frozen=True)
class Members:
    """The queries of a set: `rows` has the id of each and the values of its parameters, None if not known yet.

    `template` is the query of the first row; what depends on values there is only an example.  `others` are the
    values of parameters that all of them share.
    """

    written: QuerySet
    schema: Schema
    template: BoundQuery
    rows: pa.Table | None
    others: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The column that names them, the first of the result."""
        return self.written.id

    @property
    def id_type(self) -> pa.DataType:
        """The type of that column."""
        return pa.null() if self.rows is None else self.rows.schema.field(self.id).type

    def __len__(self) -> int:
        """How many there are."""
        return 0 if self.rows is None else self.rows.num_rows

    @property
    def parameters(self) -> list[str]:
        """The columns that hold values of parameters."""
        return [] if self.rows is None else parameters_of(self.written, self.rows.schema)

    def values(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Of each query the id, and the values of all parameters."""
        assert self.rows is not None
        for batch in self.rows.to_batches(max_chunksize=1_000):
            for row in batch.to_pylist():
                yield self.of_row(row)

    def of_row(self, row: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The same of one row."""
        return row[self.id], {**self.others, **{name: row[name] for name in self.parameters}}

    def lives(self, rows: pa.Table) -> Any:
        """From when until when the queries of some rows are valid, in ticks."""
        return lives_of(self.written, rows, self.schema.time)


def parameters_of(written: QuerySet, columns: pa.Schema) -> list[str]:
    """The columns of a set's rows that hold values of parameters."""
    return [name for name in columns.names if name not in (written.id, *written.valid)]


def example(written: QuerySet, rows: pa.Table) -> dict[str, Any]:
    """Values that its queries might have: those of the first, but for numbers, of which any is as good."""
    found = {}
    for name in parameters_of(written, rows.schema):
        arrow = rows.schema.field(name).type
        given = rows.column(name).drop_null()
        is_any = pa.types.is_boolean(arrow) or pa.types.is_integer(arrow)
        is_any = is_any or pa.types.is_floating(arrow) or pa.types.is_decimal(arrow)
        found[name] = _stand_in(arrow) if is_any or not len(given) else given[0].as_py()
    return found


def _stand_in(arrow: pa.DataType) -> Any:
    if pa.types.is_null(arrow):
        return None  # in all of them
    return next((value for belongs, value in _STAND_INS if belongs(arrow)), "")


def check_numbers(rows: pa.Table, names: Iterable[str]) -> None:
    """Refuse integers that no parameter can be: then none of a set depends on how it is run."""
    for name in names:
        column = rows.column(name)
        if pa.types.is_uint64(column.type) and (pc.max(column).as_py() or 0) > MOST:
            values = column.to_pylist()
            place = next(place for place, value in enumerate(values) if (value or 0) > MOST)
            raise OuzelError(f"parameters: row {place}, column '{name}': {beyond(values[place])}")


def beyond(value: int) -> str:
    """What is wrong with an integer that is too large for a parameter."""
    hint = "make them decimals, which are compared with all their digits: pa.decimal128(20, 0)"
    return f"required integers of at most {MOST}; got {value}\n  hint: {hint}"


def check_others(written: QuerySet, rows: pa.Table, params: Mapping[str, Any]) -> None:
    """Refuse values for all where every query has its own."""
    for name in params:
        if name in parameters_of(written, rows.schema):
            raise OuzelError(
                f"params: '{name}' has a value of its own in every query of the set\n"
                f"  hint: leave out {name}, or the column '{name}' of oz.queries(…)"
            )


def rows_name(rows: pa.Table) -> str:
    """The name under which rows travel: another for other rows."""
    digest = blake2b(digest_size=16)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows.combine_chunks())
    digest.update(sink.getvalue())
    return ROWS + digest.hexdigest()
