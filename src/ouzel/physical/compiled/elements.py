"""Aggregates over the elements of a closure or group that stand in an array, in order."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.language.tree import COUNT_DISTINCT
from ouzel.logical.expressions import Aggregate, Length
from ouzel.logical.values import Kind, ValueType
from ouzel.physical.compiled.emit import Emitter
from ouzel.physical.compiled.fill import is_written
from ouzel.physical.compiled.operators import carried_by, number_kind
from ouzel.physical.compiled.sources import Written
from ouzel.physical.compiled.value import Value


@dataclass(frozen=True)
class Elements:
    """Where they are, in the words of a kernel: rows[low] to rows[high - 1]; `unbound` if there is no closure."""

    rows: str
    low: str
    high: str
    unbound: str | None = None

    def aggregate(self, node: Aggregate | Length, emitter: Emitter) -> Value:
        """An aggregate over all of them; of none it is null, but for count."""
        length = f"{self.high} - {self.low}"
        if isinstance(node, Length):
            return emitter.assigned(length, None, Kind.INTEGER)
        if node.column is None:
            return emitter.assigned(length, self.unbound, Kind.INTEGER)
        assert node.input_type is not None
        kind = node.input_type.kind
        column = Written(node.column) if is_written(node.input_type) else node.column
        place = emitter.operands.column(column, node.input_type)
        if node.function == COUNT_DISTINCT:
            return self._distinct(place, emitter)
        if node.function in ("first", "last"):
            at = f"{self.high} - 1" if node.function == "last" else self.low
            row = emitter.assigned(f"{self.rows}[{at}] if {length} > 0 else -1", None, Kind.INTEGER).text
            null = emitter.assigned(f"{row} < 0 or n{place}[max({row}, 0)]", None, Kind.BOOLEAN).text
            return emitter.assigned(f"c{place}[max({row}, 0)]", null, number_kind(kind))
        if node.function == "stddev":
            return self._deviation(place, emitter, unsigned=kind is Kind.UNSIGNED)
        return self._running(node.function, place, emitter, node.input_type)

    def _distinct(self, place: int, emitter: Emitter) -> Value:
        """How many values there are that none before is equal to."""
        count, value, other, known, j, h = (emitter.fresh() for _ in range(6))
        emitter.line(f"{count} = 0")
        with (
            emitter.block(f"for {j} in range({self.low}, {self.high}):"),
            emitter.block(f"if not n{place}[{self.rows}[{j}]]:"),
        ):
            emitter.line(f"{value}, {known} = c{place}[{self.rows}[{j}]], False")
            with emitter.block(f"for {h} in range({self.low}, {j}):"):
                emitter.line(f"{other} = c{place}[{self.rows}[{h}]]")
                equal = f"{value} == {other} or ({value} != {value} and {other} != {other})"
                emitter.line(f"{known} = {known} or (not n{place}[{self.rows}[{h}]] and ({equal}))")
            emitter.write(f"if not {known}:", f"    {count} += 1")
        return Value(count, self.unbound, Kind.INTEGER)

    def _running(self, function: str, place: int, emitter: Emitter, held: ValueType) -> Value:
        real, add = held.kind is Kind.FLOAT, carried_by(held)
        count, total, carry, value, j = (emitter.fresh() for _ in range(5))
        emitter.write(f"{count} = 0", f"{total} = {'0.0' if real else '0'}", f"{carry} = 0")
        with (
            emitter.block(f"for {j} in range({self.low}, {self.high}):"),
            emitter.block(f"if not n{place}[{self.rows}[{j}]]:"),
        ):
            emitter.line(f"{value} = c{place}[{self.rows}[{j}]]")
            if function in ("min", "max"):
                sign = "<" if function == "min" else ">"
                none = f"{count} == 0 or {total} != {total}" if real else f"{count} == 0"
                with emitter.block(f"if {none} or {emitter.precedes(value, sign, total, held)}:"):
                    emitter.line(f"{total} = {value}")
            elif function != "count":
                added = f"{total} = {total} + {value} if {count} > 0 else {value}"
                emitter.line(added if real else f"{total}, {carry} = {add}({total}, {value}, {carry})")
            emitter.line(f"{count} += 1")
        if function == "count":
            return Value(count, self.unbound, Kind.INTEGER)
        empty = emitter.assigned(f"{count} == 0", None, Kind.BOOLEAN).text
        if function == "avg":
            whole = total if real else f"carried_float({total}, {carry})"
            return emitter.assigned(f"{whole} / max({count}, 1)", empty, Kind.FLOAT)
        beyond = emitter.assigned(f"{empty} or {carry} != 0", None, Kind.BOOLEAN).text
        return Value(total, beyond if function == "sum" else empty, Kind.FLOAT if real else Kind.INTEGER)

    def _deviation(self, place: int, emitter: Emitter, *, unsigned: bool) -> Value:
        """Welford's updates, as the reference has them."""
        count, mean, squares, delta, value, j = (emitter.fresh() for _ in range(6))
        emitter.line(f"{count}, {mean}, {squares} = 0, 0.0, 0.0")
        with (
            emitter.block(f"for {j} in range({self.low}, {self.high}):"),
            emitter.block(f"if not n{place}[{self.rows}[{j}]]:"),
        ):
            emitter.line(f"{value} = {'unsigned_float' if unsigned else 'float'}(c{place}[{self.rows}[{j}]])")
            emitter.line(f"{count} += 1")
            emitter.line(f"{delta} = {value} - {mean}")
            emitter.line(f"{mean} = {mean} + {delta} / {count}")
            emitter.line(f"{squares} = {squares} + {delta} * ({value} - {mean})")
        return emitter.deviation(squares, count)
