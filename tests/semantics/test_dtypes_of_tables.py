"""One table per type: a column that has another dtype in each keeps its values."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.runtimes.origins import Origin
from ouzel.runtimes.pandas_frames import frame_from_arrow

QUERY = "PATTERN SEQ(A a, B b) RETURN a.x AS ax, b.x AS bx"
EVERYTHING = "PATTERN SEQ(A a, B+ b[])"


def _pandas(times: list[int], values: Any) -> pd.DataFrame:
    return pd.DataFrame({"ts": times, "x": values})


def _matched(first: Any, second: Any, query: str = QUERY) -> Any:
    return oz.match({"A": first, "B": second}, query, time="ts")


@pytest.mark.parametrize("is_ordered", [False, True])
def test_categories_of_two_pandas_tables(is_ordered: bool) -> None:
    """The categories of the first table are not those of the second."""
    first = _pandas([1, 2], pd.Categorical(["a", "b"], ordered=is_ordered))
    second = _pandas([3, 4], pd.Categorical(["c", "d"], ordered=is_ordered))
    found = _matched(first, second)
    assert found["ax"].tolist() == ["a", "b", "a", "b"]
    assert found["bx"].tolist() == ["c", "c", "d", "d"]
    assert not found["bx"].cat.ordered, "no table says how the categories of both are ordered"


def test_categories_in_whole_events() -> None:
    """Events shown as structs hold them, too."""
    first = _pandas([1], pd.Categorical(["a"]))
    second = _pandas([3], pd.Categorical(["c"]))
    found = _matched(first, second, EVERYTHING)
    assert found["a"][0]["x"] == "a"
    assert found["b"][0][0]["x"] == "c"


def test_categories_of_three_tables() -> None:
    """Where two tables differ, a third does not bring a dtype back."""
    tables = {
        name: _pandas([time], pd.Categorical([value]))
        for time, (name, value) in enumerate([("A", "a"), ("B", "b"), ("C", "a")])
    }
    query = "PATTERN SEQ(A a, B b, C c) RETURN a.x AS ax, b.x AS bx, c.x AS cx"
    assert oz.match(tables, query, time="ts").values.tolist() == [["a", "b", "a"]]


def test_categories_beside_a_table_of_another_kind() -> None:
    """A table of Arrow's holds values that are no categories of pandas'."""
    second = pa.table({"ts": [3], "x": pa.array(["c"]).dictionary_encode().cast(pa.dictionary("int8", "string"))})
    found = _matched(_pandas([1], pd.Categorical(["a"])), second)
    assert found.values.tolist() == [["a", "c"]]


def test_equal_categories_stay() -> None:
    """A dtype that all tables have is that of the result."""
    dtype = pd.CategoricalDtype(["b", "a"], ordered=True)
    found = _matched(
        _pandas([1], pd.Categorical(["a"], dtype=dtype)), _pandas([3], pd.Categorical(["b"], dtype=dtype))
    )
    assert found["bx"].dtype == dtype
    assert found["bx"].tolist() == ["b"]


@pytest.mark.parametrize("query", [QUERY, EVERYTHING])
def test_enums_of_two_polars_tables(query: str) -> None:
    """Polars refuses values that an Enum does not have."""
    first = pl.DataFrame({"ts": [1], "x": pl.Series(["a"], dtype=pl.Enum(["a", "b"]))})
    second = pl.DataFrame({"ts": [3], "x": pl.Series(["c"], dtype=pl.Enum(["c", "d"]))})
    found = _matched(first, second, query)
    if query == QUERY:
        assert found.rows() == [("a", "c")]
    else:
        assert found["b"].to_list() == [[{"ts": 3, "x": "c"}]]


def test_dtypes_that_differ_follow_the_type_of_arrow() -> None:
    """The dtype of the first table is not put on the second."""
    found = _matched(_pandas([1], pd.Series([1.5], dtype="double[pyarrow]")), _pandas([3], [2.5]))
    assert found["bx"].dtype == "float64"
    assert found["bx"].tolist() == [2.5]


def test_a_value_that_is_no_category_is_no_null() -> None:
    """Whatever comes, it comes as it is."""
    dtypes = {"x": pd.CategoricalDtype(["a"])}
    for column in (pa.array(["a", "z", None]), pa.array(["a", "z", None]).dictionary_encode()):
        found = frame_from_arrow(pa.table({"x": column}), {"x": Origin("x")}, dtypes)
        assert found["x"].tolist()[:2] == ["a", "z"]
        assert found["x"].isna().tolist() == [False, False, True]


def test_a_list_without_rows_has_no_say() -> None:
    """It has no columns of its own."""
    first = pd.DataFrame({"ts": pd.Series([1], dtype="int64[pyarrow]")})
    assert _matched(first, [], "PATTERN A a RETURN a.ts AS t")["t"].dtype == "int64[pyarrow]"
