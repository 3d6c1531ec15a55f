"""Expressions over events and registers in words, as no text of the user's says them like that."""

from __future__ import annotations

from ouzel.logical.expressions import Apply, Attribute, Constant, Element, Expression, Moment, references
from ouzel.logical.functions import TO_FLOAT, TO_SIGNED, Rescale, Stretch
from ouzel.physical.compiled.operands import COMPUTED

# Operators, from those that hold their operands least tightly.
_OPERATORS = (("or",), ("and",), ("=", "!=", "<", "<=", ">", ">=", "like", "rlike"), ("+", "-"), ("*", "/", "%"))
_TIGHTNESS = {name: place for place, names in enumerate(_OPERATORS) for name in names}
_TIGHTEST = len(_OPERATORS)


def formula_words(expression: Expression) -> str:
    """An expression as queries write them.

    >>> from ouzel.logical.functions import BUILT_IN
    >>> from ouzel.logical.values import INTEGER
    >>> from ouzel.errors import Span
    >>> one = Constant(1, INTEGER, Span(0, 0))
    >>> two = Apply(BUILT_IN["+"], (one, one), INTEGER, Span(0, 0))
    >>> formula_words(Apply(BUILT_IN["*"], (two, one), INTEGER, Span(0, 0)))
    '(1 + 1) * 1'
    """
    nodes = (node for node in references(expression) if isinstance(node, Attribute | Moment))
    at_hand = frozenset(node.variable for node in nodes if node.element is Element.CURRENT)
    return _words(expression, at_hand)[0]


def _words(expression: Expression, at_hand: frozenset[str]) -> tuple[str, int]:
    """The words, and how tightly they hold together; an event before one at hand is the last of its variable."""
    match expression:
        case Constant(value):
            return _constant(value), _TIGHTEST
        case Attribute(variable=variable, name=name, column=column, element=element):
            last = ".last" if element is not Element.CURRENT and variable in at_hand else ""
            return name if column == COMPUTED else f"{variable}.{name}{last}", _TIGHTEST
        case Moment(which=which, variable=variable):
            return f"{which}({variable})", _TIGHTEST
        case Apply():
            return _applied(expression, at_hand)
    return type(expression).__name__.lower(), _TIGHTEST


def _applied(expression: Apply, at_hand: frozenset[str]) -> tuple[str, int]:
    name, arguments = expression.function.name, expression.arguments
    if expression.function in (TO_FLOAT, TO_SIGNED) or isinstance(expression.function, Rescale | Stretch):
        return _words(arguments[0], at_hand)
    if name in _TIGHTNESS:
        own = _TIGHTNESS[name]
        # what stands on the left may hold as loosely: a - b - c
        sides = [_inside(one, own + (place > 0), at_hand) for place, one in enumerate(arguments)]
        sign = name.upper() if name.isalpha() else name
        return f" {sign} ".join(sides), own
    if name == "not":
        return f"NOT ({_words(arguments[0], at_hand)[0]})", _TIGHTEST
    if name == "negate":
        return f"-{_inside(arguments[0], _TIGHTEST, at_hand)}", _TIGHTEST
    if name == "is null":
        return f"{_inside(arguments[0], _TIGHTEST, at_hand)} IS NULL", _TIGHTNESS["="]
    given = [_words(one, at_hand)[0] for one in arguments]
    if name == "in":
        return f"{_inside(arguments[0], _TIGHTEST, at_hand)} IN ({', '.join(given[1:])})", _TIGHTNESS["="]
    if name == "case":
        pairs = zip(given[:-1:2], given[1:-1:2], strict=True)
        branches = " ".join(f"WHEN {condition} THEN {value}" for condition, value in pairs)
        return f"CASE {branches} ELSE {given[-1]} END", _TIGHTEST
    return f"{name}({', '.join(given)})", _TIGHTEST


def _inside(expression: Expression, tightness: int, at_hand: frozenset[str]) -> str:
    text, own = _words(expression, at_hand)
    return f"({text})" if own < tightness else text


def _constant(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
