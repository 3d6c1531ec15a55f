"""The negative components of a pattern, by place: those of one place look for events in the same interval."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from ouzel.logical.pattern import Component, Conjunction, Pattern, Step
from ouzel.logical.rewrites.change import is_negative


def places(pattern: Pattern) -> Iterator[list[Component]]:
    """The negative components of each place: one after the other in a sequence, or operands of one `&`."""
    if isinstance(pattern, Step):
        return
    if isinstance(pattern, Conjunction):
        runs = [[item for item in pattern.items if is_negative(item)]]
    else:
        runs = [list(run) for negative, run in groupby(pattern.items, is_negative) if negative]
    for run in runs:
        yield [item.component for item in run if isinstance(item, Step)]
    for item in pattern.items:
        yield from places(item)
