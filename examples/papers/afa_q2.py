"""AFA, section 1, Q2: how many V-patterns follow a large drop until the price is back where it was before."""

import json
from pathlib import Path

import ouzel as oz

# How many there are depends on the data: as long as the price is below that before the drop, another may follow.
DOWN, UP = "e.change < 0", "e.change > 0"
query = (
    oz.automaton(start="q0", final=["q3"], register={"before": 0.0, "v": 0}, window=500)
    .arc("q0", "q1", "e.change < -$delta", {"before": "e.price - e.change"})
    .arc("q1", "q1", DOWN)
    .arc("q1", "q2", DOWN)
    .arc("q2", "q2", f"{UP} AND e.price < before")
    .arc("q2", "q1", f"{UP} AND e.price < before", {"v": "v + 1"})
    .arc("q2", "q3", f"{UP} AND e.price >= before", {"v": "v + 1"})
)
params = {"delta": 0.25}

if __name__ == "__main__":
    quotes = Path(__file__).with_name("events") / "afa_q2.jsonl"
    for row in oz.match([json.loads(line) for line in quotes.read_text().splitlines()], query, params=params):
        print(json.dumps(row))
