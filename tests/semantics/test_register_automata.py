"""Register automata: arcs between any states, a register, ε-arcs, the end of the window (AFA 2.2, Appendix E)."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.physical.automaton import epochs, event_lists
from ouzel.physical.automaton.row_plan import RowPlan
from semantics.everywhere import everywhere

Row = dict[str, Any]


def ticks(text: str) -> list[Row]:
    """An event for every letter, one after the other: u is an uptick, d a downtick."""
    return [{"ts": place + 1, "dir": one, "x": place + 1} for place, one in enumerate(text)]


def accepted(automaton: oz.Automaton, events: list[Row], **options: Any) -> list[str]:
    """The values of the register and the lifetime of every match, a dash for null, wherever it runs."""
    return [
        " ".join("-" if value is None else str(value) for value in row.values())
        for row in everywhere(automaton, events, **options)
    ]


COUNT = oz.automaton(start="q0", final=["q1"], register={"n": 0}, window=3)


def test_a_computation_consumes_every_moment() -> None:
    falls = COUNT.arc("q0", "q1", "e.dir = 'd'", {"n": "n + 1"}).arc("q1", "q1", "e.dir = 'd'", {"n": "n + 1"})
    assert accepted(falls, ticks("dudd")) == ["1 1 4", "1 3 6", "2 4 6", "1 4 7"]


def test_the_window_is_half_open() -> None:
    every = COUNT.arc("q0", "q1", None, {"n": "1"}).arc("q1", "q1", None, {"n": "n + 1"})
    assert accepted(every, ticks("uuuu")) == [
        "1 1 4",
        "2 2 4",
        "1 2 5",
        "3 3 4",
        "2 3 5",
        "1 3 6",
        "3 4 5",
        "2 4 6",
        "1 4 7",
    ]


def test_without_a_window_a_match_is_valid_for_good() -> None:
    one = oz.automaton(start="q0", final=["q1"]).arc("q0", "q1").arc("q1", "q2")
    assert accepted(one, ticks("ud")) == ["1 -", "2 -"]


def test_assignments_see_the_register_as_it_was() -> None:
    swap = oz.automaton(start="q0", final=["q1"], register={"a": 1, "b": 2}).arc(
        "q0", "q1", set={"a": "b", "b": "a + b"}
    )
    assert accepted(swap, ticks("u")) == ["2 3 1 -"]


def test_equal_rows_are_kept() -> None:
    twice = oz.automaton(start="q0", final=["q1"]).arc("q0", "q1").arc("q0", "q1")
    assert accepted(twice, ticks("u")) == ["1 -", "1 -"]


def test_simultaneous_events_are_alternatives() -> None:
    events = [{"ts": 1, "x": 1}, {"ts": 2, "x": 2}, {"ts": 2, "x": 3}, {"ts": 3, "x": 4}]
    path = oz.automaton(start="q0", final=["q3"], register={"sum": 0})
    path = path.arc("q0", "q1", "e.x = 1", {"sum": "e.x"}).arc("q1", "q2", None, {"sum": "10 * sum + e.x"})
    path = path.arc("q2", "q3", None, {"sum": "10 * sum + e.x"})
    assert accepted(path, events) == ["124 3 -", "134 3 -"]


def test_tie_breakers_tell_moments_apart() -> None:
    events = [{"ts": 1, "x": 1}, {"ts": 1, "x": 2}]
    pair = oz.automaton(start="q0", final=["q2"], register={"n": 0})
    pair = pair.arc("q0", "q1", None, {"n": "e.x"}).arc("q1", "q2", None, {"n": "10 * n + e.x"})
    assert accepted(pair, events) == []
    assert accepted(pair, events, order=["ts", "x"]) == ["12 1 -"]


def test_partitions_have_moments_of_their_own() -> None:
    events = [{"ts": ts, "k": k} for ts, k in ((1, "a"), (2, "b"), (3, "a"), (4, None), (5, "b"))]
    pair = oz.automaton(start="q0", final=["q2"], partition=["k"], register={"k": {"type": "string"}})
    pair = pair.arc("q0", "q1", None, {"k": "e.k"}).arc("q1", "q2")
    assert accepted(pair, events) == ["a 3 -", "b 5 -"]


def test_arcs_that_consume_nothing_are_judged_at_the_event_consumed_last() -> None:
    seen = oz.automaton(start="q0", final=["q2"], register={"n": 0})
    seen = seen.arc("q0", "q1", None, {"n": "e.x"}).arc(
        "q1", "q2", "e.x = 2 AND n = 2", {"n": "n + e.x"}, epsilon=True
    )
    assert accepted(seen, ticks("uuu")) == ["4 2 -"]


def test_before_the_first_event_they_are_judged_at_the_first() -> None:
    seen = oz.automaton(start="q0", final=["q2"], register={"n": 0})
    seen = seen.arc("q0", "q1", "e.x = 2", {"n": "n + 5"}, epsilon=True).arc("q1", "q2", None, {"n": "n + e.x"})
    assert accepted(seen, ticks("uuu")) == ["7 2 -"]


def test_a_cycle_of_them_that_ends_is_followed() -> None:
    loop = oz.automaton(start="q0", final=["q1"], register={"n": 0})
    loop = loop.arc("q0", "q1", "e.x = 1").arc("q1", "q1", "n < 2", {"n": "n + 1"}, epsilon=True)
    assert accepted(loop, ticks("u")) == ["0 1 -", "1 1 -", "2 1 -"]


def test_an_endless_cycle_is_an_error() -> None:
    loop = oz.automaton(start="q0", final=["q1"]).arc("q0", "q1").arc("q1", "q1", epsilon=True)
    with pytest.raises(oz.OuzelError, match="more than 10,000 arcs that consume nothing") as error:
        oz.match(ticks("u"), loop)
    assert "'a1'" in str(error.value)


def test_cycles_that_branch_are_too_much_before_they_fill_the_memory() -> None:
    loop = oz.automaton(start="q0", final=["q1"], register={"n": 0}).arc("q0", "q1")
    for _ in range(2):
        loop = loop.arc("q1", "q1", "n < 40", {"n": "n + 1"}, epsilon=True)
    with pytest.raises(oz.OuzelError, match="more than 100,000 computations by arcs that consume nothing"):
        oz.match(ticks("u"), loop)


NO_B = (  # Figure 18: a trade of A, and none of B in the window
    oz.automaton(start="q0", final=["q2"], register={"at": 0}, window=5)
    .arc("q0", "q1", "e.s = 'A'", {"at": "e.ts"})
    .arc("q1", "q1", "e.s != 'B'")
    .arc("q1", "q2", end_of_window=True)
)


def test_the_end_of_the_window() -> None:
    events = [{"ts": ts, "s": s} for ts, s in ((1, "A"), (3, "C"), (4, "A"), (6, "C"), (8, "B"), (20, "A"))]
    assert accepted(NO_B, events) == ["1 6 6", "20 25 25"]


def test_a_matcher_waits_for_it() -> None:
    batch = pa.table({"ts": [1, 3], "s": ["A", "C"]})
    matcher = oz.matcher(NO_B, batch.schema)
    assert matcher.push(batch).num_rows == 0
    assert matcher.advance(5).num_rows == 0
    assert matcher.advance(6).to_pylist() == [{"at": 1, "valid_from": 6, "valid_to": 6}]
    assert matcher.finish().num_rows == 0


def test_one_that_reads_some_types_does_not_see_others() -> None:
    events = [{"ts": ts, "type": one} for ts, one in ((1, "A"), (2, "B"), (3, "A"))]
    pair = oz.automaton(start="q0", final=["q2"], events=["A"]).arc("q0", "q1").arc("q1", "q2")
    assert accepted(pair, events) == ["3 -"]


def test_a_match_is_an_event_for_others() -> None:
    pair = oz.automaton(start="q0", final=["q2"], register={"n": 0})
    pair = (
        pair.arc("q0", "q1", "e.dir = 'd'", {"n": "e.x"}).arc("q1", "q2", "e.dir = 'u'").into("Turn").named("turn")
    )
    found = oz.match(ticks("dudu"), [pair, "QUERY late PATTERN Turn a; Turn b RETURN a.n AS a, b.n AS b"])
    assert found["late"] == [{"a": 1, "b": 3}]


def test_parameters_and_sets() -> None:
    over = oz.automaton(start="q0", final=["q1"], register={"x": 0}, window="$w")
    over = over.arc("q0", "q1", "e.x > $least", {"x": "e.x"})
    found = oz.match(ticks("uuu"), over, params={"w": 7, "least": 1})
    assert found == [{"x": 2, "valid_from": 2, "valid_to": 9}, {"x": 3, "valid_from": 3, "valid_to": 10}]
    both = oz.queries(over, [{"id": "a", "w": 1, "least": 2}, {"id": "b", "w": 2, "least": 2}])
    assert [list(row.values()) for row in oz.match(ticks("uuu"), both)] == [["a", 3, 3, 4], ["b", 3, 3, 5]]


def test_a_specification_goes_there_and_back() -> None:
    assert oz.automaton(NO_B.spec).spec == NO_B.spec
    assert oz.automaton(NO_B.spec) == NO_B


def test_texts_that_are_made_are_ordered() -> None:
    made = oz.automaton(start="q", final=["r"], register={"g": "a"})
    made = made.arc("q", "p", None, {"g": "e.s"}).arc("p", "p", None, {"g": "upper(g)"}).arc("p", "r", "g < e.s")
    events = [{"ts": place, "s": one} for place, one in enumerate("bcd")]
    assert accepted(made, events) == ["b 1 -", "B 2 -", "c 2 -"]


def test_an_arc_that_consumes_nothing_before_every_event_is_no_cycle() -> None:
    loop = oz.automaton(start="q0", final=["q0"], register={"n": 0})
    loop = loop.arc("q0", "q1", None, {"n": "n + 1"}, epsilon=True).arc("q1", "q0", None, {"n": "10 * n"})
    assert accepted(loop, ticks("uu")) == ["10 1 -", "110 2 -", "10 2 -"]
    assert "automaton:" in oz.query(loop).explain()


def test_what_is_no_number_is_in_no_partition() -> None:
    one = oz.automaton(start="q0", final=["q1"], partition=["k"]).arc("q0", "q1")
    assert accepted(one, [{"ts": 1, "k": float("nan")}, {"ts": 2, "k": 1.0}]) == ["2 -"]


@pytest.mark.parametrize(
    ("arrow", "time", "window"),
    [(pa.int64(), 2**62, 2**63 - 1), (pa.int8(), 100, 50), (pa.uint32(), 2**32 - 2, 10), (pa.date32(), 1, 2**33)],
)
def test_a_window_may_end_after_all_times(arrow: pa.DataType, time: int, window: int) -> None:
    one = oz.automaton(start="q0", final=["q1"], window=window).arc("q0", "q1")
    times = pa.array([time], pa.int32()).cast(arrow) if arrow == pa.date32() else pa.array([time], arrow)
    found = oz.match(pa.table({"ts": times}), one, time_unit="ms")
    assert found.column("valid_to").to_pylist() == [None]


@pytest.mark.parametrize("options", [{}, {"speculation": "inf"}])
def test_arcs_that_are_wrong_change_nothing(options: dict[str, Any]) -> None:
    batch = pa.table({"ts": [1, 2], "s": ["A", "C"]})
    one = oz.automaton(start="q0", final=["q1"], register={"g": "a"}).arc("q0", "q1", None, {"g": "e.s"})
    matcher = oz.matcher(one, batch.schema, time_unit="ms", **options)
    matcher.push(batch)
    for arc in ({"when": "e.no = 1"}, {"set": {"g": "e.ts"}}, {"end_of_window": True}):
        with pytest.raises(oz.OuzelError):
            matcher.change(add=[{"id": "b", "source": "q0", "target": "q1", **arc}])
    matcher = oz.restore(matcher.snapshot())
    later = pa.table({"ts": [3], "s": ["A"]})
    assert matcher.push(later).num_rows + matcher.finish().num_rows > 0


def arc_b(number: int) -> dict[str, Any]:
    return {"id": "b", "source": "q0", "target": "q1", "set": {"n": str(number)}}


@pytest.mark.parametrize("engine", ["auto", "reference"])
@pytest.mark.parametrize("is_pushed", [True, False])
def test_an_id_that_goes_is_gone_for_good(engine: str, is_pushed: bool) -> None:
    """What an earlier change was to bring later goes, too."""
    batch = pa.table({"ts": [5, 6, 7, 8]})

    def found(*changes: dict[str, Any]) -> list[tuple[int, int]]:
        one = oz.automaton(start="q0", final=["q1"], register={"n": 0}, arcs=[arc_b(1)])
        matcher = oz.matcher(one, batch.schema, time_unit="ms", engine=engine, speculation="inf")
        told = [matcher.push(batch)] if is_pushed else []
        told += [matcher.change(**change) for change in changes]
        told += [] if is_pushed else [matcher.push(batch)]
        rows = {row["match_id"]: row for one in told for row in one.to_pylist() if row["op"] == 1}
        for gone in (row for one in told for row in one.to_pylist() if row["op"] == -1):
            del rows[gone["match_id"]]
        return sorted((row["valid_from"], row["n"]) for row in rows.values())

    later = {"remove": ["b"], "add": [arc_b(2)], "at": 7}
    assert found(later) == [(5, 1), (6, 1), (7, 2), (8, 2)]
    assert found(later, {"remove": ["b"], "at": 6}) == [(5, 1)]
    assert found(later, {"remove": ["b"], "add": [arc_b(3)], "at": 6}) == [(5, 1), (6, 3), (7, 3), (8, 3)]
    assert found(later, {"remove": ["b"], "at": 8}) == [(5, 1), (6, 1), (7, 2)]


# an arc that no event takes makes q1 final
FINAL = {"id": "f", "source": "q1", "target": "q1", "when": "FALSE", "final": True}
ADDED: dict[str, Any] = {"add": [FINAL]}
MOVED: dict[str, Any] = {"add": [FINAL], "remove": ["f"]}
GONE: dict[str, Any] = {"remove": ["f"]}


@pytest.mark.parametrize("options", [{}, {"engine": "reference"}, {"speculation": "inf"}], ids=str)
@pytest.mark.parametrize(
    ("arcs", "changes", "expected"),
    [
        ([], [{**ADDED, "at": 100}], [150, 200]),
        ([], [{**ADDED, "at": 100}, {**MOVED, "at": 60}], [70, 150, 200]),
        ([{**FINAL, "lives": []}], [{**ADDED, "at": 60}], [70, 150, 200]),
        ([{**FINAL, "lives": [[100, None]]}], [{**MOVED, "at": 60}], [70, 150, 200]),
        ([{**FINAL, "lives": [[180, None], [100, 120]]}], [{**MOVED, "at": 60}], [70, 150, 200]),
        # one that goes before it came makes nothing final, and can come again
        ([], [{**ADDED, "at": 100}, {**GONE, "at": 50}], []),
        ([], [{**ADDED, "at": 100}, {**GONE, "at": 50}, {**ADDED, "at": 60}], [70, 150, 200]),
        ([], [{**ADDED, "at": 60}, {**GONE, "at": 60}], [70, 150, 200]),
        ([], [{**ADDED, "at": 60}, {**GONE, "at": 100}, {**ADDED, "at": 160}], [70, 150, 200]),
    ],
)
def test_a_state_is_final_from_when_its_arc_comes_first(
    arcs: list[Any], changes: list[dict[str, Any]], expected: list[int], options: dict[str, Any]
) -> None:
    first = {"id": "b", "source": "q0", "target": "q1", "set": {"n": "1"}}
    one = oz.automaton(start="q0", final=[], register={"n": 0}, states=["q1"], arcs=[first, *arcs])
    schema = pa.schema({"ts": pa.int64()})
    for kept in (False, True):
        matcher = oz.matcher(one, schema, time_unit="ms", **options)
        told = [matcher.push(pa.table({"ts": [5]}))]
        for change in changes:
            told.append(matcher.change(**change))
            matcher = oz.restore(matcher.snapshot()) if kept else matcher
        told += [matcher.push(pa.table({"ts": [50, 70, 150, 200]})), matcher.finish()]
        assert [row["valid_from"] for one in told for row in one.to_pylist()] == expected


def test_arcs_of_very_many_ways_do_not_change_but_in_the_reference() -> None:
    batch = pa.table({"ts": [1], "x": [1]})
    many = oz.automaton(start="q0", final=["q1"], register={"n": 0})
    for number in range(70):
        many = many.arc("q0", "q1", f"e.x = {number}", {"n": str(number)})
    new = {"id": "new", "source": "q1", "target": "q1", "set": {"n": "-1"}}
    matcher = oz.matcher(many, batch.schema, time_unit="ms")
    matcher.push(batch)
    with pytest.raises(oz.OuzelError, match="more than 62 ways"):
        matcher.change(add=[new])
    matcher = oz.matcher(many, batch.schema, time_unit="ms", engine="reference")
    matcher.push(batch)
    matcher.change(add=[new])
    matcher.push(pa.table({"ts": [2], "x": [99]}))
    assert [row["n"] for row in matcher.finish().to_pylist()] == [-1]


def test_what_is_passed_leaves_nothing_behind() -> None:
    """Partitions, texts and moments of a stream without end."""
    falling = oz.automaton(start="q0", final=["q2"], register={"s": "-"}, window=50, partition=["k"])
    falling = falling.arc("q0", "q1", "e.s > 'k'", {"s": "e.s"}).arc("q1", "q2", "e.s < s")
    schema = pa.schema({"ts": pa.int64(), "k": pa.int64(), "s": pa.string()})
    matcher = oz.matcher(falling, schema, time_unit="ms", speculation="inf")
    sizes = []
    for begin in range(0, 6_000, 200):
        rows = [{"ts": ts, "k": ts // 4, "s": f"{'az'[ts % 2]}{ts}"} for ts in range(begin, begin + 200)]
        with patch.object(event_lists, "SPARE", 100):
            matcher.push(pa.Table.from_pylist(rows, schema), watermark=begin + 100)
        sizes.append(len(matcher.snapshot()))
    assert max(sizes[10:]) < 1.2 * max(sizes[3:10])


@pytest.mark.parametrize("options", [{}, {"speculation": "inf"}])
@pytest.mark.parametrize("kept", [False, True], ids=["running", "restored"])
def test_a_parameter_has_a_value_while_an_arc_mentions_it(options: dict[str, Any], kept: bool) -> None:
    """Those that are gone, too, for as long as they may come back; a restored matcher knows the same."""
    rows = pa.Table.from_pylist([{"ts": ts, "x": ts} for ts in (1, 5, 9)])
    one = oz.automaton(start="q0", final=["q1"], register={"n": 0}).arc("q0", "q1", "e.x > $least", id="a")
    new = {"id": "b", "source": "q0", "target": "q1", "when": "e.x > 1 + $least"}
    matcher = oz.matcher(one, rows.schema, params={"least": 3}, time_unit="ms", **options)
    found = [matcher.push(rows[:1]), matcher.change(remove=["a"])]
    matcher = oz.restore(matcher.snapshot()) if kept else matcher
    found += [matcher.change(add=[new]), matcher.push(rows[1:2])]
    assert [row["valid_from"] for table in found for row in table.to_pylist()] == ([5] if options else [])
    if not options:
        other = oz.automaton(start="q0", final=["q1"], register={"m": 0}).arc("q0", "q1", id="c")
        matcher.replace(None, other)
        matcher = oz.restore(matcher.snapshot()) if kept else matcher
        with pytest.raises(oz.QueryError, match=r"\$least"):
            matcher.change(add=[new])


def test_arcs_that_live_together_are_not_known_for_ever() -> None:
    tiny = oz.automaton(start="q0", final=["q1"], register={"n": 0})
    specs = [{"id": f"a{n}", "source": "q0", "target": "q1", "when": f"e.x = {n}"} for n in range(12)]
    matcher = oz.matcher(oz.automaton({**tiny.spec, "arcs": specs}), pa.schema({"ts": "int64", "x": "int64"}))
    with patch.object(epochs, "MOST_KNOWN", 20):
        for number in range(1, 200):
            gone = [spec["id"] for place, spec in enumerate(specs) if number >> place & 1]
            matcher.push(pa.table({"ts": [number], "x": [0]}))
            matcher.change(remove=gone)
            matcher.change(add=[spec for spec in specs if spec["id"] in gone])
    plan = matcher._chain.links[0].physical
    assert isinstance(plan, RowPlan)
    assert plan.epochs is not None
    assert len(plan.epochs._open) <= 20


@pytest.mark.parametrize("options", [{}, {"speculation": "inf"}, {"engine": "reference"}])
@pytest.mark.parametrize("passing", [0, 50])
def test_a_state_stays_final_whose_arc_is_gone(options: dict[str, Any], passing: int) -> None:
    """From the first life of the arc on, be it for no time, and after all of it is forgotten."""
    first = pa.Table.from_pylist(ticks("u"))
    own = oz.automaton(start="q0", final=["q9"], states=["q9"], register={"n": 0})
    matcher = oz.matcher(own.arc("q0", "q0").arc("q0", "q5", id="on"), first.schema, **options)
    found = [matcher.push(first)]
    found.append(matcher.change(add=[{"id": "z", "source": "q5", "target": "q5", "final": True}]))
    found.append(matcher.change(remove=["z"]))
    if passing:
        found.append(matcher.advance(passing))
        found.append(matcher.change(add=[{"id": "y", "source": "q5", "target": "q6"}]))
    later = pa.Table.from_pylist([{"ts": ts, "dir": "u", "x": 0} for ts in (60, 70)])
    found.append(oz.restore(matcher.snapshot()).push(later, 80))
    assert [row["valid_from"] for table in found for row in table.to_pylist()] == [60, 60, 70, 70, 70]
