"""What a user says of corrections: how far to speculate, and how rows insert and withdraw events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil, inf
from typing import Any

import pyarrow as pa

from ouzel.errors import OuzelError, SchemaError
from ouzel.language.durations import length_in_ticks
from ouzel.language.names import quoted
from ouzel.runtimes.op_column import check_column, check_op
from ouzel.runtimes.reading import Reading, type_column_of

ALL = "inf"


@dataclass(frozen=True)
class Revision:
    """How a matcher corrects itself."""

    speculation: int | None = 0
    """How many ticks after the punctuation events are matched already; None says all of them (AFA 5.3)."""
    op: str | None = None
    identity: tuple[str, ...] = ()
    punctuates: bool = True
    """Whether events let time pass: else only `advance` and `push(…, watermark=)` do."""
    sequence: str | None = None
    """The column that counts the events of a partition (AFA+O, 5.3)."""
    is_plain: bool = False
    """Whether answers are rows as of any matcher: what is counted is never withdrawn by itself."""

    @property
    def parts(self) -> dict[str, str]:
        """What of it a snapshot must have in common."""
        speculation = ALL if self.speculation is None else f"{self.speculation} ticks"
        how = {"speculation": speculation, "op column": "" if self.op is None else quoted(self.op)}
        return how | {
            "identity": ", ".join(map(quoted, self.identity)),
            "punctuation": "by events" if self.punctuates else "by advance",
            **({} if self.sequence is None else {"sequence": quoted(self.sequence)}),
        }

    def written(self) -> dict[str, Any]:
        """It in JSON."""
        return {**asdict(self), "identity": list(self.identity)}


def read_revision(written: Mapping[str, Any]) -> Revision:
    """What was written in JSON."""
    return Revision(**{**written, "identity": tuple(written["identity"])})


def check_revision(revision: Revision, schema: pa.Schema, reading: Reading) -> None:
    """Refuse columns that are not there, or have other roles."""
    op, events = revision.op, [name for name in schema.names if name != revision.op]
    roles = (*reading.times, type_column_of(schema.names, reading), *reading.order, *revision.identity)
    check_op(op, schema, (*roles, revision.sequence))
    check_sequence(revision.sequence, schema, roles)
    for name in revision.identity:
        check_column("identity: required columns of the schema", name, events)


def check_sequence(sequence: str | None, schema: pa.Schema, taken: Sequence[str | None]) -> None:
    """Refuse a column that cannot count events, or says something else already."""
    if sequence is None:
        return
    check_column("sequence: required a column of the schema", sequence, schema.names)
    arrow = schema.field(sequence).type
    if sequence in taken or not (pa.types.is_integer(arrow) and not pa.types.is_uint64(arrow)):
        got = "one that says something else, too" if sequence in taken else arrow
        required = "a column of its own of integers, which int64 can hold"
        raise SchemaError(f"sequence: '{sequence}': required {required}; got {got}")


def speculation_ticks(given: Any, tick: str) -> int | None:
    """How far to speculate, in ticks; None without end."""
    if isinstance(given, float) and given == inf:
        return None
    if isinstance(given, str) and given.strip().lower() == ALL:
        return None
    try:
        return length_in_ticks(given, tick, "speculation", ceil)
    except OuzelError:
        required = "'inf', 0, or a length of time such as '10 minutes', a timedelta, or a number of ticks"
        raise OuzelError(f"speculation: required {required}; got {given!r}") from None


def revision_of(
    speculation: Any, op: Any, identity: Any, sequence: Any = None, *, is_punctuated: bool
) -> Revision | None:
    """How a matcher corrects itself, how far it speculates set apart; None if it is not asked to."""
    if sequence is not None:
        if not isinstance(sequence, str):
            raise OuzelError(f"sequence: required the name of a column; got {sequence!r}")
        if speculation is not None:
            raise OuzelError("sequence: required without speculation: where events are counted, none is guessed")
        columns = _identity(identity, op)
        return Revision(None, op, columns, is_punctuated, sequence, is_plain=op is None)
    if op is not None and not isinstance(op, str):
        raise OuzelError(f"op: required the name of a column; got {op!r}")
    columns = _identity(identity, op)
    if speculation is None and op is None:
        return None
    speculates = speculation is not None and speculation_ticks(speculation, "ns") != 0
    return Revision(op=op, identity=columns, punctuates=is_punctuated or not speculates)


def _identity(identity: Any, op: str | None) -> tuple[str, ...]:
    """The columns that tell which event is withdrawn."""
    if identity is None:
        return ()
    is_list = isinstance(identity, Sequence) and not isinstance(identity, str | bytes)
    if not is_list or not identity or not all(isinstance(name, str) for name in identity):
        raise OuzelError(f"identity: required a list of columns; got {identity!r}")
    if op is None:
        raise OuzelError("identity: required op='…' beside it, the column of what it is for: withdrawals")
    return tuple(identity)
