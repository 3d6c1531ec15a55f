"""Cayuga, section 1.1, Query 6: the next price of IBM is above its 52-week average."""

import json
from pathlib import Path

import ouzel as oz

S = oz.stream("Stock")

# Section 2.4: initialiser, accumulator, finaliser; a tick is a day.  The paper's (2) accumulates the average,
# which rounds at each step, and lets no run end: the condition in the step drops what has become too long.
ibm = S.where("name = 'IBM'").select("price")
longer = ibm.extend(total="price", n="1").fold(
    ibm, step=lambda s: s.where("duration() <= 364").extend(total="total.last + price", n="n.last + 1")
)
average = longer.where("duration() = 364").extend(AVG="total / n").select("AVG")
query = average.next(S.select("name", "price"), where="name = 'IBM'").where("price > AVG").select("AVG", "price")

# Equal on every stream of instantaneous quotes with whole prices; of others AVG may be rounded differently.
# avg() leaves nulls out, but a total with a null is null, and no price above it: hence IS NOT NULL.
text = """
PATTERN SEQ(Stock{2,} a[], Stock b)
WHERE   partition_contiguity {
        [name = 'IBM']
    AND a.price IS NOT NULL
    AND a[i].ts - a[1].ts < 364
    AND a[a.LEN].ts - a[1].ts + 1 = 364
    AND b.price > avg(a[].price) }
RETURN  avg(a[].price) AS AVG, b.price, start(a[1]) AS start, end(b) AS end
"""

if __name__ == "__main__":
    quotes = Path(__file__).with_name("events") / "cayuga_q6.jsonl"
    for row in oz.match([json.loads(line) for line in quotes.read_text().splitlines()], query):
        print(json.dumps(row))
