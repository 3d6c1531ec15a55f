"""What is wrong with a register automaton is said with the arc, what was required, and a hint."""

from __future__ import annotations

from typing import Any

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
    ],
)
def test_what_is_wrong(change: dict[str, Any], message: str) -> None:
    with pytest.raises(oz.OuzelError, match=message):
        oz.match(EVENTS, oz.automaton({**SPEC, **change}))


def test_json_that_is_none() -> None:
    with pytest.raises(oz.OuzelError, match="the same as JSON"):
        oz.automaton("{'start'")


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
