"""AFA, section 2.3, Example 4: Q1, in which k, the number of V-patterns, changes from 2 to 3 while it runs."""

import json
from pathlib import Path

import pyarrow as pa

import ouzel as oz

DOWN, UP = "e.change < 0", "e.change > 0"
CHANGE_AT = 8


def up_arcs(k: int) -> list[dict[str, object]]:
    """The arcs of Figure 3 in which k is: those that take upticks."""
    return [
        {
            "id": f"a3 {k}",
            "source": "q2",
            "target": "q2",
            "when": f"{UP} AND v < {k}",
            "set": {"more": "more - 1"},
        },
        {
            "id": f"a4 {k}",
            "source": "q2",
            "target": "q1",
            "when": f"{UP} AND v + 1 < {k}",
            "set": {"more": "more - 1", "v": "v + 1"},
        },
        {
            "id": f"a5 {k}",
            "source": "q2",
            "target": "q3",
            "when": f"{UP} AND v + 1 = {k} AND more = 1",
            "set": {"more": "more - 1", "v": "v + 1"},
        },
    ]


down_arcs = [
    {"id": "a0", "source": "q0", "target": "q1", "when": "e.change < -0.25"},
    {"id": "a1", "source": "q1", "target": "q1", "when": DOWN, "set": {"more": "more + 1"}},
    {"id": "a2", "source": "q1", "target": "q2", "when": DOWN, "set": {"more": "more + 1"}},
]
query = oz.automaton(
    {
        "start": "q0",
        "final": ["q3"],
        "register": {"more": 0, "v": 0},
        "window": 20,
        "arcs": [*down_arcs, *up_arcs(2)],
    }
)


def run(quotes: pa.Table) -> list[dict[str, object]]:
    """The matches of a stream in which k changes behind the first quotes; no computation begins anew."""
    matcher = oz.matcher(query, quotes.schema)
    found = [matcher.push(quotes.slice(0, CHANGE_AT))]
    found.append(matcher.change(remove=[arc["id"] for arc in up_arcs(2)], add=up_arcs(3)))
    found += [matcher.push(quotes.slice(CHANGE_AT)), matcher.finish()]
    return pa.concat_tables(found).to_pylist()


if __name__ == "__main__":
    lines = (Path(__file__).with_name("events") / "afa_dynamic.jsonl").read_text().splitlines()
    for row in run(pa.Table.from_pylist([json.loads(line) for line in lines])):
        print(json.dumps(row))
