"""Arcs that come and go in a running matcher: it reports what the automaton accepts whose arcs live so long."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ouzel as oz
from ouzel.testing.algebra import TYPES, events
from ouzel.testing.automata import automata

Spec = dict[str, Any]


@dataclass
class Model:
    """The arcs of an automaton and when they lived, written down as the changes say."""

    spec: Spec
    lives: list[tuple[Spec, int | None, int | None]] = field(default_factory=list)
    after: set[int] = field(default_factory=set)
    """Places of arcs that made their target final when windows that end then were over."""
    never: set[int] = field(default_factory=set)
    """Places of arcs that were to come, and went before."""

    def __post_init__(self) -> None:
        self.lives = [(arc, None, None) for arc in self.spec["arcs"]]

    @staticmethod
    def at(arc: Spec, time: int, now: int | None) -> int:
        """When a change is one for an arc: windows that end now are over, so arcs at their ends come after."""
        return time if now is None or "end_of_window" not in arc else max(time, now + 1)

    def living(self, time: int, now: int | None) -> dict[str, list[int]]:
        """By id, the places of arcs that live at a time or later."""
        found: dict[str, list[int]] = {}
        for place, (arc, since, until) in enumerate(self.lives):
            own = self.at(arc, time, now)
            if until is None or until > max(own, own if since is None else since):
                found.setdefault(arc["id"], []).append(place)
        return found

    def change(self, add: list[Spec], remove: list[str], time: int, now: int | None = None) -> None:
        """Let arcs come and go."""
        for place in (place for one in remove for place in self.living(time, now)[one]):
            arc, since, until = self.lives[place]
            own = self.at(arc, time, now)
            if since is not None and since > own:
                self.never.add(place)
            end = own if until is None else min(until, own)
            self.lives[place] = (arc, since, end if since is None else max(since, end))
        if now is not None and time <= now:
            self.after |= {len(self.lives) + place for place, arc in enumerate(add) if "final" in arc}
        self.lives += [(arc, self.at(arc, time, now), None) for arc in add]

    def automaton(self) -> oz.Automaton:
        arcs = [
            {
                **arc,
                "id": f"{arc['id']} {place}",
                "lives": [[since, since]] * (place in self.after and "end_of_window" not in arc)
                + [[since, until]],
            }
            for place, (arc, since, until) in enumerate(self.lives)
            if place not in self.never
        ]
        return oz.automaton({**self.spec, "arcs": arcs})


# another engine would run it, or none could let its arcs come and go
REFUSED = ("it runs otherwise now", "its arcs make more than")


def test_the_model() -> None:
    model = Model({"start": "q0", "final": ["q1"], "arcs": [{"id": "a", "source": "q0", "target": "q1"}]})
    model.change([{"id": "b", "source": "q0", "target": "q1"}], ["a"], 3)
    found = oz.match([{"ts": ts} for ts in (2, 3)], model.automaton(), engine="reference")
    assert [row["valid_from"] for row in found] == [2, 3]
    assert [life[1:] for life in model.lives] == [(None, 3), (3, None)]


def test_an_arc_in_the_place_of_another_of_its_id() -> None:
    arc = {"id": "a", "source": "q0", "target": "q1", "when": "e.x = 1"}
    automaton = oz.automaton(start="q0", final=["q1"], arcs=[arc])
    matcher = oz.matcher(automaton, pa.schema({"ts": "int64", "x": "int64"}), time_unit="s")
    found = [
        matcher.push(pa.table({"ts": [1, 2], "x": [1, 2]})),
        matcher.change([{**arc, "when": "e.x = 2"}], ["a"]),
    ]
    matcher = oz.restore(matcher.snapshot())
    found += [matcher.push(pa.table({"ts": [3, 4], "x": [1, 2]})), matcher.finish()]
    assert [row["valid_from"] for one in found for row in one.to_pylist()] == [1, 4]
    with pytest.raises(oz.QueryError, match="there is another of that id"):
        oz.automaton(start="q0", final=["q1"], arcs=[{**arc, "lives": [[None, 5]]}, {**arc, "lives": [[4, None]]}])


@pytest.mark.parametrize("options", [{}, {"speculation": "inf"}, {"engine": "reference"}])
def test_an_arc_without_an_id_has_one_that_is_free(options: dict[str, Any]) -> None:
    arc = {"source": "q0", "target": "q1"}
    automaton = oz.automaton(start="q0", final=["q1"], arcs=[arc])
    matcher = oz.matcher(automaton, pa.schema({"ts": "int64"}), time_unit="s", type=None, **options)
    found = [matcher.push(pa.table({"ts": [1]})), matcher.change(add=[arc]), matcher.push(pa.table({"ts": [2]}))]
    found += [matcher.change(add=[arc, {**arc, "id": "a2"}], remove=["a0"]), matcher.push(pa.table({"ts": [3]}))]
    found += [matcher.change(remove=["a0", "a1", "a2"]), matcher.push(pa.table({"ts": [4]})), matcher.finish()]
    assert [row["valid_from"] for one in found for row in one.to_pylist()] == [1, 2, 2, 3, 3, 3]


@pytest.mark.parametrize("options", [{}, {"speculation": "inf"}, {"engine": "reference"}])
def test_an_arc_that_is_to_go_twice_goes(options: dict[str, Any]) -> None:
    automaton = oz.automaton(start="q0", final=["q1"], arcs=[{"id": "a", "source": "q0", "target": "q1"}])
    matcher = oz.matcher(automaton, pa.schema({"ts": "int64"}), time_unit="s", type=None, **options)
    found = [matcher.push(pa.table({"ts": [1]})), matcher.change(remove=["a", "a"])]
    found += [matcher.push(pa.table({"ts": [2]})), matcher.finish()]
    assert [row["valid_from"] for one in found for row in one.to_pylist()] == [1]


@st.composite
def changes(
    draw: st.DrawFn, model: Model, others: list[Spec], time: int, now: int
) -> tuple[list[Spec], list[str]]:
    """Some arcs to remove, and some to add, of those that were there before or of others, in their places, too."""
    living = model.living(time, now)
    remove = draw(st.lists(st.sampled_from(sorted(living)), unique=True, max_size=2)) if living else []
    known = [arc for arc, _since, _until in model.lives] + others
    taken, add = set(living) - set(remove), []
    for one in draw(st.lists(st.sampled_from(known), max_size=2)):
        # by another id it is new, and new ones that wait for the end of the window are refused
        moves = remove and "end_of_window" not in one and draw(st.booleans())
        arc = {**one, "id": draw(st.sampled_from(remove))} if moves else one
        if arc["id"] not in taken:
            taken.add(arc["id"])
            add.append(arc)
    return add, remove


def others_of(other: oz.Automaton, spec: Spec) -> list[Spec]:
    """Arcs of another automaton that fit the register, by ids of their own."""
    arcs = [{**arc, "id": f"o{place}"} for place, arc in enumerate(other.spec["arcs"])]
    return [arc for arc in arcs if _fits(arc, spec)]


def with_final(arcs: list[Spec]) -> list[Spec]:
    """Also some of them that make their target final."""
    return arcs + [{**arc, "id": f"{arc['id']} final", "final": True} for arc in arcs[:2]]


def _fits(arc: Spec, spec: Spec) -> bool:
    missing = {"n", "v", "w", "b", "at"} - set(spec["register"])
    words = set(" ".join([arc.get("when", ""), *arc.get("set", {}), *arc.get("set", {}).values()]).split())
    plain = {word.strip("(),") for word in words}
    return not (plain & missing) and not ("end_of_window" in arc and "window" not in spec)


def applied(found: list[pa.Table]) -> Counter[str]:
    """What is left when all changes are applied in order."""
    left: dict[int, Any] = {}
    for row in (row for table in found for row in table.to_pylist()):
        op, number = row.pop("op"), row.pop("match_id")
        if op == 1:
            assert number not in left
            left[number] = row
        else:
            assert repr(left.pop(number)) == repr(row)
    return Counter(map(repr, left.values()))


def expected(model: Model, table: pa.Table) -> Counter[str]:
    found = oz.match(table, model.automaton(), types=TYPES, engine="reference")
    return Counter(map(repr, found.to_pylist()))


EITHER = st.one_of(automata(), automata(ending=True))


@given(st.data(), EITHER, automata(silent=False, waiting=False), events(9, least=4))
def test_in_order(data: st.DataObject, automaton: oz.Automaton, other: oz.Automaton, table: pa.Table) -> None:
    model = Model(automaton.spec)
    matcher = oz.matcher(automaton, table.schema, types=TYPES)
    found: list[pa.Table] = []
    start = 0
    while start < table.num_rows:
        size = data.draw(st.integers(1, 4))
        batch = table.slice(start, size)
        start += size
        found.append(matcher.push(batch))
        now = batch.column("ts")[-1].as_py()
        time = data.draw(st.one_of(st.just(now + 1), st.integers(now, now + 3)))
        add, remove = data.draw(changes(model, with_final(others_of(other, automaton.spec)), time, matcher.now))
        try:
            found.append(matcher.change(add, remove, at=None if time == now + 1 else time))
        except oz.OuzelError as error:
            if not any(said in str(error) for said in REFUSED):
                raise
            return
        model.change(add, remove, time, matcher.now)
        if data.draw(st.booleans()):
            matcher = oz.restore(matcher.snapshot())
    found.append(matcher.finish())
    rows = Counter(repr(row) for one in found for row in one.to_pylist())
    assert rows == expected(model, table)


@settings(max_examples=30)
@given(st.data(), automata(), automata(silent=False, waiting=False), events(9, least=4))
def test_whole_automata(
    data: st.DataObject, automaton: oz.Automaton, other: oz.Automaton, table: pa.Table
) -> None:
    model = Model(automaton.spec)
    matcher = oz.matcher(automaton, table.schema, types=TYPES)
    found: list[pa.Table] = []
    start = 0
    while start < table.num_rows:
        batch = table.slice(start, data.draw(st.integers(1, 4)))
        start += batch.num_rows
        found.append(matcher.push(batch))
        now = batch.column("ts")[-1].as_py()  # events of that time are held: they are judged by what comes
        add, remove = data.draw(changes(model, others_of(other, automaton.spec), now, matcher.now))
        living = [arc for arc, _since, until in model.lives if until is None and arc["id"] not in remove]
        try:
            # states may have no arc left
            named = list(dict.fromkeys([automaton.spec["start"], *automaton.spec["final"]]))
            spec = {**automaton.spec, "states": named, "arcs": [*living, *add]}
            matcher.replace(None, oz.automaton(spec))
        except oz.OuzelError as error:
            if not any(said in str(error) for said in REFUSED):
                raise
            return
        model.change(add, remove, now, matcher.now)
        if data.draw(st.booleans()):
            matcher = oz.restore(matcher.snapshot())
    found.append(matcher.finish())
    rows = Counter(repr(row) for one in found for row in one.to_pylist())
    assert rows == expected(model, table)


@settings(max_examples=200)
@given(st.sampled_from(("inf", 2)), st.data(), EITHER, automata(silent=False, waiting=False), events(9, least=4))
def test_in_any_order(
    speculation: Any, data: st.DataObject, automaton: oz.Automaton, other: oz.Automaton, table: pa.Table
) -> None:
    model = Model(automaton.spec)
    schema = table.schema.append(pa.field("op", pa.int8()))
    matcher = oz.matcher(automaton, schema, types=TYPES, speculation=speculation, op="op")
    places = data.draw(st.permutations(range(table.num_rows)))
    found: list[pa.Table] = []
    times = table.column("ts").to_pylist()
    living: set[int] = set()
    latest = passed = start = 0
    while start < len(places):
        size = data.draw(st.integers(1, 4))
        batch = table.take(pa.array(places[start : start + size], pa.int64()))
        living.update(places[start : start + size])
        start += size
        found.append(matcher.push(with_op(batch, 1)))
        gone = sorted(place for place in living if times[place] >= passed and data.draw(st.integers(0, 7)) == 0)
        living.difference_update(gone)
        found.append(matcher.push(with_op(table.take(pa.array(gone, pa.int64())), -1)))
        latest = max([latest, *batch.column("ts").to_pylist()])
        rest = table.take(pa.array(places[start:], pa.int64())).column("ts").to_pylist()
        if data.draw(st.integers(0, 2)) == 0 and min(rest, default=latest) > passed:
            passed = min(rest, default=latest)
            found.append(matcher.advance(passed))
        time = data.draw(st.one_of(st.just(max(latest, passed) + 1), st.integers(passed, max(latest, passed) + 2)))
        add, remove = data.draw(changes(model, with_final(others_of(other, automaton.spec)), time, matcher.now))
        try:
            found.append(matcher.change(add, remove, at=None if time == max(latest, passed) + 1 else time))
        except oz.OuzelError as error:
            if not any(said in str(error) for said in REFUSED):
                raise
            return
        model.change(add, remove, time, matcher.now)
        if data.draw(st.booleans()):
            matcher = oz.restore(matcher.snapshot())
        if speculation == "inf" and not any("end_of_window" in arc for arc, _since, _until in model.lives):
            assert applied(found) == expected(model, table.take(pa.array(sorted(living), pa.int64())))
    found.append(matcher.finish())
    assert applied(found) == expected(model, table.take(pa.array(sorted(living), pa.int64())))


def with_op(batch: pa.Table, op: int) -> pa.Table:
    return batch.append_column("op", pa.array([op] * batch.num_rows, pa.int8()))
