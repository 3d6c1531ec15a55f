"""Rewrite rules (ZStream 5.2.1): golden pairs of queries before and after a rule, both of which are executed.

The pairs of a rule are in tests/golden/rewrites/<rule>.ozl.  The reference matcher runs queries as they are.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ouzel as oz
from engines.splits import in_batches, ingested, whole
from ouzel.compile import compile_query
from ouzel.explain.words import infix, type_words
from ouzel.logical.pattern import components
from ouzel.logical.query import BoundQuery
from ouzel.logical.rewrites import Rewritten, rewrite, rules
from ouzel.testing.strategies import streams

Events = list[dict[str, Any]]
GOLDEN = Path(__file__).parents[1] / "golden" / "rewrites"
OWN = {"eid": "string", "k": "int64", "x": "int64", "y": "int64", "s": "string"}
TYPES = {name: OWN | ({"z": "int64"} if name == "C" else {}) for name in "ABCD"}
FEW = oz.Limits(max_matches=10_000, max_runs=50_000)
# events that last
LASTING = """QUERY lasting PATTERN B a; A b WITHIN 4
RETURN a.eid AS eid, a.k AS k, b.x AS x, a.y AS y, b.s AS s, a.x AS z INTO P
"""


def pairs(rule: str) -> list[tuple[str, str]]:
    parts = re.split(r"^-- (?:before|after).*\n", (GOLDEN / f"{rule}.ozl").read_text(), flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


NAMES = [rule.__name__ for rule in rules.RULES]
PAIRS = [(name, *pair) for name in NAMES for pair in pairs(name)]
IDS = [f"{name}-{number}" for name in NAMES for number, _pair in enumerate(pairs(name), 1)]
every_pair = pytest.mark.parametrize(("rule", "before", "after"), PAIRS, ids=IDS)


def rewritten(text: str) -> Rewritten:
    table = ingested([{"ts": 1, "type": "A"}], types=TYPES)
    return rewrite(compile_query(f"{LASTING}QUERY q {text}", table.schema, {}).plans[-1].query)


def shown(query: BoundQuery) -> tuple[str, list[str], list[str]]:
    """The pattern, the types of its components, and what is said of them."""
    own = list(components(query.pattern))
    names = {one.variable for one in own}
    conditions = sorted(one.text for one in query.conjuncts if one.variables <= names)
    return infix(query.pattern), [type_words(one) for one in own], conditions


def found(text: str, events: Events, engine: str) -> Any:
    events = [{**one, "z": one["x"], "s": "xy"[one["ts"] % 2]} for one in events]
    return oz.match(events, f"{LASTING}QUERY q {text}", engine=engine, types=TYPES, limits=FEW)["q"]


def test_every_rule_has_pairs() -> None:
    assert sorted(path.stem for path in GOLDEN.glob("*.ozl")) == sorted(NAMES)


@every_pair
def test_a_rule_makes_the_one_of_the_other(rule: str, before: str, after: str) -> None:
    simpler = rewritten(before)
    assert {name for name, _query in simpler.steps} == {rule.replace("_", " ")}
    wanted = rewritten(after)
    assert shown(simpler.query) == shown(wanted.query)
    assert wanted.steps == ()


@every_pair
@settings(max_examples=10)
@given(events=streams(min_events=6, max_events=12))
def test_both_find_the_same(rule: str, before: str, after: str, events: Events) -> None:
    wanted = found(before, events, "reference")
    assert found(after, events, "reference") == wanted
    assert found(before, events, "tree") == wanted
    with patch.object(rules, "RULES", ()):
        assert found(before, events, "tree") == wanted


LEFT_ALONE = {
    "negatives in different places": "A a; !(B b); C c; !(D d); A e",
    "negatives with different conditions": "A a; !(B b); !(C c); D d WHERE b.x > 1 AND c.x > 2",
    "negatives with different conditions on others": "A a; !(B b); !(C c); D d WHERE b.x > a.x AND c.x > d.x",
    "of two negatives neither is of all that the other is": "A a; !(B b); !(ANY(B, C) c); D d WHERE c.x > 1",
    "negatives before and behind a group": "A a; !(B b); C+ g; !(B c); D d",
    "negatives among alternatives": "A a; !(B b); (SEQ(!(C c), D d) | A e)",
    "alternatives that are returned": "(A a | B b); C c RETURN a.x",
    "alternatives of which all is returned": "(A a | B b); C c",
    "alternatives that are counted": "(A a | B b); C c RETURN count(a.x) OUTPUT AGGREGATE",
    "alternatives that may be the same event": "(A a | ANY(A, B) b); C c RETURN c.x",
    "alternatives of which different things are said": "(A a | B b); C c WHERE a.x > 1 RETURN c.x",
    "alternatives that are compared, which is never asked": "(A a | B b); C c WHERE a.x > b.x RETURN c.x",
    "alternatives with others between": "(A a | SEQ(C e, D d) | B b); C c RETURN c.x",
    "alternatives beside a conjunction": "(A a | B b) & C c RETURN c.x",
    "alternatives that are closures": "(A+ a[] | B+ b[]); C c RETURN c.x",
    "a conjunction in which ties are allowed": "A a & B b WHERE end(a) <= start(b)",
    "a conjunction of what lasts, by starts": "P p & B b WHERE start(p) < start(b)",
    "a conjunction by an attribute": "A a & B b WHERE a.x < b.x",
    "a conjunction, part of which is in order": "A a & B b & C c WHERE end(a) < start(b)",
    "a conjunction that goes round": "A a & B b WHERE end(a) < start(b) AND end(b) < start(a)",
    "a conjunction in order or not": "A a & B b WHERE end(a) < start(b) OR a.x = 1",
    "a conjunction of which something may be empty": "A? a & B b WHERE end(a) < start(b)",
    "a conjunction of closures": "A+ a[] & B b WHERE end(a) < start(b)",
    "a conjunction of what may not be there": "(A a | C c) & B b WHERE end(a) < start(b)",
    "a conjunction with what must not happen at an edge": "(A a; !(C c)) & B b WHERE end(a) < start(b) WITHIN 5",
    "alternatives that can both be": "(A a | B b) WHERE a.x > 1 AND a.x < 3",
    "alternatives none of which can be": "(A a | B b) WHERE a.x > 1 AND a.x < 1 AND b.x = 1 AND b.x = 2",
    "an alternative that may be empty": "(A* a[] | B b); C c WHERE a[i].x = 1 AND a[i].x = 2",
    "an alternative of which some types lack an attribute": "(ANY(A, C) a | B b) WHERE a.z = 1 AND a.z = 2",
}


@pytest.mark.parametrize("case", LEFT_ALONE)
def test_what_would_mean_something_else_is_left_alone(case: str) -> None:
    assert rewritten(f"PATTERN {LEFT_ALONE[case]}").steps == ()


# ---- random queries to which rules apply -----------------------------------------------------------------


@st.composite
def rewritable(draw: st.DrawFn) -> str:
    """A sequence of what rules look for, with conditions that are often the same."""
    names = iter("abcdefghijklmnopqrstuvwxyz")
    single: list[str] = []
    conditions: list[str] = []

    def component(*, negative: bool = False) -> str:
        name, types = next(names), draw(st.sampled_from(("A", "B", "C", "P", "ANY(A, B)", "ANY(C, P)")))
        conditions.extend(one.format(name) for one in draw(st.sampled_from(SAID)))
        if negative:
            return f"!({types} {name})"
        single.append(name)
        return f"{types} {name}"

    def part(kind: str) -> str:
        many = range(draw(st.integers(2, 3)))
        match kind:
            case "!":
                return "; ".join(component(negative=True) for _ in many)
            case "&" | "|":
                begun = len(single)
                negative = [component(negative=True) for _ in many if kind == "&" and draw(st.booleans())]
                text = f" {kind} ".join([*(component() for _ in many), *negative])
                own = draw(st.permutations(single[begun:]))
                if kind == "&":
                    conditions.extend(f"end({x}) < start({y})" for x, y in pairwise(own))
                return f"({text})"
        return component()

    kinds = draw(st.lists(st.sampled_from(("one", "!", "&", "|")), min_size=1, max_size=3))
    pattern = "; ".join([*map(part, kinds), component()])
    returned = draw(st.lists(st.sampled_from(single), min_size=1, unique=True))
    where = f"WHERE {' AND '.join(conditions)} " if conditions else ""
    window = f"WITHIN {draw(st.integers(2, 9))} {draw(st.sampled_from(('', 'EVENTS')))}"
    columns = ", ".join(f"{name}.eid AS {name}" for name in returned)
    end = draw(st.sampled_from(("", "", "OUTPUT NON_OVERLAP")))
    return f"PATTERN {pattern} {where}{window} RETURN {columns}, match_number() AS number {end}"


SAID = ((), (), (), ("{}.x > 1",), ("{}.x > 1", "{}.y < 3"), ("{}.x > 3", "{}.x < 2"))


@settings(max_examples=100)
@given(rewritable(), streams(min_events=4, max_events=10))
def test_rewritten_random_queries(text: str, events: Events) -> None:
    assume(rewritten(text).steps)
    try:
        wanted = found(text, events, "reference")
    except oz.OuzelError:
        assume(False)
    assert found(text, events, "tree") == wanted


@settings(max_examples=40)
@given(rewritable(), streams(min_events=4, max_events=10), st.lists(st.integers(0, 9), max_size=5), st.booleans())
def test_rewritten_random_queries_in_batches(text: str, events: Events, cuts: list[int], resumed: bool) -> None:
    text = re.sub(r"\bP\b", "D", text).replace(", match_number() AS number", "")
    assume(rewritten(text).steps)
    table = ingested(events, types=TYPES)
    tree, reference = (compile_query(text, table.schema, {}, engine).plans[0] for engine in ("tree", "reference"))
    found = in_batches(tree.physical, table, cuts, resumed=resumed)
    assert found == whole(reference.physical, table)


# ---- explain ---------------------------------------------------------------------------------------------


def test_an_explanation_names_the_rules_and_says_where_conditions_went() -> None:
    query = "PATTERN A a; !(B b); !(C c); (D d & A e) WHERE b.x > 1 AND c.x > 1 AND end(e) < start(d)"
    text = oz.query(query).explain(engine="tree")
    rewriting = "  rewritten   unite negatives     a; !b; (d & e)\n              order conjunctions  a; !b; e; d\n"
    assert rewriting in text
    assert re.search(r"b\.x > 1 +leaves: mask of b", text)
    assert re.search(r"c\.x > 1 +nowhere: c was rewritten", text)


def test_who_spells_an_order_of_joins_out_means_the_pattern_as_it_is_written() -> None:
    query = "PATTERN A a & B b & C c WHERE end(a) < start(c) AND end(c) < start(b)"
    events = [{"ts": place, "type": name} for place, name in enumerate("ACB")]
    found = oz.match(events, query, engine="tree", tuning={"plan": "a (b c)"})
    assert found == oz.match(events, query, engine="reference")
