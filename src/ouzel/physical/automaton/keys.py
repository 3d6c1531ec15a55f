"""Whether runs of an algebra expression meet only events that have their key, as every θ wants that (Cayuga 4).

Then events of other keys can only take filter edges, which change nothing: runs need not meet them at all.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ouzel.logical.equivalence import EquivalenceTest
from ouzel.logical.expressions import Apply, Attribute, Element, Expression
from ouzel.logical.schema import Schema
from ouzel.logical.values import Kind
from ouzel.physical.automaton.cayuga import Sketch
from ouzel.physical.automaton.edges import Edge
from ouzel.physical.automaton.formula_words import formula_words

# Others have no number of their own among keys.
_KEYS = (
    Kind.BOOLEAN,
    Kind.INTEGER,
    Kind.UNSIGNED,
    Kind.DECIMAL,
    Kind.FLOAT,
    Kind.STRING,
    Kind.TIMESTAMP,
    Kind.DURATION,
    Kind.TIME,
    Kind.UNKNOWN,
)


def keyed(drawn: Sketch, schema: Schema) -> tuple[Sketch, tuple[EquivalenceTest, ...]]:
    """The same without the conditions that partitions take over, and the tests that form these.

    An event whose key is null satisfies no θ.  It may start a run, but none that goes on: where a result may be
    one event alone, nothing is partitioned.
    """
    if any(edge.source is None for edge, target in drawn.edges if target in drawn.ends):
        return drawn, ()
    tests: list[EquivalenceTest] = []
    names = (one.name for edge, _target in drawn.edges for one in _equal(edge))
    for name in dict.fromkeys(names):
        found = _ties(drawn, name)
        text = " AND ".join(dict.fromkeys(map(formula_words, found)))
        test = EquivalenceTest(name, schema, _types(drawn), None, text)
        if found and _is_one_column(drawn, test):
            tests.append(test)
            drawn = drawn.changed(partial(_without, conditions=found))
    return drawn, tuple(tests)


def _equal(edge: Edge) -> dict[Attribute, tuple[Attribute, Expression]]:
    """The attributes of the event at hand that must equal one of an event before, with that and the condition."""
    found: dict[Attribute, tuple[Attribute, Expression]] = {}
    for test in edge.stays_unless:
        for condition in test.conditions:
            if not isinstance(condition, Apply) or condition.function.name != "=":
                continue
            for own, other in (condition.arguments, condition.arguments[::-1]):
                if isinstance(own, Attribute) and isinstance(other, Attribute) and _is_tie(own, other):
                    found[own] = other, condition
    return found


def _is_tie(own: Attribute, other: Attribute) -> bool:
    is_in_time = own.element is Element.CURRENT and other.element is not Element.CURRENT
    return is_in_time and own.column == other.column and own.name == other.name and own.type.kind in _KEYS


def _ties(drawn: Sketch, name: str) -> list[Expression]:
    """The conditions that tie the events of all runs together by an attribute; none if some event is not tied."""
    tied = {edge.variable for edge, _target in drawn.edges if edge.source is None}
    found: list[Expression] = []
    # an edge comes before those that leave its target, but for the rebind edges of a fold
    for edge in sorted((edge for edge, _target in drawn.edges if edge.source is not None), key=_source):
        ties = [one for own, one in _equal(edge).items() if own.name == name and one[0].variable in tied]
        if not ties:
            return []
        found += [condition for _other, condition in ties]
        tied.add(edge.variable)
    return found


def _source(edge: Edge) -> int:
    assert edge.source is not None
    return edge.source


def _types(drawn: Sketch) -> frozenset[str]:
    return frozenset(one.name for edge, _target in drawn.edges for one in edge.base.types)


def _is_one_column(drawn: Sketch, test: EquivalenceTest) -> bool:
    """Whether all events have the attribute in the column in which streams have it."""
    for edge, _target in drawn.edges:
        pairs = zip(edge.base.attributes, edge.base.columns, strict=True)
        columns = {one.name: column.name for one, column in pairs}
        for one in edge.base.types:
            held = test.attribute if one.attributes is None else columns.get(test.attribute)
            if held is None or test.column(one.name) != held:
                return False
    return True


def _without(edge: Edge, *, conditions: list[Expression]) -> Edge:
    """An edge without conditions that always hold."""
    kept = [not all(one in conditions for one in test.conditions) for test in edge.tests]
    tests = tuple(test for test, is_kept in zip(edge.tests, kept, strict=True) if is_kept)
    return replace(edge, tests=tests, asked=sum(kept[: edge.asked]))
