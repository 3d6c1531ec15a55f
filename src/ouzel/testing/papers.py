"""Seeded streams as the papers' experiments describe them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

QUOTED = ("IBM", "Sun", "Oracle", "Google")
VISITED = {"publication": 6_775, "project": 11_610, "course": 16_083}
RECORDS = 1_500_000
DAY = 24 * 3_600_000
CLICKED = {"landing": 0.25, "product": 0.5, "cart": 0.17, "purchase": 0.08}


def sase_stream(
    events: int, domain: int = 1_000, second: int | None = None, *, types: int = 20, seed: int = 1
) -> pa.Table:
    """SASE's Table 1: `types` event types and five attributes, all uniform; one event per tick.

    Attributes have `domain` different values, the second of them `second` if that is given.

    >>> sase_stream(3).column_names
    ['ts', 'type', 'attr1', 'attr2', 'attr3', 'attr4', 'attr5']
    """
    rng = np.random.default_rng(seed)
    names = [f"E{number}" for number in range(1, types + 1)]
    codes = rng.integers(0, types, events).astype(np.int32)
    columns = {"ts": np.arange(events), "type": _named(codes, names)}
    domains = (domain, second or domain, domain, domain, domain)
    columns |= {f"attr{number}": rng.integers(0, size, events) for number, size in enumerate(domains, 1)}
    return pa.table(columns)


def stock_stream(events: int, rise: float = 0.7, *, symbols: int = 2, seed: int = 1) -> pa.Table:
    """SASE+'s section 6: prices from 1 to 1000 that rise with probability `rise`, else fall or stay alike.

    >>> stock_stream(3).column_names
    ['ts', 'symbol', 'price', 'volume']
    """
    rng = np.random.default_rng(seed)
    drawn = rng.random(events)
    step = np.where(drawn < rise, 1, np.where(drawn < (1 + rise) / 2, -1, 0))
    symbol = rng.integers(1, symbols + 1, events)
    price = np.empty(events, np.int64)
    for one in range(1, symbols + 1):
        own = symbol == one
        price[own] = np.cumsum(step[own]) % 1000 + 1
    return pa.table(
        {"ts": np.arange(events), "symbol": symbol, "price": price, "volume": rng.integers(1, 1001, events)}
    )


def quotes(
    events: int,
    rates: Sequence[float],
    below: Mapping[str, float] | None = None,
    *,
    begin: int = 0,
    seed: int = 1,
) -> pa.Table:
    """ZStream's section 6: quotes of as many stocks as there are relative rates; one event per tick.

    Prices are uniform in [0, 1), but `below` has stocks whose prices are below such a price with a probability.

    >>> quotes(3, (1, 1)).column_names
    ['ts', 'type', 'price']
    """
    rng = np.random.default_rng(seed)
    shares = np.array(rates, np.float64)
    codes = rng.choice(len(rates), events, p=shares / shares.sum()).astype(np.int32)
    price = rng.random(events)
    for name, probability in (below or {}).items():
        # a uniform price is above 1 - x with probability x: here x has the mean that is wanted
        spread = min(probability, 1 - probability)
        own = codes == QUOTED.index(name)
        price[own] = 1 - (probability + spread * rng.uniform(-1, 1, own.sum()))
    return pa.table({"ts": np.arange(begin, begin + events), "type": _named(codes, QUOTED), "price": price})


def web_log(records: int = RECORDS, addresses: int = 30_000, *, seed: int = 1) -> pa.Table:
    """ZStream's section 6.5: a month of accesses, of which few concern publications, projects and courses.

    Some addresses come often and most hardly ever.

    >>> web_log(3).column_names
    ['ts', 'type', 'ip', 'url']
    """
    rng = np.random.default_rng(seed)
    codes = np.full(records, len(VISITED), np.int32)
    counts = [round(count * records / RECORDS) for count in VISITED.values()]
    codes[: sum(counts)] = np.repeat(np.arange(len(counts)), counts)
    rng.shuffle(codes)
    often = 1 / np.arange(1, addresses + 1) ** 0.7
    address = rng.choice(addresses, records, p=often / often.sum()).astype(np.int32)
    known = [f"18.{number >> 16}.{number >> 8 & 255}.{number & 255}" for number in range(addresses)]
    pages = [f"/{name}/{number}" for name in (*VISITED, "other") for number in range(50)]
    return pa.table(
        {
            "ts": pa.array(np.sort(rng.integers(0, 28 * DAY, records))).cast(pa.timestamp("ms")),
            "type": _named(codes, (*VISITED, "other")),
            "ip": _named(address, known),
            "url": _named((codes * 50 + rng.integers(0, 50, records)).astype(np.int32), pages),
        }
    )


def clicks(events: int = 378_000, visitors: int = 25_000, *, seed: int = 1) -> pa.Table:
    """Clicks in a shop: each visitor comes once in three days, for at most forty minutes.

    >>> clicks(3).column_names
    ['ts', 'type', 'visitor']
    """
    rng = np.random.default_rng(seed)
    came = rng.integers(0, 3 * DAY, visitors)
    visitor = rng.integers(0, visitors, events)
    times = came[visitor] + rng.integers(0, DAY // 36, events)
    order = np.argsort(times, kind="stable")
    codes = rng.choice(len(CLICKED), events, p=list(CLICKED.values())).astype(np.int32)
    columns = {"ts": pa.array(times[order]).cast(pa.timestamp("ms")), "type": _named(codes, CLICKED)}
    return pa.table({**columns, "visitor": visitor[order]})


def daily_prices(events: int = 112_635, companies: int = 24, smoothing: int = 1, *, seed: int = 1) -> pa.Table:
    """Cayuga's section 5.2.2: daily closing prices of companies, here random walks, as averages of so many days.

    >>> daily_prices(3).column_names
    ['ts', 'name', 'price']
    """
    rng = np.random.default_rng(seed)
    days = -(-events // companies)
    steps = rng.normal(0, 0.03, (days + smoothing - 1, companies))
    sums = np.cumsum(np.vstack([np.zeros((1, companies)), 50 * np.exp(np.cumsum(steps, axis=0))]), axis=0)
    prices = (sums[smoothing:] - sums[:-smoothing]) / smoothing
    day, company = np.divmod(np.arange(events), companies)
    return pa.table({"ts": day, "name": company, "price": prices.reshape(-1)[:events]})


def tick_stream(events: int, rise: float = 0.5, ignorable: float = 0.0, *, seed: int = 1) -> pa.Table:
    """AFA's Figure 7: a price that rises with probability `rise`, else falls, by N(0.70, 0.30), cut off at 0.

    A share of `ignorable` events neither rises nor falls.

    >>> tick_stream(3).column_names
    ['ts', 'price', 'change']
    """
    rng = np.random.default_rng(seed)
    size = rng.normal(0.7, 0.3, events)
    while (cut := size <= 0).any():
        size[cut] = rng.normal(0.7, 0.3, int(cut.sum()))
    change = np.where(rng.random(events) < rise, size, -size)
    change[rng.random(events) < ignorable] = 0
    return pa.table({"ts": np.arange(events), "price": 100 + np.cumsum(change), "change": change})


def displaced(events: int, share: float, most: int, *, seed: int = 1) -> npt.NDArray[np.int64]:
    """The order in which events arrive, of which a share comes later, by 1 to `most` places (AFA 6.3).

    >>> displaced(4, 0.0, 10).tolist()
    [0, 1, 2, 3]
    """
    rng = np.random.default_rng(seed)
    places = np.arange(events, dtype=np.float64)
    moved = rng.random(events) < share
    # just behind the event in whose place it comes
    places[moved] += rng.integers(1, most + 1, int(moved.sum())) + 0.5
    return np.argsort(places, kind="stable")


def _named(codes: Any, names: Iterable[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(list(names))).cast(pa.string())
