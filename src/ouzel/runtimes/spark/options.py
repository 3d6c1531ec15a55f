"""How queries run on Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ouzel.errors import OuzelError
from ouzel.runtimes.spark.spreading import EVEN_FOR


@dataclass(frozen=True)
class SparkOptions:
    """How to run on Spark.

    - `tasks`: into how many tasks the events are shuffled; 0 for as many as their size is worth, up to
      `spark.sql.shuffle.partitions`.
    - `memory`: how many bytes of events a task holds before it sorts them on disk.
    - `reads_files`: whether workers read plain Parquet files themselves, where that is safe, which is faster.
    - `looks_at_types`: whether types in a query that no event has are warned of also where events are many, if
      their files are by column: that of the types is read once more.  Of few events, `match` always looks.

    Of streams only:

    - `buckets`: into how many parts the keys of a query are hashed, each with a matcher of its own; 2 to 4 for
      each core serve well.  It is fixed for the life of a checkpoint.
    - `keys`: the columns whose values are hashed into buckets, where rules bring queries that are not known yet;
      each of them must have an equivalence test on these.  By default they are those that all queries given have.
    - `late`: whether late events come out too.  The result then has a column `query` and, for each query and for
      `late`, one that holds a struct: the match, or the late event as far as the queries need it.
    - `metrics`: under which name a query's progress tells the numbers of `matches`, `late` and `malformed` events
      in a micro-batch, of matches `withdrawn`, of runs and matches that were `shed`, of other orders of joins
      (`switches`), of `refused` rules, and after it the `open_runs`, the `state_bytes` and the `watermark`, in
      ticks of the time column (`observedMetrics`); empty for none.
    """

    tasks: int = 0
    memory: int = 512 << 20
    reads_files: bool = True
    looks_at_types: bool = False
    buckets: int = 8
    late: bool = False
    metrics: str = "ouzel"
    keys: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        for name, least in (("tasks", 0), ("memory", 1), ("buckets", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise OuzelError(f"{name}: required a whole number of at least {least}; got {value!r}")
        for name, kind, required in (
            *((name, bool, "True or False") for name in ("reads_files", "looks_at_types", "late")),
            ("metrics", str, "a name, or an empty text"),
        ):
            if not isinstance(value := getattr(self, name), kind):
                raise OuzelError(f"{name}: required {required}; got {value!r}")
        if isinstance(self.keys, str) or not all(isinstance(name, str) for name in self.keys):
            raise OuzelError(f"keys: required a list of columns; got {self.keys!r}")
        if self.buckets > EVEN_FOR:
            raise OuzelError(f"buckets: required {EVEN_FOR} at the most; got {self.buckets}")
