"""Random programs for Hypothesis: queries that feed each other."""

from __future__ import annotations

from hypothesis import strategies as st

from ouzel.testing.strategies import STRATEGIES, RandomQuery, queries

Program = list[RandomQuery]


@st.composite
def programs(draw: st.DrawFn, levels: int = 3, *, closures: bool = True) -> Program:
    """Up to so many queries that feed each other; the last one may read what all others make.

    Without closures they are sequences of single events, all combinations of them.
    """
    made: Program = []
    for level in range(draw(st.integers(2, levels))):
        # all combinations of all combinations are too many
        some = closures and draw(st.booleans())
        every = STRATEGIES[-1:]
        query = draw(
            queries(
                strategies=STRATEGIES[1:3] if some else (*STRATEGIES, *2 * every) if closures else every,
                closures=some,
                alternatives=closures,
                non_overlap=True,
                composites=tuple(one.into for one in made),
            )
        )
        query.into = "PQR"[level]
        if draw(st.integers(0, 2)):
            # few matches, few events for the next one
            query.conditions = [one for one in query.conditions if one.startswith("[k")]
        made.append(query)
    made[-1].into = ""
    return made


def program_text(program: Program) -> str:
    """The queries of a program as one would write them, called q1, q2, …"""
    return "\n".join(f"QUERY q{number} {query.text}" for number, query in enumerate(program, 1))
