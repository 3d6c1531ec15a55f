"""Stage 2, the whole of it: a written query and a schema in, a bound query out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import pyarrow as pa

from ouzel.errors import QueryError, Span, did_you_mean, listed
from ouzel.language import tree
from ouzel.language.names import one_line, quoted
from ouzel.language.tree import Strategy
from ouzel.logical.bind_expression import ExpressionBinder
from ouzel.logical.bind_field import unknown_field
from ouzel.logical.bind_output import OutputBinder, OutputColumn
from ouzel.logical.bind_pattern import PatternBinder
from ouzel.logical.coercion import unify_compared
from ouzel.logical.conjuncts import Conjunct, Place, place_conjuncts
from ouzel.logical.equivalence import EquivalenceTest, recognise
from ouzel.logical.expressions import Attribute, Constant, Element, Events, Expression, MatchNumber
from ouzel.logical.functions import BUILT_IN
from ouzel.logical.match_aggregates import MatchAggregate, MatchAggregateBinder
from ouzel.logical.parameters import literal, parameter_value
from ouzel.logical.pattern import (
    MASK_BITS,
    Component,
    Pattern,
    edge_negatives,
    has_conjunction_or_group,
    negatives_around,
)
from ouzel.logical.schema import EventType, Schema
from ouzel.logical.type_rules import TypeClash
from ouzel.logical.values import BOOLEAN, UNKNOWN, ValueType
from ouzel.logical.window import Tumbling, Window, bind_tumbling, bind_window


@dataclass(frozen=True)
class BoundQuery:
    """A query with its meaning: all that an engine needs to know.

    Under OUTPUT AGGREGATE, RETURN is in `aggregates`, and `output` is empty; `every` are its windows, if any.
    """

    name: str
    source: str
    schema: Schema
    pattern: Pattern
    components: tuple[Component, ...]
    strategy: Strategy
    equivalences: tuple[EquivalenceTest, ...]
    conjuncts: tuple[Conjunct, ...]
    window: Window | None
    output: tuple[OutputColumn, ...]
    into: str | None
    non_overlap: bool
    aggregates: tuple[MatchAggregate, ...] = ()
    every: Tumbling | None = None

    @property
    def numbers_matches(self) -> bool:
        """Whether a column of RETURN numbers the matches."""
        return any(isinstance(column.expression, MatchNumber) for column in self.output)

    @property
    def minds_all_events(self) -> bool:
        """Whether events that no component wants matter: to contiguity they do, and to windows that count."""
        skips = self.strategy in (Strategy.SKIP_TILL_ANY_MATCH, Strategy.SKIP_TILL_NEXT_MATCH)
        return not skips or (self.window is not None and self.window.counts_events)

    @property
    def composites(self) -> tuple[str, ...]:
        """The composite types that it mentions: events of these last."""
        types = (event_type for component in self.components for event_type in component.types)
        return tuple(dict.fromkeys(one.name for one in types if one.composite))

    @property
    def reads_primitive(self) -> bool:
        """Whether it reads the primitive events, all of them: if it mentions any type of these."""
        return any(not event_type.composite for component in self.components for event_type in component.types)

    def reads(self, event_type: EventType) -> bool:
        """Whether it reads events of a type."""
        return event_type.name in self.composites if event_type.composite else self.reads_primitive

    def conditions_on(self, component: Component) -> tuple[Conjunct, ...]:
        """The conditions on every single event that a component binds, whatever else is bound."""
        if self.shares_bits:
            return ()
        return tuple(one for one in self.conjuncts if one.is_single and one.component is component)

    @property
    def relations(self) -> tuple[Conjunct, ...]:
        """The conditions that depend on what else is bound."""
        masked = not self.shares_bits
        return tuple(c for c in self.conjuncts if not (c.is_single and masked) and c.place is not Place.ALWAYS)

    @property
    def shares_bits(self) -> bool:
        """Whether components share bits of masks: then a mask does not say all that depends on one event."""
        return len(self.components) > MASK_BITS

    def key_column(self, test: EquivalenceTest) -> str | None:
        """The column that holds a test's attribute in all events that matter; None if that is not one column."""
        others = self.schema.types.values() if self.minds_all_events else ()
        read = [one.name for one in others if self.reads(one)]
        is_only = all(test.column(name) in (None, test.only_column) for name in read)
        return test.only_column if is_only else None

    def component(self, variable: str) -> Component:
        """A component by its variable."""
        return next(component for component in self.components if component.variable == variable)


def bind(
    written: tree.Query, source: str, schema: Schema, parameters: Mapping[str, Any] | None, name: str
) -> BoundQuery:
    """Bind one query to a schema; `parameters` None stands for values that are not known yet."""
    return _QueryBinder(written, source, schema, parameters, name).bind()


@dataclass
class _QueryBinder:
    written: tree.Query
    source: str
    schema: Schema
    parameters: Mapping[str, Any] | None
    name: str

    def bind(self) -> BoundQuery:
        binder = PatternBinder(self.source, self.schema)
        pattern = binder.bind(self.written.pattern)
        self.components = binder.found
        strategy = self._strategy(pattern)
        tests, conjuncts = self._where(pattern)
        if strategy is Strategy.PARTITION_CONTIGUITY and not tests:
            assert self.written.strategy is not None
            self._fail(
                "partition_contiguity without an equivalence test",
                self.written.strategy.span,
                required="an equivalence test, [attribute], that forms the partitions",
                hint="without partitions the strategy is strict_contiguity",
            )
        window = bind_window(self.written.within, self.source, self.schema.time.tick, self.parameters)
        self._check_negation(pattern, window)
        return BoundQuery(
            name=self.name,
            source=self.source,
            schema=self.schema,
            pattern=pattern,
            components=tuple(self.components.values()),
            strategy=strategy,
            equivalences=tests,
            conjuncts=conjuncts,
            window=window,
            output=() if self.written.aggregate else self._output(),
            into=self.written.into.text if self.written.into else None,
            non_overlap=self.written.non_overlap,
            aggregates=self._aggregates(tests) if self.written.aggregate else (),
            every=bind_tumbling(self.written.every, self.source, self.schema.time, self.parameters),
        )

    def _fail(self, message: str, span: Span, **details: str | None) -> NoReturn:
        raise QueryError(message, self.source, span, **details)

    # ---- strategy ----------------------------------------------------------------------------------------

    def _strategy(self, pattern: Pattern) -> Strategy:
        clause = self.written.strategy
        if clause is None:
            return Strategy.SKIP_TILL_ANY_MATCH
        for name in clause.variables:
            if name.text not in self.components:
                self._fail(
                    f"unknown variable '{name.text}' in {clause.strategy.value}",
                    name.span,
                    required=f"a variable of the pattern: {listed(self.components)}",
                    hint=did_you_mean(name.text, self.components),
                )
        left_out = set(self.components) - {name.text for name in clause.variables}
        if clause.variables and left_out:
            self._fail(
                f"{clause.strategy.value} leaves out {listed(left_out)}",
                clause.span,
                required="all variables of the pattern, or none",
                hint="a strategy holds for the whole pattern",
            )
        if clause.strategy is not Strategy.SKIP_TILL_ANY_MATCH and has_conjunction_or_group(pattern):
            self._fail(
                f"{clause.strategy.value} with '&' or a grouping closure",
                clause.span,
                required="skip_till_any_match, the default",
                hint="for a closure under this strategy write SEQ(T+ a[], …)",
            )
        return clause.strategy

    # ---- WHERE -------------------------------------------------------------------------------------------

    def _where(self, pattern: Pattern) -> tuple[tuple[EquivalenceTest, ...], tuple[Conjunct, ...]]:
        binder = ExpressionBinder(self.source, self.schema, self.components, self.parameters, query=self.name)
        tests: list[EquivalenceTest] = []
        conditions: list[Expression] = []
        for condition in _top_level(self.written.where):
            if isinstance(condition, tree.Equivalence):
                tests += [self._equivalence(same, condition.span) for same in condition.attributes]
            else:
                conditions.append(self._boolean(binder.bind(condition)))
        conjuncts = tuple(
            conjunct
            for condition in conditions
            for conjunct in place_conjuncts(condition, self.components, self.source)
        )
        recognised, rest = recognise(conjuncts, self.components.values(), pattern, self.schema)
        known = {test.attribute for test in tests}
        return (*tests, *(test for test in recognised if test.attribute not in known)), rest

    def _boolean(self, expression: Expression) -> Expression:
        if isinstance(expression, Events) or not (expression.type.is_open or expression.type == BOOLEAN):
            self._fail(
                f"'{self.source[expression.span.start : expression.span.end]}' is no condition",
                expression.span,
                required=f"something true or false; got {expression.type}",
            )
        return expression

    def _equivalence(self, same: tree.Same, span: Span) -> EquivalenceTest:
        attribute = same.attribute
        types = dict.fromkeys(
            column.type
            for component in self.components.values()
            for event_type in component.types
            if (column := event_type.column(attribute.text)) is not None
        )
        if not types or (attribute.parts and attribute.parts[0].text in self.components and not _are_known(types)):
            attribute = self._unknown_part(attribute)
            known = {n for c in self.components.values() for t in c.types for n in t.attributes or ()}
            self._fail(
                f"unknown attribute '{attribute.text}' in an equivalence test",
                attribute.span,
                required=f"an attribute of some component: {listed(known)}",
                hint=did_you_mean(attribute.text, known),
            )
        self._check_equivalence(attribute, list(types))
        value = self._equivalence_value(same, attribute, list(types))
        text = one_line(self.source[span.start : span.end])
        pattern_types = frozenset(name for one in self.components.values() for name in one.type_names)
        return EquivalenceTest(attribute.text, self.schema, pattern_types, value, text)

    def _unknown_part(self, attribute: tree.Name) -> tree.Name:
        """Say what is wrong with an equivalence test of a.x, or of a field; else the name that is not known."""
        if not attribute.parts:
            return attribute
        first, *others = attribute.parts
        if first.text in self.components:
            alone = ".".join(part.written for part in others)
            self._fail(
                f"a variable in the equivalence test [{attribute.written}]",
                attribute.span,
                required="an attribute that all events of the match share",
                hint=f"an equivalence test names the attribute alone: [{alone}]",
            )
        columns = {
            name: column.arrow
            for component in self.components.values()
            for event_type in component.types
            for name, column in (event_type.attributes or {}).items()
        }
        return unknown_field(self.source, attribute, columns)

    def _check_equivalence(self, attribute: tree.Name, types: list[ValueType]) -> None:
        """Values of the attribute must have one meaning in all components, if not one type."""
        known = [value_type for value_type in types if not value_type.is_open]
        odd = next((one for one in known if one.arrow is not None and not _is_key(one.arrow)), None)
        if odd is not None:
            self._fail(
                f"type clash in the equivalence test [{attribute.text}]",
                attribute.span,
                required=f"numbers, strings, booleans or times; got {odd}",
                hint=_field_hint(attribute, odd.arrow),
            )
        try:
            for other in known[1:]:
                if known[0].arrow is None or known[0] != other:
                    BUILT_IN["="].result((known[0], other))
        except TypeClash:
            self._fail(
                f"type clash in the equivalence test [{attribute.text}]",
                attribute.span,
                required=f"one type in all components; got {listed(str(one) for one in known)}",
            )

    def _equivalence_value(self, same: tree.Same, attribute: tree.Name, types: list[ValueType]) -> Constant | None:
        if same.value is None:
            return None
        if isinstance(same.value, tree.Parameter):
            value = parameter_value(self.source, same.value, self.parameters)
        else:
            value = literal(self.source, same.value)
        stand_ins = [
            Attribute("", Element.SINGLE, attribute.text, "", value_type, frozenset(), attribute.span)
            for value_type in types
        ]
        try:
            *_columns, right = unify_compared([*stand_ins, value], self.schema.time.tick)
            for value_type in types:
                BUILT_IN["="].result((value_type, right.type))
        except TypeClash as clash:
            self._fail(
                f"type clash in the equivalence test [{attribute.text}]",
                same.value.span,
                required=f"= takes {clash}",
            )
        assert isinstance(right, Constant)
        return right

    # ---- negation ----------------------------------------------------------------------------------------

    def _check_negation(self, pattern: Pattern, window: Window | None) -> None:
        if window is not None:
            return
        unbounded = {f"'& !{component.variable}'": component for component in negatives_around(pattern)}
        for where, at_end in (("start", False), ("end", True)):
            for component in edge_negatives(pattern, at_end=at_end):
                text = f"the negative component '{component.variable}' at the {where} of the pattern"
                unbounded.setdefault(text, component)
        for text, component in unbounded.items():
            self._fail(
                f"{text} without WITHIN",
                component.span,
                required="WITHIN, which says how long the event must not happen",
                hint="add for example WITHIN 1 hour",
            )

    # ---- RETURN ------------------------------------------------------------------------------------------

    def _output(self) -> tuple[OutputColumn, ...]:
        for component in () if self.written.items else self.components.values():
            if component.variable in ("start", "end") and not component.negative:
                self._fail(
                    f"the variable '{component.variable}' without RETURN",
                    component.span,
                    required="a variable that is not called as a column of the result: start, end",
                    hint="choose another name, or say what to RETURN",
                )
        binder = OutputBinder(
            self.source, self.schema, self.components, self.parameters, in_return=True, query=self.name
        )
        return binder.columns(self.written.items)

    def _aggregates(self, tests: tuple[EquivalenceTest, ...]) -> tuple[MatchAggregate, ...]:
        binder = MatchAggregateBinder(self.source, self.schema, self.components, self.parameters, in_return=True)
        return binder.bind(self.written, {test.attribute for test in tests})


def _field_hint(attribute: tree.Name, arrow: Any) -> str | None:
    if not pa.types.is_struct(arrow) or not arrow.num_fields:
        return None
    return f"name a field of it: [{attribute.written}.{quoted(arrow.field(0).name)}]"


def _are_known(types: Iterable[ValueType]) -> bool:
    """Whether a schema says what the types are: without data every name may be that of an attribute."""
    return all(value_type != UNKNOWN for value_type in types)


def _is_key(arrow: pa.DataType) -> bool:
    """Whether values of a type that expressions do not know can still be told apart: only bytes can."""
    held = arrow.storage_type if isinstance(arrow, pa.BaseExtensionType) else arrow
    return any(
        is_bytes(held)
        for is_bytes in (
            pa.types.is_binary,
            pa.types.is_large_binary,
            pa.types.is_binary_view,
            pa.types.is_fixed_size_binary,
        )
    )


def _top_level(where: tree.Expression | None) -> list[tree.Expression]:
    """The operands of the outermost ANDs, among which equivalence tests may stand."""
    if where is None:
        return []
    if isinstance(where, tree.Call) and where.function == "and":
        return [one for argument in where.arguments for one in _top_level(argument)]
    return [where]
