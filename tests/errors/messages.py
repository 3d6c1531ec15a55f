"""Cases of error messages: a query, a blank line, and all of the message; and events that queries are bound to."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pyarrow as pa
import pytest

import ouzel as oz

EVENTS = pa.table(
    {
        "ts": [1, 2, 3],
        "type": ["Shelf", "Register", "Exit"],
        "tag": [1, 1, 1],
        "shelf": ["s", None, None],
        "weight": [1.0, 2.0, 3.0],
    }
)
TYPES = {
    "Shelf": ["tag", "shelf", "weight"],
    "Register": ["tag", "weight"],
    "Exit": ["tag", "weight"],
}


def check(case: str, run: Callable[[str], object]) -> None:
    """Run the query of a case; the QueryError must say exactly what the case says."""
    query, message = dedent(case).strip().split("\n\n", 1)
    with pytest.raises(oz.QueryError) as error:
        run(query)
    assert str(error.value) == message
