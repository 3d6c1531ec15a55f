"""Cayuga, section 1.1, Query 5: the price of any stock increases monotonically for at least 30 minutes."""

import json
from pathlib import Path

import ouzel as oz

S = oz.stream("Stock")

# Section 2.3, (1): σ[DUR ≥ 30](μ[σ[price > price.last], name = name.last](S1, S2)); a tick is a minute.
quote = S.select("name", "price")
rises = quote.extend(low="price").fold(quote, where="name = name.last", step="price > price.last")
query = rises.where("duration() >= 30").select("name", "low", "price")

# Equal as Query 4 is: θ is the partition, and the step what each element has to satisfy.
text = """
PATTERN SEQ(Stock+ a[])
WHERE   partition_contiguity {
        [name]
    AND a[i].price > a[i-1].price
    AND a[a.LEN].ts - a[1].ts + 1 >= 30 }
RETURN  a[1].name, a[1].price AS low, a[a.LEN].price AS price, start(a[1]) AS start, end(a[a.LEN]) AS end
"""

if __name__ == "__main__":
    quotes = Path(__file__).with_name("events") / "cayuga_q5.jsonl"
    for row in oz.match([json.loads(line) for line in quotes.read_text().splitlines()], query):
        print(json.dumps(row))
