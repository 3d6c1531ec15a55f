"""Plans of one query beside each other: the time that each takes, and the cost that was estimated for it.

Matches are found and counted, and not written out: the paper's throughput does not count the delivery of results.
One thread matches, and the time is that of the processor, which other work on the machine hardly changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from time import process_time

import pyarrow as pa
import pyarrow.compute as pc

import ouzel as oz
from ouzel.bench.measure import Contender, Figures, Row, measure
from ouzel.compile import compile_query
from ouzel.physical.contract import PhysicalPlan
from ouzel.physical.event_table import EventTable
from ouzel.physical.limits import Limits
from ouzel.physical.tree import TreePlan
from ouzel.runtimes.ingest import ingest
from ouzel.runtimes.reading import Reading

COUNTED = "RETURN count(*) AS found OUTPUT AGGREGATE"
AUTO = "auto"
# The paper's NFA, which looks for sequences backwards, is SASE's: the scan.
AUTOMATA = ("scan", "automaton")
# Times that differ by less than this are alike.
ALIKE = 1.1


def counted(stream: pa.Table, text: str, engine: str = "tree", **tuning: str) -> Contender:
    """A query on an engine, with its matches counted."""
    query = oz.query(f"{text} {COUNTED}")
    run = partial(oz.match, stream, query, engine=engine, tuning=tuning, threads=1)
    return Contender(run, lambda found: {"matches": int(pc.sum(found["found"]).as_py() or 0)})


def written_out(stream: pa.Table, text: str, returned: str) -> Contender:
    """A query on trees, with its matches as a table."""
    run = partial(oz.match, stream, oz.query(f"{text} {returned}"), engine="tree", threads=1)
    return Contender(run, lambda found: {"matches": found.num_rows})


def compared(
    varied: str,
    stream: pa.Table,
    text: str,
    plans: Mapping[str, str],
    times: int,
    engines: Sequence[str] = (),
) -> Iterator[Row]:
    """A row for each plan that is fixed, for the one that the optimizer takes (auto), and for other engines."""
    contenders = {name: counted(stream, text, plan=plan) for name, plan in {**plans, AUTO: AUTO}.items()}
    contenders |= {engine: counted(stream, text, engine) for engine in engines}
    rows = list(measure(varied, len(stream), contenders, times, clock=process_time))
    yield from ranked(rows, tuple(plans), costs(stream, text, plans))


def ranked(rows: Sequence[Row], fixed: Sequence[str], estimated: Mapping[str, float]) -> Iterator[Row]:
    """Rows beside the fastest fixed plan, with costs beside the lowest, and how often the two disagree.

    >>> rows = [Row("x", name, {"seconds": seconds}) for name, seconds in (("a", 2.0), ("b", 4.0))]
    >>> next(ranked(rows, ("a", "b"), {"a": 30.0, "b": 20.0})).figures
    {'seconds': 2.0, 'times as slow': 1.0, '1/cost': 0.03333333333333333, 'times as dear': 1.5, 'misjudged': 1}
    """
    seconds = {row.series: row.figures["seconds"] for row in rows}
    fastest = min(seconds[name] for name in fixed)
    misjudged = dict.fromkeys(fixed, 0)
    for one, other in combinations(fixed if estimated else (), 2):
        quick, slow = sorted((one, other), key=seconds.__getitem__)
        if seconds[slow] > ALIKE * seconds[quick] and estimated[slow] < estimated[quick]:
            misjudged[one] += 1
            misjudged[other] += 1
    for row in rows:
        more: Figures = {"times as slow": row.figures["seconds"] / fastest}
        if row.series in estimated:
            cost = estimated[row.series]
            more |= {"1/cost": 1 / cost, "times as dear": cost / min(estimated[name] for name in fixed)}
        if row.series in estimated and row.series in misjudged:
            more["misjudged"] = misjudged[row.series]
        yield replace(row, figures={**row.figures, **more})


def costs(stream: pa.Table, text: str, plans: Mapping[str, str]) -> dict[str, float]:
    """What the optimizer thinks that plans cost, and the one that it takes, after it has seen the stream."""
    events = event_table(stream)
    plan = _tree_plan(text, events, AUTO)
    at_work = plan.begin(Limits(), once=True)
    at_work.push(events, None)
    statistics = at_work.memory.sampler.statistics
    fixed = {name: _tree_plan(text, events, order) for name, order in plans.items()}
    orders = {name: one.orders(statistics) for name, one in fixed.items()} | {AUTO: at_work.memory.orders}
    return {name: plan.cost(one, statistics) for name, one in orders.items()}


def event_table(stream: pa.Table) -> EventTable:
    """Events as engines take them."""
    return ingest(stream, Reading(), oz.Report())[0]


def physical_plan(text: str, events: EventTable, engine: str, tuning: Mapping[str, str]) -> PhysicalPlan:
    """What an engine makes of a query for some events."""
    return compile_query(f"{text} {COUNTED}", events.schema, {}, engine, tuning).plans[0].physical


def _tree_plan(text: str, events: EventTable, order: str) -> TreePlan:
    plan = physical_plan(text, events, "tree", {"plan": order})
    assert isinstance(plan, TreePlan)
    return plan
