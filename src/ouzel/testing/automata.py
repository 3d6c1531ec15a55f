"""Random register automata for Hypothesis; the events for them are those of the algebra.

Needs the package hypothesis.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ouzel.automata import Automaton, automaton

REGISTER: dict[str, Any] = {"n": 0, "v": {"type": "float"}, "w": "a", "b": False, "at": {"type": "time"}}
"""Fields of all kinds; two begin as null."""

# What is often true comes often: of automata that accept nothing, nothing can be told.
_FENCES = (
    *("TRUE", "e.x >= 0", "e.x <= 1", "e.y >= 0.5", "e.k = 1", "n < 3", "n < 2", "n >= 1", "NOT b"),
    *("e.x >= n", "e.y > v OR v IS NULL", "v IS NULL OR v < 2 * e.y", "e.s != w", "e.s = w OR e.x = 1", "b"),
    *("e.type = 'A'", "e.type != 'C'", "e.x + n < 4", "n = 1 AND e.y <= 1", "e.x IS NULL", "w < e.s", "n % 2 = 0"),
    *("at IS NULL OR e.ts > at", "coalesce(e.x, n) < 2", "CASE WHEN b THEN e.x > 0 ELSE e.y < 2 END"),
)
_SETS = {
    "n": ("n + 1", "e.x", "n - 1", "coalesce(e.x, 0) + n", "0"),
    "v": ("e.y", "coalesce(v, 0) + e.y", "n", "v * 2", "NULL"),
    "w": ("e.s", "'B'", "lower(e.s)", "coalesce(e.s, w)"),
    "b": ("NOT b", "e.x > 0", "TRUE", "e.s = w"),
    "at": ("e.ts", "at"),
}
# What lets through but a few times in a row, whatever the event.
_ENDING = ("n < 2", "n < 1", "NOT b AND n < 3")


# What a loop lets through that leaves a run as it is: much, and not everything.
_IGNORED = ("e.x >= 0", "e.x <= 1", "e.y >= 0.5", "e.type != 'C'", "n < 2", "e.x IS NULL OR e.x != 1", "NOT b")


@st.composite
def automata(
    draw: st.DrawFn,
    *,
    silent: bool = True,
    waiting: bool = True,
    ending: bool = False,
    partitioned: bool | None = None,
    ignoring: bool | None = None,
) -> Automaton:
    """A random automaton over the columns k, x, y and s, with arcs between any of its states.

    `silent` ones may have arcs that consume nothing, and `waiting` ones arcs at the end of the window; those that
    are `ending` have some in any case.  Those that are `ignoring` have arcs that leave a run as it is.
    """
    states = [f"q{number}" for number in range(draw(st.integers(2, 4)))]
    names = draw(st.lists(st.sampled_from(list(REGISTER)), unique=True, max_size=4))
    names = sorted({"n", "b", *names}, key=list(REGISTER).index)
    window = draw(st.integers(1, 9) if ending else st.one_of(st.none(), st.integers(1, 9)))
    arcs = [draw(_arc(states, names)) for _ in range(draw(st.integers(1, 6)))]
    if draw(st.booleans()) if ignoring is None else ignoring:
        # two of one state are parallel
        chosen = draw(st.lists(st.sampled_from(states), min_size=1, max_size=3))
        arcs += [_loop(state, draw(st.sampled_from((None, *_IGNORED)))) for state in chosen]
    if silent and draw(st.integers(0, 3)) == 0:
        arcs += [draw(_silent(states, names)) for _ in range(draw(st.integers(1, 2)))]
    if waiting and window is not None and draw(st.integers(0, 3)) == 0:
        arcs.append({**draw(_arc(states, names)), "end_of_window": True})
    if ending:
        targets = [arc["target"] for arc in arcs]
        for _ in range(draw(st.integers(1, 2))):
            arc = {**draw(_arc(states, names)), "source": draw(st.sampled_from(targets)), "end_of_window": True}
            arcs.append(arc)
    keyed = draw(st.booleans()) if partitioned is None else partitioned
    return automaton(
        {
            "start": "q0",
            "final": sorted({arc["target"] for arc in draw(st.permutations(arcs))[:2]}),
            "register": {name: REGISTER[name] for name in names},
            "window": window,
            "partition": ["k"] if keyed else [],
            "states": ["q0"],
            "arcs": arcs,
        }
    )


@st.composite
def _arc(draw: st.DrawFn, states: list[str], names: list[str]) -> dict[str, Any]:
    fences = [one for one in _FENCES if _reads_only(one, names)]
    chosen = draw(st.lists(st.sampled_from(names), unique=True, max_size=2))
    sets = {
        name: draw(st.sampled_from([one for one in _SETS[name] if _reads_only(one, names)])) for name in chosen
    }
    source = draw(st.sampled_from(("q0", *states)))
    return {
        "source": source,
        "target": draw(st.sampled_from(states)),
        "when": draw(st.one_of(st.none(), st.sampled_from(fences))),
        "set": sets,
    }


def _loop(state: str, when: str | None) -> dict[str, Any]:
    return {"source": state, "target": state, "when": when, "set": {}}


@st.composite
def _silent(draw: st.DrawFn, states: list[str], names: list[str]) -> dict[str, Any]:
    """An arc that consumes nothing, and lets through but a few times in a row: it counts in n."""
    arc = draw(_arc(states, names))
    ending = draw(st.sampled_from([one for one in _ENDING if _reads_only(one, names)]))
    when = ending if arc["when"] is None else f"({arc['when']}) AND {ending}"
    return {**arc, "when": when, "set": {**arc["set"], "n": "n + 1"}, "epsilon": True}


def _reads_only(formula: str, names: list[str]) -> bool:
    """Whether a formula reads no field that is not there."""
    words = formula.replace("(", " ").replace(")", " ").replace(",", " ").split()
    return all(word in names for word in words if word in REGISTER)
