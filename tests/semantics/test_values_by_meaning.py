"""Values are compared by what they mean, not by how a column stores them; on every engine that takes the query."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.physical.meaning import encoded
from semantics.harness import rows

ENGINES = ("reference", "scan", "automaton")
BIG = 2**53
PRICES = pa.array([Decimal("7.10"), Decimal("7.1"), Decimal("7.11")], pa.decimal128(10, 2))
NOON = 1_772_452_800_000  # milliseconds


def holds(condition: str, **columns: Any) -> bool:
    """Whether a condition holds of one A, with the attribute x, and one B, with y, on all engines alike."""
    table = pa.table({"ts": [1, 2], "type": ["A", "B"], **{name: _twice(one) for name, one in columns.items()}})
    query = f"PATTERN SEQ(A a, B b) WHERE {condition} RETURN a.ts AS a"
    found = {len(oz.match(table, query, engine=engine)) for engine in ENGINES}
    assert len(found) == 1, "the engines disagree"
    return found == {1}


def _twice(value: pa.Array) -> pa.Array:
    return pa.concat_arrays([value, value])


def one(value: Any, arrow: pa.DataType) -> pa.Array:
    return pa.array([value], arrow)


# ---- decimals --------------------------------------------------------------------------------------------


DECIMALS = (
    pa.decimal32(5, 2),
    pa.decimal64(12, 2),
    pa.decimal128(5, 2),
    pa.decimal128(20, 2),
    pa.decimal256(30, 2),
)


@pytest.mark.parametrize("arrow", DECIMALS)
def test_a_decimal_is_the_number_that_it_is_written_as(arrow: pa.DataType) -> None:
    price = one(Decimal("7.10"), arrow)
    for condition in ("a.x = 7.10", "a.x = 7.1", "a.x >= 7.1", "a.x <= 7.10", "a.x IN (5, 7.1)", "a.x < 7.101"):
        assert holds(condition, x=price), condition
    for condition in ("a.x > 7.1", "a.x < 7.1", "a.x != 7.10", "a.x NOT IN (7.10)", "a.x = 7", "a.x > 7.11"):
        assert not holds(condition, x=price), condition


def test_decimals_beyond_what_doubles_tell_apart() -> None:
    wide = pa.decimal128(30, 2)
    x, y = one(Decimal("12345678901234567890.10"), wide), one(Decimal("12345678901234567890.11"), wide)
    assert holds("a.x < b.y AND a.x != b.y AND NOT a.x >= b.y", x=x, y=y)
    assert holds("a.x = 12345678901234567890.10 AND a.x < 12345678901234567890.105", x=x)
    assert not holds("a.x = 12345678901234567890.11", x=x)


def test_decimals_of_several_scales_and_integers() -> None:
    x = one(Decimal("7.10"), pa.decimal128(10, 2))
    assert holds("a.x = b.y", x=x, y=one(Decimal("7.1000000"), pa.decimal128(20, 7)))
    assert holds("a.x > b.y AND a.x < b.y + 1", x=x, y=one(7, pa.int64()))
    assert holds("a.x = b.y", x=one(Decimal("7.00"), pa.decimal128(10, 2)), y=one(7, pa.int8()))
    assert holds("a.x < b.y", x=one(Decimal("-1e-18"), pa.decimal128(38, 18)), y=one(0, pa.uint64()))


def test_a_decimal_beside_doubles_is_the_nearest_double() -> None:
    x = one(Decimal("7.10"), pa.decimal128(10, 2))
    assert holds("a.x = b.y AND a.x + 1 = 8.1 AND a.x * 2 = b.y * 2", x=x, y=one(7.1, pa.float64()))


@pytest.mark.parametrize("value", [7.1, Decimal("7.10")])
def test_a_decimal_beside_a_parameter(value: Any) -> None:
    table = pa.table({"ts": [1, 2, 3], "type": ["A"] * 3, "price": PRICES})
    found = oz.match(table, "PATTERN A a WHERE a.price = $price RETURN a.ts AS ts", params={"price": value})
    assert found.column("ts").to_pylist() == [1, 2]


@pytest.mark.parametrize("engine", ENGINES)
def test_decimals_as_keys(engine: str) -> None:
    wide = [
        Decimal("12345678901234567890.1"),
        Decimal("12345678901234567890.2"),
        Decimal("12345678901234567890.1"),
    ]
    table = pa.table({"ts": [1, 2, 3], "type": ["A", "B", "B"], "k": pa.array(wide, pa.decimal128(30, 1))})
    found = oz.match(table, "PATTERN SEQ(A a, B b) WHERE [k] RETURN b.ts AS b, b.k AS k", engine=engine)
    assert found.to_pylist() == [{"b": 3, "k": wide[0]}]
    held = "PATTERN SEQ(A a, B b) WHERE [k = 12345678901234567890.1] RETURN b.ts AS b"
    assert oz.match(table, held, engine=engine).to_pylist() == [{"b": 3}]


def test_aggregates_of_decimals_are_the_nearest_doubles() -> None:
    table = pa.table({"ts": [1, 2, 3], "type": ["A", "A", "A"], "p": PRICES})
    query = "PATTERN SEQ(A+ a[]) WHERE skip_till_next_match {{ a.LEN = 3 }} RETURN {} AS found"
    for aggregate, expected in (("min(a[].p)", 7.1), ("max(a[].p)", 7.11), ("avg(a[].p)", 21.31 / 3)):
        assert rows(query.format(aggregate), table) == [{"found": expected}]
    totals = "PATTERN A a RETURN sum(a.p) AS total, min(a.p) AS least OUTPUT AGGREGATE"
    assert rows(totals, table[:1]) == [{"total": 7.1, "least": Decimal("7.10")}]


# ---- integers and floats ---------------------------------------------------------------------------------


def test_an_integer_beside_a_double_is_compared_by_value() -> None:
    x, y = one(BIG + 1, pa.int64()), one(float(BIG), pa.float64())
    assert holds("a.x > b.y AND a.x >= b.y AND a.x != b.y AND b.y < a.x", x=x, y=y)
    assert not holds("a.x = b.y OR a.x <= b.y OR a.x IN (b.y)", x=x, y=y)
    for value, sign in ((float("inf"), "<"), (-float("inf"), ">"), (2.0**63, "<"), (-(2.0**63), ">"), (0.5, ">")):
        assert holds(f"a.x {sign} b.y", x=x, y=one(value, pa.float64())), value
    nan = one(float("nan"), pa.float64())
    assert not holds("a.x < b.y OR a.x = b.y OR a.x > b.y", x=x, y=nan)
    assert holds("a.x != b.y", x=x, y=nan)


def test_the_ends_of_64_bits_as_literals() -> None:
    least, most = one(-(2**63), pa.int64()), one(2**64 - 1, pa.uint64())
    for condition in ("a.x = -9223372036854775808", "a.x < - 9223372036854775807", "-(9223372036854775808) = a.x"):
        assert holds(condition, x=least), condition
    assert holds("[x = -9223372036854775808]", x=least, y=least)
    for condition in ("a.x = 18446744073709551615.0", "a.x < 18446744073709551616.0"):
        assert holds(condition, x=most), condition
    assert not holds("a.x <= 18446744073709551614.0", x=most)


def test_unsigned_integers_beyond_those_with_a_sign() -> None:
    x, y = one(2**63 + 5, pa.uint64()), one(2**64 - 1, pa.uint64())
    assert holds("a.x < b.y AND a.x > 0 AND a.x != b.y AND a.x IS NOT NULL", x=x, y=y)
    assert holds("a.x > b.y", x=x, y=one(2**63 - 1, pa.int64()))
    assert holds("a.x > b.y", x=x, y=one(-1, pa.int64()))
    assert holds("(a.x + 1) IS NULL AND b.y + 1 = 6", x=x, y=one(5, pa.uint64()))


@pytest.mark.parametrize("engine", ENGINES)
def test_unsigned_integers_as_keys(engine: str) -> None:
    keys = pa.array([2**63, 2**63 + 1, 2**63], pa.uint64())
    table = pa.table({"ts": [1, 2, 3], "type": ["A", "B", "B"], "k": keys})
    found = oz.match(table, "PATTERN SEQ(A a, B b) WHERE [k] RETURN b.ts AS b, b.k AS k", engine=engine)
    assert found.to_pylist() == [{"b": 3, "k": 2**63}]


# ---- dictionaries ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("index", [pa.int8(), pa.uint8(), pa.uint32(), pa.int64()])
def test_a_dictionary_is_what_its_places_stand_for(engine: str, index: pa.DataType) -> None:
    words = pa.array(["x", None, "x", "y"])
    column = pa.DictionaryArray.from_arrays(pa.array([0, 2, 1, 1, 3, None], index), words)
    table = pa.table({"ts": range(6), "type": ["A", "B", "A", "B", "B", "B"], "k": column})
    for condition in ("[k]", "a.k = b.k", "[k] AND a.k LIKE 'x%'"):
        query = f"PATTERN SEQ(A a, B b) WHERE {condition} RETURN a.ts AS a, b.ts AS b"
        assert oz.match(table, query, engine=engine).to_pylist() == [{"a": 0, "b": 1}], condition


def test_what_lies_under_nulls_is_no_place_in_a_dictionary() -> None:
    def chunk(places: list[int], words: list[str]) -> pa.Array:
        """Of three values, the second is null."""
        indices = pa.array(places, pa.uint32()).buffers()[1]
        indices = pa.Array.from_buffers(pa.uint32(), 3, [pa.py_buffer(bytes([0b101])), indices])
        return pa.DictionaryArray.from_arrays(indices, pa.array(words), safe=False)

    column = pa.chunked_array([chunk([0, 2**32 - 1, 1], ["x", "y"]), chunk([0, 2**32 - 1, 1], ["z", "x"])])
    codes, values = encoded(column)
    assert [values[code].as_py() if code >= 0 else None for code in codes.tolist()] == [
        "x",
        None,
        "y",
        "z",
        None,
        "x",
    ]


def test_a_dictionary_of_types() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.uint8()), pa.array(["A", "B", "A"]))
    found = oz.match(pa.table({"ts": [1, 2, 3], "type": column}), "PATTERN SEQ(A a, A b) RETURN b.ts AS b")
    assert found.to_pylist() == [{"b": 3}]


# ---- units of time ---------------------------------------------------------------------------------------


def by_type(first: pa.Array, second: pa.Array, condition: str) -> int:
    """How many matches there are in one table per type, on every way to the answer that there is."""
    tables = {"A": pa.table({"ts": [1], "k": first}), "B": pa.table({"ts": [2], "k": second})}
    query = f"PATTERN SEQ(A a, B b) WHERE {condition} RETURN a.ts AS a"
    found = {len(oz.match(tables, query, engine=engine)) for engine in ("auto", "reference")}
    assert len(found) == 1
    return found.pop()


@pytest.mark.parametrize("condition", ["[k]", "a.k = b.k", "a.k <= b.k AND a.k >= b.k"])
def test_keys_of_several_units(condition: str) -> None:
    ms, ns, day = (pa.timestamp(unit) for unit in ("ms", "ns", "s"))
    assert by_type(one(1, ms), one(1_000_000, ns), condition) == 1
    assert by_type(one(1, ms), one(1, ns), condition) == 0
    assert by_type(one(86_400, day), one(1, pa.date32()), condition) == 1
    assert by_type(one(86_401, day), one(1, pa.date32()), condition) == 0
    assert by_type(one(1, pa.duration("s")), one(1000, pa.duration("ms")), condition) == 1
    assert by_type(one(1, pa.time32("s")), one(10**9, pa.time64("ns")), condition) == 1
    assert by_type(one(BIG + 1, pa.int64()), one(float(BIG), pa.float64()), condition) == 0
    assert by_type(one(BIG, pa.int64()), one(float(BIG), pa.float64()), condition) == 1
    assert by_type(one(7, pa.int8()), one(Decimal("7.00"), pa.decimal128(5, 2)), condition) == 1
    assert by_type(one(7.1, pa.float64()), one(Decimal("7.10"), pa.decimal128(5, 2)), condition) == 1


@pytest.mark.parametrize("condition", ["[k]", "a.k = b.k"])
def test_times_with_and_without_a_zone_are_not_compared(condition: str) -> None:
    with pytest.raises(oz.QueryError, match="timestamp with zone UTC"):
        by_type(one(1, pa.timestamp("ms")), one(1, pa.timestamp("ms", "UTC")), condition)


def test_times_too_far_for_the_finer_unit() -> None:
    far, near = one(10**12, pa.timestamp("s")), one(1, pa.timestamp("ns"))
    assert holds("a.x > b.y AND a.x != b.y AND b.y < a.x", x=far, y=near)
    assert not holds("a.x = b.y OR a.x < b.y", x=far, y=near)


def test_a_literal_with_nanoseconds() -> None:
    moment = one(NOON * 10**6 + 123_456_789, pa.timestamp("ns"))
    assert holds("a.x = '2026-03-02 12:00:00.123456789'", x=moment)
    assert holds("a.x > '2026-03-02 12:00:00.123456788' AND a.x < '2026-03-02T12:00:00.12345679'", x=moment)
    assert not holds("a.x = '2026-03-02 12:00:00.123456'", x=moment)
    coarse = one(NOON, pa.timestamp("ms"))
    assert holds("a.x < '2026-03-02 12:00:00.000000001' AND a.x < '9999-12-31'", x=coarse)
    with pytest.raises(oz.QueryError, match="at most nine digits"):
        holds("a.x = '2026-03-02 12:00:00.1234567891'", x=moment)


def test_times_of_day() -> None:
    x, y = one(34_200, pa.time32("s")), one(34_200 * 10**9 + 1, pa.time64("ns"))
    assert holds("a.x < b.y AND a.x = '09:30' AND b.y > '09:30:00'", x=x, y=y)
    assert holds("b.x - a.x = 0 seconds", x=x)


# ---- what orders events ----------------------------------------------------------------------------------


@pytest.mark.parametrize("arrow", [*DECIMALS, pa.float16()])
def test_tie_breakers_that_are_equal_leave_events_simultaneous(arrow: pa.DataType) -> None:
    ones = [1, 1, 2] if arrow == pa.float16() else [Decimal(1), Decimal(1), Decimal(2)]
    numbers = pa.array(ones, arrow)
    table = pa.table({"ts": [1, 1, 1], "type": ["A", "B", "B"], "id": [1, 2, 3], "n": numbers})
    found = rows("PATTERN SEQ(A a, B b) RETURN b.id AS b", table, order=["ts", "n"])
    assert found == [{"b": 3}]


def test_what_is_no_number_has_one_place_in_the_order() -> None:
    nan = float("nan")
    table = pa.table({"ts": [1, 1, 1], "type": ["A", "B", "B"], "id": [1, 2, 3], "n": [nan, nan, 0.0]})
    assert rows("PATTERN SEQ(A a, B b) RETURN b.id AS b", table, order=["ts", "n"]) == []
    assert rows("PATTERN SEQ(B b, A a) RETURN b.id AS b", table, order=["ts", "n"]) == [{"b": 3}]


# ---- constants, choices and aggregates -------------------------------------------------------------------


def test_an_integer_beside_a_constant_that_no_double_holds() -> None:
    one_, big = one(1, pa.int8()), one(BIG + 1, pa.int64())
    assert holds("a.x < 1.0000000000000001 AND b.x - 1 < 1.0000000000000001", x=one_)
    assert not holds("a.x = 1.0000000000000001 OR a.x IN (2, 1.0000000000000001)", x=one_)
    assert holds("a.x = 9007199254740993.0 AND a.x BETWEEN 9007199254740992.5 AND 9007199254740993.5", x=big)
    assert holds("a.x = 1.0 AND a.x < 1.5 AND a.x >= 1.000 AND a.x > 0.99", x=one_)
    assert not holds("[x = 1.00000000000000000001]", x=one_)
    assert holds("[x = 1.000] AND [y = -2]", x=one_, y=one(-2, pa.int32()))
    table = pa.table({"ts": [1], "type": ["A"], "x": one_})
    query = "PATTERN A a WHERE a.x = $v OR a.x IN $vs RETURN a.x AS x"
    slightly_more = Decimal(1) + Decimal(10) ** -20
    assert rows(query, table, params={"v": slightly_more, "vs": [slightly_more]}) == []


def test_unsigned_integers_are_chosen_as_they_are() -> None:
    x = one(2**64 - 1, pa.uint64())
    for chosen in ("coalesce(a.x, 0)", "greatest(a.x, 1)", "least(a.x)", "CASE WHEN TRUE THEN a.x ELSE 0 END"):
        table = pa.table({"ts": [1], "type": ["A"], "x": x})
        found = rows(f"PATTERN A a WHERE {chosen} > 5 RETURN {chosen} AS found", table)
        assert found == [{"found": 2**64 - 1}], chosen


@pytest.mark.parametrize("function", ["min", "max", "first", "last"])
def test_aggregates_of_unsigned_integers_in_return(function: str) -> None:
    table = pa.table({"ts": [1, 2], "type": ["A", "A"], "x": pa.array([2**63, 2**64 - 1], pa.uint64())})
    expected = 2**63 if function in ("min", "first") else 2**64 - 1
    assert rows(f"PATTERN SEQ(A{{2}} a[]) RETURN {function}(a[].x) AS found", table) == [{"found": expected}]


@pytest.mark.parametrize("engine", ["reference", "automaton"])
@pytest.mark.parametrize("values", [[float("nan"), 3.0, 4.0], [3.0, float("nan"), 4.0], [4.0, 3.0, float("nan")]])
def test_what_is_no_number_is_least_and_greatest_only_alone(engine: str, values: list[float]) -> None:
    table = pa.table({"ts": [1, 2, 3], "type": ["A"] * 3, "f": values})
    query = """PATTERN SEQ(A{3} a[]) WHERE min(a[].f) = 3 AND max(a[].f) = 4 AND least(a[1].f, 3.0) = 3
        RETURN min(a[].f) AS least, max(a[].f) AS most"""
    assert rows(query, table, engine=engine) == [{"least": 3.0, "most": 4.0}]


def test_the_first_and_last_values_keep_their_type() -> None:
    union = pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, 2])])
    table = pa.table({"ts": [1, 2], "type": ["A", "B"], "c": union, "p": PRICES[1:]})
    query = "PATTERN SEQ(A a, B+ b[]) RETURN first(b[].c) AS c, last(b[].p) AS p"
    assert rows(query, table) == [{"c": 2, "p": Decimal("7.11")}]


@pytest.mark.parametrize(
    ("arrow", "constant", "expected"),
    [
        (pa.int8(), "12345678901234", 12345678901234),
        (pa.int8(), "1.5", Decimal("1.5")),
        (pa.int8(), "7", 7),
        (pa.decimal32(5, 2), "7", Decimal("7.00")),
        (pa.decimal32(5, 2), "-7", Decimal("-7.00")),
        (pa.timestamp("s"), "'2020-01-01 00:00:00.5'", datetime(2020, 1, 1, 0, 0, 0, 500_000)),
        (pa.date32(), "'2020-01-01 12:00'", datetime(2020, 1, 1, 12)),
        (pa.date32(), "'2020-01-01'", date(2020, 1, 1)),
        (pa.timestamp("ns"), "'9000-01-01'", datetime(9000, 1, 1)),
        (pa.decimal128(38, 37), "1e300", 1e300),
    ],
)
def test_the_key_that_only_the_query_names(arrow: pa.DataType, constant: str, expected: Any) -> None:
    tables = {"A": pa.table({"ts": [0]}), "B": pa.table({"ts": [1], "k": pa.nulls(1, arrow)})}
    query = f"PATTERN SEQ(A a, B? b) WHERE [k = {constant}] RETURN count(*) AS n OUTPUT AGGREGATE"
    assert rows(query, tables) == [{"k": expected, "n": 1.0}]


@pytest.mark.parametrize("strategy", ["skip_till_any_match", "partition_contiguity"])
@pytest.mark.parametrize("other", [pa.array(["a"]), pa.array([1], pa.int32()), pa.array([2], pa.int32())])
def test_a_type_that_the_pattern_does_not_mention_has_keys_of_its_own(strategy: str, other: pa.Array) -> None:
    tables = {"A": pa.table({"ts": [1, 3], "k": [1, 1]}), "C": pa.table({"ts": [2], "k": other})}
    query = f"PATTERN SEQ(A a, A b) WHERE {strategy} {{ [k] }} RETURN a.ts AS a"
    found = rows(query, tables)
    assert found == rows(query, tables, engine="reference")
    assert found == ([] if strategy == "partition_contiguity" and other[0].as_py() == 1 else [{"a": 1}])


def test_a_time_of_numpys_as_a_parameter() -> None:
    table = pa.table({"ts": [1], "type": ["A"], "x": one(NOON * 10**6 + 1, pa.timestamp("ns"))})
    value = np.datetime64("2026-03-02T12:00:00.000000001")
    assert rows("PATTERN A a WHERE a.x = $v RETURN a.ts AS ts", table, params={"v": value}) == [{"ts": 1}]
    with pytest.raises(oz.QueryError, match="integer and string"):
        rows("PATTERN A a WHERE a.ts = $v", table, params={"v": value})


def test_partitions_of_several_types_of_key() -> None:
    decimal, double = pa.array([Decimal("7.10")] * 2, pa.decimal128(5, 2)), pa.array([7.1, 7.1])
    tables = {"A": pa.table({"ts": [1, 3], "k": decimal}), "B": pa.table({"ts": [2, 4], "k": double})}
    numbered = "PATTERN (A a | B b) WHERE [k] RETURN coalesce(a.ts, b.ts) AS ts, match_number() AS n"
    assert rows(numbered, tables) == [{"ts": n, "n": n} for n in (1, 2, 3, 4)]
    counted = "PATTERN (A a | B b) WHERE [k] RETURN count(*) AS n OUTPUT AGGREGATE"
    assert rows(counted, tables) == [{"k": 7.1, "n": 4.0}]
    whole, double = pa.array([BIG, BIG + 1]), pa.array([float(BIG)] * 2)
    tables = {"A": pa.table({"ts": [1, 3], "k": whole}), "B": pa.table({"ts": [2, 4], "k": double})}
    # as doubles both keys look alike
    assert sorted(oz.match(tables, counted).column("n").to_pylist()) == [1.0, 3.0]
