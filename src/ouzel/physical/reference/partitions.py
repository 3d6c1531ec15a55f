"""Equivalence tests in the reference matcher: the partition of a run, and whether an event is in it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

from ouzel.logical.equivalence import EquivalenceTest
from ouzel.physical.meaning import constant_key
from ouzel.physical.reference.events import Event, Stream

# One value per test; ANY_VALUE where no event bound so far has the attribute.
Key = tuple[Any, ...]
ANY_VALUE = object()
# A value that no event has: there is always a partition of the events that lack the attribute, and no others.
NEW_VALUE = object()


def first_key(tests: tuple[EquivalenceTest, ...]) -> Key:
    """The key of a run that has bound nothing."""
    return tuple(ANY_VALUE if test.constant is None else constant_key(test) for test in tests)


def join(key: Key, event: Event, tests: tuple[EquivalenceTest, ...], stream: Stream) -> Key | None:
    """The key of a partition when the event joins it; None if the event lies outside.

    A null lies outside every partition.  An event whose type lacks the attribute is inside every one if the
    pattern can bind it, and outside of all if not.
    """
    joined: list[Any] = []
    for held, test in zip(key, tests, strict=True):
        column = test.column(event.type)
        if column is None and event.type not in test.pattern_types:
            return None
        value = held if column is None else stream.key(event, column, real=test.is_real)
        if value is None or (held is not ANY_VALUE and value != held):
            return None
        joined.append(value)
    return tuple(joined)


def key_of(events: Iterable[Event], tests: tuple[EquivalenceTest, ...], stream: Stream) -> Key:
    """The key of the partition that events of one match are in, as far as their attributes tell."""
    key = first_key(tests)
    for event in events:
        key = join(key, event, tests, stream) or key
    return key


def partition(key: Key, stream: Stream, tests: tuple[EquivalenceTest, ...]) -> Stream:
    """The part of a stream that a partition's runs see."""
    if not tests:
        return stream
    return Stream([event for event in stream.events if join(key, event, tests, stream)], stream.values)


def all_keys(stream: Stream, tests: tuple[EquivalenceTest, ...]) -> list[Key]:
    """Every partition there is, or may be: each combination of values that the tests' attributes have.

    Events that lack an attribute are in partitions, too, that other events have yet to open: what comes later must
    not tell whether they match.
    """
    start = first_key(tests)
    keys = [key for event in stream.events if (key := join(start, event, tests, stream)) is not None]
    if any(value is ANY_VALUE for key in keys for value in key):
        values = [
            dict.fromkeys(NEW_VALUE if key[k] is ANY_VALUE else key[k] for key in keys) for k in range(len(tests))
        ]
        return list(product(*values))
    return list(dict.fromkeys(keys))
