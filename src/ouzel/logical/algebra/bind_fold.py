"""Stage 2, the algebra: μ, whose step must keep what the left operand has, in the types that it has."""

from __future__ import annotations

from ouzel.errors import QueryError
from ouzel.language import algebra_tree as algebra
from ouzel.logical.algebra.agree import agreed, made, signed
from ouzel.logical.algebra.bind_formula import Context, Scope, named
from ouzel.logical.algebra.bind_unary import bind_unary
from ouzel.logical.algebra.bound import Attributes, Bound
from ouzel.logical.algebra.streams import Extend, Fold, Hole, Select, Stream, Where
from ouzel.logical.expressions import Expression


def bind_fold(context: Context, left: Bound, right: Bound, written: algebra.Fold) -> Bound:
    """Bind μ of two streams.

    A step may make a float of what the first value has as an integer: then it is a float from the beginning, and
    as other attributes may depend on it, all is bound anew until nothing changes.  So it is with what is computed
    of unsigned integers.
    """
    is_open = left.is_open or right.is_open
    if not left.is_open:
        _check_right(left, right)
    new = [one for one in right.attributes if one.name not in left.names]  # without data only
    attributes = (*agreed("fold", left.attributes, right.attributes), *new)
    while True:
        scope = Scope.of(attributes, attributes, is_open=is_open)
        condition = None if written.where is None else context.condition(written.where, scope, "fold")
        step = _step(context, written.step, attributes, is_open=is_open)
        _check_step(attributes, step)
        formulas = [*([] if condition is None else [condition]), *_formulas(step.stream)]
        after = agreed(
            "fold, before and after the step", signed(attributes, step.attributes, formulas), step.attributes
        )
        if after == attributes:
            break
        attributes = after
    streams = made(left.stream, attributes), made(right.stream, attributes)
    return Bound(Fold(*streams, condition, made(step.stream, attributes), attributes), is_open)


def _formulas(step: Stream) -> list[Expression]:
    """What a step asks for and computes."""
    match step:
        case Where(of, condition):
            return [*_formulas(of), condition]
        case Extend(of, values):
            return [*_formulas(of), *(value for _name, value in values)]
        case Select(of):
            return _formulas(of)
    return []


def _check_right(left: Bound, right: Bound) -> None:
    for name in right.names:
        if name not in left.names:
            raise QueryError(
                f"fold: '{name}' of the right operand is no attribute of the left one",
                required="a left operand that has every attribute of the right one, for the first iteration; "
                f"it has {named(left.names)}",
                hint=f"extend it: extend({name}='…'), or select on the right what you need",
            )


def _check_step(attributes: Attributes, step: Bound) -> None:
    for one in attributes:
        if one.name not in step.names:
            raise QueryError(
                f"fold: the step drops '{one.name}'",
                required="a step that keeps every attribute of the left operand",
                hint=f"select it too: {named([other.name for other in attributes])}",
            )


def _step(context: Context, step: algebra.Stream | None, attributes: Attributes, *, is_open: bool) -> Bound:
    """What a step makes of what came of an iteration."""
    if step is None or isinstance(step, algebra.Hole):
        return Bound(Hole(attributes), is_open)
    if not isinstance(step, algebra.Where | algebra.Extend | algebra.Select):
        raise QueryError("fold: a step with another operator", required="where, extend and select")
    return bind_unary(context, step, _step(context, step.of, attributes, is_open=is_open), attributes)
