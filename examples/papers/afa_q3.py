"""AFA, section 6.1, Q3: eight ticks in a row, each up or down; no register."""

import json
from pathlib import Path

import ouzel as oz

TICKS = "uuduuddu"

query = oz.automaton(start="q0", final=["q8"], window=500)
for place, tick in enumerate(TICKS):
    query = query.arc(f"q{place}", f"q{place + 1}", "e.change > 0" if tick == "u" else "e.change < 0")

if __name__ == "__main__":
    quotes = Path(__file__).with_name("events") / "afa_q3.jsonl"
    for row in oz.match([json.loads(line) for line in quotes.read_text().splitlines()], query):
        print(json.dumps(row))
