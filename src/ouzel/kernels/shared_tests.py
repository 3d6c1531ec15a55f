"""What is asked of an event, and perhaps of events that a run holds, where many queries share a plan: all data.

The row of a test has its kind, a column of the event, a place and a column of what is held, a byte each; then
bounds.
"""

from __future__ import annotations

from typing import Any

from ouzel.kernels import shared_rows as at

RANGE, LASTS, COMPUTED, EQUAL, UNEQUAL, LESS, LESS_EQUAL, MORE, MORE_EQUAL = range(9)
"""Kinds of tests: of a column of the event against constants, of how long it takes from the first event of a run
to the end of this one, of a program of numbers, of a column of the event against one of an event that is held."""
EVENT_FLOAT, EVENT_INTEGER, HELD_FLOAT, HELD_INTEGER, NUMBER, ADD, SUBTRACT, MULTIPLY, DIVIDE = range(9)
"""Steps of programs, which work on a stack of floats; what they leave there is compared."""
_MASK = 0x7FFFFFFFFFFFFFFF


def as_float(code: int, scratch: Any) -> float:
    """The float whose place in the order of floats is a code; `scratch` are two views of one number."""
    scratch.bits[0] = code if code >= 0 else code ^ _MASK
    return scratch.number[0]  # type: ignore[no-any-return]


def computes(graph: Any, t: int, events: Any, e: int, held: Any, i: int, stack: Any, scratch: Any) -> bool:
    """Whether a program of numbers finds its comparison true; what has no value is not."""
    tests, programs = graph.tests, graph.programs
    begin, end = programs[tests[t, at.TEST_HIGH], 0], programs[tests[t, at.TEST_HIGH], 1]
    numbers, first = graph.numbers, tests[t, at.TEST_LOW]
    top = 0
    for p in range(begin, end):
        step, a, b = graph.steps[p, 0], graph.steps[p, 1], graph.steps[p, 2]
        if step <= HELD_INTEGER:
            row, column = (e, a) if step <= EVENT_INTEGER else (held[i, a], b)
            if (events.missing[row] >> column) & 1:
                return False
            code = events.codes[row, column]
            is_float = step == EVENT_FLOAT or step == HELD_FLOAT  # noqa: PLR1714 - Numba compiles two comparisons
            stack[top] = as_float(code, scratch) if is_float else float(code)
            top += 1
        elif step == NUMBER:
            stack[top] = numbers[first + a]
            top += 1
        else:
            top -= 1
            left, right = stack[top - 1], stack[top]
            if step == ADD:
                stack[top - 1] = left + right
            elif step == SUBTRACT:
                stack[top - 1] = left - right
            elif step == MULTIPLY:
                stack[top - 1] = left * right
            else:
                if right == 0.0:
                    return False
                stack[top - 1] = left / right
    return compared((tests[t, at.TEST_ASKS] >> 16) & 255, stack[0], stack[1])


def compared(kind: int, left: Any, right: Any) -> bool:
    """Whether a comparison holds."""
    if kind == EQUAL:
        return left == right  # type: ignore[no-any-return]
    if kind == LESS:
        return left < right  # type: ignore[no-any-return]
    if kind == LESS_EQUAL:
        return left <= right  # type: ignore[no-any-return]
    if kind == MORE:
        return left > right  # type: ignore[no-any-return]
    if kind == MORE_EQUAL:
        return left >= right  # type: ignore[no-any-return]
    return left != right  # type: ignore[no-any-return]


def passes(graph: Any, begin: int, end: int, events: Any, e: int, held: Any, i: int, work: Any) -> bool:
    """Whether an event passes some tests, with what a run holds."""
    tests = graph.tests
    for t in range(begin, end):
        kind, column = tests[t, at.TEST_ASKS] & 255, (tests[t, at.TEST_ASKS] >> 8) & 255
        if kind == RANGE:
            code = events.codes[e, column]
            if code < tests[t, at.TEST_LOW] or code > tests[t, at.TEST_HIGH] or (events.missing[e] >> column) & 1:
                return False
        elif kind == LASTS:
            start, lasts = events.start_times[held[i, 0]], _MASK
            if start > 0 or events.end_times[e] < _MASK + start:
                lasts = events.end_times[e] - start + 1
            if lasts < tests[t, at.TEST_LOW] or lasts > tests[t, at.TEST_HIGH]:
                return False
        elif kind == COMPUTED:
            if not computes(graph, t, events, e, held, i, work.stack, work.scratch):
                return False
        else:
            other, row = tests[t, at.TEST_ASKS] >> 24, held[i, (tests[t, at.TEST_ASKS] >> 16) & 255]
            if ((events.missing[e] >> column) | (events.missing[row] >> other)) & 1:
                return False
            if not compared(kind, events.codes[e, column], events.codes[row, other]):
                return False
    return True
