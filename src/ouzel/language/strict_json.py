"""JSON that people write: a name that stands twice in one object is a slip, which would lose its first value."""

from __future__ import annotations

import json
from typing import Any

_MARK = "\N{BYTE ORDER MARK}"
"""With which some editors begin a file."""


def read_json(text: str) -> Any:
    """What a text says; a ValueError if it is no JSON.

    >>> read_json('{"id": "a", "when": "e.x > 1", "when": "e.x > 2"}')
    Traceback (most recent call last):
    ValueError: the name 'when' stands twice in one object
    """
    try:
        return json.loads(text.removeprefix(_MARK), object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("brackets stand in too many others") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the name '{name}' stands twice in one object")
        found[name] = value
    return found
