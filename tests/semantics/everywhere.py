"""What a query returns, the same wherever it runs: on every engine, compiled or not, and in a matcher.

Where an engine or a matcher refuses a query, the list of refusals must have that.
"""

from __future__ import annotations

import re
import warnings
from typing import Any
from unittest.mock import patch

import pyarrow as pa

import ouzel as oz
from engines.refusals import MATCHER, is_listed
from ouzel import physical
from ouzel.physical.compiled import kernel
from ouzel.runtimes.rows import rows_to_arrow

Row = dict[str, Any]
ENGINES = tuple(engine.name for engine in physical.ENGINES if engine.name != "reference")
# What a matcher can be told as match can; tests that tell more are about match alone.
OPTIONS = {"time", "type", "order", "types", "time_unit", "params", "limits"}
REFUSED = re.compile(r"(query '.*?': )?the engine (?P<engine>\w+) cannot run this query: (?P<why>.*)", re.DOTALL)


def everywhere(
    query: Any,
    events: Any,
    *,
    of: str | None = None,
    runs_on: str | None = None,
    compiled: str | None = None,
    **options: Any,
) -> list[Row]:
    """The rows that the reference returns, once all other ways agree; `of` names one query of several.

    `runs_on` is an engine that must take part, `compiled` one that must, compiled, which takes seconds.
    """
    with warnings.catch_warnings():
        # a pattern may well mention a type that the few events of a test do not have
        warnings.simplefilter("ignore", oz.OuzelWarning)
        expected = matched(query, events, of, engine="reference", **options)
        for engine in ENGINES:
            try:
                found = matched(query, events, of, engine=engine, **options)
            except oz.OuzelError as error:
                check_refusal(error, engine, must_run=engine in (runs_on, compiled))
                continue
            assert repr(found) == repr(expected), engine
        if compiled is not None:
            with patch.object(kernel, "COMPILE_FROM", 0):
                found = matched(query, events, of, engine=compiled, **options)
                assert repr(found) == repr(expected), f"{compiled}, compiled"
        if isinstance(events, list | pa.Table) and options.keys() <= OPTIONS:
            _check_matcher(query, events, of, options, expected)
    return expected


def matched(query: Any, events: Any, of: str | None = None, **options: Any) -> list[Row]:
    """The rows that match returns."""
    result = oz.match(events, query, **options)
    result = result if of is None else result[of]
    return list(result.to_pylist() if isinstance(result, pa.Table) else result)


def check_refusal(error: oz.OuzelError, engine: str, *, must_run: bool = False) -> None:
    """Raise the error again, unless it is a refusal that is listed."""
    refused = REFUSED.fullmatch(str(error))
    if refused is None or must_run:
        raise error
    assert is_listed(engine, refused["why"]), f"{engine} refuses what is not listed: {refused['why']}"


def _check_matcher(query: Any, events: Any, of: str | None, options: dict[str, Any], expected: list[Row]) -> None:
    table = events if isinstance(events, pa.Table) else rows_to_arrow(events)[0]
    time = options.get("time", "ts")
    table = table.sort_by(time if isinstance(time, str) else time[-1])
    try:
        found = pushed(query, table, of=of, size=2, **options)
    except oz.OuzelError as error:
        if not is_listed(MATCHER, str(error)):
            raise
        return
    assert sorted(map(repr, found)) == sorted(map(repr, expected)), "a matcher"


def pushed(
    query: Any, events: pa.Table, *, of: str | None = None, size: int = 1, restored: bool = True, **options: Any
) -> list[Row]:
    """The rows that a matcher returns, given so many events at a time, in order, and restored after each time."""
    matcher = oz.matcher(query, events.schema, **options)
    found: list[Row] = []
    for row in range(0, events.num_rows, size):
        found += _rows(matcher.push(events.slice(row, size)), of)
        matcher = oz.restore(matcher.snapshot()) if restored else matcher
    return found + _rows(matcher.finish(), of)


def _rows(result: Any, of: str | None) -> list[Row]:
    rows: list[Row] = (result if of is None else result[of]).to_pylist()
    return rows
