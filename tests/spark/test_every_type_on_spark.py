"""Every type that Spark has as a key, compared, aggregated and returned: what the reference finds, or an error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.testing.arrow_columns import ARROW_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAMES = (
    *("bool", "int8", "int16", "int32", "int64", "int64 from 2**53 on", "float32", "float64", "not numbers"),
    *("decimal128(12, 2)", "decimal128(38, 18)", "string", "binary", "date32", "timestamp us"),
    *("timestamp with a zone", "duration us", "list<item: int64>", "struct", "map"),
)
QUERIES = {
    "used": """PATTERN SEQ(A a, B+ b[]) WHERE [c] AND a.c <= b[i].c AND b[i].c IS NOT NULL WITHIN 9
               RETURN a.id AS a, b[].id AS b, count(b[].c) AS n, min(b[].c) AS least, a.c AS c""",
    "returned": "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 9 RETURN a.id AS a, b.id AS b, a.c AS first, b AS second",
}


def outcome(events: pa.Table | DataFrame, query: str, **options: Any) -> list[str] | str:
    try:
        found = oz.match(events, query, **options)
        table = found if isinstance(found, pa.Table) else found.toArrow()
    except oz.OuzelError as error:
        refusal = error
    else:
        return sorted(map(repr, table.to_pylist()))
    assert re.search(r"\bc\b", str(refusal)), refusal
    return type(refusal).__name__


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("role", QUERIES)
def test_every_type_of_spark(spark: SparkSession, name: str, role: str) -> None:
    columns = {"id": [1, 2, 3, 4], "ts": [1, 2, 3, 4], "type": ["A", "B", "B", "B"], "k": ["x"] * 4}
    frame = spark.createDataFrame(pa.table({**columns, "c": ARROW_COLUMNS[name]}))
    expected = outcome(frame.toArrow(), QUERIES[role], engine="reference")
    assert outcome(frame, QUERIES[role]) == expected
