"""Stage 2: references to variables, alone, with attributes, in aggregates, each checked against the pattern."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from ouzel.errors import QueryError, Span, did_you_mean, listed
from ouzel.language import tree
from ouzel.language.names import quoted
from ouzel.language.tree import Index
from ouzel.logical.bind_field import unknown_field
from ouzel.logical.expressions import Aggregate, Attribute, Element, Events, Expression, Extent, Length, Moment
from ouzel.logical.functions import AGGREGATES
from ouzel.logical.pattern import Binds, Component
from ouzel.logical.schema import Column, EventType, Schema
from ouzel.logical.values import EVENT, FLOAT, INTEGER, UNKNOWN, Kind, ValueType, list_of

# The types that lack an attribute, where all have it.
_NOWHERE: frozenset[str] = frozenset()
# The aggregates that OUTPUT AGGREGATE has, too.
OVER_MATCHES = ("count", "sum", "avg", "min", "max")

_ELEMENTS = {Index.FIRST: Element.FIRST, Index.CURRENT: Element.CURRENT}
_ELEMENTS |= {Index.PREVIOUS: Element.PREVIOUS, Index.LAST: Element.LAST, Index.NONE: Element.CURRENT}


@dataclass
class ReferenceBinder:
    """Binds references to the variables of one pattern."""

    source: str
    schema: Schema
    components: Mapping[str, Component]
    parameters: Mapping[str, Any] | None
    in_return: bool = False
    query: str = ""

    def fail(self, message: str, span: Span, **details: str | None) -> NoReturn:
        """Raise a QueryError at a place of the query."""
        raise QueryError(message, self.source, span, **details)

    # ---- references --------------------------------------------------------------------------------------

    def reference(self, written: tree.Reference) -> Expression:
        component = self.components.get(written.variable.text)
        if component is None:
            return self._bare_attribute(written)
        self.check_index(component, written)
        if written.attribute is None:
            return self._whole(component, written)
        if written.index is Index.NONE and component.is_array and written.attribute.text.upper() == "LEN":
            return Length(component.variable, INTEGER, written.span)
        return self._element(component, written)

    def _element(self, component: Component, written: tree.Reference) -> Expression:
        """An attribute of the events that a component binds: in RETURN of all of them, unless one is named."""
        every = written.index is Index.ALL or (written.index is Index.NONE and component.is_array)
        if self.in_return and every and written.attribute is not None:
            column, _missing = self.column(component, written.attribute)
            return Events(component.variable, column.name, list_of(column.type), written.span)
        return self._attribute(component, written)

    def _attribute(self, component: Component, written: tree.Reference) -> Expression:
        assert written.attribute is not None
        if written.index in (Index.ALL, Index.SO_FAR):
            self.fail(
                f"'{component.variable}{written.index.value}.{written.attribute.text}' outside an aggregate",
                written.span,
                required=f"an aggregate: {', '.join(AGGREGATES)}",
                hint=f"for every element, write {quoted(component.variable)}[i].{written.attribute.written}",
            )
        column, missing = self.column(component, written.attribute)
        element = _ELEMENTS[written.index] if component.is_array else Element.SINGLE
        return Attribute(
            component.variable,
            element,
            written.attribute.text,
            column.name,
            column.type,
            missing,
            written.span,
        )

    def column(self, component: Component, attribute: tree.Name) -> tuple[Column, frozenset[str]]:
        """Find an attribute in a component's types; also the names of the types that lack it."""
        first = component.types[0].column(attribute.text)
        if first is not None and len(component.types) == 1:
            return first, _NOWHERE
        columns = {event_type.name: event_type.column(attribute.text) for event_type in component.types}
        found = [column for column in columns.values() if column is not None]
        if not found:
            attribute = self._unknown_part(attribute, component.types)
            known = {name for event_type in component.types for name in event_type.attributes or ()}
            types = " or ".join(event_type.name for event_type in component.types if event_type.name)
            self.fail(
                f"unknown attribute '{attribute.text}'" + (f" of {types}" if types else ""),
                attribute.span,
                required=f"one of {listed(known)}",
                hint="LEN is the length of a closure: T+ a[]"
                if attribute.text.upper() == "LEN"
                else did_you_mean(attribute.text, known),
            )
        if any(column.name != found[0].name for column in found):
            described = ", ".join(f"{name}: {column.arrow}" for name, column in columns.items() if column)
            self.fail(
                f"type clash: '{attribute.text}' differs between the types of '{component.variable}'",
                attribute.span,
                required="one type of value",
                hint=f"cast the columns to one type; they are {described}",
            )
        return found[0], frozenset(name for name, column in columns.items() if column is None) or _NOWHERE

    def _unknown_part(self, attribute: tree.Name, types: Iterable[EventType]) -> tree.Name:
        """Say what is wrong with a path to a field, if it is one; else the name that is not known."""
        columns = {name: column.arrow for one in types for name, column in (one.attributes or {}).items()}
        return unknown_field(self.source, attribute, columns)

    def _bare_attribute(self, written: tree.Reference) -> Expression:
        """A lone name is an attribute of the only component (SASE's Q1)."""
        lone = written.attribute is None and written.index is Index.NONE
        if lone and len(self.components) == 1:
            (component,) = self.components.values()
            return self._element(component, replace(written, attribute=written.variable))
        return self._unknown(written.variable, lone=lone)

    def variable(self, written: tree.Reference) -> Component:
        """The component that a reference names."""
        component = self.components.get(written.variable.text)
        return component if component is not None else self._unknown(written.variable)

    def _unknown(self, name: tree.Name, *, lone: bool = False) -> NoReturn:
        variables = [variable for variable in self.components if variable.isidentifier()]
        if lone and any(self._has(component, name.text) for component in self.components.values()):
            self.fail(
                f"the attribute '{name.text}' without a variable",
                name.span,
                required="variable.attribute, as the pattern has several components",
                hint=f"write {variables[0]}.{name.written}" if variables else None,
            )
        called = [c.variable for c in self.components.values() if name.text in c.type_names]
        hint = f"the {name.text} of the pattern is called {called[0]}" if called else None
        if lone and variables:
            hint = f"for an attribute write {variables[0]}.{name.written}"
        self.fail(
            f"unknown variable '{name.text}'",
            name.span,
            required=f"a variable of the pattern: {listed(self.components)}",
            hint=did_you_mean(name.text, self.components) or hint,
        )

    def _has(self, component: Component, attribute: str) -> bool:
        return any(
            event_type.attributes is not None and attribute in event_type.attributes
            for event_type in component.types
        )

    def check_index(self, component: Component, written: tree.Reference) -> None:
        index, name = written.index, component.variable
        if component.negative and self.in_return:
            self.fail(
                f"'{name}' is a negative component and binds no event",
                written.span,
                required="a positive component in RETURN",
            )
        if index is Index.NONE:
            return
        if not component.is_array:
            self.fail(
                f"the index {index.value} on '{name}', which is no closure",
                written.span,
                required=f"{name}.attribute",
                hint=f"declare it as a closure: {component.types[0].name or 'T'}+ {name}[]",
            )
        if component.binds is Binds.GROUP and index in (Index.PREVIOUS, Index.SO_FAR):
            self.fail(
                f"the index {index.value} on '{name}', a grouping closure",
                written.span,
                required="an aggregate, or the attribute of every element",
                hint=f"use a SASE+ closure: SEQ({component.types[0].name or 'T'}+ {name}[])",
            )
        if self.in_return and index in (Index.CURRENT, Index.PREVIOUS, Index.SO_FAR):
            self.fail(
                f"the index {index.value} in RETURN",
                written.span,
                required=f"{name}[1], {name}[{name}.LEN], {name}[] or an aggregate",
                hint="[i] runs over the elements, in WHERE only",
            )

    def _whole(self, component: Component, written: tree.Reference) -> Expression:
        """A variable without an attribute: RETURN a, RETURN a[]."""
        if not self.in_return or written.index not in (Index.NONE, Index.ALL):
            self.fail(
                f"'{self.source[written.span.start : written.span.end]}' without an attribute",
                written.span,
                required=f"{component.variable}{written.index.value}.attribute",
            )
        value_type = list_of(EVENT) if component.is_array else EVENT
        return Events(component.variable, None, value_type, written.span)

    # ---- aggregates and times ----------------------------------------------------------------------------

    def aggregate(self, written: tree.Call) -> Expression:
        function = written.function
        form, distinct = f"{function}(a[].attribute)", function == tree.COUNT_DISTINCT
        form = "count(distinct a[].attribute)" if distinct else form
        component, argument = self.aggregated(written, form, "a closure")
        if not component.is_array or argument.index in (Index.FIRST, Index.CURRENT, Index.LAST):
            over_matches = self.in_return and not component.is_array and function in OVER_MATCHES
            self.fail(
                f"{function} of a single event",
                argument.span,
                required=f"a closure: {form} or {form.replace('[]', '[..i-1]')}",
                hint=f"for the {function} over all matches add OUTPUT AGGREGATE" if over_matches else None,
            )
        self.check_index(component, argument)
        # SASE+ prints its template with aggr(a[i-1].price) for "the previously selected events"
        so_far = argument.index in (Index.SO_FAR, Index.PREVIOUS)
        extent = Extent.SO_FAR if so_far else Extent.ALL
        if argument.attribute is None:
            self.check_counted(function, argument.span, form)
            return Aggregate(function, component.variable, extent, None, None, None, INTEGER, written.span)
        column, _missing = self.column(component, argument.attribute)
        # decimals add up and compare with other aggregates as doubles
        held = FLOAT if column.type.kind is Kind.DECIMAL and not distinct else column.type
        result = self.aggregate_type(function, held, written.span)
        if function == "count" and held.kind is Kind.UNSIGNED:
            # whether they are there can be told of any values
            held = ValueType(Kind.OTHER, arrow=column.arrow)
        name = argument.attribute.text
        return Aggregate(function, component.variable, extent, name, column.name, held, result, written.span)

    def aggregated(self, written: tree.Call, form: str, what: str) -> tuple[Component, tree.Reference]:
        """What an aggregate is taken of; `form` is how to write it, and `what` the kind of variable it takes."""
        function = written.function
        if len(written.arguments) != 1:
            hint = {"min": "for several values use least", "max": "for several values use greatest"}
            self.fail(
                f"{function} of {len(written.arguments) or 'nothing'}"
                + (" arguments" if written.arguments else ""),
                written.span,
                required=f"{form}, a an array variable" if what == "a closure" else form,
                hint=hint.get(function) if written.arguments else None,
            )
        (argument,) = written.arguments
        if not isinstance(argument, tree.Reference):
            self.fail(f"{function} of an expression", argument.span, required=f"an attribute of {what}: {form}")
        component = self.variable(argument)
        if component.negative:
            self.fail(
                f"{function} of '{component.variable}', a negative component, which binds no event",
                argument.span,
                required=f"{what}: {form}",
            )
        return component, argument

    def check_counted(self, function: str, span: Span, form: str) -> None:
        """Whole events can be counted, no more."""
        if function != "count":
            self.fail(f"{function} of whole events", span, required=f"an attribute: {form}")

    def aggregate_type(self, function: str, value_type: ValueType, span: Span) -> ValueType:
        if function == "count":
            return INTEGER
        if function == tree.COUNT_DISTINCT:
            if value_type.kind is Kind.OTHER:
                equal = f"{function} takes values that can be equal; got {value_type}"
                self.fail(f"type clash in '{function}'", span, required=equal)
            return INTEGER
        if function in ("sum", "avg", "stddev") and not (value_type.is_number or value_type.is_open):
            self.fail(f"type clash in '{function}'", span, required=f"{function} takes numbers; got {value_type}")
        if function in ("min", "max") and value_type.kind in (Kind.BOOLEAN, Kind.OTHER):
            self.fail(
                f"type clash in '{function}'",
                span,
                required=f"{function} takes values that have an order; got {value_type}",
            )
        if function in ("avg", "stddev"):
            return FLOAT if value_type.kind is not Kind.UNKNOWN else UNKNOWN
        return INTEGER if function == "sum" and value_type.kind is Kind.UNSIGNED else value_type

    def moment(self, written: tree.Call) -> Expression:
        argument = written.arguments[0] if len(written.arguments) == 1 else None
        if not isinstance(argument, tree.Reference):
            self.fail(f"{written.function} takes one variable", written.span, required=f"{written.function}(a)")
        component = self.variable(argument)
        self.check_index(component, argument)
        if argument.attribute is not None or argument.index is Index.SO_FAR:
            self.fail(
                f"{written.function} of something else than one variable",
                argument.span,
                required=f"{written.function}(variable)",
            )
        if not component.is_array:
            element = Element.SINGLE
        elif argument.index in (Index.NONE, Index.ALL):
            element = Element.FIRST if written.function == "start" else Element.LAST
        else:
            element = _ELEMENTS[argument.index]
        return Moment(written.function, component.variable, element, self.schema.time.type, written.span)
