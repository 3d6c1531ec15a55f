"""Stage 2, the algebra: predicates and values over the attributes of a stream, each resolved and typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from ouzel.errors import QueryError, did_you_mean
from ouzel.language import algebra_tree as algebra
from ouzel.language import tree
from ouzel.language.names import quoted
from ouzel.language.notation import dotted
from ouzel.language.tree import Index
from ouzel.logical.algebra.streams import StreamAttribute
from ouzel.logical.bind_expression import ExpressionBinder
from ouzel.logical.bind_time import TIME_FUNCTIONS
from ouzel.logical.coercion import unify
from ouzel.logical.expressions import Attribute, Constant, Duration, Element, Expression
from ouzel.logical.schema import Schema
from ouzel.logical.values import BOOLEAN, INTEGER, UNKNOWN, ValueType

DURATION = "duration"
LAST = "last"
_NOWHERE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Scope:
    """What a formula may read: attributes by name, and those of the event before, where there is one.

    Of an `open` stream not all are known, as there are no data yet: any name may be one.
    """

    attributes: Mapping[str, ValueType]
    last: Mapping[str, ValueType] | None = None
    is_open: bool = False

    @classmethod
    def of(
        cls,
        attributes: Sequence[StreamAttribute],
        last: Sequence[StreamAttribute] | None = None,
        *,
        is_open: bool = False,
    ) -> Scope:
        """The scope of some attributes."""
        before = None if last is None else {one.name: one.type for one in last}
        return cls({one.name: one.type for one in attributes}, before, is_open)


@dataclass(frozen=True)
class Context:
    """What all formulas of a query have in common."""

    schema: Schema
    parameters: Mapping[str, Any] | None
    query: str

    def condition(self, formula: algebra.Formula, scope: Scope, operator: str) -> Expression:
        """Bind what must be true or false."""
        binder = self._binder(formula, scope, operator)
        bound = binder.bind(formula.expression)
        if not (bound.type.is_open or bound.type == BOOLEAN):
            binder.fail(
                f"{operator}: '{formula.text.strip()}' is no condition",
                bound.span,
                required=f"something true or false; got {bound.type}",
            )
        return bound

    def value(self, formula: algebra.Formula, scope: Scope, operator: str) -> Expression:
        """Bind a value."""
        bound = self._binder(formula, scope, operator).bind(formula.expression)
        # a length of time by itself has no unit yet
        return unify([bound], self.schema.time.tick)[0] if isinstance(bound, Constant) else bound

    def _binder(self, formula: algebra.Formula, scope: Scope, operator: str) -> _FormulaBinder:
        # no attribute is the time of an event, whatever it is called
        schema = replace(self.schema, time=replace(self.schema.time, name=""))
        binder = _FormulaBinder(formula.text, schema, {}, self.parameters, query=self.query)
        binder.scope, binder.operator = scope, operator
        return binder


@dataclass
class _FormulaBinder(ExpressionBinder):
    """Binds one formula."""

    scope: Scope = field(default_factory=lambda: Scope({}))
    operator: str = ""

    def bind(self, written: tree.Expression) -> Expression:
        if isinstance(written, tree.Equivalence):
            self.fail(
                "an equivalence test in the algebra",
                written.span,
                required="a comparison of attributes",
                hint="compare those of both sides: firm = company, or company = company.last in a fold",
            )
        if isinstance(written, tree.Call) and written.function == DURATION:
            if written.arguments:
                self.fail(
                    "duration() takes no arguments",
                    written.span,
                    required="duration(), how long the event at hand lasts",
                )
            return Duration(INTEGER, written.span)
        return super().bind(written)

    def _special(self, written: tree.Call) -> Expression:
        if written.function == "between" or written.function in TIME_FUNCTIONS:
            return super()._special(written)
        if written.function in ("start", "end"):
            self.fail(
                f"{written.function}() in the algebra",
                written.span,
                required="attributes, or duration(): the times of events cannot be read (Cayuga 2)",
            )
        return self.fail(
            f"the aggregate '{written.function}' in the algebra",
            written.span,
            required="a function of attributes",
            hint="add up in a fold: extend(n='1').fold(…, step=lambda s: s.extend(n='n.last + 1'))",
        )

    def _is_length(self, argument: Expression) -> bool:
        return isinstance(argument, Duration) or super()._is_length(argument)

    # ---- attributes --------------------------------------------------------------------------------------

    def reference(self, written: tree.Reference) -> Expression:
        parts = [written.variable, *(_parts(written.attribute) if written.attribute else ())]
        name = ".".join(part.text for part in parts)
        if written.index is not Index.NONE:
            self.fail(
                f"the index {written.index.value} in the algebra",
                written.span,
                required="the name of an attribute",
                hint=f"the value before this iteration of a fold is {dotted(written.variable.text)}.last",
            )
        before = ".".join(part.text for part in parts[:-1]) if parts[-1].text.lower() == LAST else None
        if name in self.scope.attributes:
            if before is not None and before in (self.scope.last or ()):
                self._fail_ambiguous(name, before, written)
            return self._attribute_of(name, Element.SINGLE, self.scope.attributes[name], written)
        is_fold = self.scope.last is not None
        if before is not None and (before in self.scope.attributes or (is_fold and self.scope.is_open)):
            return self._last(before, written)
        if self.scope.is_open:
            return self._attribute_of(name, Element.SINGLE, UNKNOWN, written)
        return self._unknown_attribute(name, before, written)

    def _attribute_of(self, name: str, element: Element, held: ValueType, written: tree.Reference) -> Attribute:
        return Attribute("", element, name, name, held, _NOWHERE, written.span)

    def _last(self, name: str, written: tree.Reference) -> Expression:
        if self.scope.last is None:
            self.fail(
                f"{self.operator}: '{dotted(name)}.last', where there is no event before",
                written.span,
                required="x.last only in where= and step= of a fold",
                hint=f"for the value itself write {dotted(name)}",
            )
        held = self.scope.last.get(name)
        if held is None and not self.scope.is_open and not self.schema.is_open:
            self.fail(
                f"{self.operator}: '{dotted(name)}.last' of an attribute that a step adds",
                written.span,
                required=f"an attribute of the left operand: {named(self.scope.last)}",
                hint=f"extend the left operand: extend({name}='…'), which is its first value",
            )
        return self._attribute_of(name, Element.PREVIOUS, held or UNKNOWN, written)

    def _fail_ambiguous(self, name: str, before: str, written: tree.Reference) -> NoReturn:
        self.fail(
            f"{self.operator}: '{dotted(name)}' may be the attribute of that name, or the value of '{before}' "
            "before this iteration",
            written.span,
            required="a name of one meaning",
            hint=f"for the attribute write {quoted(name)}, in backticks; for the value before, rename that",
        )

    def _unknown_attribute(self, name: str, before: str | None, written: tree.Reference) -> NoReturn:
        known, meant = self.scope.attributes, name if before is None else before
        ending = next((one for one in known if one.endswith(f".{meant}")), None)
        hint = f"did you mean '{ending}'?" if ending else did_you_mean(meant, known)
        struct = written.variable.text
        if written.attribute is not None and struct in known:
            hint = f"'{struct}' is one value: make a column of what is in it"
        self.fail(
            f"{self.operator}: unknown attribute '{meant}'",
            written.span,
            required=f"an attribute of the stream: {named(known)}",
            hint=hint,
        )


def _parts(name: tree.Name) -> Sequence[tree.Name]:
    return name.parts or (name,)


def named(names: Mapping[str, Any] | Sequence[str], limit: int = 12) -> str:
    """Attributes in their order, for a message.

    >>> named(["price", "S1.name"]), named([])
    ('price, S1.name', 'there are none')
    """
    shown = ", ".join(list(names)[:limit])
    return f"{shown}, … ({len(names)} in all)" if len(names) > limit else shown or "there are none"


def unknown(operator: str, name: str, known: Sequence[str]) -> QueryError:
    """What is wrong with the name of an attribute that a stream does not have."""
    return QueryError(
        f"{operator}: unknown attribute '{name}'",
        required=f"an attribute of the stream: {named(known)}",
        hint=did_you_mean(name, known),
    )
