"""Ouzel: complex event processing for Python and Spark."""

from ouzel.api import Query, match, query
from ouzel.errors import DataError, OuzelError, OuzelWarning, QueryError, SchemaError, StateError
from ouzel.logical.functions import register_function
from ouzel.runtimes.quarantine import Report

__version__ = "0.1.0"

__all__ = [
    "DataError",
    "OuzelError",
    "OuzelWarning",
    "Query",
    "QueryError",
    "Report",
    "SchemaError",
    "StateError",
    "match",
    "query",
    "register_function",
]
