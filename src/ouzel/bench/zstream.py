"""ZStream's experiments (section 6): plans for quotes of stocks, for a web log, and for clicks, on one core.

Where a window has very many matches, a stream has as many events as it takes for a number of matches that is the
same in every setting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import factorial, prod
from time import process_time

import pyarrow as pa

from ouzel.bench.measure import Row, measure
from ouzel.bench.tree_plans import AUTOMATA, compared, counted, written_out
from ouzel.testing.papers import clicks, quotes, web_log

QUERY_4 = "PATTERN IBM; Sun; Oracle WHERE IBM.price > Sun.price WITHIN 200 units"
QUERY_5 = "PATTERN IBM; Sun; Oracle WITHIN 200 units"
QUERY_6 = (
    "PATTERN IBM; Sun; Oracle; Google "
    "WHERE Oracle.price > Sun.price AND Oracle.price > Google.price WITHIN 100 units"
)
QUERY_7 = "PATTERN IBM; !Sun; Oracle WITHIN 200 units"
QUERY_8 = "PATTERN publication a; project b; course c WHERE [ip] WITHIN 10 hours"
CLICKS = {
    "product & cart": "PATTERN (product a & cart b); purchase c WHERE [visitor] WITHIN 30 minutes",
    "product+": "PATTERN landing a; product+ b; purchase c WHERE [visitor] WITHIN 30 minutes",
}
CLICKED = "RETURN a.ts AS first, c.ts AS last"
THREE = {"left-deep": "left-deep", "right-deep": "right-deep"}
FOUR = {**THREE, "bushy": "bushy", "inner": "(IBM ((Sun Oracle) Google))"}
NEGATION = {"pushed down": "pushed", "on top": "top"}
LEAST = 5_000


@dataclass(frozen=True)
class Setting:
    """Relative rates of stocks, and the selectivity of the condition on each stock that has one."""

    label: str
    rates: tuple[float, ...]
    below: Mapping[str, float] = field(default_factory=dict)

    def events(self, matches: int, window: int) -> int:
        """How many events have about so many matches.

        >>> Setting("", (1, 1, 1)).events(5_000_000, 200)
        6750
        """
        each = prod(rate / sum(self.rates) for rate in self.rates) * prod(self.below.values())
        each *= window ** (len(self.rates) - 1) / factorial(len(self.rates) - 1)
        return max(int(matches / each), LEAST)

    def stream(self, matches: int, window: int) -> pa.Table:
        """As many quotes as have so many matches."""
        return quotes(self.events(matches, window), self.rates, self.below)


def _rates(places: Sequence[int], factors: Sequence[Fraction]) -> list[Setting]:
    """Three stocks of which some come more often than the others, or more rarely.

    >>> [setting.label for setting in _rates([0], [Fraction(4), Fraction(1, 4)])]
    ['4:1:1', '1:4:4']
    """
    settings = []
    for factor in factors:
        rates = [factor if place in places else Fraction(1) for place in range(3)]
        whole = tuple(int(rate * factor.denominator) for rate in rates)
        settings.append(Setting(":".join(map(str, whole)), whole))
    return settings


SELECTIVITIES = [
    Setting("selectivity 1" + f"/{of}" * (of > 1), (1, 1, 1), {"Sun": 1 / of}) for of in (1, 2, 4, 8, 16, 32)
]
IBM_RATES = _rates([0], [Fraction(16), Fraction(4), Fraction(1), Fraction(1, 4), Fraction(1, 16)])
ORACLE_RATES = _rates([2], [Fraction(many) for many in (1, 2, 4, 8, 16)])
SUN_RATES = _rates([1], [Fraction(many) for many in (1, 2, 4, 8, 16)])
QUERY_6_SETTINGS = [
    Setting("rate 1:100:100:100", (1, 100, 100, 100)),
    Setting("sel1 1/50", (1, 1, 1, 1), {"Sun": 1 / 50}),
    Setting("sel2 1/50", (1, 1, 1, 1), {"Google": 1 / 50}),
]


def zstream_8(matches: int, times: int) -> Iterator[Row]:
    """ZStream's figure 8: the selectivity of a condition on the first two of three (Query 4)."""
    yield from _plans(QUERY_4, SELECTIVITIES, THREE, matches, times, AUTOMATA)


def zstream_9(matches: int, times: int) -> Iterator[Row]:
    """ZStream's figure 9: the cost that is estimated for the plans of Query 4, beside the time that they take."""
    yield from _plans(QUERY_4, SELECTIVITIES, THREE, matches, times)


def zstream_10(matches: int, times: int) -> Iterator[Row]:
    """ZStream's figure 10: the rate of the first of three, and no condition (Query 5)."""
    yield from _plans(QUERY_5, IBM_RATES, THREE, matches, times, AUTOMATA)


def zstream_11(matches: int, times: int) -> Iterator[Row]:
    """ZStream's figure 11: the cost that is estimated for the plans of Query 5, beside the time that they take."""
    yield from _plans(QUERY_5, IBM_RATES, THREE, matches, times)


def zstream_12(matches: int, times: int) -> Iterator[Row]:
    """ZStream's figure 12: four plans for four components, in three settings (Query 6)."""
    yield from _plans(QUERY_6, QUERY_6_SETTINGS, FOUR, matches, times, AUTOMATA)


def zstream_13(matches: int, times: int) -> Iterator[Row]:
    """ZStream's figure 13: the cost that is estimated for the plans of Query 6, beside the time that they take."""
    yield from _plans(QUERY_6, QUERY_6_SETTINGS, FOUR, matches, times)


def zstream_15(events: int, times: int) -> Iterator[Row]:
    """ZStream's figure 15: negation pushed down or on top, by the rate of the last (Query 7)."""
    yield from _negation(ORACLE_RATES, events, times)


def zstream_16(events: int, times: int) -> Iterator[Row]:
    """ZStream's figure 16: negation pushed down or on top, by the rate of what must not come (Query 7)."""
    yield from _negation(SUN_RATES, events, times)


def zstream_17(records: int, times: int) -> Iterator[Row]:
    """ZStream's figure 17: publications, projects and courses in the log of a web server (Query 8)."""
    yield from compared("web log", web_log(records), QUERY_8, THREE, times, AUTOMATA)


def zstream_clicks(events: int, times: int) -> Iterator[Row]:
    """Conjunction and closure in trees: clicks of visitors of a shop, within half an hour."""
    stream = clicks(events, max(events * 25 // 378, 1))
    for label, text in CLICKS.items():
        contenders = {"counted": counted(stream, text), "written out": written_out(stream, text, CLICKED)}
        yield from measure(label, events, contenders, times, clock=process_time)


def _plans(
    text: str,
    settings: Sequence[Setting],
    plans: Mapping[str, str],
    matches: int,
    times: int,
    engines: Sequence[str] = (),
) -> Iterator[Row]:
    window = _window(text)
    for setting in settings:
        yield from compared(setting.label, setting.stream(matches, window), text, plans, times, engines)


def _window(text: str) -> int:
    return int(text.split()[-2])  # WITHIN 200 units


def _negation(settings: Sequence[Setting], events: int, times: int) -> Iterator[Row]:
    for setting in settings:
        stream = quotes(events, setting.rates)
        contenders = {name: counted(stream, QUERY_7, negation=how) for name, how in NEGATION.items()}
        contenders |= {engine: counted(stream, QUERY_7, engine) for engine in AUTOMATA}
        yield from measure(setting.label, events, contenders, times, against="on top", clock=process_time)
