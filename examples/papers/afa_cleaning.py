"""AFA, appendix A, stream data cleaning: where a book of a library was last, if one reading of it is missing."""

import json
from pathlib import Path

import ouzel as oz

# A book lies on its shelf, is lent at the desk, leaves by the gate, comes back by the bin, and is on its shelf
# again.  Where two readings of a book follow each other that should have one between them, a match is that one:
# its place, and the time half way.
ROUND = ("shelf", "desk", "gate", "bin")
FIRST = {"book": {"type": "string"}, "missing": {"type": "string"}, "seen": 0, "at": 0}
query = oz.automaton(start="begin", final=["filled"], register=FIRST, window=1_000, partition=["book"])
for place, missing, after in zip(ROUND, ROUND[1:] + ROUND[:1], ROUND[2:] + ROUND[:2], strict=True):
    query = query.arc("begin", place, f"e.place = '{place}'", {"book": "e.book", "seen": "e.ts"})
    imputed = {"missing": f"'{missing}'", "at": "seen + floor((e.ts - seen) / 2)"}
    query = query.arc(place, "filled", f"e.place = '{after}'", imputed)

if __name__ == "__main__":
    readings = Path(__file__).with_name("events") / "afa_cleaning.jsonl"
    for row in oz.match([json.loads(line) for line in readings.read_text().splitlines()], query):
        print(json.dumps(row))
