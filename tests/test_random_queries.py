"""Whatever a query says, matching it gives a table or raises an error of Ouzel's own."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ouzel as oz
from valid_queries import QUERIES

KINDS = "ABCABDEFABC"
COLUMNS = {
    "ts": pa.array(range(len(KINDS)), pa.int64()),
    "type": pa.array(list(KINDS)),
    "x": pa.array([None, *range(1, len(KINDS))], pa.int64()),
    "y": pa.array([n / 2 for n in range(len(KINDS))]),
    "s": pa.array([None if n % 4 == 3 else "t" * (n % 3) for n in range(len(KINDS))]),
    "ok": pa.array([n % 2 == 0 for n in range(len(KINDS))]),
    "day": pa.array(range(len(KINDS)), pa.date32()),
    "took": pa.array(range(len(KINDS)), pa.duration("ms")),
}
TABLES = {
    "integer times": pa.table(COLUMNS),
    "timestamps": pa.table(COLUMNS | {"ts": pa.array(range(len(KINDS)), pa.timestamp("s", "Europe/Madrid"))}),
    "no types": pa.table(COLUMNS).drop_columns(["type"]),
    "no events": pa.table(COLUMNS).slice(0, 0),
}
PARAMS = {"p": 20, "v": 3, "T": 5, "xs": [1, 2], "name": "t", "none": None}


def matched_or_refused(events: pa.Table, text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oz.OuzelWarning)
        try:
            used = {name: PARAMS[name] for name in re.findall(r"\$(\w+)", text) if name in PARAMS}
            result: Any = oz.match(events, text, params=used)
        except oz.OuzelError:
            return
    for table in result.values() if isinstance(result, dict) else [result]:
        table.validate(full=True)


# ---- expressions -----------------------------------------------------------------------------------------

# What an expression of each kind may be.  Greek letters are places to fill: ν a number, κ a condition, σ text, τ a
# time, δ a length of time, α anything, and ω a variable.  The first form of each kind is the simplest.
FORMS = {
    "ν": "a.x|ω.x|ω.y|0|1|-2|2.5|20%|$v|$p%|NULL|9223372036854775807|$none|b.LEN|count(b[])|sum(b[].x)|max(b[].y)"
    "|avg(b[..i-1].y)|first(b[].x)|x|(ν + ν)|(ν - ν)|ν * ν|ν / ν|(ν % ν)|-(ν)|abs(ν)|floor(ν)|sqrt(ν)|exp(ν)"
    "|ln(ν)|coalesce(ν, ν)|greatest(ν, ν, ν)|CASE WHEN κ THEN ν ELSE ν END|CASE ν WHEN ν THEN ν END|(δ / δ)|min(ν)"
    "|sum(ω.y)",
    "κ": "a.ok|ω.ok|TRUE|ν = ν|ν < ν|ν >= ν|ν != ν|σ = σ|σ < σ|σ LIKE σ|τ < τ|τ = τ|δ > δ|δ < 3 hours|(κ AND κ)"
    "|(κ OR κ)|NOT (κ)|(α IS NULL)|(α IS NOT NULL)|ν IN (ν, ν)|ν IN $xs|ν BETWEEN ν AND ν|τ BETWEEN τ AND τ|[x]"
    "|α = α|κ = κ|CASE WHEN κ THEN κ END",
    "σ": "a.s|ω.s|'t'|'%t_'|$name|lower(σ)|upper(σ)|substring(σ, ν, ν)|coalesce(σ, σ)|CASE κ WHEN κ THEN σ END",
    "τ": "a.ts|ω.ts|ω.day|start(ω)|end(ω)|'2026-01-31'|(τ + δ)|(τ - δ)|(τ + 2 units)|least(τ, τ)|max(b[].ts)",
    "δ": "a.took|ω.took|3 hours|2 units|-1.5 secs|(τ - τ)|(δ + δ)|abs(δ)|-(δ)|coalesce(δ, δ)|min(b[].took)",
    "α": "a.x|ν|κ|σ|τ|δ|ω|b[]|b[].y|f(ν)|`odd name`(ν)|$xs|b[2].x|d.x|a.no",
    "ω": "a|a|a|b|b[i]|b[i-1]|b[1]|b[b.LEN]|c|n",
}


@st.composite
def expressions(draw: st.DrawFn, kind: str = "κ") -> str:
    """An expression of a kind, most of it of the right types."""
    text = kind
    for _ in range(draw(st.integers(1, 12))):
        places = [place for place, sign in enumerate(text) if sign in FORMS]
        if places:
            place = draw(st.sampled_from(places))
            text = text[:place] + draw(st.sampled_from(FORMS[text[place]].split("|"))) + text[place + 1 :]
    return "".join(FORMS[sign].split("|")[0] if sign in FORMS else sign for sign in text)


PATTERNS = st.sampled_from(
    (
        *("A a", "SEQ(A a, B+ b[])", "SEQ(B+ b[], A a)", "SEQ(A a, B* b[], !(C n), A c)", "SEQ(A a, B b)"),
        *("SEQ(A? a, B{1,2} b[], ANY(A, C) c)", "A a; B+ b; A c", "A a; B^2 b; C c", "A a & C c & !B n"),
        *("(A a | C c); B b", "!(C n); A a; B b", "SEQ(A a, !(C n))", "(A a; !C n) | B b"),
    )
)
WINDOWS = st.sampled_from(("", "WITHIN 4", "WITHIN 3 secs INCLUSIVE", "WITHIN 3 EVENTS", "WITHIN $T"))
INTO = st.sampled_from(("", "INTO T PATTERN T t", "INTO T PATTERN SEQ(T t, A a) RETURN t, a.x"))
OUTPUTS = st.sampled_from(
    ("OUTPUT NON_OVERLAP", "RETURN count(*), sum(a.x), max(b.y), min(c.day) OUTPUT AGGREGATE")
)
STRATEGIES = st.sampled_from(("skip_till_any_match", "skip_till_next_match", "strict_contiguity"))


@st.composite
def queries(draw: st.DrawFn) -> str:
    parts = [f"PATTERN {draw(PATTERNS)}"]
    where = " AND ".join(draw(st.lists(expressions(), max_size=3)))
    if where:
        parts.append(f"WHERE {draw(STRATEGIES)} {{ {where} }}" if draw(st.booleans()) else f"WHERE {where}")
    parts.append(draw(WINDOWS))
    items = draw(st.lists(st.sampled_from("νκστδα").flatmap(expressions), max_size=2))
    if items:
        parts.append("RETURN " + ", ".join(f"{item} AS c{n}" for n, item in enumerate(items)))
        parts.append(draw(INTO))
    elif draw(st.booleans()):
        parts.append(draw(OUTPUTS))
    return " ".join(parts)


@given(queries(), st.sampled_from(sorted(TABLES)))
def test_random_queries(query: str, events: str) -> None:
    matched_or_refused(TABLES[events], query)


@given(expressions())
def test_random_conditions(condition: str) -> None:
    matched_or_refused(TABLES["integer times"], f"PATTERN SEQ(A a, B+ b[], !(C n), A c) WHERE {condition}")


@given(st.sampled_from("νκστδα").flatmap(expressions))
def test_random_results(value: str) -> None:
    matched_or_refused(TABLES["timestamps"], f"PATTERN SEQ(A a, B+ b[], A? c) WITHIN 9 RETURN {value} AS value")


@pytest.mark.parametrize("events", TABLES)
@pytest.mark.parametrize("query", QUERIES)
def test_queries_that_use_every_form(query: str, events: str) -> None:
    matched_or_refused(TABLES[events], query)


@given(st.sampled_from(QUERIES), st.randoms(use_true_random=False))
def test_queries_with_words_exchanged(query: str, random: Any) -> None:
    words = re.findall(r"\s+|[^\W\d]\w*|\d+(?:\.\d+)?|'[^']*'|.", query)
    places = [place for place, word in enumerate(words) if word.strip()]
    for _ in range(random.randint(1, 3)):
        one, other = random.choice(places), random.choice(places)
        words[one], words[other] = words[other], words[one]
    matched_or_refused(TABLES["integer times"], "".join(words))
