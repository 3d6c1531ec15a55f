"""Cayuga, section 1.1, Query 4: the price of IBM increases monotonically for at least 30 minutes."""

import json
from pathlib import Path

import ouzel as oz

S = oz.stream("Stock")

# σ[DUR ≥ 30](μ[σ[price > price.last], TRUE](S1, S2)); a tick is a minute.
ibm = S.where("name = 'IBM'").select("price")
rises = ibm.extend(low="price").fold(ibm, step="price > price.last")
query = rises.where("duration() >= 30").select("low", "price")

# Equal on every stream of instantaneous quotes: the next one of IBM goes on with a rise or ends it, in both.
# Where a rise leads through one of several simultaneous quotes, the text has a match, with an equal row, for each.
text = """
PATTERN SEQ(Stock+ a[])
WHERE   partition_contiguity {
        [name = 'IBM']
    AND a[i].price > a[i-1].price
    AND a[a.LEN].ts - a[1].ts + 1 >= 30 }
RETURN  a[1].price AS low, a[a.LEN].price AS price, start(a[1]) AS start, end(a[a.LEN]) AS end
"""

if __name__ == "__main__":
    quotes = Path(__file__).with_name("events") / "cayuga_q4.jsonl"
    for row in oz.match([json.loads(line) for line in quotes.read_text().splitlines()], query):
        print(json.dumps(row))
