"""Peers: what a user could take instead, on the same data and in the same process."""

from __future__ import annotations

from time import perf_counter

import pyarrow as pa


def duckdb_join(stream: pa.Table, length: int, window: int, times: int) -> tuple[int, float] | None:
    """DuckDB's joins for a sequence with one equivalence test: its matches and its best time; None without it.

    The events are loaded into a table of its own first, which is not counted.
    """
    try:
        import duckdb
    except ModuleNotFoundError:
        return None
    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    connection.register("stream", stream)
    connection.execute("CREATE TABLE events AS SELECT * FROM stream")
    joins = "events x1 " + " ".join(
        f"JOIN events x{k} ON x{k}.attr1 = x1.attr1 AND x{k}.ts > x{k - 1}.ts AND x{k}.ts < x1.ts + {window}"
        for k in range(2, length + 1)
    )
    kinds = " AND ".join(f"x{k}.type = 'E{k}'" for k in range(1, length + 1))
    columns = ", ".join(f"x{k}.ts" for k in range(1, length + 1))
    sql = f"SELECT {columns} FROM {joins} WHERE {kinds}"  # noqa: S608 - made of numbers alone
    matches, seconds = 0, []
    for _ in range(times):
        began = perf_counter()
        matches = connection.sql(sql).to_arrow_table().num_rows
        seconds.append(perf_counter() - began)
    return matches, min(seconds)
