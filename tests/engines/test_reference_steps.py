"""What may follow what in a pattern, as the reference matcher reads it off."""

from __future__ import annotations

import pytest

from ouzel.compile import compile_query
from ouzel.logical.schema import open_schema
from ouzel.physical.reference.steps import Crossing, Steps

# Of each pattern its starts, then what may follow each variable: "." is the end, "!c" is passed, "(b)" left empty.
PATTERNS = {
    "A a": ["a", "a: ."],
    "SEQ(A a, B b)": ["a", "a: b", "b: ."],
    "SEQ(A a, !(C c), B b)": ["a", "a: !c b", "b: ."],
    "SEQ(!(C c), A a, !(D d), !(E e))": ["!c a", "a: !d !e ."],
    "SEQ(A a, B* b[], C? c, D d)": ["a", "a: b | (b) c | (b) (c) d", "b: c | (c) d", "c: d", "d: ."],
    "SEQ(A* a[], B b, C* c[])": ["a | (a) b", "a: b", "b: c | (c) .", "c: ."],
    "SEQ(A a, (B b | SEQ(C c, D d)), E e)": ["a", "a: b | c", "b: e", "c: d", "d: e", "e: ."],
    "SEQ(A a, (B? b | C c), D d)": ["a", "a: b | (b) d | c", "b: d", "c: d", "d: ."],
    "SEQ(A a, (B b | SEQ(C c, !(E e), D* d[])), !(F f))": [
        "a",
        "a: b | c",
        "b: !f .",
        "c: !e d | !e (d) !f .",
        "d: !f .",
    ],
}


def shown(crossing: Crossing, to: str) -> str:
    passed = [*crossing.negatives, *crossing.skipped]
    passed.sort(key=lambda one: one.position)
    return " ".join([f"!{one.variable}" if one.negative else f"({one.variable})" for one in passed] + [to])


@pytest.mark.parametrize(("pattern", "expected"), PATTERNS.items(), ids=PATTERNS)
def test_what_may_follow_what(pattern: str, expected: list[str]) -> None:
    query = compile_query(f"PATTERN {pattern} WITHIN 5", open_schema()).plans[0].query
    steps = Steps(query.pattern)
    found = [" | ".join(shown(crossing, one.variable) for crossing, one in steps.starts)]
    for component in query.components:
        if not component.negative:
            ways = [shown(crossing, one.variable) for crossing, one in steps.after(component)]
            ways += [shown(crossing, ".") for crossing in steps.ends_at(component)]
            found.append(f"{component.variable}: {' | '.join(ways)}")
    assert found == expected
