"""Automata whose results are rows in words, as those of patterns are: states, moves, stays, registers."""

from __future__ import annotations

from collections.abc import Iterable

from ouzel.explain.formulas import formula, mask, same_partition, within
from ouzel.explain.layout import Entry, Placed, columns
from ouzel.logical.expressions import Attribute
from ouzel.physical.automaton.cayuga_states import Constructed
from ouzel.physical.automaton.explained import START
from ouzel.physical.automaton.formula_words import formula_words
from ouzel.physical.automaton.register_words import register_words
from ouzel.physical.automaton.states import Assignment, Condition, Guard, Move, State
from ouzel.physical.compiled.sources import is_register
from ouzel.physical.contract import Explained


def algebra_explained(constructed: Constructed) -> Explained:
    """The sections of the plan."""
    states = _States(constructed)
    results = [(name, [words]) for name, words in states.results()]
    return Explained([("automaton", columns(states.entries())), ("results", columns(results))], states.placed())


class _States:
    """Puts the states of an automaton into words."""

    def __init__(self, constructed: Constructed) -> None:
        self.constructed, self.automaton = constructed, constructed.automaton

    def entries(self) -> list[Entry]:
        """An entry for every state, and below it its moves, its stay, and what a run remembers there."""
        found: list[Entry] = [(START, [])]
        for move in self.automaton.starts:
            found += self._move(move, has_begun=False)
        for number, state in enumerate(self.automaton.states):
            ended = f"{state.name}: a match, if no event comes before"
            found.append(
                (ended if state.closes else state.name if state.accepts is None else f"{state.name}: a match", [])
            )
            for move in state.moves:
                found += self._move(move, has_begun=True)
            if state.moves:
                found.append(("  stay", [self._stay(state)]))
            remembered = self._remembered(number) if state.moves else []
            found += [("  remembers", [", ".join(remembered)])] if remembered else []
        return found

    # ---- moves and stays ---------------------------------------------------------------------------------

    def _move(self, move: Move, *, has_begun: bool) -> list[Entry]:
        name = f"  {move.action} -> {self.automaton.states[move.target].name}"
        found: list[Entry] = [(name, formula(self._guard(move.guard, has_begun=has_begun)))]
        return found + [("    computes", [words]) for words in map(_computed, move.assigns) if words]

    def _guard(self, guard: Guard, *, has_begun: bool) -> list[str]:
        """What has to be true of an event for a run, which has its partition once it has begun."""
        partition = same_partition(self.constructed.query) if has_begun else []
        return [self._mask(guard.static), *partition, *map(_term, guard.conditions)]

    def _mask(self, bit: int) -> str:
        component = next(one for one in self.constructed.query.components if one.bit == bit)
        return mask(self.constructed.query, component)

    def _stay(self, state: State) -> str:
        """A filter edge: unless an event satisfies θ."""
        if state.stay.unless is None:
            return "never"
        (guard,) = state.stay.unless
        if all(move.guard == guard for move in state.moves):
            return f"not {state.moves[0].action} {self.automaton.states[state.moves[0].target].name}"
        return f"not ({' and '.join(self._guard(guard, has_begun=True))})"

    def _remembered(self, number: int) -> list[str]:
        """The registers of a run, and when it ended, where events last."""
        own = ["end of the run"] if self.automaton.lasting else []
        held = self.automaton.held[number]
        return own + [register_words(one) for one in self.automaton.registers if one in held]

    # ---- results -----------------------------------------------------------------------------------------

    def results(self) -> Iterable[tuple[str, str]]:
        """By end, what attributes are."""
        for number, end in self.constructed.ends.items():
            attributes = (f"{name} = {formula_words(value)}" for name, value in end.attributes.items())
            yield self.automaton.states[number].name, ", ".join(attributes)

    def placed(self) -> Placed:
        """Conditions on single events, and what runs need not ask."""
        query = self.constructed.query
        apart = "partitions: a run meets only events of its own"
        ends = [(text, "every edge of a run that has begun") for text in within(query)]
        return [*((test.text, apart) for test in query.equivalences), *ends]


def _term(condition: Condition) -> str:
    return f"mask: {condition.conjunct.text}" if condition.bit is not None else condition.conjunct.text


def _computed(assignment: Assignment) -> str:
    """A register that gets a value of what was before."""
    of, value = assignment.register.of, assignment.value
    if value is None or not isinstance(of, Attribute) or not is_register(of):
        return ""
    return f"{of.name} = {formula_words(value)}"
