"""What a query must have in common with the one that wrote a snapshot: all but what it returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from ouzel.errors import Span
from ouzel.language.names import quoted
from ouzel.logical.parameters import ROWS, constant
from ouzel.logical.query import BoundQuery
from ouzel.optimizer.plan import Plan
from ouzel.runtimes.reading import Reading, type_column_of

# Not compared, but shown in the place of what is: "1 hour" and "60 minutes" are the same number of ticks.
WRITTEN = " as written"


def fingerprint(plans: Sequence[Plan], params: Mapping[str, Any], parts: dict[str, str]) -> list[dict[str, str]]:
    """The parts of every query that its state depends on, in words; some are parts of them all."""
    return [_of_plan(plan, params) | parts for plan in plans]


def reading_parts(reading: Reading, columns: Sequence[str], tick: str) -> dict[str, str]:
    """What the state depends on in how events are read."""
    order = [name for name in reading.order if name != reading.time]
    return {
        "time": " to ".join(reading.times),
        "time unit": tick,
        "type column": type_column_of(columns, reading) or "",
        "order": ", ".join([*map(quoted, order), *(["arrival of events"] if reading.by_arrival else [])]),
    }


def tuning_parts(tuning: Mapping[str, str]) -> dict[str, str]:
    """The switches that are set: by some of them an engine keeps something else."""
    return {"tuning": ", ".join(f"{name} {value}" for name, value in sorted(tuning.items()))} if tuning else {}


def _of_plan(plan: Plan, params: Mapping[str, Any]) -> dict[str, str]:
    query = plan.query
    # rows of sets go by a name that tells them apart
    plain = {name: _plain(value) for name, value in sorted(params.items()) if not name.startswith(ROWS)}
    parameters = ", ".join(f"{name}={value!r}" for name, value in plain.items())
    if query.members is not None:
        query = query.members.template
        rows = (name for name in sorted(params) if name.startswith(ROWS))
        parameters = ", ".join(filter(None, [parameters, *rows]))
    if query.attributes is not None:
        own = {"expression": query.source, "into": query.into or "", "parameters": parameters}
        return {"engine": plan.engine, **own, **_automaton(query)}
    components = [
        f"{'!' if one.negative else ''}{'/'.join(sorted(map(quoted, one.type_names)))} {quoted(one.variable)}"
        + (f"{{{one.least},{'' if one.most is None else one.most}}}" if one.is_array or one.optional else "")
        for one in query.components
    ]
    return {
        "engine": plan.engine,
        "pattern": f"{type(query.pattern).__name__}({', '.join(components)})",
        "strategy": query.strategy.value,
        "conditions": " AND ".join(sorted(conjunct.text for conjunct in query.conjuncts)),
        "equivalence": ", ".join(test.text for test in query.equivalences),
        **_window(query),
        **_output(query),
        "into": query.into or "",
        "parameters": parameters,
    }


def _window(query: BoundQuery) -> dict[str, str]:
    window = query.window
    return {
        "window": "none" if window is None else f"{window.limit} {'events' if window.counts_events else 'ticks'}",
        f"window{WRITTEN}": "" if window is None else window.text.removeprefix("WITHIN "),
    }


def _automaton(query: BoundQuery) -> dict[str, str]:
    """What the state of a register automaton depends on beside its arcs; which states are final, it does not."""
    automaton = query.automaton
    if automaton is None:
        return {}
    fields = (f"{quoted(one.name)} {one.attribute.arrow} = {one.first}" for one in automaton.register)
    return {
        "start": automaton.start,
        "register": ", ".join(fields),
        "partition": ", ".join(test.text for test in query.equivalences),
        "events": "all" if automaton.types is None else ", ".join(sorted(map(quoted, automaton.types))),
        **_window(query),
    }


def _output(query: BoundQuery) -> dict[str, str]:
    """Which matches are reported; of aggregates, which are kept is part of the state."""
    if not query.aggregates:
        return {"output": "NON_OVERLAP" if query.non_overlap else "ALL"}
    items = [
        f"{one.function}({'.'.join(filter(None, (one.variable, one.column))) or '*'})" for one in query.aggregates
    ]
    every, written = (
        ("", "") if query.every is None else (f" EVERY {query.every.length} ticks", f" {query.every.text}")
    )
    of = f" of {', '.join(items)}"
    return {"output": f"AGGREGATE{every}{of}", f"output{WRITTEN}": f"AGGREGATE{written}{of}"}


def _plain(value: Any) -> Any:
    """A length of time as a query has it: the same in whatever unit it was passed."""
    return constant(value, Span(0, 0)).value if isinstance(value, timedelta | np.timedelta64) else value


def differences(old: Sequence[Mapping[str, str]], new: Sequence[Mapping[str, str]]) -> list[str]:
    """What differs, part by part.

    >>> before = {"window": "3600000 ticks", "window as written": "1 hour"}
    >>> differences([before], [{"window": "7200000 ticks", "window as written": "2 hours"}])
    ['window: 1 hour, now 2 hours']
    >>> differences([before], [{"window": "3600000 ticks", "window as written": "60 minutes"}])
    []
    """
    if len(old) != len(new):
        return [f"queries: {len(old)}, now {len(new)}"]
    found = [
        f"{part}: {_shown(part, one, other)}, now {_shown(part, other, one)}"
        for one, other in zip(old, new, strict=True)
        for part in {**other, **one}
        if not part.endswith(WRITTEN) and one.get(part) != other.get(part)
    ]
    return list(dict.fromkeys(found))  # what all queries have in common is said once


def _shown(part: str, query: Mapping[str, str], other: Mapping[str, str]) -> str:
    """A part of a query as its user wrote it, if that tells it from the other's."""
    written = query.get(part + WRITTEN)
    is_telling = written and written != other.get(part + WRITTEN)
    return (written if is_telling else query.get(part)) or "none"
