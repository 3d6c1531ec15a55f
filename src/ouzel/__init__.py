"""Ouzel: complex event processing for Python and Spark.

What it offers is imported when it is first used, so that the command line can answer Ctrl-C from its first moment.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ouzel.algebra import Stream, stream
    from ouzel.api import Query, match, matcher, query, restore, spark_session
    from ouzel.automata import Automaton, automaton
    from ouzel.errors import (
        DataError,
        FunctionError,
        OuzelError,
        OuzelWarning,
        QueryError,
        SchemaError,
        StateError,
    )
    from ouzel.logical.functions import register_function
    from ouzel.physical.limits import Limits
    from ouzel.query_sets import Queries, queries
    from ouzel.runtimes.matcher import Matcher
    from ouzel.runtimes.quarantine import Report
    from ouzel.runtimes.spark.options import SparkOptions
    from ouzel.runtimes.spark.sinks import write_stream
    from ouzel.runtimes.spark.sources import read_stream

__version__ = "0.1.0"

__all__ = [
    "Automaton",
    "DataError",
    "FunctionError",
    "Limits",
    "Matcher",
    "OuzelError",
    "OuzelWarning",
    "Queries",
    "Query",
    "QueryError",
    "Report",
    "SchemaError",
    "SparkOptions",
    "StateError",
    "Stream",
    "automaton",
    "match",
    "matcher",
    "queries",
    "query",
    "read_stream",
    "register_function",
    "restore",
    "spark_session",
    "stream",
    "write_stream",
]

_HOMES = {
    "ouzel.algebra": ("Stream", "stream"),
    "ouzel.automata": ("Automaton", "automaton"),
    "ouzel.api": ("Query", "match", "matcher", "query", "restore", "spark_session"),
    "ouzel.errors": (
        *("DataError", "FunctionError", "OuzelError", "OuzelWarning", "QueryError", "SchemaError", "StateError"),
    ),
    "ouzel.logical.functions": ("register_function",),
    "ouzel.physical.limits": ("Limits",),
    "ouzel.query_sets": ("Queries", "queries"),
    "ouzel.runtimes.matcher": ("Matcher",),
    "ouzel.runtimes.quarantine": ("Report",),
    "ouzel.runtimes.spark.options": ("SparkOptions",),
    "ouzel.runtimes.spark.sinks": ("write_stream",),
    "ouzel.runtimes.spark.sources": ("read_stream",),
}


def __getattr__(name: str) -> Any:
    """What is offered under a name, imported now."""
    for home, names in _HOMES.items():
        if name in names:
            globals()[name] = getattr(import_module(home), name)
            return globals()[name]
    raise AttributeError(f"module 'ouzel' has no attribute '{name}'")


def __dir__() -> list[str]:
    """All that is offered, imported or not."""
    return sorted({*globals(), *__all__})
