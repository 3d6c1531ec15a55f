"""What a query returns, the same wherever it runs: on every engine, compiled or not, and in a matcher."""

from __future__ import annotations

import warnings
from typing import Any
from unittest.mock import patch

import pyarrow as pa

import ouzel as oz
from ouzel.physical.compiled import kernel

Row = dict[str, Any]
ENGINES = ("scan", "automaton", "auto")


def everywhere(
    query: str, events: pa.Table, *, runs_on: str | None = None, compiled: str | None = None, **options: Any
) -> list[Row]:
    """The rows that the reference returns, once all other ways agree; `runs_on` is an engine that must take part.

    `compiled` names one that must, compiled, which takes seconds.
    Events come in order of time, for they are pushed to a matcher one by one as well, with a snapshot in between.
    """
    with warnings.catch_warnings():
        # a pattern may well mention a type that the few events of a test do not have
        warnings.simplefilter("ignore", oz.OuzelWarning)
        expected = _agreed(query, events, runs_on or compiled, compiled, options)
    rows: list[Row] = expected.to_pylist()
    assert sorted(map(repr, pushed(query, events, **options))) == sorted(map(repr, rows)), "matcher"
    return rows


def _agreed(
    query: str, events: pa.Table, runs_on: str | None, compiled: str | None, options: dict[str, Any]
) -> pa.Table:
    expected = oz.match(events, query, engine="reference", **options)
    for engine in ENGINES:
        try:
            found = oz.match(events, query, engine=engine, **options)
        except oz.OuzelError as error:
            if engine == runs_on or "cannot run this query" not in str(error):
                raise
            continue
        assert found.equals(expected), engine
    if compiled is not None:
        with patch.object(kernel, "COMPILE_FROM", 0):
            assert oz.match(events, query, engine=compiled, **options).equals(expected), f"{compiled}, compiled"
    return expected


def pushed(query: str, events: pa.Table, **options: Any) -> list[Row]:
    """The rows that a matcher returns, events pushed one by one, with a snapshot before the last."""
    matcher = oz.matcher(query, events.schema, **options)
    found: list[Row] = []
    for row in range(events.num_rows):
        if row == events.num_rows - 1:
            matcher = oz.restore(matcher.snapshot())
        found += matcher.push(events.slice(row, 1)).to_pylist()
    found += matcher.finish().to_pylist()
    return found
