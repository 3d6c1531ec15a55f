"""`ouzel bench` runs, checks that contenders find the same, and writes tables, figures and plots."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import ouzel as oz
from ouzel.bench import (
    afa,
    afa_disorder,
    cases,
    cayuga,
    many_changes,
    many_queries,
    many_texts,
    open_runs,
    sase,
    sase_plus,
    shoot_out,
    start_up,
    tick_queries,
    tree_batches,
    tree_plans,
    zstream,
)
from ouzel.bench.experiments import EXPERIMENTS
from ouzel.bench.measure import Contender, Figures, Row, measure
from ouzel.bench.own_process import in_own_process
from ouzel.bench.peers import DuckDB, numpy_pass
from ouzel.bench.sequences import Sequence
from ouzel.cli.commands import app
from ouzel.testing.papers import (
    VISITED,
    clicks,
    displaced,
    quotes,
    sase_stream,
    stock_stream,
    tick_stream,
    web_log,
)

needs_duckdb = pytest.mark.skipif(find_spec("duckdb") is None, reason="DuckDB is not installed")
needs_matplotlib = pytest.mark.skipif(find_spec("matplotlib") is None, reason="Matplotlib is not installed")


def test_there_are_the_experiments_of_five_papers_and_eight_cases() -> None:
    papers = [f"{paper}-{number}" for paper in ("sase", "sase+") for number in range(1, 7)]
    papers += [f"zstream-{figure}" for figure in (*range(8, 18), "table-3", "table-5", "clicks")]
    papers += [f"cayuga-{one}" for one in ("16a", "16b", "16c", "17", "texts", "ranges", "add", "planning", "20")]
    papers += [f"afa-{one}" for one in (*range(8, 14), 16, 17, "thefts")]
    others = ["flink", "counting", "pushes", "composition", "start-up", "planning", "shoot-out", "spark"]
    assert list(EXPERIMENTS) == [*papers, *others]


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in EXPERIMENTS
        if name not in ("flink", "start-up", "planning", "shoot-out", "spark") and "-table-" not in name
    ],
)
def test_every_experiment_runs_in_a_tiny_form(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sase, "FEW", 500)
    monkeypatch.setattr(zstream, "LEAST", 500)
    monkeypatch.setattr(many_texts, "EVENTS", 3_000)
    monkeypatch.setattr(many_queries, "EVENTS", 3_000)
    monkeypatch.setattr(many_queries, "in_own_process", lambda run, *arguments: run(*arguments))
    monkeypatch.setattr(many_changes, "EVENTS", 100)
    monkeypatch.setattr(many_changes, "CHANGES", 5)
    monkeypatch.setattr(afa_disorder, "SINGLE", 100)
    monkeypatch.setattr(afa_disorder, "BY", 10)
    monkeypatch.setattr(afa_disorder, "TOLD", 500)
    rows = list(EXPERIMENTS[name].run(12 if EXPERIMENTS[name].unit == "queries" else 3_000, 1))
    assert len(rows) >= 3
    assert len({(row.varied, row.series) for row in rows}) == len(rows)
    assert all(row.figures["seconds"] > 0 and row.figures["first call"] > 0 for row in rows)
    assert all(EXPERIMENTS[name].drawn in row.figures for row in rows)
    # among so few events of 1,000 or 10,000 keys there are no matches, and tops are rare
    without = ("sase-2", "pushes", "zstream-17", "afa-9")
    assert any(row.figures.get("matches", 0) > 0 for row in rows) or name in without or "cayuga" in name


def test_the_two_ways_to_say_double_top_find_one() -> None:
    # legs of two days and more, so that three quotes of an extremum are not among those of the next
    prices = [13.0, 12, 10, 11, 12, 13, 12, 11, 10, 11, 12, 13, 12, 11, 9, 10]
    table = pa.table({"ts": range(len(prices)), "name": [1] * len(prices), "price": prices})
    tops = oz.match(table, cayuga.by_resubscription(), type=None)["tops"]
    assert [tops[f"E{number}.price"][0].as_py() for number in range(1, 6)] == [10, 13, 10, 13, 9]
    folds = oz.match(table, cayuga.by_folds(), type=None)
    assert {tuple(row.values())[1:6] for row in folds.to_pylist()} == {(10, 13, 10, 13, 9)}


@needs_duckdb
@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_v_pattern_is_the_same_as_an_automaton_embedded_and_as_a_recursive_join(k: int) -> None:
    stream = tick_stream(3_000)
    peer = DuckDB.of(stream, threads=1)
    assert peer is not None
    rows = [
        oz.match(stream, tick_queries.query_1(k, 50), type=None),
        oz.match(stream, tick_queries.embedded_query_1(k, 50), type=None).drop(["at"]),
        peer.query(tick_queries.recursive_query_1(k, 50)).run(),
    ]
    found = [sorted(map(tuple, (row.values() for row in table.to_pylist()))) for table in rows]
    assert found[0]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("between", [10, 100])
def test_arcs_that_change_find_what_matchers_begun_anew_do(between: int) -> None:
    stream = tick_stream(2_000)
    changed = pa.concat_tables(afa.changing(stream, between).run())
    # arcs serve later events only: so each match is that of the arcs of its times
    flips = afa.Flips()
    lives: dict[str, dict[str, Any]] = {}
    for place, up in enumerate(flips.ups):
        arc = tick_queries.tick_arc(place, up=up)
        lives[arc["id"]] = {**arc, "lives": [[None, None]]}
    for time in range(between, 2_001, between):
        came, gone = flips.next()
        lives[gone]["lives"][-1][1] = time
        lives.setdefault(came["id"], {**came, "lives": []})["lives"].append([time, None])
    automaton = oz.automaton({**flips.query.spec, "arcs": list(lives.values())})
    expected = oz.match(stream, automaton, type=None)
    assert changed.sort_by("valid_from").equals(expected.sort_by("valid_from"))
    assert len(expected)


def test_speculation_tells_more_rows_sooner() -> None:
    rows = {(row.varied, row.series): row.figures for row in afa_disorder.afa_10(12_000, 1)}
    for share in ("70% ignorable", "90% ignorable"):
        final, all_of_it = rows["σ = 0", share], rows["σ = inf", share]
        assert final["matches"] == all_of_it["matches"] == final["rows told"] > 0
        assert final["withdrawn"] == 0 < all_of_it["withdrawn"]
        assert all_of_it["rows told"] == all_of_it["matches"] + 2 * all_of_it["withdrawn"]
        assert 0 <= all_of_it["ms late"] < afa_disorder.TOLD < final["ms late"]


def test_displaced_events_come_later_by_as_much_as_is_said() -> None:
    order = displaced(10_000, 0.1, 50)
    late = np.argsort(order) - np.arange(10_000)
    assert sorted(order.tolist()) == list(range(10_000))
    assert 30 < late.max() <= 50
    assert np.mean(late > 0) == pytest.approx(0.1, abs=0.02)


def test_a_first_answer_is_timed_with_an_empty_cache_and_with_a_full_one() -> None:
    rows = list(start_up.start_up(3_000, 1))
    assert [row.series for row in rows[:3]] == [
        "10,000 events, not compiled",
        "3,000 events, compiled",
        "3,000 events, from the cache",
    ]
    assert all(row.figures["first call"] > row.figures["seconds"] > 0 for row in rows)


def test_planning_is_beside_parsing() -> None:
    rows = list(EXPERIMENTS["planning"].run(5, 1))
    assert [row.series for row in rows] == ["parsing", "planning"] * 4
    assert all(row.figures["ms a query"] > 0 for row in rows)


def test_engines_are_compared_on_random_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shoot_out, "EVENTS", 400)
    monkeypatch.setattr(shoot_out, "STREAMS", 2)
    rows = list(EXPERIMENTS["shoot-out"].run(12, 1))
    told = {row.series: row.figures for row in rows if row.varied == "all"}
    assert set(told) == {"scan", "automaton", "tree", "auto"}
    assert told["auto"]["cases"] == told["tree"]["cases"] == 12 > told["scan"]["cases"]
    assert all(1 <= one["of the fastest"] <= one["worst"] for name, one in told.items() if name != "auto")
    texts = {row.varied for row in rows}
    assert len(texts) == 7
    assert texts == {row.varied for row in EXPERIMENTS["shoot-out"].run(12, 1)}


def test_the_memory_of_open_runs_is_that_of_a_process_of_their_own() -> None:
    figures = in_own_process(open_runs.push_batches, 10, "scan", cases.STRATEGIES["scan"])
    assert 10 < figures["peak MB"] < 1_000
    assert figures["events/s"] > 0


def test_an_engine_that_is_too_slow_is_not_asked_for_more_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def in_own_process(_run: object, window: int, engine: str, strategy: str) -> Figures:
        assert strategy == cases.STRATEGIES[engine]
        return {"events/s": 1e6 if engine == "scan" else 1e6 / window}

    monkeypatch.setattr(cases, "in_own_process", in_own_process)
    rows = list(EXPERIMENTS["flink"].run(43_200_000, 1))
    runs = ["2,160 runs", "21,600 runs", "216,000 runs", "2,160,000 runs", "21,600,000 runs"]
    assert [row.varied for row in rows if row.series.startswith("scan")] == runs
    assert [row.varied for row in rows if row.series.startswith("automaton")] == runs[:1]


@pytest.mark.parametrize("engine", cases.STRATEGIES)
def test_open_runs_end_now_and_then(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"WARM_UP": 10, "BATCH": 100, "BETWEEN_ENDS": 150, "VALUES": 200}.items():
        monkeypatch.setattr(open_runs, name, value)
    figures = open_runs.push_batches(300, engine, cases.STRATEGIES[engine])
    assert figures["matches"] > 0


def test_counted_matches_go_beyond_what_could_be_found() -> None:
    small, *_others, large = list(cases.counting(10_000, 1))
    assert (small.varied, large.varied) == ("window 50", "window 400")
    assert large.figures["matches"] > 1e18


@needs_duckdb
@pytest.mark.parametrize("tests", [("attr1",), ("attr1", "attr2")])
@pytest.mark.parametrize("length", [2, 3, 4])
def test_all_joins_find_the_same_as_ouzel(length: int, tests: tuple[str, ...]) -> None:
    stream = sase_stream(4_000, 5, second=2, types=6)
    sequence = Sequence(length, 60, tests)
    peer = DuckDB.of(stream)
    assert peer is not None
    joins = {one.note: one for one in peer.joins(sequence)}
    assert list(joins) == ["range joins", "types apart", "buckets"]
    rows = list(measure("a sequence", 4_000, {"Ouzel": sase.ouzel(stream, sequence), **joins}, 1))
    assert rows[0].figures["matches"] > 0
    assert peer.fastest(sequence).note in joins


@needs_duckdb
def test_conditions_mean_the_same_to_the_peer() -> None:
    stream = sase_stream(4_000, 5, types=6)
    sequence = Sequence(3, 60, conditions=("x2.attr3 < 3", "x1.attr4 < x3.attr4"))
    peer = DuckDB.of(stream)
    assert peer is not None
    contenders = {"Ouzel": sase.ouzel(stream, sequence), "DuckDB": peer.fastest(sequence)}
    ours, _theirs = measure("conditions", 4_000, contenders, 1)
    assert ours.figures["matches"] > 0


def test_all_strategies_for_a_second_test_find_the_same() -> None:
    stream = sase_stream(2_000, 4, second=3, types=6)
    sequence = Sequence(3, 60, ("attr1", "attr2"))
    contenders = {
        name: sase.ouzel(stream, sequence, engine="scan", tuning={"equivalence": name})
        for name in sase.EQUIVALENCES
    }
    assert all(row.figures["matches"] > 0 for row in measure("two tests", 2_000, contenders, 1))


def test_the_figures_of_the_second_papers_tables() -> None:
    stream = stock_stream(4_000)
    query = sase_plus.Template("p1", "s3")
    basic = sase_plus.verbose(stream, query, "basic")
    figures = basic.look(basic.run())
    found = oz.match(stream, query.query, type=None)
    lengths = [len(a) + 1 for a in found["a"].to_pylist()]
    assert figures["matches"] == len(lengths) > 0
    assert figures["match length"] == pytest.approx(sum(lengths) / len(lengths))
    merging = sase_plus.verbose(stream, query, "merging")
    assert 0 < merging.look(merging.run())["merged %"] < 100


def test_a_condition_holds_for_as_many_quotes_as_a_setting_says() -> None:
    stream = quotes(20_000, (1, 2, 1), {"Sun": 0.25})
    types, price = np.array(stream["type"]), np.array(stream["price"])
    ibm, sun = price[types == "IBM"], price[types == "Sun"]
    assert len(sun) / len(ibm) == pytest.approx(2, rel=0.1)
    assert np.mean(ibm[:4_000, None] > sun[None, :4_000]) == pytest.approx(0.25, abs=0.02)


def test_a_setting_has_as_many_matches_as_are_wanted() -> None:
    setting = zstream.SELECTIVITIES[3]
    contender = tree_plans.counted(setting.stream(600_000, 200), zstream.QUERY_4)
    assert contender.look(contender.run())["matches"] == pytest.approx(600_000, rel=0.1)


def test_plans_have_their_time_and_their_cost() -> None:
    setting = zstream.SELECTIVITIES[-1]
    rows = list(
        tree_plans.compared("x", setting.stream(50_000, 200), zstream.QUERY_4, zstream.THREE, 1, ("scan",))
    )
    assert [row.series for row in rows] == ["left-deep", "right-deep", "auto", "scan"]
    left, right, auto, scan = (row.figures for row in rows)
    assert min(left["times as slow"], right["times as slow"]) == 1
    assert (left["times as dear"], auto["times as dear"]) == (1, 1)
    assert right["times as dear"] > 4
    assert "times as dear" not in scan


def test_a_plan_adapts_to_a_stream_that_changes() -> None:
    rows = {(row.varied, row.series): row.figures for row in tree_batches.zstream_14(24_000, 1)}
    assert rows["the whole", "auto"]["switches"] >= 2
    assert rows["the whole", "inner"]["switches"] == 0
    segments = [setting.label for setting in zstream.QUERY_6_SETTINGS]
    parts = sum(rows[segment, "auto"]["matches"] for segment in segments)
    assert parts == rows["the whole", "auto"]["matches"] > 0


def test_the_memory_of_a_plan_is_what_it_adds() -> None:
    stream = quotes(4_000, (1, 1, 1, 1), {"Sun": 0.02})
    figures = in_own_process(tree_batches.watched, stream, zstream.QUERY_6, "tree", {"plan": "bushy"})
    assert figures["matches"] > 0
    assert figures["most records"] > 0
    assert 0 <= figures["peak MB"] < 100


def test_contenders_that_do_not_agree_are_not_compared() -> None:
    nothing = Contender(lambda: None)
    contenders = {"few": nothing.also({"matches": 1_000}), "many": nothing.also({"matches": 1_001})}
    message = "x: required one number of matches; got few 1,000, many 1,001"
    with pytest.raises(oz.OuzelError, match=re.escape(message)):
        list(measure("x", 1, contenders, 1))


def test_the_pass_over_memory_reads_every_value() -> None:
    stream = sase_stream(1_000)
    assert numpy_pass(stream, ["attr1"]).run() == [sum(stream["attr1"].to_pylist())]


def test_the_table_and_the_figures(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    result = CliRunner().invoke(
        app, ["bench", "sase-1", "sase+-3", "--events", "3000", "--runs", "1", "--json", str(path)]
    )
    assert result.exit_code == 0, result.output
    assert "domain 1,000" in result.output
    assert "SASE's experiment 1" in result.output
    figures = json.loads(path.read_text(encoding="utf-8"))
    assert figures["run"]["runs"] == 1
    assert list(figures["experiments"]) == ["sase-1", "sase+-3"]
    rows = [row for row in figures["experiments"]["sase-1"]["rows"] if row["series"] == "Ouzel"]
    assert [row["varied"] for row in rows] == ["domain 100", "domain 1,000", "domain 10,000"]
    assert rows[0]["matches"] > 0


def test_brackets_are_no_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(_events: int, _runs: int) -> Iterator[Row]:
        """Of [k]."""
        yield Row("WHERE [k] AND [bold]", "[red]a", {"[seconds]": 1.0}, "[note]")

    monkeypatch.setitem(EXPERIMENTS, "sase-1", replace(EXPERIMENTS["sase-1"], run=run))
    result = CliRunner().invoke(app, ["bench", "sase-1"])
    assert result.exit_code == 0, result.output
    for text in ("WHERE [k] AND [bold]", "[red]a", "[seconds]", "[note]", "sase-1: Of [k]"):
        assert text in result.output


@needs_matplotlib
def test_plots(tmp_path: Path) -> None:
    folder = tmp_path / "plots"
    result = CliRunner().invoke(
        app, ["bench", "sase-2", "sase+-6", "--events", "1500", "--runs", "1", "--plots", str(folder)]
    )
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in folder.iterdir()) == ["sase+-6.svg", "sase-2.svg"]
    assert "<svg" in (folder / "sase-2.svg").read_text(encoding="utf-8")


def test_a_web_log_has_the_papers_counts() -> None:
    counts = Counter(web_log()["type"].to_pylist())
    assert counts.pop("other") == 1_500_000 - sum(VISITED.values())
    assert counts == VISITED


def test_streams_are_seeded() -> None:
    assert quotes(100, (1, 1)).equals(quotes(100, (1, 1)))
    assert web_log(100).equals(web_log(100))
    assert clicks(100).equals(clicks(100))
    assert sase_stream(100).equals(sase_stream(100))
    assert tick_stream(100).equals(tick_stream(100))
    assert not stock_stream(100, seed=1).equals(stock_stream(100, seed=2))
    assert set(stock_stream(1000)["symbol"].to_pylist()) == {1, 2}
    assert set(sase_stream(1000, 50, second=2)["attr2"].to_pylist()) == {0, 1}


def test_an_unknown_experiment() -> None:
    result = CliRunner().invoke(app, ["bench", "sase-99"])
    assert result.exit_code == 2
