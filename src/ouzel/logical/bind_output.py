"""Stage 2: RETURN, whose items become the columns of the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ouzel.errors import Span
from ouzel.language import tree
from ouzel.language.tree import Index
from ouzel.logical.bind_expression import ExpressionBinder
from ouzel.logical.coercion import unify
from ouzel.logical.expressions import Attribute, Constant, Element, Events, Expression, MatchNumber
from ouzel.logical.functions import MATCH_NUMBER
from ouzel.logical.output import event_fields
from ouzel.logical.pattern import Component
from ouzel.logical.values import INTEGER, UNKNOWN, list_of


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """One column of the result."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class _Bound:
    """A column on its way: its name, another where the first is taken, and where its item stands."""

    expression: Expression
    name: str
    longer: str
    span: Span
    is_starred: bool = False


@dataclass
class OutputBinder(ExpressionBinder):
    """Binds the items of RETURN."""

    def columns(self, items: Sequence[tree.Item]) -> tuple[OutputColumn, ...]:
        """All columns, each with a name of its own."""
        bound = [one for item in items for one in self._item(item)]
        names = [one.name for one in bound]
        columns: dict[str, OutputColumn] = {}
        starred: set[str] = set()
        for one in bound:
            name = one.longer if names.count(one.name) > 1 else one.name
            if name in columns:
                self.fail(
                    f"two columns of RETURN are called '{name}'",
                    one.span,
                    required="a name of its own for every column",
                    hint="leave one out, or name one with AS"
                    if one.is_starred or name in starred
                    else "name it with AS",
                )
            columns[name] = OutputColumn(name, one.expression)
            if one.is_starred:
                starred.add(name)
        return tuple(columns.values())

    def _item(self, item: tree.Item) -> Iterator[_Bound]:
        written = item.expression
        if isinstance(written, tree.Every):
            yield from self._every(written)
            return
        expression = self._bound(written)
        if isinstance(expression, Constant):
            (expression,) = unify([expression], self.schema.time.tick)
        span = (item.name or item).span
        if item.name is not None:
            yield _Bound(expression, item.name.text, item.name.text, span)
        else:
            yield _Bound(expression, _short_name(item, expression), _long_name(item, expression), span)

    def _bound(self, written: tree.Expression) -> Expression:
        if not isinstance(written, tree.Call) or written.function != MATCH_NUMBER:
            return self.bind(written)
        if written.arguments:
            self.fail("match_number() takes no arguments", written.span, required="match_number()")
        return MatchNumber(INTEGER, written.span)

    def _every(self, written: tree.Every) -> Iterator[_Bound]:
        """Every attribute of a variable, or of all that bind events."""
        if written.of is not None:
            component = self.variable(written.of)
            self.check_index(component, written.of)
            yield from self._attributes(component, written.of.index, written)
            return
        for component in self.components.values():
            if not component.negative:
                yield from self._attributes(component, Index.NONE, written)

    def _attributes(self, component: Component, index: Index, written: tree.Every) -> Iterator[_Bound]:
        variable, span = component.variable, written.span
        ordinal = {Index.FIRST: "[1]", Index.LAST: f"[{variable}.LEN]"}.get(index, "")
        if any(event_type.attributes is None for event_type in component.types):
            # no data yet: what it has is not known
            name = f"{variable}{ordinal}.*"
            yield _Bound(Events(variable, None, UNKNOWN, span), name, name, span, is_starred=True)
            return
        for field, column in event_fields(component).items():
            missing = frozenset(one.name for one in component.types if one.column(field) is None)
            element = {Index.FIRST: Element.FIRST, Index.LAST: Element.LAST}.get(index, Element.SINGLE)
            value: Expression = Attribute(variable, element, field, column.name, column.type, missing, span)
            if component.is_array and not ordinal:
                value = Events(variable, column.name, list_of(column.type), span)
            name = f"{variable}{ordinal}_{field}"
            yield _Bound(value, name, name, span, is_starred=True)


def _short_name(item: tree.Item, expression: Expression) -> str:
    """`a.tag_id` becomes the column tag_id, `a.address.city` city; any other expression is called by its text."""
    written = item.expression.attribute if isinstance(item.expression, tree.Reference) else None
    if isinstance(expression, Attribute | Events) and written is not None:
        return written.parts[-1].text if written.parts else written.text
    if isinstance(expression, Attribute):
        return expression.name
    return expression.variable if isinstance(expression, Events) else item.text


def _long_name(item: tree.Item, expression: Expression) -> str:
    """`a.tag_id` where another column is called tag_id: a_tag_id."""
    written = item.expression
    if not isinstance(expression, Attribute | Events):
        return item.text
    if not isinstance(written, tree.Reference) or written.attribute is None:
        return _short_name(item, expression)
    index = item.text[len(written.variable.written) :].rpartition("].")[0]
    index = f"{index}]".replace(written.variable.written, written.variable.text) if index else ""
    names = [part.text for part in written.attribute.parts or (written.attribute,)]
    return f"{written.variable.text}{index}_{'_'.join(names)}"
