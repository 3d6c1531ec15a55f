"""Where unions and folds join exact numbers of several types: nothing is lost, or they are floats."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from semantics.algebra import S, given

MOST = 2**64 - 1
EVENTS = pa.table(
    {
        "ts": [1, 2, 3],
        "u": pa.array([MOST, 7, None], pa.uint64()),
        "i": [-1, 7, 2**62],
        "d": pa.array([Decimal("1.10"), Decimal("7.00"), None], pa.decimal128(10, 2)),
        "e": pa.array([Decimal("1.1000"), Decimal("7.0001"), None], pa.decimal128(12, 4)),
        "w": pa.array([Decimal(5), Decimal(7), None], pa.decimal128(30, 0)),
    }
)


def of(*names: str) -> oz.Stream:
    """The union of some columns."""
    first, *others = (S.select(name).rename(x=name) for name in names)
    for other in others:
        first = first.union(other)
    return first


def arrow_type(expression: oz.Stream) -> Any:
    return oz.match(EVENTS, expression).schema.field(0).type


def test_unsigned_integers_beside_others() -> None:
    """As CASE has it in texts: a decimal holds both."""
    text = "PATTERN SEQ(T a) RETURN CASE WHEN a.i > 0 THEN a.i ELSE a.u END AS x"
    assert arrow_type(of("u", "i")) == oz.match(EVENTS, text).schema.field(0).type == pa.decimal128(20, 0)
    expected = ["-1 [1, 1]", f"{MOST} [1, 1]", "7 [2, 2]", f"{2**62} [3, 3]", "- [3, 3]"]
    assert (
        given(of("u", "i"), EVENTS) == given(of("i", "u"), EVENTS) == given(of("i", "u", "i"), EVENTS) == expected
    )


def test_what_is_done_with_what_was_joined() -> None:
    both = of("u", "i")
    assert given(both.where("x > 9223372036854775807"), EVENTS) == [f"{MOST} [1, 1]"]
    assert given(both.where("x = 7").extend(y="x / 2", z="x + 1"), EVENTS) == ["7 3.5 8.0 [2, 2]"]
    assert given(both.rename(y="x").next(S.select("u"), where="u = y"), EVENTS) == []
    assert given(both.rename(y="x").next(S.select("i"), where="i > y"), EVENTS) == [
        "-1 7 [1, 2]",
        f"7 {2**62} [2, 3]",
    ]


def test_decimals_of_several_scales() -> None:
    assert arrow_type(of("d", "e")) == pa.decimal128(12, 4)
    assert given(of("d", "e"), EVENTS) == ["1.1000 [1, 1]", "7.0000 [2, 2]", "7.0001 [2, 2]", "- [3, 3]"]


def test_a_fold_of_decimals_of_several_scales() -> None:
    x, y = S.select("d").rename(x="d"), S.select("e").rename(x="e")
    rising = x.fold(y, step="x > x.last")
    assert arrow_type(rising) == pa.decimal128(12, 4)
    assert given(rising, EVENTS) == ["7.0001 [1, 2]"]
    assert given(x.next(y.next(x.union(y))), EVENTS) == ["- [1, 3]"]


def test_decimals_that_hold_all_integers() -> None:
    assert arrow_type(of("w", "u", "i")) == pa.decimal128(30, 0)
    assert given(of("i", "w"), EVENTS)[:2] == ["-1 [1, 1]", "5 [1, 1]"]


def test_other_decimals_and_integers_are_floats() -> None:
    assert arrow_type(of("d", "i")) == arrow_type(of("u", "d")) == pa.float64()
    assert given(of("i", "d"), EVENTS)[:2] == ["-1.0 [1, 1]", "1.1 [1, 1]"]


SUMS = S.select("u").extend(total="u").fold(S.select("u"), step=lambda s: s.extend(total="total.last + u"))


def test_sums_of_unsigned_integers_are_integers() -> None:
    """In arithmetic they have a sign, as in texts; beyond 63 bits they are null."""
    assert oz.match(EVENTS, SUMS).schema.field("total").type == pa.int64()
    events = EVENTS.set_column(1, "u", pa.array([5, 7, 2**63 - 1], pa.uint64()))
    assert given(SUMS, events) == ["7 12 [1, 2]", f"{2**63 - 1} - [1, 3]", f"{2**63 - 1} - [2, 3]"]
    assert given(SUMS.select("total"), EVENTS) == ["- [1, 2]", "- [1, 3]", "- [2, 3]"]


def test_sums_that_are_compared_before_they_are_computed() -> None:
    """What is compared as it came is not null beyond 63 bits: it is a decimal, which is a float in sums."""
    step = lambda s: s.extend(total="total.last + u").where("total.last < u")  # noqa: E731
    sums = S.select("u").extend(total="u").fold(S.select("u"), step=step)
    assert oz.match(EVENTS, sums).schema.field("total").type == pa.float64()
    events = EVENTS.set_column(1, "u", pa.array([5, 7, 2**63], pa.uint64()))
    assert given(sums.select("total"), events) == ["12.0 [1, 2]", "- [1, 3]", "- [2, 3]"]


@pytest.mark.parametrize(
    ("step", "arrow"), [("i", pa.decimal128(20, 0)), ("greatest(x.last, 2)", pa.float64()), ("u", pa.uint64())]
)
def test_a_step_of_another_type(step: str, arrow: pa.DataType) -> None:
    both = (
        S.select("u", "i")
        .extend(x="u")
        .fold(S.select("u", "i"), where="x.last > 1", step=lambda s: s.extend(x=step))
    )
    assert oz.match(EVENTS, both).schema.field("x").type == arrow
    assert given(both.select("x"), EVENTS)
