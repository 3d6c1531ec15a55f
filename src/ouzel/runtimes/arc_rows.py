"""Arcs that rows bring: an automaton that changes at the time that each row says, whenever the row comes.

As with rules (`ruled.py`), what is still to come is on an agenda, and time passes from change to change.
"""

from __future__ import annotations

import json
from bisect import insort
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.compile import compile_query
from ouzel.errors import FunctionError, OuzelError, SchemaError, StateError, did_you_mean, listed
from ouzel.language import automaton_tree, parse
from ouzel.language.automaton_spec import written_automaton
from ouzel.language.document import automaton_entry, document
from ouzel.language.strict_json import read_json
from ouzel.logical.schema import Schema
from ouzel.logical.times import BEGINNING, END
from ouzel.physical.limit_errors import LimitError
from ouzel.runtimes.arcs import arcs_to_come, named
from ouzel.runtimes.fingerprint import differences
from ouzel.runtimes.kept_parameters import read
from ouzel.runtimes.matcher import Matcher
from ouzel.runtimes.replacing import How
from ouzel.runtimes.ruled import WRONG
from ouzel.runtimes.time_values import watermark_ticks
from ouzel.state import read_snapshot, write_snapshot

AT, ADD, REMOVE = "at", "add", "remove"
Make = Callable[[str, Mapping[str, Any]], Matcher]
"""Makes a matcher of a text and values beside it."""
_WRITTEN = pa.schema({"since": pa.int64(), "number": pa.int64(), "add": pa.string(), "remove": pa.string()})


@dataclass(frozen=True)
class Change:
    """Arcs that come and ids of those that go, both in JSON, from a time on (None: from now on)."""

    since: int | None
    add: str
    remove: str


@dataclass(frozen=True)
class ArcColumns:
    """What the columns of rows of arcs are called."""

    def check(self, given: pa.Schema, time: pa.DataType) -> None:
        """Refuse a table that lacks columns, or whose columns can hold no such values."""
        names = [name for name in (ADD, REMOVE) if name in given.names]
        if not names:
            raise SchemaError(f"arcs: required a column '{ADD}' or '{REMOVE}'; got {listed(given.names)}")
        if AT not in given.names:
            hint = did_you_mean(AT, given.names) or "a null in it says that a row holds from now on"
            raise SchemaError(f"arcs: required a column '{AT}'; got {listed(given.names)}\n  hint: {hint}")
        for name in names:
            arrow = given.field(name).type
            of_texts = pa.types.is_list(arrow) and pa.types.is_string(arrow.value_type)
            if not pa.types.is_string(arrow) and not (name == REMOVE and of_texts):
                required = "a text in JSON" + (", or a list of ids" if name == REMOVE else "")
                raise SchemaError(f"arcs: column '{name}': required {required}; got {arrow}")
        at = given.field(AT).type
        kinds = pa.types.is_temporal, pa.types.is_integer
        if not pa.types.is_null(at) and not any(is_kind(at) and is_kind(time) for is_kind in kinds):
            raise SchemaError(f"arcs: column '{AT}': required {time}, as the time of events; got {at}")

    def chosen(self, given: Any) -> list[str]:
        """Those of a table's columns that matter."""
        return [name for name in (AT, ADD, REMOVE) if name in given]


@dataclass(frozen=True)
class ArcRows:
    """How rows of arcs are read for an automaton."""

    text: str
    params: Mapping[str, Any]
    schema: Schema
    how: How
    columns: ArcColumns = ArcColumns()

    @cached_property
    def _written(self) -> automaton_tree.Query:
        return required_automaton(self.text)

    def read(self, row: Mapping[str, Any]) -> Change:
        """What a row says; an error if that cannot be."""
        at = row.get(AT)
        since = None if at is None else watermark_ticks(at, self.schema.time.arrow)
        if at is not None and since is None:
            raise OuzelError(f"'{AT}': required a time as in the column '{self.schema.time.name}'; got {at!r}")
        if since is not None and not BEGINNING <= since <= END:
            raise OuzelError(f"'{AT}': required a time of 64 bits; got {at}")
        add, remove = _listed(row.get(ADD), ADD), _listed(row.get(REMOVE), REMOVE)
        if not add and not remove:
            raise OuzelError(f"required arcs in '{ADD}', or ids in '{REMOVE}'; got neither")
        for id_ in remove:
            if not isinstance(id_, str):
                raise OuzelError(f"'{REMOVE}': required ids of arcs; got {id_!r}")
        if add:
            self._check(add)
        return Change(since, json.dumps(add), json.dumps(remove))

    def _check(self, specs: list[Any]) -> None:
        """Refuse arcs that do not fit the register and the events: a matcher that took them could not go on."""
        automaton = self._written.automaton
        taken = {arc.id for arc in automaton.arcs}
        arcs = arcs_to_come(named(specs, taken), automaton)
        # they may take the place of arcs that are there, which only the change itself knows
        free = (name for number in count() if (name := f"a{number}") not in taken)
        others = tuple(replace(arc, id=name) for arc, name in zip(arcs, free, strict=False))
        states = tuple(dict.fromkeys((*automaton.states, automaton.start, *automaton.final)))
        changed = replace(automaton, arcs=(*automaton.arcs, *others), states=states)
        entry = automaton_entry(written_automaton(changed), None, None)
        compile_query(document([entry], "automaton"), self.schema, self.params, *self.how)


def required_automaton(text: str) -> automaton_tree.Query:
    """The automaton that a text says; an error if it says anything else."""
    written = parse(text)
    if len(written) != 1 or not isinstance(written[0], automaton_tree.Query):
        raise OuzelError("arcs: required one register automaton, oz.automaton(…), whose arcs they are")
    return written[0]


def _listed(given: Any, name: str) -> list[Any]:
    """A list that is given as it is, or in JSON."""
    try:
        found = read_json(given) if isinstance(given, str) else given
    except ValueError as error:
        raise OuzelError(f"'{name}': required a list in JSON; {error}") from None
    if found is not None and not isinstance(found, list):
        raise OuzelError(f"'{name}': required a list; got {found!r}")
    return found or []


@dataclass(frozen=True, order=True)
class Due:
    """A change on the agenda; of two for one time, the one that came first is made first."""

    since: int
    number: int
    add: str
    remove: str


class Arced:
    """A matcher of an automaton, and which of its arcs come and go when."""

    def __init__(self, text: str, params: Mapping[str, Any], rows: ArcRows, make: Make) -> None:
        """Begin with the arcs as they are given."""
        self.rows, self._make = rows, make
        self.matcher = make(text, params)
        self._begun = self.matcher.fingerprint
        self.agenda: list[Due] = []
        self._number = 0

    @property
    def open_runs(self) -> int:
        """How many runs are kept that may become matches."""
        return self.matcher.open_runs

    @property
    def now(self) -> int:
        """The time that has passed."""
        return self.matcher.now

    def take(self, rows: pa.Table) -> int:
        """Note what rows say; how many of them say nothing that could be."""
        refused = 0
        for row in rows.to_pylist():
            try:
                change = self.rows.read(row)
            except WRONG:
                refused += 1
                continue
            since = self.now if change.since is None else max(change.since, self.now)
            self._number += 1
            insort(self.agenda, Due(since, self._number, change.add, change.remove))
        return refused

    def push(self, events: pa.Table | None, until: int) -> tuple[dict[str, pa.Table], int]:
        """Take events and let time pass; the results by query, and how many changes could not be made."""
        until, parts = max(until, self.now), list[pa.Table]()
        refused = self._change(parts)
        first = min(until, self._next)
        parts.append(self.matcher.advance(first) if events is None else self.matcher.push(events, first))
        refused += self._change(parts)
        while self.now < until:
            parts.append(self.matcher.advance(min(until, self._next)))
            refused += self._change(parts)
        return {self.matcher.names[0]: pa.concat_tables(parts)}, refused

    @property
    def _next(self) -> int:
        return self.agenda[0].since if self.agenda else END

    def _change(self, parts: list[pa.Table]) -> int:
        """Make the changes whose time has come; how many cannot be made."""
        refused = 0
        while self.agenda and self._next <= self.now:
            due = self.agenda.pop(0)
            add, remove = json.loads(due.add), json.loads(due.remove)
            try:
                parts.append(self.matcher.change(add, remove, at=self.now))
            except (LimitError, FunctionError):
                raise  # it would be refused in some buckets, and not in others
            except OuzelError:
                # an arc that is there already, one to remove that is not, or a plan that runs could not go on as:
                # that is found before anything has changed
                refused += 1
        return refused

    # ---- snapshots ---------------------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """All there is to know to go on elsewhere."""
        inner = np.frombuffer(self.matcher.snapshot(), np.uint8)
        agenda = pa.Table.from_pylist([vars(one) for one in self.agenda], _WRITTEN)
        return write_snapshot({"begun": self._begun, "number": self._number}, {"matcher": inner, "agenda": agenda})

    def restore(self, data: bytes) -> None:
        """Go on from there, with the arcs that were there then."""
        header, values = read_snapshot(data)
        if "begun" not in header:
            raise StateError("snapshot: required one of a matcher whose arcs change; got one without")
        different = differences(header["begun"], self._begun)
        if different:
            raise StateError("snapshot: required one of the same query; got another\n  " + "\n  ".join(different))
        snapshot = values["matcher"].tobytes()
        own, _values = read_snapshot(snapshot)
        self.matcher = self._make(own["text"], {name: read(one) for name, one in own["params"].items()})
        self.matcher.restore(snapshot)
        self._number = header["number"]
        self.agenda = [Due(**row) for row in values["agenda"].to_pylist()]
