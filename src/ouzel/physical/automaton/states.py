"""The states and edges of an automaton, in the form of SASE+ 3.1 and Figure 2.

To the engine a run is at the component that it bound last.  The paper's states are the places where a run waits:
a[1] for the first event of a closure, a[i] for further ones, b for a single event; in F it is a match.  What may
be empty has a proceed edge past its first state.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ouzel.explain.formulas import mask, masked, meets_other_partitions, same_partition, term, within
from ouzel.explain.needs import values_of
from ouzel.language.tree import Strategy
from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.pattern import Component
from ouzel.logical.query import BoundQuery
from ouzel.physical.automaton.shape import Shape

FINAL = -1


@dataclass(frozen=True)
class Edge:
    """What a run may do at a state, where that leads, and the terms that must be true."""

    action: str
    target: str
    terms: list[str]


@dataclass(frozen=True)
class State:
    """A state, what it stands for, its edges, and the values that their formulas need of a run."""

    name: str
    about: str
    edges: list[Edge]
    needs: list[str]


class States:
    """Works out the states of one automaton."""

    def __init__(self, query: BoundQuery, shape: Shape) -> None:
        """Note what most formulas need."""
        self.query, self.shape = query, shape
        self.masked = masked(query, shape.conjuncts)
        # where a run waits that has bound something: it may be at several states at once
        self.waits = [{target for _skipped, target in shape.after(one)} for one in range(len(shape.states))]
        self.final = "final" if any(one.variable == "F" for one in shape.states) else "F"

    def all(self) -> list[State]:
        """All states, in the order of the pattern."""
        found: list[State] = []
        for number, component in enumerate(self.shape.states):
            found.append(self._first(number, component))
            if component.is_array:
                found.append(self._further(number, component))
        return [*found, State(self.final, "a match", [], [])]

    def entry(self, component: Component) -> str:
        """The state that waits for a component's first event."""
        return f"{component.variable}[1]" if component.is_array else component.variable

    def inner(self, component: Component) -> str:
        """The state that waits for further events of a closure."""
        return f"{component.variable}[i]"

    def _names(self, numbers: Iterable[int]) -> str:
        """The states that wait for the first events of some components, or the final one."""
        states = self.shape.states
        return " or ".join(self.final if one == FINAL else self.entry(states[one]) for one in numbers)

    # ---- states ------------------------------------------------------------------------------------------

    def _first(self, number: int, component: Component) -> State:
        """The state of a single event, or of a closure's first."""
        starts = number in [target for skipped, target in self.shape.after(-1) if not skipped]
        waited = any(number in targets for targets in self.waits)
        own = self.shape.at(number, Place.BEGIN) + self.shape.at(number, Place.TAKE)
        own = [c for c in own if component.variable not in c.from_second]
        begin = [mask(component, self.masked), *(same_partition(self.query) if waited else [])]
        begin += [*self._terms(own, component), *(within(self.query) if waited else [])]
        target = self.inner(component) if component.is_array else self._names(self._exits(number))
        edges = [Edge("begin", target, begin)]
        needs = self._own() if waited else []
        needs += values_of(own, self.shape.optional, component.variable, first=True)
        if waited:
            edges.append(Edge("ignore", self.entry(component), self._ignore(self._not_begun(number))))
        if component.least == 0:
            edges += self._proceed(number, self._past(number), self._followers(number), [])
            needs += values_of(self.shape.at(number, Place.PROCEED), self.shape.optional)
        about = "start" if starts else ""
        return State(self.entry(component), about, edges, list(dict.fromkeys(needs)))

    def _further(self, number: int, component: Component) -> State:
        """The state of a closure's further events."""
        least, most, name = component.least, component.most, self.inner(component)
        own = self.shape.at(number, Place.TAKE)
        take = [mask(component, self.masked), *same_partition(self.query), *self._terms(own, component)]
        take += [f"fewer than {most} taken"] if most is not None else []
        edges = [Edge("take", name, take + within(self.query))]
        edges.append(Edge("ignore", name, self._ignore(self._not_taken(number, component))))
        enough = [f"at least {least} taken"] if least > 1 else []
        edges += self._proceed(number, self._exits(number), self.waits[number], enough)
        needs = [*self._own(), *(["number of events taken"] if least > 1 or most is not None else [])]
        needs += values_of(own, self.shape.optional, component.variable)
        needs += values_of(self.shape.at(number, Place.PROCEED), self.shape.optional)
        return State(name, _bounds(component), edges, list(dict.fromkeys(needs)))

    # ---- where edges lead --------------------------------------------------------------------------------

    def _exits(self, number: int) -> list[int]:
        """The states right behind a component."""
        direct = [target for skipped, target in self.shape.after(number) if not skipped]
        return direct + ([FINAL] if self.shape.trailing(number) == [] else [])

    def _past(self, number: int) -> list[int]:
        """The states right behind a component that stays empty."""
        found: set[int] = set()
        final = False
        for source in range(-1, len(self.shape.states)):
            found |= {t for skipped, t in self.shape.after(source) if skipped and skipped[-1] == number}
            trailing = self.shape.trailing(source) if source >= 0 else None
            final = final or bool(trailing and trailing[-1] == number)
        return sorted(found) + ([FINAL] if final else [])

    def _followers(self, number: int) -> set[int]:
        """The states that may begin with a component left empty."""
        sources = range(-1, len(self.shape.states))
        return {target for one in sources for skipped, target in self.shape.after(one) if number in skipped}

    # ---- formulas ----------------------------------------------------------------------------------------

    def _terms(self, conjuncts: list[Conjunct], component: Component) -> list[str]:
        return [term(conjunct, self.shape.optional, component.variable) for conjunct in conjuncts]

    def _proceed(self, number: int, targets: list[int], peeked: set[int], enough: list[str]) -> list[Edge]:
        """Edges that bind no event; those to other states peek whether it would begin one (SASE+ 3.2, step 6)."""
        terms = enough + [term(c, self.shape.optional) for c in self.shape.at(number, Place.PROCEED)]
        peek = f"peek: the event begins {self._names(sorted(peeked))}"
        waiting = [target for target in targets if target != FINAL]
        edges = [Edge("proceed", self._names(waiting), [*terms, peek])] if waiting else []
        return edges + ([Edge("proceed", self.final, terms)] if FINAL in targets else [])

    def _ignore(self, unused: str) -> list[str]:
        """The formula of an ignore edge (SASE+ 3.2, step 3), with the window (step 5)."""
        match self.shape.strategy:
            case Strategy.STRICT_CONTIGUITY:
                return ["False"]
            case Strategy.PARTITION_CONTIGUITY:
                tests = same_partition(self.query)
                unused = f"not {tests[0]}" if len(tests) == 1 else f"not ({' and '.join(tests)})"
            case Strategy.SKIP_TILL_ANY_MATCH:
                unused = "True"
        return [unused, *within(self.query)]

    def _not_begun(self, number: int) -> str:
        """That a run which waits at a state cannot use an event, nor at another where it waits as well."""
        together = set().union(*(targets for targets in self.waits if number in targets)) - {number}
        also = self._names(sorted(together))
        return f"not begin, here or at {also}" if also else "not begin"

    def _not_taken(self, number: int, component: Component) -> str:
        """That a closure cannot use an event: as long as it has room, only what it takes counts."""
        if component.most is None:
            return "not take"
        names = self._names(sorted(self.waits[number]))
        full = f"not begin at {names}" if names else "True"
        return f"(not take if fewer than {component.most} taken, else {full})"

    def _own(self) -> list[str]:
        """What a run knows of itself: its start, for the window (SASE+ 5.2.1), and its partition if need be."""
        window = self.query.window
        clock = "start position of the run" if window and window.counts_events else "start time of the run"
        partition = ["partition of the run"] if meets_other_partitions(self.query) else []
        return ([clock] if window else []) + partition


def _bounds(component: Component) -> str:
    """How many events a closure takes."""
    least, most = component.least, component.most
    if most is None:
        return f"{least} or more events" if least else "any number of events"
    if least == most:
        return f"{least} event{'s' if least > 1 else ''}"
    return f"{least} to {most} events"
