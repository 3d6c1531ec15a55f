"""How long it takes to plan: very many queries in one file, from their text to a matcher that is ready."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pyarrow as pa

import ouzel as oz
from ouzel.bench.measure import Contender, Row, measure
from ouzel.language import parse
from ouzel.testing.papers import sase_stream

PARSING, PLANNING = "parsing", "planning"
QUERIES = {
    "sequences": "PATTERN SEQ(E1 a, E2 b) WHERE [attr1] AND a.attr2 > {n} WITHIN 10000",
    "with conditions": """PATTERN SEQ(E1 a, E2 b, E3 c)
        WHERE [attr1] AND a.attr2 > {n} AND b.attr3 < a.attr3 + {n} AND c.attr4 = {n}
        WITHIN 10000 RETURN a.ts AS t1, c.ts - a.ts AS passed""",
    "closures": """PATTERN SEQ(E1+ a[], E2 b)
        WHERE skip_till_next_match {{ [attr1] AND a[i].attr2 > a[i-1].attr2 AND avg(a[].attr3) < b.attr3 }}
        WITHIN {n} RETURN b.ts AS t2, count(a[]) AS n""",
    "negation": """PATTERN SEQ(E1 a, !(E2 b), E3 c) WHERE [attr1] AND b.attr2 > a.attr2 AND a.attr3 > {n}
        WITHIN 10000 RETURN a.ts AS t1""",
}


def planning(queries: int, times: int) -> Iterator[Row]:
    """Queries in one file: from `oz.query` to a matcher that is ready, beside parsing them."""
    schema = sase_stream(1, 1).schema
    for label, text in QUERIES.items():
        source = "\n".join(f"QUERY q{n} {text.format(n=n + 1)}" for n in range(queries))
        contenders = {
            PARSING: Contender(partial(parse.__wrapped__, source)),
            PLANNING: Contender(partial(_ready, source, schema)),
        }
        for row in measure(label, queries, contenders, times, against=PARSING):
            each = {"ms a query": 1_000 * row.figures["seconds"] / queries}
            yield replace(row, figures={**each, **row.figures})


def _ready(source: str, schema: pa.Schema) -> oz.Matcher:
    """A matcher; what was parsed is known, as the text is."""
    return oz.matcher(oz.query(source), schema)
