"""Which types the events of a DataFrame have: looked at where it costs little, to warn of those that none has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ouzel.logical.schema import INFERRED
from ouzel.runtimes.spark.columns import backquoted, type_column
from ouzel.runtimes.spark.sizes import estimated_bytes
from ouzel.runtimes.spark.task import Task
from ouzel.runtimes.type_names import warn_of_types

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SMALL = 64 << 20
"""Events of so many bytes are looked at by every `match`."""
# More types than that are not named.
_MOST = 1_000
# What rows cost little to compute from: nothing is joined, sorted, or computed in Python.
_CHEAP = {"Project", "Filter", "LogicalRelation", "LocalRelation", "Range", "Union", "SubqueryAlias"}
_BY_COLUMN = {"ParquetFileFormat", "OrcFileFormat"}
# The types by column, of DataFrames that are still there: they never change.
_looked_at: WeakKeyDictionary[DataFrame, dict[str, set[str]]] = WeakKeyDictionary()


def check_types(events: DataFrame, task: Task, *, is_patient: bool) -> None:
    """Warn of types in a query that no event has.

    The types are looked for in events that are few; if `is_patient`, also in many whose files are by column.
    """
    default = task.none.schema.default
    types = type_column(task)
    if types is None or default is None or default.name != INFERRED or not _is_cheap(events, is_patient):
        return
    known = _looked_at.get(events, {}).get(types)
    if known is None:
        found = events.select(events[backquoted(types)]).distinct().limit(_MOST).collect()
        known = {str(row[0]) for row in found if row[0] is not None}
        _looked_at.setdefault(events, {})[types] = known
    if known and len(known) < _MOST:
        warn_of_types(task.text, task.compiled.plans, known, lambda: known)


def _is_cheap(events: DataFrame, is_patient: bool) -> bool:
    """Whether to look at the types of all events costs little beside matching them."""
    size = estimated_bytes(events)
    if size is None:
        return False
    nodes = list(_nodes(events._jdf.queryExecution().optimizedPlan()))
    if any(node.getClass().getSimpleName() not in _CHEAP for node in nodes):
        return False
    return size <= SMALL or (is_patient and all(_is_by_column(node) for node in nodes))


def _nodes(plan: Any) -> Any:
    yield plan
    children = plan.children()
    for number in range(children.size()):
        yield from _nodes(children.apply(number))


def _is_by_column(node: Any) -> bool:
    if node.getClass().getSimpleName() != "LogicalRelation":
        return True
    relation = node.relation()
    is_files = relation.getClass().getSimpleName() == "HadoopFsRelation"
    return is_files and relation.fileFormat().getClass().getSimpleName() in _BY_COLUMN
