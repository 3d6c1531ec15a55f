"""AFA, appendix A, Figure 14: a head between two shoulders in the price of a stock, each stock on its own."""

import json
from pathlib import Path

import ouzel as oz

# The price starts at p1, has maxima p2, p4 (the head) and p6, minima p3 and p5 above p1, and ends below p1.
# A tick may be the last of its leg or not; what follows tells.
UP, DOWN = "e.change > 0", "e.change < 0"
FIRST = {"symbol": {"type": "string"}, "p1": 0.0, "p2": 0.0, "p4": 0.0}
query = (
    oz.automaton(start="q0", final=["q7"], register=FIRST, window=60, partition=["symbol"])
    .arc("q0", "q1", None, {"symbol": "e.symbol", "p1": "e.price"})
    .arc("q1", "q1", UP)
    .arc("q1", "q2", UP, {"p2": "e.price"})
    .arc("q2", "q2", DOWN)
    .arc("q2", "q3", f"{DOWN} AND e.price > p1")
    .arc("q3", "q3", UP)
    .arc("q3", "q4", f"{UP} AND e.price > p2", {"p4": "e.price"})
    .arc("q4", "q4", DOWN)
    .arc("q4", "q5", f"{DOWN} AND e.price > p1")
    .arc("q5", "q5", UP)
    .arc("q5", "q6", f"{UP} AND e.price < p4")
    .arc("q6", "q6", f"{DOWN} AND e.price >= p1")
    .arc("q6", "q7", f"{DOWN} AND e.price < p1")
)

if __name__ == "__main__":
    quotes = Path(__file__).with_name("events") / "afa_head_and_shoulders.jsonl"
    for row in oz.match([json.loads(line) for line in quotes.read_text().splitlines()], query):
        print(json.dumps(row))
