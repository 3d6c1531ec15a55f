"""Random expressions of the algebra for Hypothesis, and events for them: few values and times, ties and nulls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from ouzel.algebra import Stream, stream
from ouzel.language.notation import dotted

INTEGER, FLOAT, TEXT = "integer", "float", "text"
COLUMNS = {"k": INTEGER, "x": INTEGER, "y": FLOAT, "s": TEXT}
ARROW = {"type": pa.string(), "k": pa.int64(), "x": pa.int64(), "y": pa.float64(), "s": pa.string()}
TYPES = {name: list(COLUMNS) for name in "ABC"}
"""The types of events, declared: so that none is missed where there are few."""
_CONSTANTS = {INTEGER: ("0", "1", "2"), FLOAT: ("0.5", "1.0"), TEXT: ("'a'", "'B'")}
# What is often true comes often: of expressions that give nothing, nothing can be told.
_SIGNS = ("<=", ">=", "!=", "<=", ">=", "=", "<", ">")


@dataclass(frozen=True)
class Made:
    """An expression on its way, and what kinds its attributes are of."""

    stream: Stream
    kinds: dict[str, str]

    def of_kind(self, *kinds: str) -> list[str]:
        """The attributes of some kinds."""
        return [name for name, kind in self.kinds.items() if kind in kinds]


@st.composite
def events(draw: st.DrawFn, most: int = 16, *, least: int = 0, lasting: bool = False) -> pa.Table:
    """Events of the types A, B and C in order of time: at `ts`, or from `start` to `end` if they are `lasting`."""
    value = st.integers(0, 2)
    rows: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(least, most))):
        end, length = draw(st.integers(0, 12)), draw(st.sampled_from((0, 0, 1, 3))) if lasting else 0
        row: dict[str, Any] = {"start": end - length, "end": end} if lasting else {"ts": end}
        row |= {"type": draw(st.sampled_from("AAABBC")), "k": draw(st.integers(1, 2))}
        row |= {"x": draw(st.one_of(value, value, st.none())), "y": draw(st.sampled_from((0.5, 1.0, 1.5, None)))}
        rows.append({**row, "s": draw(st.sampled_from(("a", "B", "ab", None)))})
    times = {name: pa.int64() for name in (("start", "end") if lasting else ("ts",))}
    table = pa.Table.from_pylist(rows, schema=pa.schema({**times, **ARROW}))
    return table.sort_by("end" if lasting else "ts")


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3, *, linear_plus: bool = True) -> Stream:
    """A random expression; if it is `linear_plus`, one automaton can run it."""
    return draw(_made(depth, linear_plus=linear_plus)).stream


@st.composite
def _made(draw: st.DrawFn, depth: int, *, linear_plus: bool) -> Made:
    made = draw(_unary())
    for level in range(draw(st.integers(0, depth))):
        kind = draw(st.sampled_from(("next", "next", "fold", "fold", "union", "unary")))
        if kind == "unary":
            made = draw(_operator(made))
            continue
        nested = not linear_plus and draw(st.booleans())
        right = draw(_made(1, linear_plus=False) if nested else _unary())
        if kind == "next":
            made = draw(_next(made, right, f"r{level}"))
        elif kind == "fold":
            made = draw(_fold(made, right))
        else:
            other = right if not linear_plus else draw(_made(1, linear_plus=True))
            made = _union(made, other)
    return draw(_operator(made)) if draw(st.booleans()) else made


# ---- σ π ρ α ---------------------------------------------------------------------------------------------


@st.composite
def _unary(draw: st.DrawFn) -> Made:
    made = Made(stream(draw(st.sampled_from(("A", "A", "B", None)))), dict(COLUMNS))
    for _ in range(draw(st.sampled_from((0, 0, 0, 1, 1, 2)))):
        made = draw(_operator(made))
    return made


@st.composite
def _operator(draw: st.DrawFn, made: Made, *, in_step: bool = False) -> Made:
    kinds = ("where", "extend") if in_step else ("where", "where", "extend", "select", "rename", "prefixed")
    kind = draw(st.sampled_from(kinds))
    if kind == "where":
        return Made(made.stream.where(draw(_condition(made, with_last=in_step))), made.kinds)
    if kind == "extend":
        return draw(_extend(made, with_last=in_step))
    if kind == "select":
        count = draw(st.integers(1, len(made.kinds)))
        names = draw(st.permutations(list(made.kinds)))[:count]
        return Made(made.stream.select(*names), {name: made.kinds[name] for name in names})
    if kind == "rename":
        old = draw(st.sampled_from(list(made.kinds)))
        new = draw(st.sampled_from([name for name in ("x", "z", "s", "q") if name not in made.kinds] or ["w"]))
        renamed = {new if name == old else name: kind for name, kind in made.kinds.items()}
        return Made(made.stream.rename(**{new: old}), renamed) if new not in made.kinds else made
    prefix = draw(st.sampled_from(("P", "Q")))
    return Made(made.stream.prefixed(prefix), {f"{prefix}.{name}": kind for name, kind in made.kinds.items()})


@st.composite
def _extend(draw: st.DrawFn, made: Made, *, with_last: bool) -> Made:
    # in a step, an attribute that is there must keep its kind
    name = draw(st.sampled_from((*made.kinds, "n", "m"))) if with_last else draw(st.sampled_from(("x", "n", "m")))
    numbers = [dotted(one) for one in made.of_kind(INTEGER)]
    last = [f"{one}.last" for one in numbers] if with_last else []
    kind = made.kinds.get(name, INTEGER) if with_last else draw(st.sampled_from((INTEGER, INTEGER, FLOAT, TEXT)))
    values = {
        INTEGER: ["1", "duration()", *numbers, *last, *(f"{one} + 1" for one in (*numbers, *last))],
        FLOAT: ["0.5", *map(dotted, made.of_kind(FLOAT)), *(f"{one} / 2" for one in numbers)],
        TEXT: ["'a'", *map(dotted, made.of_kind(TEXT))],
    }
    text = draw(st.sampled_from(values[kind]))
    return Made(made.stream.extend(**{name: text}), {**made.kinds, name: kind})


@st.composite
def _condition(draw: st.DrawFn, made: Made, *, with_last: bool = False) -> str:
    kind = draw(st.sampled_from(sorted({*made.kinds.values(), "duration"})))
    sign = draw(st.sampled_from(_SIGNS))
    if kind == "duration":
        return f"duration() {draw(st.sampled_from(('<=', '<=', '>=', '=')))} {draw(st.integers(2, 9))}"
    own = made.of_kind(kind)
    left = dotted(draw(st.sampled_from(own)))
    right = draw(st.sampled_from([*map(dotted, own), *_CONSTANTS[kind]]))
    forms = [f"{left} {sign} {right}", f"{left} {sign} {right}", f"{left} IS NOT NULL"]
    if with_last:
        forms += 3 * [f"{left} {draw(st.sampled_from(('=', '<=', '>=', '!=')))} {left}.last"]
    first = draw(st.sampled_from(forms))
    if draw(st.integers(0, 3)):
        return first
    return f"{first} {draw(st.sampled_from(('AND', 'OR', 'OR')))} {draw(_condition(made, with_last=with_last))}"


# ---- ;θ μ ∪ ----------------------------------------------------------------------------------------------


@st.composite
def _next(draw: st.DrawFn, left: Made, right: Made, prefix: str) -> Made:
    if draw(st.booleans()):
        right = Made(
            right.stream.prefixed(prefix), {f"{prefix}.{name}": kind for name, kind in right.kinds.items()}
        )
    both = Made(left.stream, {**left.kinds, **right.kinds})
    where = draw(st.one_of(st.none(), _condition(both)))
    return Made(left.stream.next(right.stream, where=where), both.kinds)


@st.composite
def _fold(draw: st.DrawFn, left: Made, right: Made) -> Made:
    """The right operand keeps what the left one has of the same kind; the left one gets the rest of some."""
    same = [name for name, kind in right.kinds.items() if left.kinds.get(name) == kind]
    added = [name for name in right.kinds if name not in left.kinds]
    added = [name for name in added if draw(st.booleans())] if same else added[:1]
    if not same and not added:
        return left
    for name in added:
        value = _CONSTANTS[right.kinds[name]][0]
        left = Made(left.stream.extend(**{name: value}), {**left.kinds, name: right.kinds[name]})
    right = Made(right.stream.select(*same, *added), {name: right.kinds[name] for name in (*same, *added)})
    where = draw(st.one_of(st.none(), _condition(left, with_last=True), _condition(left, with_last=True)))

    def step(given: Stream) -> Stream:
        made = Made(given, left.kinds)
        for _ in range(count):
            made = draw(_operator(made, in_step=True))
            made = Made(made.stream, {name: made.kinds[name] for name in left.kinds})  # what is added has no last
        return made.stream

    count = draw(st.sampled_from((0, 1, 1, 2)))
    return Made(left.stream.fold(right.stream, where=where, step=step), left.kinds)


def _union(left: Made, right: Made) -> Made:
    """The right operand gets what it lacks, and keeps no more than the left one has."""
    values = {name: _CONSTANTS[kind][0] for name, kind in left.kinds.items() if right.kinds.get(name) != kind}
    stream_ = right.stream.extend(**values) if values else right.stream
    return Made(left.stream.union(stream_.select(*left.kinds)), left.kinds)
