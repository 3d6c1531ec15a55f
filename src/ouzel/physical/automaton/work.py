"""How much an automaton has to do in a window: every event meets all open runs of its partition (SASE+ 5.2.1)."""

from __future__ import annotations

from math import exp

from ouzel.physical.automaton.states import Automaton, Move
from ouzel.physical.statistics import Statistics, Work

# What each unit takes, in nanoseconds; `ouzel bench shoot-out` tells whether that is still true.
NANOSECONDS = {"event": 36.0, "met": 0.5, "compared": 0.5, "made": 80.0, "match": 340.0}
# Closures double runs with every event; beyond that, all are too many.
MOST_DOUBLED = 64.0


def automaton_work(automaton: Automaton, statistics: Statistics) -> Work:
    """Under skip_till_any_match, open runs are the beginnings of matches in a window; equal ones are merged."""
    count = len(automaton.states)
    paths, runs, depth = [0.0] * count, [0.0] * count, [1] * count
    made = matches = 0.0

    def flow(move: Move, source: float) -> float:
        assert move.binds is not None
        card = statistics.card(automaton.variables[move.binds].variable)
        return source * card * statistics.selectivity([one.conjunct for one in move.guard.conditions])

    for move in automaton.starts:
        made += flow(move, 1.0)
        paths[move.target] += flow(move, 1.0) / statistics.partitions
        matches += flow(move, 1.0) * _accepted(automaton, move, statistics)
    for number, state in enumerate(automaton.states):
        for move in state.moves:
            if move.target == number:
                doubled = min(flow(move, 1.0) / statistics.partitions, MOST_DOUBLED)
                paths[number] *= 2.0**doubled
                matches += flow(move, paths[number]) * _accepted(automaton, move, statistics)
        # where nothing is remembered, all runs are alike
        runs[number] = paths[number] if automaton.held[number] else min(paths[number], 1.0)
        for move in state.moves:
            if move.target == number:
                made += flow(move, runs[number])
                continue
            depth[move.target] = depth[number] + 1
            paths[move.target] += flow(move, paths[number]) / statistics.partitions / depth[move.target]
            matches += flow(move, paths[number]) * _accepted(automaton, move, statistics) / depth[number]
            if automaton.states[move.target].moves:
                made += flow(move, runs[number])
    opened = sum(own for own, state in zip(runs, automaton.states, strict=True) if state.moves)
    changed = 1 - exp(-made / max(statistics.events, 1e-9))
    met = statistics.events * opened
    return {"event": statistics.events, "met": met, "compared": met * changed, "made": made, "match": matches}


def _accepted(automaton: Automaton, move: Move, statistics: Statistics) -> float:
    """The share of runs that are matches where a move leads them."""
    accepts = automaton.states[move.target].accepts
    return 0.0 if accepts is None else statistics.selectivity([one.conjunct for one in accepts])
