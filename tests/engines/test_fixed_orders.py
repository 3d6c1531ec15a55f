"""Orders of joins that users write: which there are for a pattern, and what is wrong with others."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ouzel as oz
from ouzel.compile import compile_query
from ouzel.logical.schema import open_schema
from ouzel.physical.statistics import Statistics
from ouzel.physical.tree.orders import NAMED, order_of, written
from ouzel.physical.tree.plan import TreePlan
from ouzel.testing.combinations import combinations
from ouzel.testing.strategies import RandomQuery, queries

EVENTS = [{"ts": n, "type": "ABCD"[n * 7 % 5 % 4], "x": n % 3} for n in range(24)]
OPTIONAL = "SEQ(A a, B? b, C c, D d)"


def orders(pattern: str, plan: str) -> set[str]:
    """The orders of the variants of a pattern."""
    made = compile_query(f"PATTERN {pattern}", open_schema(), tuning={"plan": plan}).plans[0].physical
    assert isinstance(made, TreePlan)
    return {written(one) for one in made.orders(Statistics({})) if one}


@pytest.mark.parametrize(
    ("pattern", "plan", "taken"),
    [
        ("A a; B b; C c", "((a b) c)", {"((a b) c)"}),
        ("A a; B b; C c", "a (b c)", {"(a (b c))"}),
        (OPTIONAL, "((a b) (c d))", {"((a b) (c d))", "(a (c d))"}),
        (OPTIONAL, "(a ((b c) d))", {"(a ((b c) d))", "(a (c d))"}),
        (OPTIONAL, "((a c) d)", {"(((a b) c) d)", "((a c) d)"}),
        ("SEQ(A? a, B b, C c, D d)", "(b (c d))", {"((a b) (c d))", "(b (c d))"}),
        ("A a & B b & D d", "((d a) b)", {"((d a) b)"}),
        ("A a & B b & C c & D d", "((d b) (c a))", {"((d b) (c a))"}),
        ("A a & B b & C? c & D d", "(d (b a))", {"(d ((b c) a))", "(d (b a))"}),
        ("(A a & B b); C c; D d", "((b a) (c d))", {"((b a) (c d))"}),
        ("(A a & B b); C c; D d", "((a b c) d)", {"(((a b) c) d)"}),
        ("(A a | B b); C c; D d", "((a b) (c d))", {"((a b) (c d))"}),
        ("A a; (B b & C c & D d)", "(a ((d b) c))", {"(a ((d b) c))"}),
        ("A a; !B n; C c; D d", "(a (c d))", {"(a (c d))"}),
        ("A a; B* b[]; C c; D d", "(a (b (c d)))", {"(a (b (c d)))", "(a (c d))"}),
    ],
)
def test_orders_that_there_are(pattern: str, plan: str, taken: set[str]) -> None:
    query = f"PATTERN {pattern} WITHIN 9"
    assert orders(pattern, plan) == taken
    assert oz.match(EVENTS, query, tuning={"plan": plan}) == oz.match(EVENTS, query, engine="reference")


@pytest.mark.parametrize(
    ("pattern", "plan", "message"),
    [
        ("SEQ(A a, B b, C c)", "left", "required left-deep, right-deep, bushy, auto, or the variables a, b, c in"),
        ("SEQ(A a, B b, C c)", "", "auto, or the variables a, b, c in parentheses; got ''"),
        ("SEQ(A a, B b, C c)", "((a b) x)", "got 'x'"),
        ("SEQ(A a, B b, C c)", "((a b) c", "required as many ')' as '('"),
        (
            "SEQ(A a, B b, C c)",
            "((a c) b)",
            "required two parts for (a b c), neighbours together, each in parenth",
        ),
        ("SEQ(A a, B b, C c)", "(a b c)", "required two parts for (a b c), neighbours together, each in parenthe"),
        ("SEQ(A a, B b, C c)", "((b a) c)", "required a before b: a sequence keeps its order"),
        ("SEQ(A a, B b, C c)", "(c (a b))", "required a, b before c: a sequence keeps its order"),
        ("SEQ(A a, B b, C c)", "(a b)", "required all of a, b, c; c is missing"),
        ("SEQ(A a, B b, C c)", "((a b) (c a))", "required each variable once; got a 2 times"),
        ("A a & B b & D d", "(a b d)", "required two parts for (a b d), each in parentheses"),
        (
            "A a; !B n; C c; D d",
            "((a n) (c d))",
            "required some of a, c, d; n is a negative component, and belongs",
        ),
        (
            "A a; B+ b; C c; D d",
            "((a b) (c d))",
            "required some of a, c, d; b is a grouping closure, and belongs to",
        ),
        ("SEQ(A p, B q, C r)", "((p r) q)", "hint: write plan='((p q) r)' or '(p (q r))'"),
        ("(A a; B b) & (C c; D d)", "bushy", "got '(a; b) & (c; d)', which is joined of two parts, in one way; '"),
        ("(A a; B b) & (C c; D d)", "bushy", "'a; b', which is joined of two parts, in one way; 'c; d', which is"),
        (
            "A a; B+ b; C c",
            "left-deep",
            "'a; c', which is joined of two parts, in one way; b is a grouping closure",
        ),
        ("A a", "left-deep", "got a alone"),
    ],
)
def test_orders_that_there_are_not(pattern: str, plan: str, message: str) -> None:
    with pytest.raises(oz.OuzelError) as error:
        oz.match(EVENTS, f"PATTERN {pattern}", tuning={"plan": plan})
    assert str(error.value).startswith(f"plan '{plan}': required ")
    assert message in str(error.value)


@settings(max_examples=200)
@given(st.one_of(queries(), combinations()), st.sampled_from([*NAMED, "best"]))
def test_every_order_can_be_written(query: RandomQuery, name: str) -> None:
    try:
        made = compile_query(query.text, open_schema(), engine="tree").plans[0].physical
    except oz.OuzelError:
        assume(False)
    assert isinstance(made, TreePlan)
    for variant, best in zip(made.variants, made.orders(Statistics({})), strict=True):
        if variant.root and best:
            order = best if name == "best" else order_of(name, variant.root)
            assert written(order_of(written(order), variant.root)) == written(order)


def test_of_several_queries_the_error_names_one() -> None:
    text = "QUERY first PATTERN A a; B b; C c\n\nQUERY second PATTERN A a; B b"
    with pytest.raises(oz.OuzelError, match="query 'second': plan 'bushy': required three components or more"):
        oz.match(EVENTS, text, tuning={"plan": "bushy"})
    with pytest.raises(oz.OuzelError, match=r"^unknown engine 'three'"):
        oz.match(EVENTS, text, engine="three")
