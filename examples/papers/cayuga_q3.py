"""Cayuga, section 1.1, Query 3: a sale at some price, and the next one of that stock more than 5% above it."""

import json
from pathlib import Path

import ouzel as oz

S = oz.stream("Stock")

# Section 2.2 groups quotes by name, and so takes the next one of the same stock.
query = (
    S.prefixed("S1")
    .next(S.prefixed("S2"), where="S1.name = S2.name")
    .where("S2.price > 1.05 * S1.price")
    .select("S1.name", "S1.price", "S2.price")
)

# Equal on every stream of instantaneous quotes: what θ passes over is what lies outside the partition.
text = """
PATTERN SEQ(Stock a, Stock b)
WHERE   partition_contiguity { [name] AND b.price > 1.05 * a.price }
RETURN  a.name AS `S1.name`, a.price AS `S1.price`, b.price AS `S2.price`, start(a) AS start, end(b) AS end
"""

# Section 1.1 takes the next transaction of all, which has to be of the same stock: no θ, and another strategy.
adjacent = (
    S.prefixed("S1")
    .next(S.prefixed("S2"))
    .where("S1.name = S2.name AND S2.price > 1.05 * S1.price")
    .select("S1.name", "S1.price", "S2.price")
)
adjacent_text = text.replace("partition_contiguity", "strict_contiguity")

if __name__ == "__main__":
    quotes = Path(__file__).with_name("events") / "cayuga_q3.jsonl"
    for row in oz.match([json.loads(line) for line in quotes.read_text().splitlines()], query):
        print(json.dumps(row))
