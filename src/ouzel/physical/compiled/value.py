"""A value in generated source."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.logical.values import Kind


@dataclass(frozen=True)
class Value:
    """Its name, the name of its null flag (None: never null), and whether it is a float."""

    text: str
    null: str | None
    kind: Kind
