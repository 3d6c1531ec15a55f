from __future__ import annotations

from typing import Any

import pytest

import ouzel as oz
from semantics.harness import found, value

# b2 is there to give the columns that are null in a1 a type
EVENT = "a1:i=-7,j=3,f=2.5,g=-2.5,s=Hello,n=null,t=null,yes=true b2:n=1,t=text"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("abs(a.i)", 7),
        ("abs(a.g)", 2.5),
        ("least(a.j, a.i, 0)", -7),
        ("greatest(a.j, a.i, 0)", 3),
        ("greatest(a.j, a.f)", 3.0),
        ("least('pear', 'apple')", "apple"),
        ("floor(a.f)", 2),
        ("floor(a.g)", -3),
        ("ceil(a.f)", 3),
        ("ceil(a.g)", -2),
        ("floor(a.i)", -7),
        ("sqrt(16)", 4.0),
        ("ln(exp(1))", 1.0),
        ("exp(0)", 1.0),
        ("coalesce(a.n, a.j)", 3),
        ("coalesce(a.i, a.j)", -7),
        ("lower(a.s)", "hello"),
        ("upper(a.s)", "HELLO"),
        ("UPPER(a.s)", "HELLO"),
        ("substring(a.s, 2)", "ello"),
        ("substring(a.s, 2, 3)", "ell"),
        ("substring(a.s, 4, 9)", "lo"),
        ("substring(a.s, 9)", ""),
        ("CASE WHEN a.i > 0 THEN false WHEN a.j > 0 THEN true ELSE false END", True),
        ("CASE a.j WHEN 1 THEN false WHEN 3 THEN true END", True),
        ("CASE a.j WHEN 1 THEN true END", None),
    ],
)
def test_functions(expression: str, expected: Any) -> None:
    result = value(expression, EVENT)
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("a.s LIKE 'H%o'", True),
        ("a.s LIKE 'h%'", False),
        ("a.s LIKE '_ello'", True),
        ("a.s LIKE '_llo'", False),
        ("a.s LIKE 'Hel'", False),
        ("a.s NOT LIKE '%x%'", True),
        ("a.j IN (1, 2, 3)", True),
        ("a.j IN (1, 2)", False),
        ("a.j NOT IN (1, 2)", True),
        ("a.j IN (a.i, a.i + 10)", True),
        ("a.s IN ('Hello', 'World')", True),
        ("a.j BETWEEN 3 AND 5", True),
        ("a.j BETWEEN 1 AND 3", True),
        ("a.j BETWEEN 4 AND 5", False),
        ("a.j NOT BETWEEN 4 AND 5", True),
        ("a.n IS NULL", True),
        ("a.j IS NULL", False),
        ("a.j IS NOT NULL", True),
        ("a.yes", True),
        ("NOT a.yes", False),
        ("a.i < a.j", True),
        ("a.j = 3.0", True),
        ("a.j <> 3", False),
        ("a.j ≠ 4", True),
        ("a.i ≤ -7 ∧ a.j ≥ 3", True),
        ("1 < a.j < 5", True),
        ("1 < a.j < 3", False),
    ],
)
def test_conditions(condition: str, expected: bool) -> None:
    assert value(condition, EVENT) is expected
    assert found(f"PATTERN A a WHERE {condition}", EVENT) == (["a1"] if expected else [])


@pytest.mark.parametrize(
    "expression",
    [
        "abs(a.n)",
        "floor(a.n)",
        "ceil(a.n)",
        "sqrt(a.n)",
        "ln(a.n)",
        "exp(a.n)",
        "a.n + 1",
        "1 - a.n",
        "a.n * 0",
        "a.n / 1",
        "a.n % 1",
        "-a.n",
        "lower(a.t)",
        "upper(a.t)",
        "substring(a.t, 1)",
        "substring(a.s, a.n)",
        "a.t LIKE '%'",
        "a.n IN (1, 2)",
        "a.n BETWEEN 1 AND 2",
        "least(a.n, NULL)",
        "greatest(a.n, a.n)",
        "coalesce(a.n, NULL)",
    ],
)
def test_functions_of_null_are_null(expression: str) -> None:
    assert value(expression, EVENT) is None


def test_least_greatest_and_coalesce_skip_nulls() -> None:
    assert value("least(a.n, 3, 1)", EVENT) == 1
    assert value("greatest(a.n, 3, 1)", EVENT) == 3
    assert value("coalesce(NULL, a.n, 3, 1)", EVENT) == 3


def test_registered_functions() -> None:
    oz.register_function("semantics_twice", lambda number: 2 * number, returns="integer")
    oz.register_function("semantics_join", lambda left, right: f"{left}-{right}", returns="string")
    assert value("semantics_twice(a.j)", EVENT) == 6
    assert value("SEMANTICS_TWICE(a.j) + 1", EVENT) == 7
    assert value("semantics_join(a.s, a.j)", EVENT) == "Hello-3"
    assert value("semantics_twice(a.n)", EVENT) is None
    assert found("PATTERN A a WHERE semantics_twice(a.j) = 6", EVENT) == ["a1"]


def test_case_has_the_type_of_its_branches_not_of_its_conditions() -> None:
    assert value("CASE WHEN a.x > 1 THEN 'many' ELSE 'few' END", "a1:x=2") == "many"
    assert value("CASE WHEN a.x > 1 THEN 1 ELSE 0 END + 1", "a1:x=0") == 1
