"""The automaton's plan: its states, what negation does to its matches, and where each condition went."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ouzel.explain.formulas import (
    formula,
    mask,
    meets_other_partitions,
    placed_first,
    same_partition,
    term,
    within,
)
from ouzel.explain.layout import Entry, Placed, columns
from ouzel.language.tree import Strategy
from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.expressions import Attribute, Moment, references
from ouzel.logical.pattern import Component
from ouzel.logical.query import BoundQuery
from ouzel.physical.automaton.register_words import register_words
from ouzel.physical.automaton.shape import Shape
from ouzel.physical.automaton.states import Automaton, Condition, Guard, Move, State
from ouzel.physical.automaton.steps import Crossing
from ouzel.physical.contract import Explained

START = "before any event"


def explained(query: BoundQuery, shape: Shape, automaton: Automaton) -> Explained:
    """The sections of the plan; the conditions, each with the one place where it went."""
    states = _States(query, shape, automaton)
    sections = [("automaton", columns(states.entries())), ("negation", _negation(query, shape))]
    return Explained(sections, states.placed())


class _States:
    """Puts the states of an automaton into words."""

    def __init__(self, query: BoundQuery, shape: Shape, automaton: Automaton) -> None:
        self.query, self.shape, self.automaton = query, shape, automaton

    def entries(self) -> list[Entry]:
        """An entry for every state, and below it its moves, its stay, and what a run remembers there."""
        found: list[Entry] = [(START, [])]
        found += [self._move(move, has_begun=False) for move in self.automaton.starts]
        for number, state in enumerate(self.automaton.states):
            found.append((self._header(number, state), []))
            if state.moves:
                found += [self._move(move, has_begun=True) for move in state.moves]
                found.append(("  stay", formula(self._stay(state) + within(self.query))))
            if state.accepts:
                found.append(("  match", formula(map(_term, state.accepts))))
            elif state.moves and state.accepts is not None:
                found.append(("  match", ["True"]))
            remembered = self._remembered(number) if state.moves else []
            found += [("  remembers", [", ".join(remembered)])] if remembered else []
        return found

    def _header(self, number: int, state: State) -> str:
        component = self.automaton.variables[number]
        about = [_bounds(component)] if component.is_array else []
        if not state.moves and state.accepts == ():
            about.append("a match")
        return f"{state.name}: {', '.join(about)}" if about else state.name

    # ---- moves and stays ---------------------------------------------------------------------------------

    def _move(self, move: Move, *, has_begun: bool) -> Entry:
        terms = self._guard(move, has_begun=has_begun) + (within(self.query) if has_begun else [])
        return f"  {move.action} -> {self.automaton.states[move.target].name}", formula(terms)

    def _guard(self, move: Move, *, has_begun: bool) -> list[str]:
        """What has to be true of an event for a run, which has its partition once it has begun."""
        assert move.binds is not None
        component = self.automaton.variables[move.binds]
        partition = same_partition(self.query) if has_begun else []
        return [mask(self.query, component), *partition, *map(_term, move.guard.conditions)]

    def _stay(self, state: State) -> list[str]:
        """What lets a run stay as it was (SASE+ 3.2, step 3)."""
        if state.stay.unless is None:
            if self.query.strategy is not Strategy.PARTITION_CONTIGUITY:
                return ["False"]
            tests = same_partition(self.query)
            return [f"not {tests[0]}" if len(tests) == 1 else f"not ({' and '.join(tests)})"]
        return [self._not(guard, state.moves) for guard in state.stay.unless] or ["True"]

    def _not(self, guard: Guard, moves: Sequence[Move]) -> str:
        """That an event does not satisfy a guard: that of a move, or one that has more conditions."""
        move = next(one for one in moves if guard.extends(one.guard))
        more = [_term(condition) for condition in guard.conditions[len(move.guard.conditions) :]]
        return f"not ({' and '.join([self._edge(move), *more])})" if more else f"not {self._edge(move)}"

    def _edge(self, move: Move) -> str:
        return f"{move.action} {self.automaton.states[move.target].name}"

    def _remembered(self, number: int) -> list[str]:
        """What a run knows of itself, its start for the window and its partition if need be, and its registers."""
        window = self.query.window
        clock = "start position of the run" if window and window.counts_events else "start time of the run"
        own = ([clock] if window else []) + (["partition of the run"] if self.automaton.together else [])
        own += ["end of the run"] if self.automaton.lasting else []
        held = self.automaton.held[number]
        return own + [register_words(one) for one in self.automaton.registers if one in held]

    # ---- conditions --------------------------------------------------------------------------------------

    def placed(self) -> Placed:
        """Every condition, and all edges whose guards have it."""
        query = self.query
        apart = "partitions: a run meets only events of its own"
        placed = placed_first(query, "every begin and take" if meets_other_partitions(query) else apart)
        for conjunct in query.conjuncts:
            if conjunct.component is not None:
                masked = conjunct.is_single and not query.shares_bits
                place = f"mask of {conjunct.component.variable}, once per event" if masked else ""
                placed.append((conjunct.text, place or self._place(conjunct, conjunct.component)))
        edges = any(-1 in (before, after) for before, _crossing, after in self.shape.crossings())
        everywhere = "every edge of a run that has begun" + (", and negation" if edges else "")
        return placed + [(text, everywhere) for text in within(query)]

    def _place(self, conjunct: Conjunct, component: Component) -> str:
        if conjunct.place is Place.NEGATIVE:
            return f"negation of {component.variable}, on matches"
        moves = [*self.automaton.starts, *(move for state in self.automaton.states for move in state.moves)]
        found = [self._edge(move) for move in moves if _mentions(move.guard.conditions, conjunct)]
        found += [
            f"match at {one.name}" for one in self.automaton.states if _mentions(one.accepts or (), conjunct)
        ]
        return ", ".join(dict.fromkeys(found)) or f"nowhere: {component.variable} binds no second event"


def _mentions(conditions: Iterable[Condition], conjunct: Conjunct) -> bool:
    written = conjunct.text, conjunct.span
    return any((condition.conjunct.text, condition.conjunct.span) == written for condition in conditions)


def _term(condition: Condition) -> str:
    return term(condition.conjunct, {register.of.variable for register in condition.present})


def _bounds(component: Component) -> str:
    """How many events a closure takes."""
    least, most = component.least, component.most
    if most is None:
        return f"{least} or more events" if least else "any number of events"
    if least == most:
        return f"{least} event{'s' if least > 1 else ''}"
    return f"{least} to {most} events"


# ---- negation --------------------------------------------------------------------------------------------


def _negation(query: BoundQuery, shape: Shape) -> list[str]:
    """Negative components filter the matches of the positive ones (SASE+ 3.1)."""
    entries: list[Entry] = []
    for before, crossing, after in shape.crossings():
        for component in crossing.negatives:
            entries.append(_refutation(query, shape, (before, after), component, crossing))
    return ["filters the matches of the automaton:", *columns(entries)] if entries else []


def _refutation(
    query: BoundQuery, shape: Shape, ends: tuple[int, int], component: Component, crossing: Crossing
) -> Entry:
    """Which events refute a match as a negative component between two states; -1 is the pattern's edge."""
    before, after = (shape.variables[end].variable if end >= 0 else "" for end in ends)
    own = [c for c in shape.conjuncts if c.component is component and c.place is Place.NEGATIVE]
    terms = [mask(query, component), *same_partition(query)]
    terms += [term(conjunct, _uncertain(conjunct, shape)) for conjunct in own]
    where = f"between {before} and {after}"
    if not before:
        where = f"before {after}"
        terms += within(query, " up to the last event")
    elif not after:
        where = f"after {before}"
        terms += within(query, " from the first event")
    empty = [one.variable for one in crossing.skipped]
    where += f", {' and '.join(empty)} being empty" if empty else ""
    return f"no {component.variable} {where}", formula(terms)


def _uncertain(conjunct: Conjunct, shape: Shape) -> set[str]:
    """The variables of which a conjunct mentions an event that may not be there."""
    nodes = [node for literal in conjunct.literals for node in references(literal)]
    return {node.variable for node in nodes if isinstance(node, Attribute | Moment)} & shape.optional
