"""A matcher whose queries are ruled by rows: each change takes effect at its own time, whenever its row comes.

What has not begun yet is on the agenda.  Time passes from change to change, so at each of them all events before
it are matched, and none after it; where a batch ends makes no difference.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from heapq import heapify, heappop, heappush
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.errors import OuzelError, StateError
from ouzel.explain.layout import section
from ouzel.language import parse
from ouzel.language.document import document, is_list, text_entries
from ouzel.language.set_tree import QuerySet
from ouzel.logical.lifetimes import lives_of
from ouzel.logical.members import rows_name
from ouzel.logical.parameters import ROWS
from ouzel.logical.times import BEGINNING, END
from ouzel.runtimes.fingerprint import differences
from ouzel.runtimes.json_lines import json_lines
from ouzel.runtimes.kept_parameters import read
from ouzel.runtimes.matcher import Matcher
from ouzel.runtimes.rules import Rule, Rules
from ouzel.runtimes.time_values import watermark_ticks
from ouzel.state import read_snapshot, write_snapshot

# The one result of a list that changes: which query it is, and its match as a text in JSON.
MATCHES = "rules"
TIMES = ("since", "meant", "number", "until")
FOUND = pa.schema({"query": pa.string(), "match": pa.string()})
# What a row that makes no sense may lead to: nothing of that may stop a stream.
WRONG = (OuzelError, ArithmeticError, LookupError, TypeError, ValueError)


class Reads(Protocol):
    """What reads rows."""

    def read(self, row: Mapping[str, Any]) -> Any:
        """What a row says; an error if that cannot be."""


Make = Callable[[str, Mapping[str, Any]], Matcher]
"""Makes a matcher of a text and values beside it."""


@dataclass(frozen=True)
class Version:
    """A rule for some time; `since` is when it begins here: later than it was `meant` to, if its row was late.

    Of those of one id the one that is meant to begin last holds, and of these the one that came last.
    """

    since: int
    meant: int
    number: int
    until: int
    id: Any
    said: Any

    @property
    def is_over(self) -> bool:
        """Whether it has ended when it begins."""
        return self.until <= self.since

    @property
    def place(self) -> tuple[int, int, int]:
        """Where it stands on the agenda."""
        return self.since, self.meant, self.number


class Ruled:
    """A matcher, and what becomes of its queries when."""

    def __init__(
        self, text: str, params: Mapping[str, Any], rules: Rules, make: Make, first: pa.Table | None = None
    ) -> None:
        """Begin with the queries as they are given, and the first rows of rules, if there are any."""
        self.text, self.params, self.rules, self._make = text, params, rules, make
        self.matcher = make(text, params)
        self._begun = [*([] if first is None else [{"rules": rows_name(first)}]), *self._as_given()]
        given = list(self._first())
        # one whose time is over when it begins is not there before that either, and ends another of its id
        self.agenda: list[Version] = sorted((replace(one, said=None) for one in given if one.is_over), key=_place)
        self._hold(one for one in given if not one.is_over)
        self._number, self._has_seen = 0, False
        if first is not None:
            self.take(first)

    @property
    def open_runs(self) -> int:
        """How many runs are kept that may become matches."""
        return self.matcher.open_runs

    @property
    def now(self) -> int:
        """The time that has passed."""
        return self.matcher.now

    def explain(self) -> str:
        """The queries that are there, and what of rules is to come."""
        coming = f"; rows to come: {len(self.agenda):,}"
        if self.agenda:
            coming += f", the next at {self.agenda[0].since}"
        return "\n\n".join(
            [self.matcher.explain(), *section("rules", [f"queries there: {self.matcher.query_count:,}{coming}"])]
        )

    def _as_given(self) -> list[dict[str, str]]:
        """What must be the same for as long as there is a state: the queries as they were at first."""
        texts = [{"texts": blake2b(self.text.encode(), digest_size=8).hexdigest()}] if is_list(self.text) else []
        return [*texts, *self.matcher.fingerprint]

    def _first(self) -> Iterator[Version]:
        """The first queries of a set that are not there for ever."""
        if is_list(self.text):
            return
        (entry,) = text_entries(self.text)
        rows = self.params[entry["rows"]]
        (written,) = parse(self.text)
        assert isinstance(written, QuerySet)
        lives = lives_of(written, rows, self.matcher.time)
        bounded = np.flatnonzero((lives[:, 0] > BEGINNING) | (lives[:, 1] < END))
        for (begin, end), row in zip(
            lives[bounded].tolist(), rows.take(pa.array(bounded)).to_pylist(), strict=True
        ):
            said = {name: value for name, value in row.items() if name not in entry["valid"]}
            yield Version(begin, begin, 0, end, said.pop(entry["id"]), said)

    def _hold(self, versions: Iterable[Version]) -> None:
        """Know which versions are there, and when they end; first ones that are there for ever need not be."""
        self.held = {one.id: one for one in versions}
        self._ends = [(one.until, one.number, one.id) for one in self.held.values() if one.until < END]
        heapify(self._ends)

    # ---- rules -------------------------------------------------------------------------------------------

    def take(self, rows: pa.Table) -> int:
        """Note what rows say; how many of them say nothing that could be."""
        refused = 0
        for row in rows.to_pylist():
            try:
                self._note(self.rules.read(row))
            except WRONG:
                refused += 1
        return refused

    def _note(self, rule: Rule) -> None:
        meant = self.now if rule.since is None else rule.since
        self._number += 1
        version = Version(max(meant, self.now), meant, self._number, rule.until, rule.id, rule.said)
        insort(self.agenda, version, key=_place)

    @property
    def _next(self) -> int:
        """When something changes next."""
        ending = self._first_to_end()
        return min(END if ending is None else ending.until, self.agenda[0].since if self.agenda else END)

    def _first_to_end(self) -> Version | None:
        """The first of those to end that are there; what stands before it in the queue is gone already."""
        while self._ends:
            _until, number, id_ = self._ends[0]
            found = self.held.get(id_)
            if found is not None and found.number == number:
                return found
            heappop(self._ends)
        return None

    def _change(self, now: int) -> int:
        """Let rules end and begin whose time has come; how many could not."""
        refused = 0
        while (ending := self._first_to_end()) is not None and ending.until <= now:
            del self.held[ending.id]
            refused += self._ended(ending.id)
        while self.agenda and self.agenda[0].since <= now:
            refused += self._begin(self.agenda.pop(0), now)
        return refused

    def _begin(self, version: Version, now: int) -> int:
        before = self.held.get(version.id)
        if before is not None and before.meant > version.meant:
            if before.since <= version.since:
                return 0  # it is too late: another has taken its place
            insort(self.agenda, before, key=_place)  # it was there beforehand, and will be again
        self.held.pop(version.id, None)
        if self._ended(version.id):
            return 1
        if version.said is None or version.until <= max(now, version.since):
            return 0
        try:
            self.matcher.add(version.id, version.said)
        except OuzelError:
            return 1
        self.held[version.id] = version
        if version.until < END:
            heappush(self._ends, (version.until, version.number, version.id))
        return 0

    def _ended(self, id_: Any) -> int:
        """End a rule, if it is there; 1 if it cannot."""
        try:
            if self.matcher.has(id_):
                self.matcher.remove(id_)
        except OuzelError:
            return 1
        return 0

    # ---- events ------------------------------------------------------------------------------------------

    def push(self, events: pa.Table | None, until: int) -> tuple[dict[str, pa.Table], int]:
        """Take events and let time pass; the results by query, and how many rules could not take effect."""
        until = max(until, self.now)
        refused = self._change(min(until, self._first_moment(events)))
        parts = [self._step(events, min(until, self._next))]
        self._has_seen = self._has_seen or events is not None
        refused += self._change(self.now)
        while self.now < until:
            parts.append(self._step(None, min(until, self._next)))
            refused += self._change(self.now)
        return _joined(parts), refused

    def _first_moment(self, events: pa.Table | None) -> int:
        """Until when changes need no time to pass: before the first event there is nothing to match."""
        if self._has_seen:
            return self.now
        times = None if events is None else events.column(self.matcher.reading.time)
        first = None if times is None else pc.min(times).as_py()
        ticks = None if first is None else watermark_ticks(first, self.matcher.time.arrow)
        return END if ticks is None else max(ticks, self.now)

    def _step(self, events: pa.Table | None, now: int) -> dict[str, pa.Table]:
        found = self.matcher.advance(now) if events is None else self.matcher.push(events, now)
        if not is_list(self.text):
            return {self.matcher.names[0]: found}
        return {MATCHES: pa.concat_tables([FOUND.empty_table(), *(in_json(*one) for one in found.items())])}

    # ---- snapshots ---------------------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """All there is to know to go on elsewhere."""
        inner = np.frombuffer(self.matcher.snapshot(), np.uint8)
        header = {"begun": self._begun, "number": self._number, "has_seen": self._has_seen}
        values = {"agenda": self._written(self.agenda), "held": self._written(self.held.values())}
        return write_snapshot(header, {"matcher": inner, **values})

    def restore(self, data: bytes) -> None:
        """Go on from there, with the queries that were there then."""
        header, values = read_snapshot(data)
        if "begun" not in header:
            raise StateError("snapshot: required one of a matcher with rules; got one without")
        different = differences(header["begun"], self._begun)
        if different:
            raise StateError("snapshot: required one of the same query; got another\n  " + "\n  ".join(different))
        inner = values["matcher"].tobytes()
        self.matcher = self._make(*self._said(inner))
        self.matcher.restore(inner)
        self._number, self._has_seen = header["number"], header["has_seen"]
        self.agenda = list(self._read(values["agenda"]))
        self._hold(self._read(values["held"]))

    def _said(self, inner: bytes) -> tuple[str, Mapping[str, Any]]:
        """The queries of a snapshot: of a set, its rows then under the template now, which may return others."""
        header, values = read_snapshot(inner)
        rows = {name: value for name, value in values.items() if name.startswith(ROWS)}
        if is_list(self.text):
            return header["text"], {name: read(value) for name, value in header["params"].items()} | rows
        (entry,) = text_entries(self.text)
        ((name, table),) = rows.items()
        others = {key: value for key, value in self.params.items() if key != entry["rows"]}
        return document([{**entry, "rows": name}], "set"), {**others, name: table}

    def _written(self, versions: Any) -> pa.Table:
        said = self.rules.columns.said
        own = {f"own {one.name}": one.type for one in said}
        schema = pa.schema({**dict.fromkeys(TIMES, pa.int64()), "ends": pa.bool_(), **own})
        rows = []
        for one in versions:
            values = (
                {} if one.said is None else one.said if isinstance(one.said, dict) else {said.names[1]: one.said}
            )
            named = {self.rules.columns.id: one.id, **values}
            times = {name: getattr(one, name) for name in TIMES} | {"ends": one.said is None}
            rows.append({**times, **{f"own {name}": value for name, value in named.items()}})
        return pa.Table.from_pylist(rows, schema)

    def _read(self, table: pa.Table) -> Iterator[Version]:
        columns = self.rules.columns
        for row in table.to_pylist():
            own = {name: row[f"own {name}"] for name in columns.said.names}
            id_ = own.pop(columns.id)
            said = None if row["ends"] else next(iter(own.values())) if is_list(self.text) else own
            yield Version(**{name: row[name] for name in TIMES}, id=id_, said=said)


def problem_of(rules: Reads, row: Mapping[str, Any]) -> str | None:
    """What is wrong with a row of rules, if anything is."""
    try:
        rules.read(row)
    except WRONG as error:
        return str(error) or type(error).__name__
    return None


def check_rows(rules: Rules, table: pa.Table) -> None:
    """Refuse rows that make no sense: they are known before anything runs."""
    for place, row in enumerate(table.to_pylist()):
        if (problem := problem_of(rules, row)) is not None:
            raise OuzelError(f"rules: row {place}, the rule {row[rules.columns.id]!r}: {problem}")


def in_json(name: str, found: pa.Table) -> pa.Table:
    """The matches of a query as texts, whatever their columns are."""
    return pa.table([[name] * found.num_rows, list(json_lines(found))], schema=FOUND)


def _joined(parts: list[dict[str, pa.Table]]) -> dict[str, pa.Table]:
    return {name: pa.concat_tables(part[name] for part in parts) for name in parts[0]}


def _place(version: Version) -> tuple[int, int, int]:
    return version.place
