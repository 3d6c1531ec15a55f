"""States of several parts in one: each value goes by the name of its part and its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

State = dict[str, Any]


def in_parts(states: Mapping[str, Mapping[str, Any]]) -> State:
    """The states of some parts as one.

    >>> in_parts({"first": {"x": 1}, "second": {"x": 2}})
    {'first.x': 1, 'second.x': 2}
    """
    return {f"{name}.{own}": value for name, state in states.items() for own, value in state.items()}


def part(name: str, state: Mapping[str, Any]) -> State:
    """The state of one part.

    >>> part("first", {"first.x": 1, "second.x": 2})
    {'x': 1}
    """
    prefix = f"{name}."
    return {own[len(prefix) :]: value for own, value in state.items() if own.startswith(prefix)}
