"""What is wrong with a register automaton is said with the arc, what was required, and a hint."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz

EVENTS = [{"ts": 1, "price": 2.5, "name": "x"}]
ARC = {"source": "q0", "target": "q1"}
SPEC: dict[str, Any] = {"start": "q0", "final": ["q1"], "register": {"n": 0}, "arcs": [ARC]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"star": "q0"}, "unknown key 'star'"),
        ({"arcs": "q0"}, "a list of arcs"),
        ({"arcs": [{"source": "q0"}]}, "arc 1: no 'target'"),
        ({"arcs": [{**ARC, "wen": "TRUE"}]}, "did you mean 'when'"),
        ({"arcs": [{**ARC, "id": "a"}, {**ARC, "id": "a"}]}, "there is another of that id"),
        ({"arcs": [{**ARC, "set": {"m": "1"}}]}, "it sets 'm'"),
        ({"arcs": [{**ARC, "end_of_window": True}]}, "'end_of_window' without a window"),
        ({"arcs": [{**ARC, "when": "e.price >"}]}, "line 1"),
        ({"arcs": [{**ARC, "when": ["x"]}]}, "an expression as text"),
        ({"arcs": [{**ARC, "epsilon": 1}]}, "true or false"),
        ({"final": ["q7"]}, "no arc leads to 'q7'"),
        ({"final": "q1"}, "write \\['q1'\\]"),
        ({"register": {"n": None}}, "for null say what it will be"),
        ({"register": {"n": {"type": "int"}}}, "'integer', 'float'"),
        ({"register": {"e": 0}}, "that of the event"),
        ({"register": {"valid_to": 0}}, "valid_from, valid_to"),
        ({"register": {"n": 2**70}}, "64 bits"),
        ({"window": "soon"}, "a length of time"),
        ({"window": "5 RETURN a.x"}, "a length of time"),
        ({"window": "5 EVENTS"}, "a length of time"),
        ({"partition": ["pricy"]}, "did you mean 'price'"),
        ({"arcs": [{**ARC, "when": "price > 1"}]}, "write e.price"),
        ({"arcs": [{**ARC, "when": "e.prise > 1"}]}, "did you mean 'price'"),
        ({"arcs": [{**ARC, "when": "e.price"}]}, "is no condition"),
        ({"arcs": [{**ARC, "when": "[name]"}]}, "partition"),
        ({"arcs": [{**ARC, "when": "sum(e.price) > 1"}]}, "add up in the register"),
        ({"arcs": [{**ARC, "set": {"n": "e.price"}}]}, "give it the first value 0.0"),
        ({"arcs": [{**ARC, "set": {"n": "e.name"}}]}, "type clash"),
        ({"start": "q7"}, "start: no arc leaves 'q7'"),
        ({"start": "Q0"}, "did you mean 'q0'"),
        ({"final": ["elsewhere"]}, "name it in 'states'"),
        ({"arcs": [{**ARC, "lives": [[2, 1]]}]}, "'lives' has \\[2, 1\\]"),
        ({"arcs": [{**ARC, "id": "up", "when": "e.price > 'a'"}]}, "^arc 'up': when: type clash in '>'"),
        ({"arcs": [{**ARC, "id": "up", "when": "e.price > $p"}]}, "^arc 'up': when: the parameter \\$p"),
        ({"arcs": [{**ARC, "id": "up", "when": "e.price >"}]}, "^arc 'up': when: the text ends"),
        ({"arcs": [{**ARC, "id": "up", "set": {"n": "e.prise"}}]}, "^arc 'up': n: unknown attribute"),
        (
            {"register": {"n": {"type": "integer"}}, "arcs": [{**ARC, "set": {"n": "e.price"}}]},
            "give it {'type': 'float'}",
        ),
        (
            {"window": 0},
            "(?s)^window: a window of no length\n.*\n    0\n    \\^\n  required: a positive length of time$",
        ),
        ({"window": "$T"}, "(?s)^window: the parameter \\$T has no value\n.*\n    \\$T\n"),
        (
            {"window": "9999999999999999 days"},
            "(?s)^window: a window too long to be counted.*\n    9999999999999999 days",
        ),
    ],
)
def test_what_is_wrong(change: dict[str, Any], message: str) -> None:
    with pytest.raises(oz.OuzelError, match=message):
        oz.match(EVENTS, oz.automaton({**SPEC, **change}))


def test_json_that_is_none() -> None:
    with pytest.raises(oz.OuzelError, match="the same as JSON"):
        oz.automaton("{'start'")
    with pytest.raises(oz.OuzelError, match=r"got the text 'base.json': .*\n  hint: of a file give what is in it"):
        oz.automaton("base.json")


def test_json_of_very_many_brackets() -> None:
    with pytest.raises(oz.OuzelError, match="brackets stand in too many others"):
        oz.automaton("[" * 100_000)


def test_json_that_says_something_twice() -> None:
    text = json.dumps({**SPEC, "arcs": [{"source": "q0", "target": "q1", "when": "e.x > 1"}]})
    with pytest.raises(oz.OuzelError, match="the name 'when' stands twice in one object"):
        oz.automaton(text.replace('"when"', '"when": "e.x > 2", "when"'))
    assert oz.automaton("\ufeff" + text).spec == oz.automaton(text).spec


def test_neither_or_both() -> None:
    with pytest.raises(oz.OuzelError, match="got neither"):
        oz.automaton()
    with pytest.raises(oz.OuzelError, match="got both"):
        oz.automaton(SPEC, start="q0")


def test_events_that_last() -> None:
    with pytest.raises(oz.OuzelError, match="have a start and an end"):
        oz.match([{"a": 1, "b": 2}], oz.automaton(SPEC), time=("a", "b"))


def test_computations_are_not_merged() -> None:
    with pytest.raises(oz.OuzelError, match="none are merged"):
        oz.match(EVENTS, oz.automaton(SPEC), engine="automaton", tuning={"evaluation": "merging"})


SCHEMA = pa.schema({"ts": pa.int64(), "price": pa.float64(), "name": pa.string()})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"add": [{**ARC, "id": "b", "lives": [[1, 5]]}]}, "the arc 'b' has 'lives': required none"),
        ({"remove": [5]}, "required ids of arcs, which are texts; got 5"),
        ({"remove": ["a1"]}, "there is no arc 'a1' to remove"),
        ({"add": [{**ARC, "id": "b", "when": "e.prise > 1"}]}, "^arc 'b': when: unknown attribute 'prise'"),
    ],
)
def test_wrong_changes(change: dict[str, Any], message: str) -> None:
    matcher = oz.matcher(oz.automaton(SPEC), SCHEMA, time_unit="s")
    with pytest.raises(oz.OuzelError, match=message):
        matcher.change(**change)


def test_limits_advise_what_automata_have() -> None:
    spec = {**SPEC, "arcs": [ARC, {"source": "q1", "target": "q1"}]}
    with pytest.raises(oz.OuzelError) as caught:
        oz.match(EVENTS * 5, oz.automaton(spec), limits=oz.Limits(max_matches=2), order="arrival")
    assert str(caught.value).partition("hint: ")[2] == (
        "a narrower window, or more conditions on the arcs that leave the start; "
        "a larger max_matches, or on_limit='shed'"
    )


def test_columns_of_changes_are_no_fields() -> None:
    automaton = oz.automaton({**SPEC, "register": {"op": 0}})
    with pytest.raises(oz.OuzelError, match="give the field of the register another name"):
        oz.matcher(automaton, SCHEMA, speculation="inf")


def test_states_whose_arcs_are_still_to_come() -> None:
    built = oz.automaton(start="q0", final=["q1", "q2"], states=["q2"]).arc("q0", "q1")
    matcher = oz.matcher(built, SCHEMA, time_unit="s")
    matcher.change(add=[{"id": "late", "source": "q0", "target": "q2"}], remove=["a0"])
    assert matcher.push(pa.table({"ts": [1, 2], "price": [1.0, 2.0], "name": ["x", "y"]})).num_rows == 1
