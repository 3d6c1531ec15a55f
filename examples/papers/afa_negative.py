"""AFA, appendix E, Figure 18: a trade of stock A, and no trade of its competitor B within 300 seconds."""

import json
from pathlib import Path

import ouzel as oz

# A computation goes on with whatever is no trade of B; that there was none is known at the end of its window.
query = (
    oz.automaton(start="q0", final=["q2"], register={"traded": 0, "price": 0.0}, window=300)
    .arc("q0", "q1", "e.stock = 'A'", {"traded": "e.ts", "price": "e.price"})
    .arc("q1", "q1", "e.stock != 'B'")
    .arc("q1", "q2", end_of_window=True)
)

if __name__ == "__main__":
    trades = Path(__file__).with_name("events") / "afa_negative.jsonl"
    for row in oz.match([json.loads(line) for line in trades.read_text().splitlines()], query):
        print(json.dumps(row))
