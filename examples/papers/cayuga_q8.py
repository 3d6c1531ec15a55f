"""Cayuga, section 5.1, Query 8: three consecutive quotes, IBM below $10, IBM above $15, IBM below $15."""

import json
from pathlib import Path

import ouzel as oz

S = oz.stream("Stock")

# LinearStat: σ[θ3](σ[θ2](σ[θ1](S1) ; S2) ; S3).  Without a condition ; takes what comes next, of whatever company.
query = (
    S.prefixed("S1")
    .where("S1.name = 'IBM' AND S1.price < 10")
    .next(S.prefixed("S2"))
    .where("S2.name = 'IBM' AND S2.price > 15")
    .next(S.prefixed("S3"))
    .where("S3.name = 'IBM' AND S3.price < 15")
    .select("S1.price", "S2.price", "S3.price")
)

# Equal on every stream of instantaneous quotes: neither passes over any, and of simultaneous ones each may go on.
text = """
PATTERN SEQ(Stock a, Stock b, Stock c)
WHERE   strict_contiguity {
        a.name = 'IBM' AND a.price < 10
    AND b.name = 'IBM' AND b.price > 15
    AND c.name = 'IBM' AND c.price < 15 }
RETURN  a.price AS `S1.price`, b.price AS `S2.price`, c.price AS `S3.price`, start(a) AS start, end(c) AS end
"""

if __name__ == "__main__":
    quotes = Path(__file__).with_name("events") / "cayuga_q8.jsonl"
    for row in oz.match([json.loads(line) for line in quotes.read_text().splitlines()], query):
        print(json.dumps(row))
