"""`A | B` is `B` where conditions on A contradict each other: fewer operators (ZStream 5.2.1).

The variables of what is dropped are as unbound as they always were.
"""

from __future__ import annotations

from dataclasses import replace

from ouzel.logical.expressions import Apply, Attribute, Constant
from ouzel.logical.pattern import Component, Disjunction, Pattern, Step
from ouzel.logical.query import BoundQuery
from ouzel.logical.rewrites.change import changed, combined
from ouzel.logical.values import Kind

_MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def drop_impossible_alternatives(query: BoundQuery) -> BoundQuery | None:
    """Drop the alternatives that can never match, unless that is all of them."""

    def change(pattern: Pattern) -> Pattern:
        if not isinstance(pattern, Disjunction):
            return pattern
        left = tuple(item for item in pattern.items if not _is_impossible(item, query))
        return combined(Disjunction, left) if left else pattern

    pattern = changed(query.pattern, change)
    return None if pattern == query.pattern else replace(query, pattern=pattern)


def _is_impossible(pattern: Pattern, query: BoundQuery) -> bool:
    """Whether something in a pattern that has to bind some event cannot."""
    match pattern:
        case Step(component):
            return component.least > 0 and _contradicted(component, query)
        case Disjunction(items):
            return all(_is_impossible(item, query) for item in items)
    return any(_is_impossible(item, query) for item in pattern.items)


def _contradicted(component: Component, query: BoundQuery) -> bool:
    """Whether no value of some attribute can be as conditions on each single event say."""
    limits: dict[str, tuple[list[int], list[int], set[str]]] = {}
    for conjunct in query.conditions_on(component):
        match conjunct.literals:
            case [Apply(function=function, arguments=(left, right))] if function.name in _MIRRORED:
                sign = function.name
                if isinstance(left, Constant):
                    left, right, sign = right, left, _MIRRORED[sign]
                if isinstance(left, Attribute) and isinstance(right, Constant) and not left.missing_in:
                    _limit(limits.setdefault(left.column, ([], [], set())), left.type.kind, sign, right.value)
    return any(
        (least and most and max(least) > min(most)) or len(texts) > 1 for least, most, texts in limits.values()
    )


def _limit(limits: tuple[list[int], list[int], set[str]], kind: Kind, sign: str, value: object) -> None:
    """Note what a comparison says of integers, or of texts that must be equal to something."""
    least, most, texts = limits
    if kind is Kind.INTEGER and type(value) is int:
        if sign in ("=", ">", ">="):
            least.append(value + (sign == ">"))
        if sign in ("=", "<", "<="):
            most.append(value - (sign == "<"))
    elif kind is Kind.STRING and type(value) is str and sign == "=":
        texts.add(value)
