"""All experiments by name, each with the number of events, or queries, of its full form and of its quick one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ouzel.bench import (
    afa,
    afa_disorder,
    afa_thefts,
    cases,
    cayuga,
    composition,
    many_changes,
    many_queries,
    many_ranges,
    many_texts,
    planning,
    pushes,
    sase,
    sase_plus,
    shoot_out,
    spark_batch,
    spark_stream,
    start_up,
    tree_batches,
    zstream,
)
from ouzel.bench.measure import Row


@dataclass(frozen=True)
class Experiment:
    """What is run, with a number of events and how often; `drawn` is the figure that its plot shows.

    `unit` is what the number is of, if not of events.
    """

    run: Callable[[int, int], Iterator[Row]]
    events: int
    quick: int
    drawn: str = "events/s"
    unit: str = "events"

    @property
    def title(self) -> str:
        """The first line of its description."""
        return (self.run.__doc__ or "").splitlines()[0]


def _spark(events: int, times: int) -> Iterator[Row]:
    """Streams and batches on Spark, beside an identity and Spark SQL."""
    # first what is told in tenths of a second: later, Java has more to clear away
    yield from spark_stream.streams(events, times)
    yield from spark_batch.batches(events, times)
    yield from spark_batch.planning(times)


EXPERIMENTS = {
    "sase-1": Experiment(sase.sase_1, 5_000_000, 300_000),
    "sase-2": Experiment(sase.sase_2, 5_000_000, 300_000),
    # with a domain of 10 there are 20 matches for every event
    "sase-3": Experiment(sase.sase_3, 1_000_000, 300_000),
    "sase-4": Experiment(sase.sase_4, 5_000_000, 300_000),
    "sase-5": Experiment(sase.sase_5, 5_000_000, 300_000, "relative"),
    "sase-6": Experiment(sase.sase_6, 1_000_000, 300_000, "relative"),
    "sase+-1": Experiment(sase_plus.sase_plus_1, 500_000, 100_000),
    # with a window of 2,000 a match has 1,000 events
    "sase+-2": Experiment(sase_plus.sase_plus_2, 200_000, 50_000),
    "sase+-3": Experiment(sase_plus.sase_plus_3, 500_000, 100_000),
    "sase+-4": Experiment(sase_plus.sase_plus_4, 500_000, 100_000),
    "sase+-5": Experiment(sase_plus.sase_plus_5, 500_000, 100_000),
    "sase+-6": Experiment(sase_plus.sase_plus_6, 200_000, 50_000, "times faster"),
    "zstream-8": Experiment(zstream.zstream_8, 5_000_000, 500_000, unit="matches"),
    "zstream-9": Experiment(zstream.zstream_9, 5_000_000, 500_000, "1/cost", "matches"),
    "zstream-10": Experiment(zstream.zstream_10, 5_000_000, 500_000, unit="matches"),
    "zstream-11": Experiment(zstream.zstream_11, 5_000_000, 500_000, "1/cost", "matches"),
    "zstream-12": Experiment(zstream.zstream_12, 1_000_000, 100_000, unit="matches"),
    "zstream-13": Experiment(zstream.zstream_13, 1_000_000, 100_000, "1/cost", "matches"),
    "zstream-14": Experiment(tree_batches.zstream_14, 180_000, 60_000),
    "zstream-15": Experiment(zstream.zstream_15, 300_000, 50_000),
    "zstream-16": Experiment(zstream.zstream_16, 300_000, 50_000),
    "zstream-17": Experiment(zstream.zstream_17, 1_500_000, 300_000),
    "zstream-table-3": Experiment(tree_batches.zstream_table_3, 60_000, 20_000, "peak MB"),
    "zstream-table-5": Experiment(tree_batches.zstream_table_5, 1_500_000, 300_000, "peak MB"),
    "zstream-clicks": Experiment(zstream.zstream_clicks, 378_000, 50_000),
    "cayuga-16a": Experiment(many_queries.cayuga_16a, 400_000, 40_000, unit="queries"),
    "cayuga-16b": Experiment(many_queries.cayuga_16b, 200_000, 20_000, unit="queries"),
    "cayuga-16c": Experiment(many_queries.cayuga_16c, 200_000, 20_000, unit="queries"),
    "cayuga-17": Experiment(many_queries.cayuga_17, 40_000, 4_000, unit="queries"),
    "cayuga-texts": Experiment(many_texts.cayuga_texts, 1_000, 100, unit="queries"),
    "cayuga-ranges": Experiment(many_ranges.cayuga_ranges, 100_000, 10_000, unit="queries"),
    "cayuga-add": Experiment(many_changes.cayuga_add, 400_000, 40_000, "ms each", "queries"),
    "cayuga-planning": Experiment(many_changes.cayuga_planning, 200_000, 20_000, "ms a query", "queries"),
    "cayuga-20": Experiment(cayuga.cayuga_20, 112_635, 20_000),
    "afa-8": Experiment(afa.afa_8, 5_000_000, 100_000),
    "afa-9": Experiment(afa.afa_9, 100_000, 5_000),
    "afa-10": Experiment(afa_disorder.afa_10, 100_000, 10_000, "rows told"),
    "afa-11": Experiment(afa_disorder.afa_11, 100_000, 10_000, "ms late"),
    "afa-12": Experiment(afa_disorder.afa_12, 100_000, 20_000),
    "afa-13": Experiment(afa_disorder.afa_13, 100_000, 20_000, "state kB"),
    "afa-16": Experiment(afa.afa_16, 100_000, 20_000),
    "afa-17": Experiment(afa.afa_17, 100_000, 20_000, "state kB"),
    "afa-thefts": Experiment(afa_thefts.afa_thefts, 1_000_000, 100_000),
    "flink": Experiment(cases.flink, 43_200_000, 1_000_000),
    "counting": Experiment(cases.counting, 50_000, 50_000),
    "pushes": Experiment(pushes.pushes, 4_000_000, 400_000),
    "composition": Experiment(composition.composition, 5_000_000, 300_000),
    "start-up": Experiment(start_up.start_up, 200_000, 200_000, "first call"),
    "planning": Experiment(planning.planning, 1_000, 100, "ms a query", "queries"),
    "shoot-out": Experiment(shoot_out.shoot_out, 200, 20, "of the fastest", "cases"),
    "spark": Experiment(_spark, 10_000_000, 200_000, "seconds"),
}
