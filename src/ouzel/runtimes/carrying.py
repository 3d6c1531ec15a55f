"""A query that takes the place of another in a running matching: what partial matches go on, and how.

They are those that have bound only components that stayed the same.  Under skip_till_any_match these are all that
the events which are kept allow: the new matching is given them again, and its new components refuse them, as they
hold from now on (`logical/versions.py`).  Under other strategies, and where windows count events, runs depend on
events that are not kept: runs of an automaton are handed over themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ouzel.errors import OuzelError
from ouzel.language.tree import Strategy
from ouzel.logical.columns import needed_columns
from ouzel.logical.expressions import Aggregate, Attribute, Events, references
from ouzel.logical.output import event_fields
from ouzel.logical.query import BoundQuery
from ouzel.logical.times import BEGINNING
from ouzel.logical.versions import is_same, kept_variables
from ouzel.optimizer.plan import Plan
from ouzel.physical.automaton.handover import hand_over
from ouzel.physical.automaton.kept_states import kept_of_algebra, kept_of_pattern
from ouzel.physical.automaton.matching import AutomatonMatching
from ouzel.physical.automaton.row_matching import RowMatching
from ouzel.physical.contract import Matching, UnsuitableError
from ouzel.physical.event_table import EventTable
from ouzel.physical.finish.compiled_matching import CompiledMatching
from ouzel.physical.limits import Limits
from ouzel.physical.shared.matching import SharedMatching
from ouzel.physical.tree.matching import TreeMatching
from ouzel.runtimes.replay import Replay

_ANEW = "\n  hint: remove it, and add it anew: its partial matches go"


def carry(
    old: Plan, matching: Matching, new: Plan, begun: Matching, none: EventTable, now: int, limits: Limits
) -> None:
    """Let partial matches of a query go on in the matching of another, which has begun; `none` are no events.

    An error says why they cannot; then nothing has changed, but for the matching that has begun.
    """
    query = new.query
    begun.push(none.select(needed_columns([query])), BEGINNING)
    if old.query.attributes is not None and query.attributes is not None:
        _hand_over_rows(old, matching, query, begun, none, now)
        return
    if old.query.attributes is not None or query.attributes is not None:
        return  # they have nothing in common
    if not kept_variables(old.query, query):
        return
    _check(old.query, query, none)
    if query.strategy is not Strategy.SKIP_TILL_ANY_MATCH or _counts(query):
        _hand_over_pattern(old, matching, query, begun, none, now)
        return
    events = _kept(matching, old.query, now)
    if events is None or not len(events):
        return
    events = _fitted(none, query)(events)
    if isinstance(begun, Replay):
        begun.push(events, now)  # what it finds was found before
        return
    apart = new.physical.begin(limits.of_all_matches())
    apart.push(none.select(needed_columns([query])), BEGINNING)
    apart.push(events, now)
    begun.resume(apart.state())


def _fitted(none: EventTable, query: BoundQuery) -> Callable[[EventTable], EventTable]:
    """What gives events of other columns those that a query reads; what they lack is null."""
    return lambda events: none.followed_by(events).select(needed_columns([query]))


def _hand_over_pattern(
    old: Plan, matching: Matching, query: BoundQuery, begun: Matching, none: EventTable, now: int
) -> None:
    """Let the runs of a pattern go on, where the events that are kept do not tell which there are."""
    why = "its window counts events" if _counts(query) else f"it is under {query.strategy.value}"
    if not isinstance(matching, AutomatonMatching) or not isinstance(begun, AutomatonMatching):
        raise OuzelError(
            f"replace: {why}, so that partial matches go on in automata only\n"
            "  hint: name the engine when the matcher is made: engine='automaton'"
        )
    shapes = matching.plan.shape, begun.plan.shape
    try:
        kept = kept_of_pattern(*shapes, kept_variables(old.query, query), waits=is_same(old.query, query))
        hand_over(matching, begun, kept, now, _fitted(none, query))
    except UnsuitableError as error:
        raise _refused(f"{why}, and {error}") from None


def _hand_over_rows(
    old: Plan, matching: Matching, query: BoundQuery, begun: Matching, none: EventTable, now: int
) -> None:
    """Let the runs of an expression of the algebra go on."""
    assert old.query.algebra is not None
    assert query.algebra is not None
    kept = kept_of_algebra(old.query.algebra, query.algebra)
    if not kept.states:
        return
    if not isinstance(matching, RowMatching) or not isinstance(begun, RowMatching):
        raise OuzelError(
            "replace: it is an expression of the algebra, whose partial matches go on in automata only\n"
            "  hint: name the engine when the matcher is made: engine='automaton'"
        )
    fitted = _fitted(none, query)
    lacking = sorted(needed_columns([query]) - needed_columns([old.query]))
    if lacking:
        raise _lacking(lacking[0])
    try:
        hand_over(matching, begun, kept, now, lambda events: begun.read(fitted(events)))
    except UnsuitableError as error:
        raise _refused(str(error)) from None


def _counts(query: BoundQuery) -> bool:
    return query.window is not None and query.window.counts_events


def _check(old: BoundQuery, new: BoundQuery, none: EventTable) -> None:
    """Refuse what leaves no meaning to partial matches, or asks for what is not kept of them."""
    if old.aggregates or new.aggregates:
        raise _refused("OUTPUT AGGREGATE adds up the matches of one version")
    if old.shares_events or new.shares_events:
        raise _refused("events whose type lacks the attribute of an equivalence test are in several partitions")
    lacking = sorted(set(_read(new, kept_variables(old, new))) - needed_columns([old]))
    lacking = [name for name in lacking if name in none.table.column_names]
    if lacking:
        raise _lacking(lacking[0])


def _read(query: BoundQuery, variables: frozenset[str]) -> Iterator[str]:
    """The columns that a query reads of some variables."""
    expressions = [literal for one in query.conjuncts for literal in one.literals]
    expressions += [column.expression for column in query.output]
    for node in (node for one in expressions for node in references(one)):
        if node.variable not in variables:
            continue
        if isinstance(node, Attribute | Aggregate | Events) and node.column is not None:
            yield node.column
        elif isinstance(node, Events):
            yield from (column.name for column in event_fields(query.component(node.variable)).values())
    if not query.output:
        kept = [one for one in query.components if one.variable in variables and not one.negative]
        yield from (column.name for one in kept for column in event_fields(one).values())


def _kept(matching: Matching, query: BoundQuery, now: int) -> EventTable | None:
    """The events that a matching has of those that partial matches may be made of, in order; None if none came."""
    if isinstance(matching, TreeMatching) and matching.plan.drops_negatives:
        raise _refused("the plan has left out negative components that others imply, so their events are not kept")
    if isinstance(matching, Replay):
        events = matching.events
    elif isinstance(matching, SharedMatching):
        events = matching.kept_events() if matching.kept.is_known else None
    else:
        assert isinstance(matching, CompiledMatching)
        retained = matching.memory.retained
        if not len(retained):
            return None
        events, _rows = retained.events(np.flatnonzero(retained.is_mentioned))
    if events is None:
        return None
    kept = events.end_times < now
    if query.window is not None:
        # what the window of the old version has passed is over, however long the new one's is
        kept &= events.start_times > now - query.window.limit
    rows = np.flatnonzero(kept)
    return events.taken(rows[np.argsort(events.ends[rows], kind="stable")])


def _lacking(column: str) -> OuzelError:
    return OuzelError(
        f"replace: the new version reads '{column}' of events that were kept without it"
        f"{_ANEW}; or let the first version return it, too"
    )


def _refused(why: str) -> OuzelError:
    return OuzelError(f"replace: {why}{_ANEW}")
