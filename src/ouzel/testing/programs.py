"""Random programs for Hypothesis: queries that feed each other, and patterns longer than a word has bits."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ouzel.testing.strategies import STRATEGIES, Component, RandomQuery, queries

Program = list[RandomQuery]
LENGTHS = (61, 64, 65, 80)
"""How many components a long pattern has."""


@st.composite
def programs(draw: st.DrawFn, levels: int = 3, *, closures: bool = True) -> Program:
    """Up to so many queries that feed each other; the last one may read what all others make.

    Without closures they are sequences of single events, all combinations of them.
    """
    made: Program = []
    count = draw(st.integers(2, levels))
    for level in range(count):
        # all combinations of all combinations are too many
        some = closures and draw(st.booleans())
        every = STRATEGIES[-1:]
        query = draw(
            queries(
                strategies=STRATEGIES[1:3] if some else (*STRATEGIES, *2 * every) if closures else every,
                closures=some,
                alternatives=closures,
                non_overlap=True,
                totals=level == count - 1,
                composites=tuple(one.into for one in made),
            )
        )
        query.into = "PQR"[level]
        if draw(st.integers(0, 3)):
            # few matches, few events for the next one
            query.conditions = [one for one in query.conditions if one.startswith("[k")]
        made.append(query)
    made[-1].into = ""
    return made


def program_text(program: Program) -> str:
    """The queries of a program as one would write them, called q1, q2, …"""
    return "\n".join(f"QUERY q{number} {query.text}" for number, query in enumerate(program, 1))


@st.composite
def long_patterns(draw: st.DrawFn) -> tuple[RandomQuery, list[dict[str, Any]]]:
    """A pattern of many components, and a stream that has them all in order, and perhaps some more."""
    types = draw(st.lists(st.sampled_from("ABC"), min_size=80, max_size=80))[: draw(st.sampled_from(LENGTHS))]
    components = [Component(f"v{place}", f"{kind} v{place}", "one") for place, kind in enumerate(types)]
    query = RandomQuery(components, f"SEQ({', '.join(one.text for one in components)})")
    # of all choices of so many events the reference would have a run each
    query.strategy = draw(st.sampled_from(("skip_till_next_match", "skip_till_next_match", "strict_contiguity")))
    conditions = ("[k]", "v3.x <= v60.x + 4", "v59.x < v60.x", "v1.x = 1")
    query.conditions = draw(st.lists(st.sampled_from(conditions), unique=True))
    query.window = draw(st.sampled_from(("", "WITHIN 162")))
    events = [{"ts": 2 * place, "type": kind, "k": 1, "x": place % 5} for place, kind in enumerate(types)]
    more = draw(st.lists(st.tuples(st.integers(0, 160), st.sampled_from("ABCD"), st.integers(1, 2)), max_size=2))
    events += [{"ts": ts, "type": kind, "k": key, "x": 1} for ts, kind, key in more]
    return query, [{"eid": f"e{place}", "y": 1, **event} for place, event in enumerate(events)]
