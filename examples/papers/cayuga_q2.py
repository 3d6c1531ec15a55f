"""Cayuga, section 1.1, Query 2: IBM is above $100, and the first MSFT price afterwards is below $25."""

import json
from pathlib import Path

import ouzel as oz

S = oz.stream("Stock")

# The condition on ; passes over other stocks.  That on the price stands behind: it passes over nothing.
query = (
    S.prefixed("S1")
    .where("S1.name = 'IBM' AND S1.price > 100")
    .next(S.prefixed("S2"), where="S2.name = 'MSFT'")
    .where("S2.price < 25")
    .select("S1.price", "S2.price")
)

# "First" is a negation.  skip_till_next_match would not do: it passes over a price of MSFT that is not below $25.
# Equal on every stream of instantaneous events: of simultaneous prices none is sooner, and each is the first.
text = """
PATTERN SEQ(Stock a, !(Stock sooner), Stock b)
WHERE   a.name = 'IBM' AND a.price > 100
    AND sooner.name = 'MSFT'
    AND b.name = 'MSFT' AND b.price < 25
RETURN  a.price AS `S1.price`, b.price AS `S2.price`, start(a) AS start, end(b) AS end
"""

if __name__ == "__main__":
    quotes = Path(__file__).with_name("events") / "cayuga_q2.jsonl"
    for row in oz.match([json.loads(line) for line in quotes.read_text().splitlines()], query):
        print(json.dumps(row))
