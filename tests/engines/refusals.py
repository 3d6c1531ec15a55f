"""Which engine refuses which queries, and why: what is not in this list, every engine runs.

Each refusal has an example, which is refused (`test_refusals.py`): what an engine has learnt goes off the list.
The suite in tests/semantics runs every query on every engine, and lets it refuse only for a reason listed here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa

import ouzel as oz

MATCHER = "matcher"
"""Not an engine, but what lets one run batch by batch."""

MORE = {"f": [1.0], "s": ["a"], "u": pa.array([1], pa.uint64())}
EVENTS = {
    "A": pa.table({"ts": [1], "k": [1], "x": [1], "d": pa.array([1], pa.decimal128(19, 1)), **MORE}),
    "B": pa.table({"ts": [2], "k": [1], "x": [2], **MORE}),
    "C": pa.table({"ts": [3], "x": [3]}),
    "D": pa.table({"ts": [4], "k": [1], "x": [4]}),
}
"""Events for the examples; those of type C have no `k`."""


@dataclass(frozen=True)
class Refusal:
    """What an engine says, as a regular expression, and a query of which it says so; or of a further column.

    The example is a pattern, an expression of the algebra, or a register automaton.
    """

    engine: str
    why: str
    example: str | oz.Stream | oz.Automaton
    column: pa.DataType | None = None


ALGEBRA = "it runs patterns, and this is an expression of the algebra"
REGISTERS = "it runs patterns, and this is a register automaton"
ONE = oz.automaton(start="q0", final=["q1"], register={"n": 0}).arc("q0", "q1", "e.x > 0")
CYCLE = ONE.arc("q1", "q1", "n < 2", {"n": "n + 1"}, epsilon=True)
DOUBLED = reduce(lambda made, _one: made.extend(x="x + x"), range(12), oz.stream("A"))
MANY_CONDITIONS = " AND ".join(f"abs(a.x) < {number}" for number in range(63))
IN_SEQUENCE = "an automaton takes events in sequence, not & or grouping closures"

REFUSALS = [
    # ---- by design ---------------------------------------------------------------------------------------
    Refusal("scan", "a scan takes single events in sequence", "SEQ(A a, B+ b[])"),
    Refusal("scan", "a scan takes single events in sequence", "SEQ(A a, (B b | C c))"),
    Refusal("scan", "a scan takes single events in sequence", "A a & B b"),
    Refusal(
        "scan",
        r"a scan finds all sequences, and the strategy is \w+",
        "SEQ(A a, B b) WHERE skip_till_next_match(a, b) {a.x < b.x}",
    ),
    Refusal(
        "scan",
        "a scan has a loop for each component, and 20 can nest in each other",
        f"SEQ({', '.join(f'A a{number}' for number in range(21))})",
    ),
    Refusal(
        "scan", "a scan takes at most 60 components", f"SEQ({', '.join(f'A a{number}' for number in range(61))})"
    ),
    Refusal("automaton", IN_SEQUENCE, "SEQ(A a, B b & C c)"),
    Refusal("automaton", IN_SEQUENCE, "SEQ(A a, B^2 b[], D d)"),
    Refusal(
        "tree",
        r"a tree finds all combinations, and the strategy is \w+",
        "SEQ(A a, B b) WHERE skip_till_next_match(a, b) {a.x < b.x}",
    ),
    Refusal(
        "tree", "a tree takes at most 62 components", f"SEQ({', '.join(f'A a{number}' for number in range(63))})"
    ),
    Refusal(
        "tree",
        "closures and alternatives may be there or not in more than 64 ways",
        f"SEQ({', '.join(f'A? a{number}' for number in range(7))}, B b)",
    ),
    Refusal("scan", r"events of type \S+ have no '[^']+'", "SEQ(A a, C c) WHERE [k]"),
    *(Refusal(engine, ALGEBRA, oz.stream("A").where("x > 0")) for engine in ("scan", "tree")),
    *(Refusal(engine, REGISTERS, ONE) for engine in ("scan", "tree")),
    Refusal("shared", "it is a register automaton, whose runs consume every event", ONE),
    Refusal("automaton", "its arcs that consume nothing form a cycle", CYCLE),
    Refusal(
        "automaton",
        "it computes e, decimal, which no register holds",
        oz.stream("A").extend(e="d").fold(oz.stream("A"), step=lambda s: s.extend(e="d.last")),
    ),
    *(
        Refusal(engine, "attributes that are computed of each other make too large an expression", DOUBLED)
        for engine in ("automaton", "shared")
    ),
    *(
        Refusal("shared", why, example)
        for why, example in (
            ("it is no sequence of single events", "SEQ(A a, B+ b[])"),
            ("it is no sequence of single events", "A a & B b"),
            (r"\w+ minds events that no component wants", "SEQ(A a, B b) WHERE strict_contiguity {a.x < b.x}"),
            ("it holds more than 255 events", f"SEQ({', '.join(f'A a{number}' for number in range(256))})"),
            ("its window counts events", "SEQ(A a, B b) WITHIN 3 EVENTS"),
            ("its matches depend on each other", "SEQ(A a, B b) WITHIN 3 OUTPUT NON_OVERLAP"),
            ("a condition is on no event", "SEQ(A a, B b) WHERE 1 < 2"),
            ("some types lack an attribute", "SEQ(ANY(A, C) a, B b) WHERE [k]"),
            ("keys are doubles, among which there may be what is no number", "SEQ(A a, B b) WHERE [f]"),
            ("arithmetic of integers", "SEQ(A a, B b) WHERE a.x + 1 < b.x"),
            ("a comparison looks at no attribute", "SEQ(A a, B b) WHERE 3 > end(b) - start(a)"),
            (
                "'[^']+' of an event before the last is compared with a constant",
                oz.stream("A").select("x", "k").fold(oz.stream("B").select("x"), where="k = 1"),
            ),
            ("a condition is more than a comparison", "SEQ(A a, B b) WHERE a.x = 1 OR b.x = 2"),
            ("'s' is compared by the order of texts", "SEQ(A a, B b) WHERE a.s < b.s"),
            ("what is computed is compared by !=", "SEQ(A a, B b) WHERE a.f * 2.0 != b.f"),
            ("it computes what shared plans do not", "SEQ(A a, B b) WHERE abs(a.f) < b.f"),
            ("'[^']+' is of type .*, which shared plans do not compare", "SEQ(A a, B b) WHERE a.u = b.u"),
            ("a number that no double holds", "SEQ(A a, B b) WHERE a.f * b.f > 9007199254740993"),
            ("an expression of very many operators", f"SEQ(A a, B b) WHERE a.f{' + b.f' * 20} < 0"),
            ("more than 62 columns and conditions are looked at", f"SEQ(A a, B b) WHERE {MANY_CONDITIONS}"),
            (
                "it computes values from one iteration of a fold to the next",
                oz.stream("A").extend(n="1").fold(oz.stream("A"), step=lambda s: s.extend(n="n.last + 1")),
            ),
            (
                "a duration that is compared with no number of ticks",
                oz.stream("A").next(oz.stream("B"), where="duration() < 2.5"),
            ),
            (
                "(query '.*': the engine shared cannot run this query: )?it reads matches of other queries",
                "A a RETURN a.x INTO T PATTERN T",
            ),
        )
    ),
    # ---- batch by batch ----------------------------------------------------------------------------------
    Refusal(
        MATCHER,
        r"match_number\(\): required all events at once.*",
        "SEQ(A a, B b) RETURN match_number() AS n",
    ),
    Refusal(
        MATCHER,
        "column '[^']+': required a type that Arrow can join; got .*",
        "SEQ(A a, B b)",
        pa.sparse_union([pa.field("x", pa.int64())]),
    ),
    Refusal(
        MATCHER,
        "column '[^']+': required a type that Arrow can join; got dictionary.*",
        "SEQ(A a, B b)",
        pa.dictionary(pa.int32(), pa.struct([pa.field("x", pa.int64())])),
    ),
]


def is_listed(engine: str, why: str) -> bool:
    """Whether an engine may refuse a query for a reason."""
    return any(one.engine == engine and re.fullmatch(one.why, why, re.DOTALL) for one in REFUSALS)
