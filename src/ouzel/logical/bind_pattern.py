"""Stage 2: the pattern as written becomes components with types and kinds; what makes no sense is an error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from ouzel.errors import QueryError, Span, did_you_mean, listed
from ouzel.language import tree
from ouzel.language.names import quoted
from ouzel.logical.pattern import (
    Binds,
    Component,
    Conjunction,
    Disjunction,
    Operator,
    Pattern,
    Sequence,
    Step,
    flattened,
    may_be_empty,
)
from ouzel.logical.schema import EventType, Schema

# Keywords are types where the grammar takes one: what was meant if there is no such type.
_KEYWORDS = {"NOT": "a negative component is written !(B b)"}
_KEYWORDS |= dict.fromkeys(("PATTERN", "EVENT", "QUERY"), "behind ';' the pattern goes on: leave the ';' out")
_KEYWORDS |= dict.fromkeys(("WHERE", "WITHIN", "RETURN", "OUTPUT"), "leave out the ';' before it")


@dataclass
class PatternBinder:
    """Binds one pattern; `found` collects the components by variable, in order."""

    source: str
    schema: Schema
    found: dict[str, Component] = field(default_factory=dict)

    def bind(self, written: tree.Pattern) -> Pattern:
        """Bind a whole pattern."""
        pattern = self._bind(written)
        if all(component.negative for component in self.found.values()):
            self._fail(
                "a pattern of negative components only",
                written.span,
                required="at least one component that binds an event",
                hint="non-occurrence is told relative to an event: SEQ(A a, !(B b))",
            )
        if any(component.binds is Binds.GROUP for component in self.found.values()):
            self._check_groups(pattern, written.span)
        return pattern

    def _fail(self, message: str, span: Span, **details: str | None) -> NoReturn:
        raise QueryError(message, self.source, span, **details)

    def _bind(self, written: tree.Pattern) -> Pattern:
        match written:
            case tree.Component():
                return Step(self._component(written))
            case tree.Negation():
                return self._negation(written.item, written.span)
            case tree.Sequence():
                return Sequence(self._items(written.items, Sequence))
            case tree.Conjunction():
                items = self._items(written.items, Conjunction)
                # !B & !C stands for two negative components in one place (ZStream 5.2.1)
                return Sequence(items) if all(map(_is_negative, items)) else Conjunction(_spread(items))
            case tree.Disjunction():
                return self._disjunction(written)

    def _items(self, written: tuple[tree.Pattern, ...], operator: Operator) -> tuple[Pattern, ...]:
        """Bind the operands of an operator, flat."""
        return flattened(operator, [self._bind(one) for one in written])

    def _disjunction(self, written: tree.Disjunction) -> Pattern:
        items = self._items(written.items, Disjunction)
        for one, item in zip(written.items, items, strict=False):
            if _is_negative(item):
                self._fail(
                    "a negative component as an alternative of '|'",
                    one.span,
                    required="alternatives that bind an event",
                    hint="to rule out both, write !(B | C)",
                )
        return Disjunction(items)

    # ---- negation ----------------------------------------------------------------------------------------

    def _negation(self, item: tree.Pattern, span: Span) -> Pattern:
        match item:
            case tree.Component():
                return Step(self._component(item, negative=True))
            case tree.Disjunction():
                # !(B | C) is !B & !C (ZStream 5.2.1)
                return Sequence(tuple(self._negation(one, one.span) for one in item.items))
            case tree.Negation():
                self._fail("a negation of a negation", span, required="one '!'", hint="leave both out")
        return self._fail(
            "a negation of several components",
            span,
            required="one component, ANY(…) or alternatives: !(B b), !(ANY(B, C) b), !(B | C)",
            hint="feed the group to another query with INTO and negate that type",
        )

    # ---- components --------------------------------------------------------------------------------------

    def _component(self, written: tree.Component, *, negative: bool = False) -> Component:
        variable = written.variable or tree.Name("|".join(name.text for name in written.types), written.span)
        if variable.text in self.found:
            self._fail(
                f"two components are called '{variable.text}'",
                variable.span,
                required="a variable of its own for every component",
                hint=f"write {written.types[0].written} {quoted(variable.text + '2')}"
                if len(written.types) == 1
                else f"write {self.source[written.span.start : written.span.end]} x",
            )
        component = Component(
            variable.text,
            self._event_types(written.types),
            len(self.found),
            *self._kind(written, variable, negative=negative),
            span=written.span,
        )
        self.found[variable.text] = component
        return component

    def _event_types(self, names: tuple[tree.Name, ...]) -> tuple[EventType, ...]:
        types: dict[str, EventType] = {}
        for name in names:
            event_type = self.schema.event_type(name.text)
            if event_type is None:
                hint = did_you_mean(name.text, self.schema.types) or _KEYWORDS.get(name.text.upper())
                self._fail(
                    f"unknown event type '{name.text}'",
                    name.span,
                    required=f"a type of the input: {listed(self.schema.types)}",
                    hint=hint,
                )
            types[event_type.name] = event_type
        return tuple(types.values())

    def _kind(
        self, written: tree.Component, variable: tree.Name, *, negative: bool
    ) -> tuple[Binds, int, int | None, bool, bool]:
        """What the component binds: (kind, least, most, optional, successive)."""
        quantifier, name = written.quantifier, variable.text
        if negative and (quantifier or written.array):
            self._fail(
                f"a closure as a negative component '{name}'",
                quantifier.span if quantifier else written.span,
                required="a negative component without a closure",
                hint="one event is enough to refute a match: leave the closure out",
            )
        if negative:
            return Binds.NONE, 0, 0, False, False
        if quantifier is None:
            if written.array:
                self._fail(
                    f"'{name}[]' without a closure",
                    variable.span,
                    required="+, *, ?, {n}, {n,} or {n,m} behind the type",
                    hint=f"write {written.types[0].written}+ {name}[] or {written.types[0].written} {name}",
                )
            return Binds.ONE, 1, 1, False, False
        counts = (quantifier.least, quantifier.most)
        if quantifier.successive:
            return Binds.GROUP, *counts, False, True
        if quantifier.symbol == "?":
            return Binds.CLOSURE, *counts, not written.array, False
        if written.array or quantifier.symbol.startswith("{"):
            return Binds.CLOSURE, *counts, False, False
        if written.in_seq:
            if written.variable is not None:
                self._fail(
                    f"the closure variable '{name}' without []",
                    variable.span,
                    required=f"{name}[]",
                    hint=f"write {written.types[0].written}{quantifier.symbol} {name}[]",
                )
            return Binds.CLOSURE, *counts, False, False
        return Binds.GROUP, *counts, False, False

    # ---- grouping closures -------------------------------------------------------------------------------

    def _check_groups(self, pattern: Pattern, span: Span) -> None:
        """A grouping closure takes all events between its neighbours: it must have some that are fixed."""
        if isinstance(pattern, Step):
            return
        for item in pattern.items:
            group = _group(item)
            if isinstance(pattern, Conjunction) and group is not None:
                self._fail(
                    "a grouping closure as an operand of '&'",
                    group.span,
                    required="a grouping closure in a sequence: A; B+; C",
                )
            self._check_groups(item, span)
        if isinstance(pattern, Sequence):
            open_group: Component | None = None
            for item in pattern.items:
                group = _group(item)
                if group is not None:
                    if open_group is not None:
                        self._fail(
                            f"two grouping closures, '{open_group.variable}' and '{group.variable}', "
                            "with nothing between them",
                            group.span,
                            required="a component between two grouping closures",
                            hint="use SASE+ closures: SEQ(A+ a[], B+ b[])",
                        )
                    open_group = group
                elif not may_be_empty(item):
                    open_group = None


def _group(pattern: Pattern) -> Component | None:
    """The grouping closure that the pattern is, or has among its alternatives."""
    if isinstance(pattern, Step):
        return pattern.component if pattern.component.binds is Binds.GROUP else None
    if isinstance(pattern, Disjunction):
        return next((group for item in pattern.items if (group := _group(item)) is not None), None)
    return None


def _spread(items: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    """`A & !(B | C)` is `A & !B & !C`."""
    return tuple(
        part
        for item in items
        for part in (item.items if isinstance(item, Sequence) and _is_negative(item) else (item,))
    )


def _is_negative(pattern: Pattern) -> bool:
    if isinstance(pattern, Step):
        return pattern.component.negative
    return isinstance(pattern, Sequence) and all(_is_negative(item) for item in pattern.items)
