"""Compiled kernels know moments only: events that last are not for them yet."""

from __future__ import annotations

from ouzel.logical.query import BoundQuery
from ouzel.physical.contract import UnsuitableError


def check_moments(query: BoundQuery) -> None:
    """Refuse a query of events that last, which composite ones do."""
    if any(event_type.composite for component in query.components for event_type in component.types):
        raise UnsuitableError("composite events last, and compiled kernels know moments only")
