"""What is said of sets of queries: parameters that are misspelt, have the wrong values, or cannot be shared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz

A, B = oz.stream("A"), oz.stream("B").rename(y="x", g="f", z="s")
EVENTS = pa.table(
    {"ts": range(4), "type": list("ABAB"), "x": [1, 5, 2**62, 9], "f": [1.0, 2.5, 4.0, 0.0], "s": list("abab")}
)
LARGE = [7, 2**63, None, 2**64 - 1]
TOO_LARGE = (
    "required integers of at most 9223372036854775807; got 9223372036854775808\n"
    "  hint: make them decimals, which are compared with all their digits: pa.decimal128(20, 0)"
)

# ---- parameters that have no column ----------------------------------------------------------------------

LACKING = (
    "the parameter $most of the set has no value\n"
    "  required: a column 'most' of the parameters, or params={'most': …} for all queries; "
    "got the columns id, mots\n"
    "  hint: did you mean 'mots'?"
)
MISSPELT = oz.queries(A.where("x < $most"), [{"id": 1, "mots": 3}])
ACTS: dict[str, Callable[[Any], Any]] = {
    "match": lambda given: oz.match(EVENTS, given),
    "in a list": lambda given: oz.match(EVENTS, [given, "PATTERN A"]),
    "matcher": lambda given: oz.matcher(given, EVENTS.schema),
    "explain": lambda given: oz.query(given).explain(EVENTS),
}


@pytest.mark.parametrize("act", ACTS)
def test_a_misspelt_column_is_shown(act: str) -> None:
    with pytest.raises(oz.OuzelError) as caught:
        ACTS[act](MISSPELT)
    assert str(caught.value) == LACKING


def test_a_value_for_all_may_be_beside() -> None:
    assert oz.match(EVENTS, MISSPELT, params={"most": 3}).column("x").to_pylist() == [1]


@pytest.mark.parametrize(("what", "name"), [("id", "id"), ("valid_from", "since"), ("valid_to", "until")])
def test_a_parameter_is_called_as_another_column(what: str, name: str) -> None:
    rows = [{"id": 1, "since": 1, "until": 3}]
    with pytest.raises(oz.OuzelError) as caught:
        oz.queries(A.where(f"x = ${name}"), rows, valid_from="since", valid_to="until")
    assert str(caught.value) == (
        f"{what}: '{name}' is what the parameter ${name} is called, too; required a column of its own for it\n"
        "  hint: call the parameter otherwise, and have a column of that name with the same values"
    )


@pytest.mark.parametrize("act", [lambda: oz.match(EVENTS, []), lambda: oz.matcher([], EVENTS.schema)])
def test_an_empty_list(act: Callable[[], Any]) -> None:
    with pytest.raises(oz.OuzelError) as caught:
        act()
    assert str(caught.value) == (
        "query: required at least one query in the list; got an empty list\n"
        "  hint: a list may be empty where rules=… say which queries there are"
    )


# ---- values ----------------------------------------------------------------------------------------------


def test_integers_that_the_language_does_not_have() -> None:
    rows = pa.table({"id": range(4), "v": pa.array(LARGE, pa.uint64())})
    with pytest.raises(oz.OuzelError) as caught:
        oz.queries(A.where("x < $v"), rows)
    assert str(caught.value) == f"parameters: row 1, column 'v': {TOO_LARGE}"


def test_an_id_may_be_any_integer() -> None:
    rows = pa.table({"id": pa.array([2**63], pa.uint64()), "v": [3], "other": pa.array([2**63], pa.uint64())})
    assert oz.match(EVENTS, oz.queries(A.where("x < $v").select("x"), rows)).to_pylist() == [
        {"id": 2**63, "x": 1, "start": 0, "end": 0}
    ]


def test_integers_that_come_later() -> None:
    rows = pa.table({"id": [1], "v": pa.array([7], pa.uint64())})
    matcher = oz.matcher(oz.queries(A.where("x < $v"), rows), EVENTS.schema)
    with pytest.raises(oz.OuzelError) as caught:
        matcher.add(2, {"v": 2**63})
    assert str(caught.value) == f"add: 'v': {TOO_LARGE}"


@pytest.mark.parametrize("engine", ["auto", "automaton", "reference"])
@pytest.mark.parametrize("sign", ["<", ">=", "=", "!="])
@pytest.mark.parametrize("column", ["x", "u"])
def test_as_decimals_they_are_compared(engine: str, sign: str, column: str) -> None:
    values = pa.array([7, 2**63, 2**64 - 1], pa.uint64()).cast(pa.decimal128(20, 0))
    events = EVENTS.append_column("u", pa.array([7, 0, 2**63, 2**64 - 1], pa.uint64()))
    queries = oz.queries(A.where(f"{column} {sign} $v").select(column), pa.table({"id": range(3), "v": values}))
    found = oz.match(events, queries, engine=engine)
    holds = {"<": int.__lt__, ">=": int.__ge__, "=": int.__eq__, "!=": int.__ne__}[sign]
    own = [value for place, value in enumerate(events.column(column).to_pylist()) if place % 2 == 0]
    assert [(row["id"], row[column]) for row in found.to_pylist()] == [
        (id_, value) for value in own for id_, least in enumerate([7, 2**63, 2**64 - 1]) if holds(value, least)
    ]


# ---- why queries are not shared --------------------------------------------------------------------------

REASONS = {
    "x + y > $v": "arithmetic of integers",
    "x = $v": "'x' of an event before the last is compared with a constant",
    "s > $s": "'s' of an event before the last is compared with a constant",
    "z > $s": "'s' is compared by the order of texts",
    "y != $v": "'x' is compared by !=, which is no range of values",
    "y % 2 = $v": "it computes what shared plans do not",
    "f * 2.0 != g AND y = $v": "what is computed is compared by !=",
    "f * 2.5 < g AND y = $v": "",
    "$v > 3": "a comparison looks at no attribute",
    "z LIKE $s": "a condition is more than a comparison",
}


@pytest.mark.parametrize("where", REASONS)
def test_the_reason_is_the_right_one(where: str) -> None:
    said = oz.query(oz.queries(A.next(B, where=where), [{"id": 1, "v": 2, "s": "a"}])).explain(EVENTS)
    said = " ".join(said.split())
    if REASONS[where]:
        assert f"nothing: each of 1 queries runs on its own: {REASONS[where]}" in said
    else:
        assert "runs on its own" not in said
