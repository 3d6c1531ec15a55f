"""AFA, section 1, Q1: a large drop of the price, then k V-patterns with as many upticks as downticks in all."""

import json
from pathlib import Path

import ouzel as oz

# Figure 3.  `more` counts downticks less upticks, `v` the V-patterns; a downtick may be the last of its V or not.
DOWN, UP = "e.change < 0", "e.change > 0"
query = (
    oz.automaton(start="q0", final=["q3"], register={"more": 0, "v": 0}, window=20)
    .arc("q0", "q1", "e.change < -$delta")
    .arc("q1", "q1", DOWN, {"more": "more + 1"})
    .arc("q1", "q2", DOWN, {"more": "more + 1"})
    .arc("q2", "q2", f"{UP} AND v < $k", {"more": "more - 1"})
    .arc("q2", "q1", f"{UP} AND v + 1 < $k", {"more": "more - 1", "v": "v + 1"})
    .arc("q2", "q3", f"{UP} AND v + 1 = $k AND more = 1", {"more": "more - 1", "v": "v + 1"})
)
params = {"delta": 0.25, "k": 2}

if __name__ == "__main__":
    quotes = Path(__file__).with_name("events") / "afa_q1.jsonl"
    for row in oz.match([json.loads(line) for line in quotes.read_text().splitlines()], query, params=params):
        print(json.dumps(row))
