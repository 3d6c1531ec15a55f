"""Queries that feed each other: every engine, and every split of the stream, gives what the reference finds."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import assume, given, settings

import ouzel as oz
from engines.pushes import TYPES, Events, Found, Pushes, matched, pushed, pushes
from ouzel.physical.compiled import kernel
from ouzel.testing.programs import Program, program_text, programs
from ouzel.testing.strategies import streams

# all combinations of all combinations are too many to wait for
FEW = oz.Limits(max_matches=150, max_runs=1_500)


def expected(text: str, events: Events) -> Found:
    try:
        return matched(text, events, limits=FEW)
    except oz.OuzelError as error:
        assume("more than" not in str(error))
        raise


def numbered(events: Events) -> Events:
    return [{**event, "seq": 0} for event in events]


def check(program: Program, events: Events, engine: str) -> None:
    text, events = program_text(program), numbered(events)
    try:
        found = oz.match(events, text, types=TYPES, engine=engine, limits=FEW)
    except oz.OuzelError as error:
        assume("cannot run this query" not in str(error) and "more than" not in str(error))
        raise
    # in the order of results, too
    assert found == oz.match(events, text, types=TYPES, engine="reference")


@settings(max_examples=100)
@given(programs(), streams(14, min_events=8))
def test_programs(program: Program, events: Events) -> None:
    check(program, events, "auto")


@settings(max_examples=100)
@given(programs(closures=False), streams(14, min_events=8))
def test_programs_by_the_scan(program: Program, events: Events) -> None:
    check(program, events, "scan")


@settings(max_examples=100)
@given(programs(), streams(14, min_events=8))
def test_programs_by_the_automaton(program: Program, events: Events) -> None:
    check(program, events, "automaton")


@settings(max_examples=2)
@given(programs(levels=2), streams(14, min_events=8))
def test_programs_compiled(program: Program, events: Events) -> None:
    with patch.object(kernel, "COMPILE_FROM", 0):
        check(program, events, "auto")


@settings(max_examples=100)
@given(programs(), streams(14, min_events=8), pushes())
def test_programs_in_batches(program: Program, events: Events, cut: Pushes) -> None:
    text, events = program_text(program), numbered(events)
    assert pushed(text, events, cut) == expected(text, events)
