"""SASE's template for sequences (section 5.2): as a query, and as the joins that a database takes for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sequence:
    """A sequence of different types in a window, with equivalence tests and perhaps further conditions.

    `division` is how a database writes that of integers.
    """

    length: int = 3
    window: int = 10_000
    tests: tuple[str, ...] = ("attr1",)
    conditions: tuple[str, ...] = ()
    division: str = "//"

    @property
    def query(self) -> str:
        """As Ouzel takes it.

        >>> Sequence(2).query
        'PATTERN SEQ(E1 x1, E2 x2) WHERE [attr1] WITHIN 10000 RETURN x1.ts AS t1, x2.ts AS t2'
        """
        types = ", ".join(f"E{k} x{k}" for k in self._numbers)
        where = " AND ".join([*(f"[{test}]" for test in self.tests), *self.conditions])
        returned = ", ".join(f"x{k}.ts AS t{k}" for k in self._numbers)
        return f"PATTERN SEQ({types}) WHERE {where} WITHIN {self.window} RETURN {returned}"

    @property
    def joins(self) -> dict[str, str]:
        """As SQL, by what it does: which is the fastest depends on the data.

        `range joins` says it straight; `types apart` selects the events of each type before; `buckets` also cuts
        time into pieces as long as the window, so that events far apart never meet: what follows a first event is
        in its bucket or the next.
        """
        of_types = [f"x{k}.type = 'E{k}'" for k in self._numbers]
        number = f"ts {self.division} {self.window}"
        bucket, before = f", {number} AS bucket", f", {number} - 1 AS bucket"
        apart = [self._of_type(k, "") for k in self._numbers]
        buckets = [self._of_type(k, bucket, *([before] if k > 1 else [])) for k in self._numbers]
        return {
            "range joins": self._join("events x{}", self.tests, *of_types),
            "types apart": f"WITH {', '.join(apart)} {self._join('e{0} x{0}', self.tests)}",
            "buckets": f"WITH {', '.join(buckets)} {self._join('e{0} x{0}', (*self.tests, 'bucket'))}",
        }

    @property
    def _numbers(self) -> range:
        return range(1, self.length + 1)

    def _of_type(self, k: int, *more: str) -> str:
        selects = [f"SELECT *{column} FROM events WHERE type = 'E{k}'" for column in more]  # noqa: S608 - numbers
        return f"e{k} AS ({' UNION ALL '.join(selects)})"

    def _join(self, table: str, equal: tuple[str, ...], *conditions: str) -> str:
        joined = table.format(1)
        for k in range(2, self.length + 1):
            same = " AND ".join(f"x{k}.{name} = x1.{name}" for name in equal)
            joined += f" JOIN {table.format(k)} ON {same}"
            joined += f" AND x{k}.ts > x{k - 1}.ts AND x{k}.ts < x1.ts + {self.window}"
        columns = ", ".join(f"x{k}.ts AS t{k}" for k in self._numbers)
        where = " AND ".join(["true", *conditions, *self.conditions])
        return f"SELECT {columns} FROM {joined} WHERE {where}"  # noqa: S608 - numbers
