from __future__ import annotations

import math
from typing import Any

import pytest

from semantics.harness import value

MOST = 2**63 - 1
EVENT = f"a1:i=-7,j=3,f=2.5,zero=0,most={MOST}"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 3 - 2", 5),
        ("-a.i", 7),
        ("a.j + a.f", 5.5),
        ("7 / 2", 3.5),
        ("6 / 2", 3.0),
        ("7 % 3", 1),
        ("-7 % 3", -1),
        ("7 % -3", 1),
        ("-7 % -3", -1),
        ("a.i % a.j", -1),
        ("5.5 % 2", 1.5),
        ("-5.5 % 2", -1.5),
        ("80% * 50", 40.0),
        ("(1 + 20%) * 10", 12.0),
    ],
)
def test_arithmetic(expression: str, expected: Any) -> None:
    result = value(expression, EVENT)
    assert result == pytest.approx(expected)
    assert type(result) is type(expected)


@pytest.mark.parametrize(
    "expression",
    [
        "a.j / 0",
        "a.j / a.zero",
        "a.zero / a.zero",
        "a.j % 0",
        "a.f / 0.0",
        "a.f % 0.0",
        "sqrt(-1)",
        "ln(0)",
        "ln(-1)",
        "a.most + 1",
        "-a.most - 2",
        "a.most * 2",
        "abs(-a.most - 1)",
    ],
)
def test_what_has_no_value_is_null(expression: str) -> None:
    assert value(expression, EVENT) is None


def test_the_bounds_of_64_bits_are_values() -> None:
    assert value("a.most + 0", EVENT) == MOST
    assert value("-a.most - 1", EVENT) == -(2**63)


def test_floats_follow_ieee() -> None:
    assert math.isinf(value("exp(1000)", EVENT))
    assert value("0.1 + 0.2", EVENT) == 0.1 + 0.2
