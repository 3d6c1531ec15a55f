"""AFA, section 4: A, B and C one after the other, and how probable that is where events may not have happened."""

import json
from pathlib import Path

import ouzel as oz

# An event happened with probability e.prob.  Every arc has a twin that stays where it is: it did not happen.  What
# becomes less probable than the threshold is not followed any more.
HAPPENED = {"prob": "prob * e.prob"}
query = oz.automaton(start="q0", final=["q3"], register={"prob": 1.0}, window=100)
for place, kind in enumerate("ABC"):
    likely = "prob * e.prob >= $threshold"
    query = query.arc(f"q{place}", f"q{place + 1}", f"e.kind = '{kind}' AND {likely}", HAPPENED)
    if place:
        unlikely = "prob * (1 - e.prob) >= $threshold"
        query = query.arc(f"q{place}", f"q{place}", unlikely, {"prob": "prob * (1 - e.prob)"})
params = {"threshold": 0.05}

if __name__ == "__main__":
    readings = Path(__file__).with_name("events") / "afa_uncertain.jsonl"
    for row in oz.match([json.loads(line) for line in readings.read_text().splitlines()], query, params=params):
        print(json.dumps(row))
