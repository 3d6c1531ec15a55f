"""Conditions as texts that Spark reads: a call of Java's each, where columns of Spark's take one for each sign."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ouzel.runtimes.spark.columns import backquoted

# What Spark replaces in every text that it reads, also within names.
VARIABLE = "${"


def _signed(sign: str) -> Callable[[Sql, Any], Sql]:
    def compared(self: Sql, value: Any) -> Sql:
        return Sql(f"({self.text} {sign} {value.text if isinstance(value, Sql) else literal(value)})")

    return compared


@dataclass(frozen=True, eq=False)
class Sql:
    """A column or a condition; it is put together as Arrow's expressions are."""

    text: str

    @classmethod
    def field(cls, name: str) -> Sql:
        """A column."""
        return cls(backquoted(name))

    def is_null(self) -> Sql:
        """Whether there is no value."""
        return Sql(f"({self.text} IS NULL)")

    def isin(self, values: Iterable[Any]) -> Sql:
        """Whether it is one of some values."""
        listed = ", ".join(map(literal, values))
        return Sql(f"({self.text} IN ({listed}))" if listed else "FALSE")

    def __and__(self, other: Sql) -> Sql:
        """Both."""
        return Sql(f"({self.text} AND {other.text})")

    def __or__(self, other: Sql) -> Sql:
        """One of them, or both."""
        return Sql(f"({self.text} OR {other.text})")

    def __invert__(self) -> Sql:
        """The contrary."""
        return Sql(f"(NOT {self.text})")

    __hash__ = object.__hash__
    __eq__ = _signed("=")  # type: ignore[assignment]
    __ne__ = _signed("!=")  # type: ignore[assignment]
    __lt__ = _signed("<")
    __le__ = _signed("<=")
    __gt__ = _signed(">")
    __ge__ = _signed(">=")


def literal(value: Any) -> str:
    """A value in a text; of strings only their bytes, so that none of them can be read as anything else.

    >>> literal(-5), literal(True), literal("it's")
    ('-5', 'TRUE', "CAST(X'69742773' AS STRING)")
    """
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int):
        return str(int(value))
    return f"CAST(X'{value.encode().hex()}' AS STRING)"
