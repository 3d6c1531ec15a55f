"""Rows that insert events and rows that withdraw them: the column that says so, and who withdraws whom."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from ouzel.errors import SchemaError, did_you_mean, listed
from ouzel.logical.values import Kind, from_arrow
from ouzel.physical.each_once import each_once
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.meaning import integers, plain
from ouzel.physical.pairing import occurrences
from ouzel.runtimes.intake import Intake
from ouzel.runtimes.kinds import without_views
from ouzel.runtimes.quarantine import Problem, Report, bad_table, described, refuse
from ouzel.runtimes.reading import Reading
from ouzel.runtimes.row_numbers import row_numbers
from ouzel.runtimes.sought import Sought
from ouzel.runtimes.tail import Tail

INSERT, WITHDRAW = 1, -1
NOT_THERE = "it withdraws an event that is not there"
_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Batch:
    """The events of a batch, whether each is inserted or withdrawn, and its row."""

    events: EventTable
    signs: Integers
    rows: Integers

    def taken(self, places: Integers) -> Batch:
        """Some of them."""
        return Batch(self.events.taken(places), self.signs[places], self.rows[places])

    @property
    def by_time(self) -> Batch:
        """The same by time, what has one time as it came."""
        times = self.events.end_times
        if (times[1:] >= times[:-1]).all():
            return self
        places = np.argsort(times, kind="stable")
        return Batch(self.events.brought(places), self.signs[places], self.rows[places])


def check_column(required: str, name: str, names: Sequence[str]) -> None:
    """Refuse a column that is not there."""
    if name not in names:
        hint = did_you_mean(name, names)
        raise SchemaError(
            f"{required}; there is no '{name}' among {listed(names)}" + (f"\n  hint: {hint}" if hint else "")
        )


def check_op(op: str | None, schema: pa.Schema, taken: Sequence[str | None]) -> None:
    """Refuse a column that cannot say what becomes of events, or says something else already."""
    if op is None:
        return
    check_column("op: required a column of the schema", op, schema.names)
    if op in taken:
        raise SchemaError(f"op: required a column of its own; '{op}' has another role")
    arrow = schema.field(op).type
    # pandas has integers as floats where some are missing, and so have CSV files where they are written +1
    if from_arrow(arrow).kind not in (Kind.INTEGER, Kind.UNSIGNED, Kind.FLOAT, Kind.NULL):
        raise SchemaError(f"op column '{op}': required integers, +1 or -1; got {arrow}")


def read_batch(table: pa.Table, op: str | None, intake: Intake, report: Report) -> Batch:
    """The events of a batch; what is malformed is refused, or told to the report."""
    if op is None:
        events = intake.read(table, report)
        rows = _left(np.arange(table.num_rows), report.problems)
        return Batch(events, np.full(len(events), INSERT, np.int64), rows)
    signs = _signs(table.column(op))
    rows, problems = np.flatnonzero(signs), _problems(table.column(op), signs, op)
    if intake.reading.on_bad == "error":
        refuse(problems)
    own = table.drop_columns([op])
    events = intake.read(own if len(rows) == len(signs) else without_views(own).take(pa.array(rows)), report)
    others = [replace(one, row=int(rows[one.row])) for one in report.problems]
    rows = _left(rows, report.problems)
    report.events = table.num_rows
    set_aside(table, [*problems, *others], report)
    return Batch(events, signs[rows], rows)


def set_aside(table: pa.Table, problems: list[Problem], report: Report) -> None:
    """Tell a report of all malformed rows of a batch."""
    if problems:
        report.problems, texts = problems, described(problems)
        report.quarantined, report.quarantined_count = bad_table(without_views(table), texts), len(texts)


def _signs(column: pa.ChunkedArray) -> Integers:
    """+1 and -1, and 0 for what is malformed: so is null."""
    arrow = plain(column).type
    if pa.types.is_floating(arrow):
        floats = plain(column).cast(pa.float64()).fill_null(0.0).to_numpy()
        return np.where(np.abs(floats) == 1, floats, 0.0).astype(np.int64)
    values = integers(column)
    values = np.where(np.abs(values) == 1, values, 0)
    if pa.types.is_uint64(arrow):  # the largest is no -1
        values = np.where(values < 0, 0, values)
    return values


def _problems(column: pa.ChunkedArray, signs: Integers, op: str) -> list[Problem]:
    return [
        Problem(row, op, f"required +1, to insert the event, or -1, to withdraw it; got {_told(column[row])}")
        for row in np.flatnonzero(signs == 0).tolist()
    ]


def _told(value: pa.Scalar) -> str:
    found = value.as_py()
    return "null" if found is None or found != found else str(found)  # noqa: PLR0124 - NaN, of pandas


def _left(rows: Integers, problems: list[Problem]) -> Integers:
    """The rows that have no problem."""
    return np.delete(rows, sorted({one.row for one in problems})) if problems else rows


# ---- who withdraws whom ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Withdrawn:
    """What withdrawals of a batch take, by place: of what is kept, of the batch; and those without an event."""

    kept: Integers
    own: Integers
    without: Integers
    events: EventTable
    """Those of what is kept."""
    refused: Integers = field(default_factory=lambda: _NONE)
    """Insertions of the batch that are malformed."""


@dataclass(frozen=True)
class Alike:
    """Events that may be withdrawn, those kept before those of the batch, in the order in which they came."""

    places: Integers
    """Those of what is kept, in the tail."""
    kept: EventTable
    own: Integers
    """Those of the batch, which may be withdrawals."""
    numbers: Integers
    """Of all, the same for those that are equal."""

    @classmethod
    def at(cls, times: Integers, batch: Batch, tail: Tail, identity: Sequence[str], reading: Reading) -> Alike:
        """Those at some times."""
        wanted = each_once(times)
        places, kept = tail.at(wanted)
        own = Sought(wanted).among(batch.events.end_times)
        columns = [*reading.times, *identity] if identity else batch.events.table.column_names
        tables = [kept.table.select(columns), batch.events.table.select(columns).take(pa.array(own))]
        return cls(places, kept, own, row_numbers(pa.concat_tables(tables).combine_chunks()))

    def taken(self, chosen: Integers, without: Integers, refused: Integers = _NONE) -> Withdrawn:
        """What is withdrawn where some of these are, and some find none; others of the batch are refused."""
        count = len(self.places)
        refused = self.own[refused - count] if len(refused) else refused
        from_kept = np.sort(chosen[chosen < count])
        from_kept = from_kept[np.argsort(self.kept.end_times[from_kept], kind="stable")]
        own, alone = self.own[chosen[chosen >= count] - count], self.own[without - count]
        return Withdrawn(self.places[from_kept], own, alone, self.kept.taken(from_kept), refused)


def withdrawn(batch: Batch, tail: Tail, identity: Sequence[str], reading: Reading) -> Withdrawn:
    """Find for each withdrawal the first event, of those equal to it, that came before and is still there."""
    taking = batch.signs == WITHDRAW
    if not taking.any():
        return Withdrawn(_NONE, _NONE, _NONE, tail.none)
    alike = Alike.at(batch.events.end_times[taking], batch, tail, identity, reading)
    signs = np.concatenate([np.full(len(alike.places), INSERT), batch.signs[alike.own]])
    return alike.taken(*_paired(alike.numbers, signs))


def _paired(numbers: Integers, signs: Integers) -> tuple[Integers, Integers]:
    """Of rows in order, those that later rows of the same number take, and those that find none to take."""
    given, taking = np.flatnonzero(signs == INSERT), np.flatnonzero(signs == WITHDRAW)
    given = given[np.argsort(numbers[given], kind="stable")]
    taking = taking[np.argsort(numbers[taking], kind="stable")]
    width = len(numbers) + 1
    offered = numbers[given] * width + occurrences(numbers[given])
    wanted = numbers[taking] * width + occurrences(numbers[taking])
    places = np.minimum(offered.searchsorted(wanted), max(len(offered) - 1, 0))
    if len(offered) and np.all(offered[places] == wanted) and np.all(given[places] < taking):
        return given[places], _NONE
    taken, without, _refused = paired_one_by_one(numbers.tolist(), signs.tolist())
    return taken, without


def paired_one_by_one(
    numbers: list[int],
    signs: list[int],
    comes: Callable[[int], bool] = lambda _place: True,
    goes: Callable[[int], None] = lambda _place: None,
) -> tuple[Integers, Integers, Integers]:
    """The same, row by row; and the insertions that cannot come when it is their turn."""
    there: dict[int, deque[int]] = defaultdict(deque)
    taken, without, refused = list[int](), list[int](), list[int]()
    for place, (number, sign) in enumerate(zip(numbers, signs, strict=True)):
        if sign == INSERT and comes(place):
            there[number].append(place)
        elif sign == INSERT:
            refused.append(place)
        elif there[number]:
            taken.append(there[number].popleft())
            goes(taken[-1])
        else:
            without.append(place)
    return np.array(taken, np.int64), np.array(without, np.int64), np.array(refused, np.int64)


def without_event(batch: Batch, places: Integers, op: str) -> list[Problem]:
    """What is wrong with withdrawals that find no event."""
    return [Problem(int(batch.rows[place]), op, NOT_THERE) for place in places.tolist()]


def miscounted_rows(batch: Batch, places: Integers, sequence: str) -> list[Problem]:
    """What is wrong with events whose numbers contradict those of others."""
    numbers = integers(batch.events.table.column(sequence))
    said = "required a number that no other event of the partition has, and in the order of times; got"
    return [Problem(int(batch.rows[place]), sequence, f"{said} {numbers[place]}") for place in places.tolist()]


def with_op(batch: Batch, op: str) -> pa.Table:
    """Events as they came, with what was to become of them behind."""
    return batch.events.table.append_column(op, pa.array(batch.signs.astype(np.int8)))


# ---- all rows at once ------------------------------------------------------------------------------------


def netted(table: pa.Table, op: str, columns: Sequence[str]) -> tuple[Integers, list[Problem]]:
    """The rows that are no events: withdrawals, and what they withdraw, equal in some columns; and problems."""
    signs = _signs(table.column(op))
    rows = np.flatnonzero(signs)
    signs, problems = signs[rows], _problems(table.column(op), signs, op)
    taken, without = _paired(row_numbers(without_views(table.select(columns)).take(pa.array(rows))), signs)
    problems += [Problem(int(rows[place]), op, NOT_THERE) for place in without.tolist()]
    return rows[np.union1d(taken, np.flatnonzero(signs == WITHDRAW))], problems
