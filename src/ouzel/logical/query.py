"""Stage 2, the whole of it: a written query and a schema in, a bound query out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from ouzel.errors import QueryError, Span, did_you_mean, listed
from ouzel.language import tree
from ouzel.language.tree import Strategy
from ouzel.logical.algebra.streams import INTERVAL, Stream, StreamAttribute
from ouzel.logical.automata.registers import LIFETIME, RegisterAutomaton
from ouzel.logical.bind_equivalence import EquivalenceBinder
from ouzel.logical.bind_expression import ExpressionBinder
from ouzel.logical.bind_output import OutputBinder, OutputColumn
from ouzel.logical.bind_pattern import PatternBinder
from ouzel.logical.conjuncts import Conjunct, Place, place_conjuncts
from ouzel.logical.equivalence import EquivalenceTest, recognise
from ouzel.logical.expressions import Events, Expression, MatchNumber
from ouzel.logical.match_aggregates import MatchAggregate, MatchAggregateBinder
from ouzel.logical.pattern import (
    MASK_BITS,
    Component,
    Pattern,
    edge_negatives,
    has_conjunction_or_group,
    negatives_around,
)
from ouzel.logical.schema import EventType, Schema
from ouzel.logical.values import BOOLEAN
from ouzel.logical.versions import holding_since
from ouzel.logical.window import Tumbling, Window, bind_tumbling, bind_window

if TYPE_CHECKING:
    from ouzel.logical.members import Members


@dataclass(frozen=True)
class BoundQuery:
    """A query with its meaning: all that an engine needs to know.

    Under OUTPUT AGGREGATE, RETURN is in `aggregates`, and `output` is empty; `every` are its windows, if any.
    Of an expression of the algebra, which is in `algebra`, the components are the streams of events that it reads,
    and `source` shows it in the paper's notation.  A register automaton is in `automaton`; its component is the
    event of its arcs.  What is `hidden` is there for others to read, and not reported.
    Of a set of queries, `members` has each of them, and all else is what they have in common.
    `since` are variables of a query that has changed, and the times from which on they stand for events:
    `conjuncts` say so, too.
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
    algebra: Stream | None = None
    automaton: RegisterAutomaton | None = None
    hidden: bool = False
    members: Members | None = None
    since: tuple[tuple[str, int], ...] = ()

    @property
    def kind(self) -> str:
        """What it is: a pattern, an expression of the algebra, or a register automaton."""
        if self.algebra is not None:
            return "an expression of the algebra"
        return "a pattern" if self.automaton is None else "a register automaton"

    @property
    def attributes(self) -> tuple[StreamAttribute, ...] | None:
        """What its results are made of, if they are rows of values and bind no events: None for a pattern."""
        rows = self.algebra or self.automaton
        return None if rows is None else rows.attributes

    @property
    def row_times(self) -> tuple[str, str]:
        """What the two columns behind the attributes are called, which say when."""
        return INTERVAL if self.automaton is None else LIFETIME

    @property
    def numbers_matches(self) -> bool:
        """Whether a column of RETURN numbers the matches."""
        return any(isinstance(column.expression, MatchNumber) for column in self.output)

    @property
    def minds_all_events(self) -> bool:
        """Whether events that no component wants matter: to contiguity they do, and to windows that count.

        Under skip_till_next_match, an event of a key makes a partition in which those that lack it may match.
        """
        skips = self.strategy is Strategy.SKIP_TILL_ANY_MATCH or (
            self.strategy is Strategy.SKIP_TILL_NEXT_MATCH and not self.shares_events
        )
        return not skips or (self.window is not None and self.window.counts_events)

    @cached_property
    def shares_events(self) -> bool:
        """Whether events may be in several partitions, as their type lacks an attribute of an equivalence test."""
        return any(None in test.types_by_column for test in self.equivalences)

    @property
    def composites(self) -> tuple[str, ...]:
        """The composite types that it mentions: events of these last."""
        types = (event_type for component in self.components for event_type in component.types)
        return tuple(dict.fromkeys(one.name for one in types if one.composite))

    @property
    def reads_lasting(self) -> bool:
        """Whether it reads events that last: then the one that ends next need not start next."""
        return any(event_type.lasts for component in self.components for event_type in component.types)

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
            conjuncts=holding_since(conjuncts, self.written.since, self.components, self.schema.time),
            window=window,
            output=() if self.written.aggregate else self._output(),
            into=self.written.into.text if self.written.into else None,
            non_overlap=self.written.non_overlap,
            aggregates=self._aggregates(tests) if self.written.aggregate else (),
            every=bind_tumbling(self.written.every, self.source, self.schema.time, self.parameters),
            since=self.written.since,
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
        same = EquivalenceBinder(self.source, self.schema, self.components, self.parameters)
        tests: list[EquivalenceTest] = []
        conditions: list[Expression] = []
        for condition in _top_level(self.written.where):
            if isinstance(condition, tree.Equivalence):
                tests += [same.bind(one, condition.span) for one in condition.attributes]
            else:
                conditions.append(self._boolean(binder.bind(condition)))
        conjuncts = [
            conjunct
            for condition in conditions
            for conjunct in place_conjuncts(condition, self.components, self.source)
        ]
        recognised, rest = recognise(conjuncts, self.components.values(), pattern, self.schema)
        known = [test.attribute for test in tests]
        return (*tests, *[test for test in recognised if test.attribute not in known]), rest

    def _boolean(self, expression: Expression) -> Expression:
        if isinstance(expression, Events) or not (expression.type.is_open or expression.type == BOOLEAN):
            self._fail(
                f"'{self.source[expression.span.start : expression.span.end]}' is no condition",
                expression.span,
                required=f"something true or false; got {expression.type}",
            )
        return expression

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


def _top_level(where: tree.Expression | None) -> list[tree.Expression]:
    """The operands of the outermost ANDs, among which equivalence tests may stand."""
    if where is None:
        return []
    if isinstance(where, tree.Call) and where.function == "and":
        return [one for argument in where.arguments for one in _top_level(argument)]
    return [where]
