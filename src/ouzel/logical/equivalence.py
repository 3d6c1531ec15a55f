"""Stage 2: equivalence tests, which partition the stream.

`[id]` says it outright; `x.id = y.id AND x.id = z.id` says the same (SASE's Q2) and is recognised here, so
that both spellings mean the same partitions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.expressions import Apply, Attribute, Constant, Element, Expression
from ouzel.logical.functions import TO_FLOAT, Stretch
from ouzel.logical.pattern import Component, Disjunction, Pattern, Step
from ouzel.logical.schema import Schema
from ouzel.logical.values import Kind


@dataclass(frozen=True)
class EquivalenceTest:
    """All events of a match have one non-null value of the attribute, `constant`'s if there is one.

    An event whose type does not have the attribute is in every partition if the pattern mentions its type, and
    in none if it does not.
    """

    attribute: str
    schema: Schema = field(hash=False, repr=False)
    pattern_types: frozenset[str]
    constant: Constant | None = None
    text: str = ""
    _columns: dict[str, str | None] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def is_real(self) -> bool:
        """Whether some type holds the attribute as doubles: decimals of others are then compared as doubles."""
        types = (self.schema.event_type(name) for name in self.pattern_types)
        columns = (event_type.column(self.attribute) for event_type in types if event_type)
        return any(column.type.kind is Kind.FLOAT for column in columns if column)

    def column(self, type_name: str) -> str | None:
        """The column that holds the attribute of events of a type, None if they do not have it."""
        if type_name not in self._columns:
            event_type = self.schema.event_type(type_name)
            column = event_type.column(self.attribute) if event_type else None
            self._columns[type_name] = column.name if column else None
        return self._columns[type_name]

    def is_outside(self, type_name: str) -> bool:
        """Whether events of a type are in no partition: not in the pattern, and without the attribute."""
        return type_name not in self.pattern_types and self.column(type_name) is None

    @cached_property
    def types_by_column(self) -> dict[str | None, tuple[str, ...]]:
        """The types of the pattern by the column that holds the attribute; None for those that do not have it."""
        found: dict[str | None, list[str]] = {}
        for name in sorted(self.pattern_types):
            found.setdefault(self.column(name), []).append(name)
        return {column: tuple(names) for column, names in found.items()}

    @property
    def only_column(self) -> str | None:
        """The column that holds the attribute in all types of the pattern; None if that is not one column."""
        return next(iter(self.types_by_column)) if len(self.types_by_column) == 1 else None


def recognise(
    conjuncts: Iterable[Conjunct], components: Iterable[Component], pattern: Pattern, schema: Schema
) -> tuple[tuple[EquivalenceTest, ...], tuple[Conjunct, ...]]:
    """Find equalities that tie one attribute across all components; return them as tests, and the rest.

    Only where every component binds events or none does: with alternatives or optional components a chain of
    equalities through an unbound variable means less than the test.
    """
    conjuncts, components = tuple(conjuncts), tuple(components)
    pairs = [(conjunct, pair) for conjunct in conjuncts if (pair := _equality(conjunct)) is not None]
    if not pairs or _has_choice(pattern):
        return (), conjuncts
    types = frozenset(name for component in components for name in component.type_names)
    tests: list[EquivalenceTest] = []
    used: set[int] = set()
    for attribute in dict.fromkeys(pair[0].name for _conjunct, pair in pairs):
        own = [(conjunct, pair) for conjunct, pair in pairs if pair[0].name == attribute]
        if _connected(own, components):
            text = " AND ".join(conjunct.text for conjunct, _pair in own)
            tests.append(EquivalenceTest(attribute, schema, types, None, text))
            used |= {id(conjunct) for conjunct, _pair in own}
    return tuple(tests), tuple(conjunct for conjunct in conjuncts if id(conjunct) not in used)


def _equality(conjunct: Conjunct) -> tuple[Attribute, Attribute] | None:
    """The two sides of `x.id = y.id`, where it is that."""
    if len(conjunct.literals) != 1:
        return None
    literal = conjunct.literals[0]
    if not isinstance(literal, Apply) or literal.function.name != "=":
        return None
    left, right = (_unwrapped(argument) for argument in literal.arguments)
    if not isinstance(left, Attribute) or not isinstance(right, Attribute) or left.missing_in or right.missing_in:
        return None
    every = (Element.SINGLE, Element.CURRENT)
    tied = left.name == right.name and left.variable != right.variable
    return (left, right) if tied and left.element in every and right.element in every else None


def _unwrapped(expression: Expression) -> Expression:
    """What was brought to another type or unit only to be compared is still the same attribute."""
    if isinstance(expression, Apply) and (
        expression.function is TO_FLOAT or isinstance(expression.function, Stretch)
    ):
        return expression.arguments[0]
    return expression


def _connected(
    pairs: list[tuple[Conjunct, tuple[Attribute, Attribute]]], components: tuple[Component, ...]
) -> bool:
    """Whether the equalities tie all components together, negative ones too."""
    edges = [{left.variable, right.variable} for _conjunct, (left, right) in pairs]
    reached = {components[0].variable}
    for _ in components:
        reached = reached.union(*(edge for edge in edges if edge & reached))
    return reached >= {component.variable for component in components}


def _has_choice(pattern: Pattern) -> bool:
    if isinstance(pattern, Step):
        return not pattern.component.negative and pattern.component.least == 0
    return isinstance(pattern, Disjunction) or any(_has_choice(item) for item in pattern.items)
