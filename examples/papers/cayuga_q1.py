"""Cayuga, section 1.1, Query 1: the price of IBM is above $100."""

import json
from pathlib import Path

import ouzel as oz

S = oz.stream("Stock")

# σ: each quote on its own.
query = S.where("name = 'IBM' AND price > 100")

# Equal on every stream.
text = """
PATTERN Stock a
WHERE   a.name = 'IBM' AND a.price > 100
RETURN  a.name, a.price, a.vol, start(a) AS start, end(a) AS end
"""

if __name__ == "__main__":
    quotes = Path(__file__).with_name("events") / "cayuga_q1.jsonl"
    for row in oz.match([json.loads(line) for line in quotes.read_text().splitlines()], query):
        print(json.dumps(row))
