"""Cayuga, section 3.1, Query 7: a fall of 10 minutes that starts with a large trade, then a price 5% higher."""

import json
from pathlib import Path

import ouzel as oz

S = oz.stream("Stock")

# A tick is a minute.  S3's name is another one than S1's and S2's, so that θ can tell them apart.
large = S.where("vol > 10000").select("name", "price").rename(company="name", maxP="price").extend(minP="maxP")
quote = S.select("name", "price").rename(company="name", minP="price")
falls = large.fold(quote, where="company = company.last", step="minP < minP.last")
after = S.select("name", "price").rename(firm="name", finalP="price")
query = (
    falls.where("duration() >= 10")
    .next(after, where="firm = company")
    .where("finalP > 1.05 * minP")
    .select("company", "maxP", "minP", "finalP")
)

# Equal as Query 4 is, simultaneous quotes such as e'3 and e'6 of section 3.1 included: any of them may go on with
# the pattern, and a fall waits only if all of them are of other companies.
text = """
PATTERN SEQ(Stock+ a[], Stock b)
WHERE   partition_contiguity {
        [name]
    AND a[1].vol > 10000
    AND a[i].price < a[i-1].price
    AND a[a.LEN].ts - a[1].ts + 1 >= 10
    AND b.price > 1.05 * a[a.LEN].price }
RETURN  a[1].name AS company, a[1].price AS maxP, a[a.LEN].price AS minP, b.price AS finalP,
        start(a[1]) AS start, end(b) AS end
"""

if __name__ == "__main__":
    quotes = Path(__file__).with_name("events") / "cayuga_q7.jsonl"
    for row in oz.match([json.loads(line) for line in quotes.read_text().splitlines()], query):
        print(json.dumps(row))
