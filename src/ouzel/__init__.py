"""Ouzel: complex event processing for Python and Spark."""

from ouzel.api import Query, match, matcher, query, restore, spark_session
from ouzel.errors import DataError, OuzelError, OuzelWarning, QueryError, SchemaError, StateError
from ouzel.logical.functions import register_function
from ouzel.physical.limits import Limits
from ouzel.runtimes.matcher import Matcher
from ouzel.runtimes.quarantine import Report
from ouzel.runtimes.spark.options import SparkOptions
from ouzel.runtimes.spark.sinks import write_stream
from ouzel.runtimes.spark.sources import read_stream

__version__ = "0.1.0"

__all__ = [
    "DataError",
    "Limits",
    "Matcher",
    "OuzelError",
    "OuzelWarning",
    "Query",
    "QueryError",
    "Report",
    "SchemaError",
    "SparkOptions",
    "StateError",
    "match",
    "matcher",
    "query",
    "read_stream",
    "register_function",
    "restore",
    "spark_session",
    "write_stream",
]
