"""How long the runs of an algebra expression can be of use: where every edge bounds the duration, no longer.

A duration only grows, so that a run which is too old for all edges can do nothing but stay: it is as good as gone.
"""

from __future__ import annotations

from ouzel.logical.expressions import Apply, Constant, Element, Expression, Moment
from ouzel.logical.times import END
from ouzel.logical.window import Window
from ouzel.physical.automaton.cayuga import Sketch

_SWAPPED = {">=": "<=", ">": "<", "=": "="}


def lifetime(drawn: Sketch) -> Window | None:
    """The window that no result exceeds; None if there is none.

    A single event that is a result is not asked how long it lasts.
    """
    longest = 1
    for edge, target in drawn.edges:
        if edge.source is None:
            if target in drawn.ends:
                return None
            continue
        bounds = [most for test in edge.tests for one in test.conditions if (most := longest_of(one)) is not None]
        if not bounds:
            return None
        longest = max(longest, min(bounds))
    return Window(min(longest, END), False, f"duration() <= {longest}")


def longest_of(condition: Expression) -> int | None:
    """The longest duration of which a condition may be true, if that is what it asks."""
    if not isinstance(condition, Apply) or len(condition.arguments) != 2:
        return None
    sign, (left, right) = condition.function.name, condition.arguments
    if isinstance(left, Constant):
        sign, left, right = _SWAPPED.get(sign, ""), right, left
    if not is_duration(left) or not isinstance(right, Constant) or type(right.value) is not int:
        return None
    return {"<=": right.value, "=": right.value, "<": right.value - 1}.get(sign)


def is_duration(value: Expression) -> bool:
    """Whether a value is how long a run lasts, with the event at hand."""
    match value:
        case Apply(plus, (Apply(minus, (Moment() as end, Moment() as start)), Constant(1))):
            is_run = end.element is Element.CURRENT and start.element is not Element.CURRENT
            signs = plus.name, minus.name
            return is_run and signs == ("+", "-") and (end.which, start.which) == ("end", "start")
    return False
