"""Stage 2, the algebra: which column of events an attribute shows as it came, if it does."""

from __future__ import annotations

from ouzel.logical.algebra.streams import Base, Extend, Fold, Hole, Next, Rename, Select, Stream, Union, Where
from ouzel.logical.expressions import Attribute, Element


def shown_column(stream: Stream, name: str) -> str | None:
    """The column of events whose values an attribute of a stream has; None if they are computed, or of several."""
    match stream:
        case Base(_types, attributes, columns):
            pairs = zip(attributes, columns, strict=True)
            return next((column.name for one, column in pairs if one.name == name), None)
        case Hole():
            return name
        case Where(of) | Select(of):
            return shown_column(of, name)
        case Rename(of, attributes):
            place = [one.name for one in attributes].index(name)
            return shown_column(of, of.attributes[place].name)
        case Extend(of, values):
            value = dict(values).get(name)
            if value is None:
                return shown_column(of, name)
            if not isinstance(value, Attribute) or value.element is not Element.SINGLE:
                return None
            return shown_column(of, value.column)
        case Union(left, right):
            return _of_both(left, right, name)
        case Next(left, right):
            is_right = name in [one.name for one in right.attributes]
            return shown_column(right if is_right else left, name)
        case Fold(left, right, _where, step):
            if shown_column(step, name) != name:
                return None
            is_right = name in [one.name for one in right.attributes]
            return _of_both(left, right, name) if is_right else shown_column(left, name)


def _of_both(left: Stream, right: Stream, name: str) -> str | None:
    column = shown_column(left, name)
    return column if column == shown_column(right, name) else None
