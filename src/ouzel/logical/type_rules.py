"""Type rules of functions and operators: the types of the arguments in, the type of the result out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ouzel.logical.values import BOOLEAN, FLOAT, INTEGER, STRING, UNKNOWN, Kind, ValueType, common_type, finer


class TypeClash(Exception):  # noqa: N818 - never leaves the binder, which says where it happened
    """The arguments' types do not fit; the message says what the function takes."""


class WrongCount(TypeClash):
    """There are too few arguments or too many."""


def takes(count: int | tuple[int, int | None], *kinds: Kind) -> Callable[[Sequence[ValueType]], None]:
    """A check of how many arguments there are and of which kinds."""
    least, most = (count, count) if isinstance(count, int) else count
    wanted = "any value" if not kinds else " or ".join(kind.value for kind in kinds)

    def check(types: Sequence[ValueType]) -> None:
        if len(types) < least or (most is not None and len(types) > most):
            exact = f"{least}" if least == most else f"{least} or more" if most is None else f"{least} to {most}"
            plural = "" if exact == "1" else "s"
            raise WrongCount(f"{exact} argument{plural}; got {len(types)}")
        for value_type in types:
            if kinds and not value_type.is_open and value_type.kind not in kinds:
                raise TypeClash(f"{wanted}; got {value_type}")

    return check


NUMBERS = (Kind.INTEGER, Kind.FLOAT)


def fixed(result: ValueType, count: int | tuple[int, int | None], *kinds: Kind) -> Callable[..., ValueType]:
    """A rule whose result is always of one type."""
    check = takes(count, *kinds)

    def rule(types: Sequence[ValueType]) -> ValueType:
        check(types)
        return result

    return rule


def same_number(types: Sequence[ValueType]) -> ValueType:
    """The result has the type of the only argument, a number or duration."""
    takes(1, *NUMBERS, Kind.DURATION)(types)
    return types[0]


def arithmetic(types: Sequence[ValueType]) -> ValueType:
    """Numbers give a number, a float if one of them is."""
    for value_type in types:
        if not value_type.is_number and not value_type.is_open:
            raise TypeClash(f"numbers; got {types[0]} and {types[1]}")
    if any(value_type.is_open for value_type in types):
        return UNKNOWN
    return FLOAT if any(value_type.kind is Kind.FLOAT for value_type in types) else INTEGER


def plus(types: Sequence[ValueType]) -> ValueType:
    """Numbers; a time and a duration; two durations."""
    left, right = types
    if right.kind is Kind.DURATION and left.kind in (Kind.TIMESTAMP, Kind.DURATION):
        return left
    if left.kind is Kind.DURATION and right.kind is Kind.TIMESTAMP:
        return right
    if left.is_open or right.is_open:
        return UNKNOWN
    return arithmetic(types)


def minus(types: Sequence[ValueType]) -> ValueType:
    """Numbers; two times, whose difference is a duration; a time or duration less a duration."""
    left, right = types
    if left.kind is right.kind and left.kind in (Kind.TIMESTAMP, Kind.TIME):
        return ValueType(Kind.DURATION, finer(left.unit or "ns", right.unit or "ns"))
    if left.kind is Kind.TIMESTAMP and right.kind is Kind.DURATION:
        return left
    if left.kind is right.kind is Kind.DURATION:
        return left
    if left.is_open or right.is_open:
        return UNKNOWN
    return arithmetic(types)


def quotient(types: Sequence[ValueType]) -> ValueType:
    """A quotient is a float, also of integers and of two durations."""
    if all(value_type.kind is Kind.DURATION or value_type.is_open for value_type in types):
        return FLOAT
    arithmetic(types)
    return FLOAT


def comparable(types: Sequence[ValueType]) -> ValueType:
    """Two values of one type can be equal; two numbers of any kind too."""
    left, right = types
    if left.is_open or right.is_open or (left.is_number and right.is_number):
        return BOOLEAN
    same = left.kind is right.kind and left.kind not in (Kind.OTHER, Kind.EVENT, Kind.LIST)
    if not same or (left.zone is None) != (right.zone is None):
        raise TypeClash(f"two values of one type; got {left} and {right}")
    return BOOLEAN


def ordered(types: Sequence[ValueType]) -> ValueType:
    """Values of one type that has an order."""
    if Kind.BOOLEAN in (types[0].kind, types[1].kind):
        raise TypeClash("values that have an order; got boolean")
    return comparable(types)


def unified(types: Sequence[ValueType]) -> ValueType:
    """The type of coalesce, least, greatest and of CASE's branches: the binder has unified them."""
    if not types:
        raise WrongCount("1 or more arguments; got 0")
    known = [value_type for value_type in types if not value_type.is_open]
    if any(value_type.kind is Kind.UNSIGNED for value_type in known):
        return common_type(known)
    return known[0] if known else types[0]


def case_type(types: Sequence[ValueType]) -> ValueType:
    """CASE has the type of its branches, which stand at odd places and at the end."""
    return unified([*types[1:-1:2], types[-1]])


def membership(types: Sequence[ValueType]) -> ValueType:
    """IN compares its first argument with each of the others."""
    for value_type in types[1:]:
        comparable((types[0], value_type))
    return BOOLEAN


def substring_type(types: Sequence[ValueType]) -> ValueType:
    """Text, a first position, and perhaps a length."""
    takes((2, 3))(types)
    takes(1, Kind.STRING)(types[:1])
    for position in types[1:]:
        takes(1, Kind.INTEGER)((position,))
    return STRING
