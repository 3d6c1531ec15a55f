"""The arguments of a matcher: what a snapshot says of them, and columns that it cannot take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ouzel.errors import SchemaError
from ouzel.logical.parameters import ROWS
from ouzel.physical.limits import Limits
from ouzel.runtimes.kept_parameters import read
from ouzel.runtimes.reading import Reading


def options_in(header: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the matcher that a snapshot was taken of."""
    before = header["reading"]
    params = {name: read(value) for name, value in header["params"].items()}
    return {
        "text": header["text"],
        "schema": values["schema"].schema,
        "reading": Reading(**{**before, "order": tuple(before["order"]), "types": header["types"]}),
        "params": params | {name: value for name, value in values.items() if name.startswith(ROWS)},
        "engine": header["engine"],
        "tuning": header.get("tuning"),  # there was none in snapshots of before
        "limits": Limits(**header["limits"]),
        "watermark": header["delay"],
        "on_late": header["on_late"],
    }


def check_kept(schema: pa.Schema, reading: Reading) -> None:
    """Refuse columns that no batch can bring, or that Arrow cannot keep from batch to batch."""
    for field in schema:
        if field.name in reading.times and pa.types.is_floating(field.type):
            required = "integers, timestamps or dates"
            raise SchemaError(f"time column '{field.name}': required {required}; got {field.type}")
        if not _can_be_joined(field.type):
            raise SchemaError(
                f"column '{field.name}': required a type that Arrow can join; got {field.type}\n"
                "  hint: leave the column out, or cast it"
            )


def _can_be_joined(arrow: pa.DataType) -> bool:
    """Whether Arrow makes one array of several."""
    if pa.types.is_dictionary(arrow) and pa.types.is_nested(arrow.value_type):
        return False
    try:
        pa.schema([pa.field("", arrow)]).empty_table()
    except pa.ArrowNotImplementedError:
        return False
    return True


def types_as_text(types: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Declared types as JSON can hold them: Arrow types by their names."""
    if types is None:
        return None
    return {
        name: {a: None if t is None else str(t) for a, t in one.items()} if isinstance(one, Mapping) else list(one)
        for name, one in types.items()
    }
