"""Stage 1, what the parser makes: a query as written, with the place of everything in the text.

Nothing here knows of schemas; names are names.  The next stage (logical) gives them meaning.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from ouzel.errors import Span
from ouzel.language.names import quoted


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier where it stands; `parts` are those of a path to a field, `address.city`."""

    text: str
    span: Span
    parts: tuple[Name, ...] = ()

    @property
    def written(self) -> str:
        """The name as a query writes it."""
        return ".".join(part.written for part in self.parts) or quoted(self.text)


# ---- expressions -----------------------------------------------------------------------------------------

# What count(distinct x) is called.
COUNT_DISTINCT = "count(distinct …)"


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time as written; `unit` None means the unit of the time column."""

    amount: Fraction
    unit: str | None


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant: number, string, boolean, null or duration."""

    value: bool | int | float | str | Duration | None
    span: Span


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$x`, or `$x%` for a hundredth of it."""

    name: str
    percent: bool
    span: Span


class Index(Enum):
    """Which element of a closure a reference means."""

    NONE = ""
    FIRST = "[1]"
    CURRENT = "[i]"
    PREVIOUS = "[i-1]"
    SO_FAR = "[..i-1]"
    LAST = "[LEN]"
    ALL = "[]"


@dataclass(frozen=True, slots=True)
class Reference:
    """`a`, `a.x`, `a[i-1].x`; a lone name may turn out to be an attribute."""

    variable: Name
    index: Index
    attribute: Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """A function or operator applied to arguments; operators go by their symbols, count(*) and
    count(distinct x) by names that no function has.
    """

    function: str
    arguments: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Same:
    """One attribute of an equivalence test, with the value it must have if one is given."""

    attribute: Name
    value: Literal | Parameter | None


@dataclass(frozen=True, slots=True)
class Equivalence:
    """`[id]`, `[a, b]`, `[name='John']`."""

    attributes: tuple[Same, ...]
    span: Span


Expression = Literal | Parameter | Reference | Call | Equivalence


# ---- patterns --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Quantifier:
    """`+ * ? {n} {n,} {n,m}`, or `^n` with `successive`; `most` None is without bound."""

    least: int
    most: int | None
    symbol: str
    span: Span
    successive: bool = False


@dataclass(frozen=True, slots=True)
class Component:
    """`Type var`, `ANY(T1, T2) var`, or a closure over one; `in_seq` says it stands directly in SEQ( )."""

    types: tuple[Name, ...]
    variable: Name | None
    array: bool
    quantifier: Quantifier | None
    span: Span
    in_seq: bool = False


@dataclass(frozen=True, slots=True)
class Negation:
    """`!p`."""

    item: Pattern
    span: Span


@dataclass(frozen=True, slots=True)
class Sequence:
    """`p; q` or `SEQ(p, q)`."""

    items: tuple[Pattern, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Conjunction:
    """`p & q`."""

    items: tuple[Pattern, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Disjunction:
    """`p | q`."""

    items: tuple[Pattern, ...]
    span: Span


Pattern = Component | Negation | Sequence | Conjunction | Disjunction


# ---- clauses ---------------------------------------------------------------------------------------------


class Strategy(Enum):
    """How a run treats the events it does not bind (SASE+ section 2)."""

    STRICT_CONTIGUITY = "strict_contiguity"
    PARTITION_CONTIGUITY = "partition_contiguity"
    SKIP_TILL_NEXT_MATCH = "skip_till_next_match"
    SKIP_TILL_ANY_MATCH = "skip_till_any_match"


@dataclass(frozen=True, slots=True)
class StrategyClause:
    """The strategy and the variables it names."""

    strategy: Strategy
    variables: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Within:
    """A window: a length of time in parts (`1 hour 30 minutes`), or a number of events."""

    lengths: tuple[tuple[Fraction | Parameter, str | None], ...]
    events: int | Parameter | None
    inclusive: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Tumbling:
    """`EVERY 1 hour`: windows of this length, in parts, one behind the other."""

    lengths: tuple[tuple[Fraction | Parameter, str | None], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Every:
    """`a.*`, every attribute of a variable, or `*`, every attribute of every variable."""

    of: Reference | None
    span: Span


@dataclass(frozen=True, slots=True)
class Item:
    """One expression of RETURN and the name given to it."""

    expression: Expression | Every
    name: Name | None
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Query:
    """One query of a file; `aggregate` is the place of OUTPUT AGGREGATE, if said; `every` are its windows.

    `source` is the text of the file.  `since` is said of queries that have changed while they ran: variables, and
    the times from which on they may stand for events.
    """

    name: Name | None
    pattern: Pattern
    strategy: StrategyClause | None
    where: Expression | None
    within: Within | None
    items: tuple[Item, ...]
    into: Name | None
    non_overlap: bool
    aggregate: Span | None
    every: Tumbling | None
    span: Span
    source: str = field(default="", compare=False, repr=False)
    since: tuple[tuple[str, int], ...] = ()
