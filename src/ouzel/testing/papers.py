"""Seeded streams as the papers' experiments describe them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa


def sase_stream(
    events: int, domain: int = 1_000, second: int | None = None, *, types: int = 20, seed: int = 1
) -> pa.Table:
    """SASE's Table 1: `types` event types and five attributes, all uniform; one event per tick.

    Attributes have `domain` different values, the second of them `second` if that is given.

    >>> sase_stream(3).column_names
    ['ts', 'type', 'attr1', 'attr2', 'attr3', 'attr4', 'attr5']
    """
    rng = np.random.default_rng(seed)
    names = pa.array([f"E{number}" for number in range(1, types + 1)])
    codes = pa.array(rng.integers(0, types, events).astype(np.int32))
    columns = {"ts": np.arange(events), "type": pa.DictionaryArray.from_arrays(codes, names).cast(pa.string())}
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
