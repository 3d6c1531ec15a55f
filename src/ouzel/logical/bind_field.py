"""Stage 2: what is wrong with a path to a field of a struct."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from ouzel.errors import QueryError, did_you_mean, listed
from ouzel.language import tree
from ouzel.logical.values import from_arrow


def unknown_field(source: str, path: tree.Name, columns: Mapping[str, pa.DataType]) -> tree.Name:
    """Say which field there is not; if it is no path, or its first name is not known either, return that name."""
    walked, arrow = "", None
    for part in path.parts:
        if arrow is None and part.text not in columns:
            return part
        if arrow is not None:
            if not pa.types.is_struct(arrow):
                raise _no_struct(source, path, walked, arrow)
            names = [field.name for field in arrow]
            if part.text not in names:
                raise QueryError(
                    f"unknown field '{part.text}' of '{walked}'",
                    source,
                    part.span,
                    required=f"one of {listed(names)}",
                    hint=did_you_mean(part.text, names),
                )
        arrow = columns[part.text] if arrow is None else arrow.field(part.text).type
        walked = f"{walked}.{part.text}" if walked else part.text
    return path


def _no_struct(source: str, path: tree.Name, walked: str, arrow: pa.DataType) -> QueryError:
    is_map = pa.types.is_map(arrow)
    is_list = pa.types.is_nested(arrow) and not is_map
    what = "a map" if is_map else "a list" if is_list else str(from_arrow(arrow))
    return QueryError(
        f"'{walked}' is {what} and has no fields",
        source,
        path.span,
        required="an attribute that is a struct",
        hint="elements of lists and maps have no names here: make columns of those you need"
        if is_map or is_list
        else None,
    )
