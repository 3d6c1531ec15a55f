"""RETURN that no kernel can say is computed match by match, as the reference matcher does it by itself."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.logical import functions
from ouzel.physical.compiled import compute
from ouzel.physical.contract import UnsuitableError

TABLE = pa.Table.from_pylist(
    [
        {"ts": 1, "type": "A", "t": "Bea", "x": 3},
        {"ts": 2, "type": "B", "t": "ann", "x": None},
        {"ts": 3, "type": "B", "t": None, "x": 5},
        {"ts": 4, "type": "C", "t": "cy", "x": 1},
        {"ts": 5, "type": "D", "t": "ann", "x": 2},
    ]
)
RETURNS = {
    "an attribute": "a.x AS v",
    "a text of one event": "upper(a.t) AS v",
    "the first and the last of a closure": "coalesce(b[1].t, upper(b[b.LEN].t)) AS v",
    "what may be unbound": "coalesce(c.x, a.x) AS v",
    "a closure's length": "b.LEN + a.x AS v",
    "times": "end(d) - start(a) AS v",
    **{name: f"{name}(b[].x) AS v" for name in ("count", "sum", "avg", "min", "max", "first", "last", "stddev")},
    "the least text": "min(b[].t) AS v",
    "distinct texts": "count(DISTINCT b[].t) AS v",
}


@pytest.mark.parametrize("item", RETURNS.values(), ids=RETURNS.keys())
@pytest.mark.parametrize("pattern", ["SEQ(A a, B* b[], C? c, D d)", "SEQ(A a, (B+ b[] | C c), D d)"])
def test_it_is_what_the_reference_computes(item: str, pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_arguments: object) -> None:
        raise UnsuitableError("no kernel")

    monkeypatch.setattr(compute, "_by_kernel", none)
    text = f"PATTERN {pattern} RETURN {item}"
    found = oz.match(TABLE, text, engine="automaton").to_pylist()
    assert found == oz.match(TABLE, text, engine="reference").to_pylist()
    assert len(found) > 2


def test_an_error_tells_of_the_events_of_its_match(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "_registered", {})
    oz.register_function("inverse_of_both", lambda text, x: 1 / (x - len(text)), returns="float")
    said = {}
    for engine in ("automaton", "reference"):
        with pytest.raises(oz.FunctionError) as raised:
            oz.match(TABLE, "PATTERN SEQ(A a, C c) RETURN inverse_of_both(a.t, a.x + c.x - 1) AS v", engine=engine)
        said[engine] = str(raised.value)
    assert said["automaton"] == said["reference"]
    assert said["automaton"].endswith("event: a, of type A, at 1; c, of type C, at 4")
