"""Parameters of arcs that change while they are there: an arc keeps the value that it came with.

An arc that mentions a parameter is another one with another value.  So each value has a name of its own, by which
arcs go in the plan: `$x`, then `$xᵛ2`, and so on, with a letter that nobody writes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ouzel.errors import QueryError, Span
from ouzel.language import tree
from ouzel.language.algebra_tree import Formula
from ouzel.language.automaton_tree import Arc
from ouzel.language.document import formula
from ouzel.logical.parameters import nodes_in
from ouzel.runtimes.kept_parameters import kept
from ouzel.runtimes.roster import check_parameters

_VERSION = re.compile(r"(.+)ᵛ(\d+)")
_VERSIONS = re.compile(r"ᵛ\d+")


@dataclass(frozen=True)
class ArcValues:
    """The values that arcs have, by the names in the plan."""

    values: Mapping[str, Any]

    @property
    def now(self) -> dict[str, str]:
        """By each parameter as it was written, the name that its value has now."""
        found: dict[str, str] = {}
        for name in sorted(self.values, key=_version):
            found[_written(name)] = name
        return found

    def of(self, arcs: Iterable[Arc]) -> dict[str, Any]:
        """Those that some arcs mention."""
        if not self.values:  # to look for them takes a good part of the time to plan
            return {}
        used = {name for arc in arcs for name in mentioned(arc)}
        return {name: value for name, value in self.values.items() if name in used}

    def only(self, arcs: Iterable[Arc]) -> ArcValues:
        """Those that some arcs mention, as a snapshot has them."""
        return ArcValues(self.of(arcs))

    def changed(self, new: Mapping[str, Any]) -> ArcValues:
        """The same where parameters have other values now."""
        now, values = self.now, dict(self.values)
        for name, value in new.items():
            plain = kept(value)
            if name not in now:
                values[name] = plain
            elif repr(values[now[name]]) != repr(plain):
                # the name of the latest value is the one of now
                values[f"{name}ᵛ{_version(now[name])[1] + 1}"] = plain
        return ArcValues(values)

    def check(self, names: Iterable[Any], living: Iterable[Arc]) -> None:
        """Refuse names that no arc has."""
        known = {_written(name) for arc in living for name in mentioned(arc)}
        check_parameters(names, known, "automaton")

    def as_now(self, arc: Arc) -> Arc:
        """An arc with the values of now."""
        now = self.now
        if not now:
            return arc
        return _renamed(arc, lambda name: now.get(_written(name), name))


def plain(text: str) -> str:
    """A text that is shown, where parameters are called what users call them."""
    return _VERSIONS.sub("", text)


def as_written(error: QueryError) -> QueryError:
    """The same error, where parameters are called what users call them."""
    span = error.span
    if span is not None:
        before, inside = error.source[: span.start], error.source[span.start : span.end]
        span = Span(len(plain(before)), len(plain(before)) + len(plain(inside)))
    required, hint = (None if one is None else plain(one) for one in (error.required, error.hint))
    return QueryError(plain(error.message), plain(error.source), span, required=required, hint=hint)


def mentioned(arc: Arc) -> set[str]:
    """The parameters in an arc."""
    formulas = [one for one in (arc.when, *(value for _name, value in arc.sets)) if one is not None]
    return {one.name for part in formulas for one in nodes_in(part.expression)}


def _renamed(arc: Arc, name_of: Callable[[str], str]) -> Arc:
    """An arc whose parameters have other names."""
    if not mentioned(arc):
        return arc
    when = None if arc.when is None else _formula(arc.when, name_of)
    return replace(arc, when=when, sets=tuple((name, _formula(value, name_of)) for name, value in arc.sets))


def _formula(given: Formula, name_of: Callable[[str], str]) -> Formula:
    text, found = given.text, list(nodes_in(given.expression))
    if not found:
        return given
    for node in sorted(found, key=lambda one: one.span.start, reverse=True):
        assert isinstance(node, tree.Parameter)
        new = f"${name_of(node.name)}" + "%" * node.percent
        text = text[: node.span.start] + new + text[node.span.end :]
    return formula(text)


def _written(name: str) -> str:
    found = _VERSION.fullmatch(name)
    return found[1] if found else name


def _version(name: str) -> tuple[str, int]:
    found = _VERSION.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, 1)
