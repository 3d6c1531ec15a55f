"""Every dtype of pandas and Polars in every role of a column: what the reference finds, or a clear error."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pytest

import ouzel as oz
from ouzel.testing.frame_columns import PANDAS, PANDAS_UNREADABLE, POLARS, POLARS_UNREADABLE

ROLES: dict[str, tuple[str, dict[str, Any]]] = {
    "time": ("PATTERN SEQ(A a, B b) RETURN a.id AS a, b.id AS b", {"time": "c"}),
    "key": ("PATTERN SEQ(A a, B b) WHERE [c] RETURN a.id AS a, b.id AS b", {}),
    "order": ("PATTERN SEQ(A a, B b) RETURN a.id AS a, b.id AS b", {"time": "same", "order": ["same", "c"]}),
    "compared": ("PATTERN SEQ(A a, B b) WHERE a.c <= b.c OR a.c IS NULL RETURN a.id AS a, b.id AS b", {}),
    "aggregated": ("PATTERN SEQ(A a, B+ b[]) RETURN a.id AS a, count(b[].c) AS n, max(b[].c) AS most", {}),
    "returned": ("PATTERN SEQ(A a, B+ b[]) RETURN a.c AS one, b[].c AS many, a AS whole", {}),
    "unused": ("PATTERN SEQ(A a, B b) RETURN a.id AS a, b.id AS b", {}),
}
COLUMNS: dict[str, Callable[[], Any]] = {
    **{f"pandas {name}": make for name, make in {**PANDAS, **PANDAS_UNREADABLE}.items()},
    **{f"Polars {name}": make for name, make in {**POLARS, **POLARS_UNREADABLE}.items()},
}


def events(name: str) -> Any:
    """Three events of the column, and the first once more."""
    series = COLUMNS[name]()
    columns: dict[str, list[Any]] = {
        "id": [1, 2, 3, 4],
        "ts": [1, 2, 3, 4],
        "same": [1, 1, 1, 1],
        "type": ["A", "B", "B", "B"],
    }
    if isinstance(series, pd.Series):
        return pd.DataFrame(columns).assign(c=pd.concat([series, series[:1]], ignore_index=True))
    try:
        whole = pl.concat([series, series[:1]])
    except pl.exceptions.PolarsError:
        whole, columns = series, {column: values[: len(series)] for column, values in columns.items()}
    return pl.DataFrame(columns).with_columns(whole.alias("c"))


def outcome(table: Any, query: str, **options: Any) -> str:
    """The rows, or the kind of error, which must name the column."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oz.OuzelWarning)
        try:
            found = oz.match(table, query, on_bad="quarantine", **options)
        except oz.OuzelError as error:
            refusal = error
        else:
            assert type(found) is type(table)
            return repr(found.to_dict("records") if isinstance(found, pd.DataFrame) else found.to_dicts())
    assert re.search(r"\bc\b", str(refusal)), refusal
    assert "got" in str(refusal) or "hint" in str(refusal), refusal
    return type(refusal).__name__


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", COLUMNS)
def test_every_dtype_in_every_role(name: str, role: str) -> None:
    table, (query, options) = events(name), ROLES[role]
    expected = outcome(table, query, engine="reference", **options)
    assert outcome(table, query, **options) == expected
    if role == "unused":
        assert expected == "[{'a': 1, 'b': 2}, {'a': 1, 'b': 3}" + (
            ", {'a': 1, 'b': 4}]" if len(table) == 4 else "]"
        )
