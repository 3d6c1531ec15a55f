"""Registered functions that are but arithmetic become part of kernels; they mean what Python says they mean."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ouzel as oz
from ouzel.errors import Span
from ouzel.logical import functions
from ouzel.logical.expressions import Apply, Attribute, Element, Expression
from ouzel.logical.functions import Function, is_registered
from ouzel.logical.read_functions import inlined
from ouzel.logical.values import BOOLEAN, FLOAT, INTEGER, ValueType
from semantics.everywhere import everywhere

RESULTS = {"float": FLOAT, "integer": INTEGER, "boolean": BOOLEAN}
KINDS = {"f": FLOAT, "i": INTEGER, "b": BOOLEAN}
SPAN = Span(0, 0)
LIMIT = 3


def closer(x: Any, y: Any) -> Any:
    distance = x - y
    if distance < 0:
        distance = -distance
    return distance < 2.5


def clipped(x: Any) -> Any:
    if x > 9:
        return 9
    elif x < 0:  # noqa: RET505
        return 0.5
    return x


# the function, its arguments' kinds (x is one of floats, of integers or of booleans), and what it returns
READABLE: dict[str, tuple[Any, str, str]] = {
    "sum": (lambda x, y: x + y, "ff", "float"),
    "doubled": (lambda x: 2 * x + 1, "f", "float"),
    "mixed": (lambda x, i: x * i - 0.5, "fi", "float"),
    "closer": (closer, "ff", "boolean"),
    "near": (lambda x, y: abs(x - y) <= 1.5, "ff", "boolean"),
    "clipped": (clipped, "f", "float"),
    "between": (lambda x, y: 0 < x < y, "ff", "boolean"),
    "either": (lambda x, i: x > 3.5 or i == 2, "fi", "boolean"),
    "both": (lambda x, i: x > 0 and not i >= 2, "fi", "boolean"),
    "larger": (lambda i, j: i if i > j else j, "ii", "integer"),
    "flag": (lambda b, x: x if b else -x, "bf", "float"),
    "sign": (lambda x: 1 if x > 0 else -1 if x < 0 else 0, "f", "integer"),
    "half": (lambda x: x / 2, "f", "float"),
    "total": (lambda i, j: i + j, "ii", "integer"),
    "product": (lambda i, j: i * j, "ii", "integer"),
    "whole": (lambda i: i, "i", "float"),
    "unused": (lambda x, _y: x, "ff", "float"),
}
UNREADABLE: dict[str, tuple[Any, str, str]] = {
    "beyond in between": (lambda i, j: i * j - j, "ii", "integer"),
    "compared beyond": (lambda i, j: i + j > 0, "ii", "boolean"),
    "a quotient": (lambda x, y: x / y, "ff", "float"),
    "a quotient of integers": (lambda i: i / 3, "i", "float"),
    "a power": (lambda x: x**2, "f", "float"),
    "a remainder": (lambda i: i % 2, "i", "integer"),
    "a global": (lambda i: i > LIMIT, "i", "boolean"),
    "a call": (lambda x: math.sqrt(x), "f", "float"),  # noqa: PLW0108
    "another type": (lambda x: x > 1, "f", "float"),
    "nothing": (lambda x: None if x > 1 else x, "f", "float"),
    "the truth of a number": (lambda x: 1 if x else 0, "f", "integer"),
    "a loop": (lambda i: sum(range(int(i))), "i", "integer"),
    "a default": (lambda x, y=1.0: x + y, "f", "float"),
    "not Python": (math.sqrt, "f", "float"),
}


def call(function: Any, kinds: str, returns: str) -> Apply:
    def argument(place: int, held: ValueType) -> Attribute:
        return Attribute("a", Element.SINGLE, f"x{place}", f"x{place}", held, frozenset(), SPAN)

    arguments: tuple[Expression, ...] = tuple(argument(place, KINDS[kind]) for place, kind in enumerate(kinds))
    known = Function("f", lambda _types: FLOAT, function, original=function)
    return Apply(known, arguments, RESULTS[returns], SPAN)


@pytest.mark.parametrize("name", READABLE)
def test_what_is_read(name: str) -> None:
    written = inlined(call(*READABLE[name]))
    assert isinstance(written, Apply)
    assert written.function.name != "f"


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_called(name: str) -> None:
    expression = call(*UNREADABLE[name])
    assert inlined(expression) == expression


VALUES = {
    "f": st.floats(width=64) | st.sampled_from((0.0, -0.0, 2.5, -2.5, 1e308, math.inf, math.nan)),
    "i": st.integers(-(2**63), 2**63 - 1) | st.integers(-4, 4),
    "b": st.booleans(),
}
ARROW = {"f": pa.float64(), "i": pa.int64(), "b": pa.bool_()}


@given(st.sampled_from(sorted(READABLE)), st.data())
def test_they_mean_what_python_says(name: str, data: st.DataObject) -> None:
    function, kinds, returns = READABLE[name]
    oz.register_function("f", function, returns=returns)
    assert is_registered("f")
    rows = data.draw(st.lists(st.tuples(*(st.none() | VALUES[kind] for kind in kinds)), min_size=1, max_size=4))
    columns = {f"x{k}": pa.array([row[k] for row in rows], ARROW[kind]) for k, kind in enumerate(kinds)}
    events = pa.table({"ts": range(len(rows)), "type": ["A"] * len(rows), **columns})
    arguments = ", ".join(f"a.x{k}" for k in range(len(kinds)))
    query = f"PATTERN A a RETURN f({arguments}) AS v, a.ts"
    found, expected = (oz.match(events, query, engine=engine)["v"] for engine in ("scan", "reference"))
    assert list(map(repr, found.to_pylist())) == list(map(repr, expected.to_pylist()))


EVENTS = pa.table(
    {
        "ts": range(8),
        "type": list("ABABABAB"),
        "x": [1.0, 2.5, None, 4.0, -1.0, 0.5, 3.0, 2.0],
        "i": [1, 2, 3, None, 5, 6, 7, 8],
    }
)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "_registered", {})
    for name in ("closer", "clipped", "near", "larger"):
        function, _kinds, returns = READABLE[name]
        oz.register_function(name, function, returns=returns)


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("engine", ["scan", "automaton"])
@pytest.mark.parametrize(
    "condition",
    ["closer(a.x, b.x)", "NOT near(a.x, b.x) OR clipped(a.x) > 2", "larger(a.i, b.i) = b.i", "clipped(b.x) = b.x"],
)
def test_on_every_engine(condition: str, engine: str) -> None:
    query = f"PATTERN SEQ(A a, B b) WHERE {condition} WITHIN 6 RETURN a.ts AS a, b.ts AS b, larger(a.i, b.i) AS i"
    assert everywhere(query, EVENTS, runs_on=engine)


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("engine", ["scan", "automaton"])
def test_compiled(engine: str) -> None:
    query = "PATTERN SEQ(A a, B b) WHERE closer(a.x, b.x) AND larger(a.i, b.i) > 2 WITHIN 9 RETURN a.ts, b.ts AS b"
    assert everywhere(query, EVENTS, compiled=engine)
