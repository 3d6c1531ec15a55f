"""What comes in comes out: the dtypes of pandas and Polars columns, alone, in whole events and in lists."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pandas.testing import assert_series_equal
from polars.testing import assert_series_equal as assert_polars_equal

import ouzel as oz
from ouzel.testing.frame_columns import LARGE, PANDAS, PANDAS_UNREADABLE, POLARS, POLARS_UNREADABLE

ATTRIBUTE = "PATTERN A a RETURN a.x"
OPTIONAL = "PATTERN SEQ(A a, B? b) WITHIN 5 RETURN b.x AS x"
WHOLE = "PATTERN A a RETURN a"
LISTS = "PATTERN SEQ(A+ b[]) WHERE b.LEN = 2 AND b[1].ts = 2 RETURN b[].x AS x, b"
UNUSED = "PATTERN A a RETURN a.ts"

pandas_dtypes = pytest.mark.parametrize("make", PANDAS.values(), ids=PANDAS)
polars_dtypes = pytest.mark.parametrize("make", POLARS.values(), ids=POLARS)
engines = pytest.mark.parametrize("engine", ["auto", "reference"])


def pandas_events(column: Any, types: str = "AAA") -> pd.DataFrame:
    return pd.DataFrame({"ts": [1, 2, 3], "type": list(types), "x": column})


def polars_events(column: Any) -> pl.DataFrame:
    return pl.DataFrame({"ts": [1, 2, 3], "type": ["A"] * 3, "x": column})


def same(left: Any, right: Any) -> bool:
    """Whether two cells hold the same, nulls being equal."""
    if isinstance(left, np.ndarray | list) and isinstance(right, np.ndarray | list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[name], right[name]) for name in left)
    nulls = [bool(pd.api.types.is_scalar(value) and pd.isna(value)) for value in (left, right)]
    return all(nulls) or (not any(nulls) and bool(left == right))


# ---- pandas --------------------------------------------------------------------------------------------


@engines
@pandas_dtypes
def test_a_pandas_column_keeps_its_dtype(make: Callable[[], Any], engine: str) -> None:
    column = make().rename("x")
    found = oz.match(pandas_events(column), ATTRIBUTE, engine=engine)["x"]
    assert found.dtype == column.dtype
    assert all(map(same, found, column))


@pandas_dtypes
def test_a_pandas_column_without_rows_keeps_its_dtype(make: Callable[[], Any]) -> None:
    column = make()
    found = oz.match(pandas_events(column), "PATTERN A a WHERE a.ts > 3 RETURN a.x")["x"]
    assert found.dtype == column.dtype
    assert not len(found)


@pandas_dtypes
def test_a_pandas_column_in_whole_events_keeps_its_values(make: Callable[[], Any]) -> None:
    column = make()
    found = oz.match(pandas_events(column), WHOLE)["a"]
    for cell, value in zip(found, column, strict=True):
        assert same(cell["x"], value)
        assert isinstance(cell["x"], type(value)) or not hasattr(value, "tzinfo") or value is pd.NaT


@pandas_dtypes
def test_a_pandas_column_in_lists_keeps_its_values(make: Callable[[], Any]) -> None:
    column = make()
    (values, events), *more = oz.match(pandas_events(column), LISTS)[["x", "b"]].itertuples(index=False)
    assert not more
    assert len(values) == len(events) == 2
    for value, event, wanted in zip(values, events, column[1:], strict=True):
        assert same(event["x"], wanted)
        assert same(value, wanted)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("int64", "Int64"),
        ("uint8", "UInt8"),
        ("bool", "boolean"),
        ("Int32", "Int32"),
        ("boolean", "boolean"),
        ("int64[pyarrow]", "int64[pyarrow]"),
        ("float64", "float64"),
        ("datetime64[ms]", "datetime64[ms]"),
    ],
)
@engines
def test_nulls_that_arise_in_the_result(dtype: str, expected: str, engine: str) -> None:
    column = pd.Series(np.ones(3, np.int64)).astype(pd.api.types.pandas_dtype(dtype))
    found = oz.match(pandas_events(column, "AAB"), OPTIONAL, engine=engine)
    assert str(found["x"].dtype) == expected
    assert found["x"].isna().any()
    assert found["x"].notna().any()


@engines
def test_an_alternative_that_was_not_chosen(engine: str) -> None:
    events = pandas_events(pd.Series([LARGE, 2, 3]), "ABB")
    found = oz.match(events, "PATTERN A a | B b RETURN a.x AS a, b.x AS b", engine=engine)
    assert found["a"].dtype == pd.Int64Dtype()
    assert found["a"].dropna().tolist() == [LARGE]


def test_times_in_whole_events_and_lists_are_times() -> None:
    times = pd.Series(pd.to_datetime(["2024-03-31 01:00", "2024-03-31 03:00", "2024-10-27 03:00"]))
    zoned = times.dt.tz_localize("Europe/Berlin")
    events = pd.DataFrame({"ts": zoned, "type": ["A"] * 3, "x": zoned, "naive": times})
    (event, *_rest) = oz.match(events, WHOLE)["a"]
    assert event["x"] == zoned[0]
    assert str(event["x"].tz) == "Europe/Berlin"
    assert isinstance(event["naive"], pd.Timestamp)
    (values,) = oz.match(events, "PATTERN SEQ(A+ a[]) WHERE a.LEN = 3 AND a[1].x < a[a.LEN].x RETURN a[].x AS x")[
        "x"
    ]
    assert values.tolist() == zoned.tolist()
    assert {str(value.tz) for value in values} == {"Europe/Berlin"}


def test_start_and_end_have_the_dtype_of_the_time() -> None:
    times = pd.Series(pd.to_datetime(["2024-01-01", "2024-01-02"])).dt.tz_localize("Asia/Tokyo").dt.as_unit("ms")
    found = oz.match(pd.DataFrame({"ts": times, "type": ["A", "B"]}), "PATTERN SEQ(A a, B b)")
    assert str(found["start"].dtype) == str(found["end"].dtype) == "datetime64[ms, Asia/Tokyo]"


@pytest.mark.parametrize(
    ("convert", "expected"),
    [
        (lambda frame: frame, ["int64", "float64", "bool", "object"]),
        (lambda frame: frame.convert_dtypes(), ["Int64", "Float64", "boolean", "string"]),
        (
            lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
            ["int64[pyarrow]", "double[pyarrow]", "bool[pyarrow]", "string[pyarrow]"],
        ),
    ],
    ids=["numpy", "nullable", "arrow"],
)
def test_computed_columns_are_of_the_family_of_the_frame(convert: Any, expected: list[str]) -> None:
    events = convert(pandas_events([1, 2, 3]))
    text = "PATTERN A a RETURN a.x + 1 AS n, a.x / 2 AS f, a.x > 1 AS b, 'text' AS s"
    assert [str(dtype) for dtype in oz.match(events, text).dtypes] == expected


def test_pandas_tables_per_type_keep_their_dtypes() -> None:
    events = {
        "A": pd.DataFrame({"ts": [1], "x": pd.array([LARGE], "Int64"), "k": pd.Categorical(["u"])}),
        "B": pd.DataFrame({"ts": [2], "x": pd.Categorical(["v"]), "y": pd.array([None], "boolean")}),
    }
    found = oz.match(events, "PATTERN SEQ(A a, B b) RETURN a.x, a.k, b.x AS z, b.y")
    assert [str(dtype) for dtype in found.dtypes] == ["Int64", "category", "category", "boolean"]
    assert found.iloc[0].tolist()[:3] == [LARGE, "u", "v"]


# ---- Polars --------------------------------------------------------------------------------------------


@engines
@polars_dtypes
def test_a_polars_column_keeps_its_dtype(make: Callable[[], pl.Series], engine: str) -> None:
    column = make().alias("x")
    assert_polars_equal(oz.match(polars_events(column), ATTRIBUTE, engine=engine)["x"], column)


@polars_dtypes
def test_a_polars_column_in_whole_events_keeps_its_dtype(make: Callable[[], pl.Series]) -> None:
    column = make().alias("x")
    assert_polars_equal(oz.match(polars_events(column), WHOLE)["a"].struct.field("x"), column)


@polars_dtypes
def test_a_polars_column_in_lists_keeps_its_dtype(make: Callable[[], pl.Series]) -> None:
    column = make().alias("x")
    found = oz.match(polars_events(column), LISTS)
    assert_polars_equal(found["x"].explode(), column[1:])
    assert_polars_equal(found["b"].explode().struct.field("x"), column[1:])


# ---- columns that no query can use ---------------------------------------------------------------------

UNREADABLE = {f"pandas {name}": (make, pandas_events) for name, make in PANDAS_UNREADABLE.items()} | {
    f"polars {name}": (make, polars_events) for name, make in POLARS_UNREADABLE.items()
}
unreadable = pytest.mark.parametrize(("make", "events"), UNREADABLE.values(), ids=UNREADABLE)
REFUSED = r"^column 'x': required values of a type that Arrow has; got "
USES = [
    ATTRIBUTE,
    WHOLE,
    "PATTERN A a",
    "PATTERN SEQ(A a, A b) WHERE [x] RETURN a.ts",
    "PATTERN A a WHERE a.x > 1 RETURN a.ts",
    "PATTERN SEQ(A+ a[]) RETURN sum(a[].x) AS s",
    "PATTERN SEQ(A+ a[]) RETURN a[].x AS s",
]


@unreadable
def test_a_column_that_arrow_cannot_hold_may_be_there(make: Any, events: Any) -> None:
    found = oz.match(events(make()), UNUSED)
    assert found["ts"].to_list() == [1, 2, 3]


@unreadable
@pytest.mark.parametrize("text", USES)
def test_a_column_that_arrow_cannot_hold_is_refused_where_it_is_used(make: Any, events: Any, text: str) -> None:
    with pytest.raises(oz.SchemaError, match=REFUSED) as error:
        oz.match(events(make()), text)
    assert str(getattr(make(), "dtype", "")).split("[")[0].lower() in str(error.value).lower()


@pytest.mark.parametrize("role", ["time", "type", "order"])
@unreadable
def test_a_column_that_arrow_cannot_hold_has_no_role(make: Any, events: Any, role: str) -> None:
    options: dict[str, Any] = {role: ["ts", "x"] if role == "order" else "x"}
    with pytest.raises(oz.SchemaError, match=REFUSED):
        oz.match(events(make()), UNUSED, **options)


def test_something_that_is_called_object_is_none() -> None:
    column = pl.Series(["Object"] * 3, dtype=pl.Enum(["Object"]))
    assert oz.match(polars_events(column), ATTRIBUTE)["x"].to_list() == ["Object"] * 3


def test_it_is_named_with_its_type() -> None:
    with pytest.raises(oz.SchemaError) as error:
        oz.match(pandas_events(pd.Series([1j, 2, 3])), ATTRIBUTE)
    assert str(error.value) == (
        "column 'x': required values of a type that Arrow has; got pandas' complex128\n"
        "  hint: convert the column, or leave it out: RETURN single attributes, such as a.ts"
    )


@pytest.mark.parametrize(
    "names", [["ts", "type", 7], pd.MultiIndex.from_tuples([("ts", ""), ("type", ""), ("x", "")])]
)
def test_names_of_pandas_columns_are_strings(names: Any) -> None:
    events = pandas_events([1, 2, 3])
    events.columns = names
    with pytest.raises(oz.SchemaError, match=r"^events: required column names that are strings; got "):
        oz.match(events, UNUSED)


def test_mixed_values_set_aside_beside_columns_of_other_dtypes() -> None:
    events = pandas_events(pd.Series([LARGE, "two", None], dtype=object)).assign(
        k=pd.array([LARGE, 1, None], "Int64")
    )
    report = oz.Report()
    found = oz.match(events, "PATTERN A a RETURN a.x, a.k", on_bad="quarantine", report=report)
    assert found["k"].dtype == "Int64"
    assert found["x"].tolist() == [LARGE, None]
    assert report.quarantined["x"].tolist() == ["two"]


def test_a_pandas_categorical_by_chunks_of_other_dictionaries() -> None:
    arrays = [pa.array(["b", "a"]).dictionary_encode(), pa.array(["a", None]).dictionary_encode()]
    table = pa.table({"ts": [1, 2, 3, 4], "type": ["A"] * 4, "x": pa.chunked_array(arrays)})
    column = oz.match(table.to_pandas(), ATTRIBUTE)["x"]
    assert_series_equal(column, table.to_pandas()["x"])


def test_durations_in_whole_events() -> None:
    (event,) = oz.match(pandas_events(pd.to_timedelta([1, 2, 3], unit="s"), "ABB"), WHOLE)["a"]
    assert event["x"] == timedelta(seconds=1)


# ---- fields, all attributes, composites ----------------------------------------------------------------

COMPOSED = "QUERY p PATTERN A a RETURN a.x INTO P QUERY q PATTERN P p RETURN p.x AS x, p"


@pytest.mark.parametrize("make", [make for make in PANDAS.values() if make().notna().all()] + [PANDAS["Int64"]])
def test_a_pandas_column_goes_through_a_composite_and_a_star(make: Callable[[], Any]) -> None:
    column = make()
    events = pandas_events(column)
    for found in (oz.match(events, COMPOSED)["q"]["x"], oz.match(events, "PATTERN A a RETURN a.*")["a_x"]):
        assert found.dtype == column.dtype
        assert all(map(same, found, column))


@polars_dtypes
def test_a_polars_column_goes_through_a_composite_a_struct_and_a_star(make: Callable[[], pl.Series]) -> None:
    column = make().alias("x")
    events = polars_events(column)
    found = oz.match(events, COMPOSED)["q"]
    assert_polars_equal(found["x"], column)
    assert_polars_equal(oz.match(events, "PATTERN A a RETURN a.*")["a_x"].alias("x"), column)
    nested = events.with_columns(s=pl.struct(x="x"))
    assert_polars_equal(oz.match(nested, "PATTERN A a RETURN a.s.x AS x")["x"], column)


def test_a_field_of_an_arrow_backed_struct() -> None:
    column = pd.Series(pd.arrays.ArrowExtensionArray(pa.array([{"n": LARGE}, {"n": None}, None])))
    found = oz.match(pandas_events(column), "PATTERN A a RETURN a.x.n AS n")["n"]
    assert str(found.dtype) == "int64[pyarrow]"
    assert found[0] == LARGE
