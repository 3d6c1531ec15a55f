"""Equivalence tests: [attribute], which all events of a match share, or [attribute = value]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import pyarrow as pa

from ouzel.errors import QueryError, Span, did_you_mean, listed
from ouzel.language import tree
from ouzel.language.names import one_line, quoted
from ouzel.logical.bind_field import unknown_field
from ouzel.logical.coercion import unify_compared
from ouzel.logical.equivalence import EquivalenceTest
from ouzel.logical.expressions import Attribute, Constant, Element
from ouzel.logical.functions import BUILT_IN
from ouzel.logical.parameters import literal, parameter_value
from ouzel.logical.pattern import Component
from ouzel.logical.schema import Schema
from ouzel.logical.type_rules import TypeClash
from ouzel.logical.values import UNKNOWN, ValueType


@dataclass
class EquivalenceBinder:
    """Binds the equivalence tests of one query, or says what is wrong with them."""

    source: str
    schema: Schema
    components: Mapping[str, Component]
    parameters: Mapping[str, Any] | None

    def bind(self, same: tree.Same, span: Span) -> EquivalenceTest:
        """The test of an attribute, written within brackets at a place."""
        attribute = same.attribute
        event_types = [event_type for component in self.components.values() for event_type in component.types]
        types: list[ValueType] = []
        for event_type in event_types:
            column = event_type.column(attribute.text)
            if column is not None and column.type not in types:
                types.append(column.type)
        if not types or (attribute.parts and attribute.parts[0].text in self.components and not _are_known(types)):
            attribute = self._unknown_part(attribute)
            known = {name for event_type in event_types for name in event_type.attributes or ()}
            self._fail(
                f"unknown attribute '{attribute.text}' in an equivalence test",
                attribute.span,
                required=f"an attribute of some component: {listed(known)}",
                hint=did_you_mean(attribute.text, known),
            )
        self._check(attribute, types)
        value = self._value(same, attribute, types)
        text = one_line(self.source[span.start : span.end])
        names = frozenset([event_type.name for event_type in event_types])
        return EquivalenceTest(attribute.text, self.schema, names, value, text)

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

    def _check(self, attribute: tree.Name, types: list[ValueType]) -> None:
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

    def _value(self, same: tree.Same, attribute: tree.Name, types: list[ValueType]) -> Constant | None:
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

    def _fail(self, message: str, span: Span, **details: str | None) -> NoReturn:
        raise QueryError(message, self.source, span, **details)


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
