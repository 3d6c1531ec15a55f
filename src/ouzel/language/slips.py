"""Common slips and signs of other languages, clause by clause, each with a hint."""

from __future__ import annotations

STRATEGIES = ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match")

_SEQUENCE = "a sequence is written SEQ(A a, B b) or A; B"
_BOTH = "both, in any order, are written A & B"
_EITHER = "either of them is written A | B"
_ONE_CLOSURE = "a component has one closure"
_CLOSURE = "a closure stands behind the type, and its variable has empty brackets: A+ a[]"
_BACKTICKS = "a name with other characters than letters, digits and _ stands in backticks: `my name`"
QUOTE = "a quote inside a string is written twice: 'it''s'"
EXAMPLE = "for example: PATTERN SEQ(Shelf a, Exit b) WHERE [tag_id] WITHIN 12 hours"
_NAMES = "names stand in backticks, texts in quotes: `my a`.`my x` = 'text'"
_ORDER = (
    "matches come in the order in which they end; sort the result otherwise. Where events of one time have an "
)
_ORDER += "order, order=['ts', 'seq'] names the columns"
_CONDITIONS = "conditions stand in WHERE, those on closures too: WHERE count(a[]) > 3"
_REPORT = "what to report stands behind RETURN"
_SKIP = "what a run may skip is said by a strategy; OUTPUT NON_OVERLAP keeps matches apart"
_ROWS = "a match is one row; RETURN a[].x is a list, one value for each element of a closure"
_RECOGNIZE = "a query begins with PATTERN; PARTITION BY x is WHERE [x], DEFINE is WHERE, MEASURES is RETURN"
_EVERY = "windows of time belong to aggregates over matches: RETURN count(*) OUTPUT AGGREGATE EVERY 1 hour"
_PARTITION = "an equivalence test partitions the stream: WHERE [attribute]"
_GOES_ON = "behind ';' the pattern goes on: leave the ';' out"
_ALL_MATCHES = "aggregates are over all matches: OUTPUT AGGREGATE"
_STRATEGY = rf"\b(?:{'|'.join(STRATEGIES)})"

# Signs of other languages: where one character of them is wrong, they are wrong as a whole.
FOREIGN_SIGNS = ("===", "!==", "&&", "||", "->", "=>", "=<", "=!", ":=", "**", "//", "++")

# By clause: what stands before the error, what stands there, and what to do.  Where the first has a group, the
# error is that word: the parser took it for a name and stumbled behind it.
SLIPS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "": (
        ("", "#|//", "a comment is written -- … or /* … */"),
        (r"\bquery\s+(?:pattern|event)", ".*", "a name stands behind QUERY: QUERY name PATTERN …"),
        (r"\bquery", r"\W.*", _BACKTICKS),
        (r"\bwithin\s+\S+\s+event", ".*", "a number of events is written WITHIN 100 EVENTS"),
        (r";\s*(?:pattern|event|where|within|return|output)\s+\S+", ".+", _GOES_ON),
        ("", "group|partition", _PARTITION),
        (r"\b(group|partition)", "by", _PARTITION),
        ("", "having|define", _CONDITIONS),
        (r"\b(order)", "by", _ORDER),
        ("", "order", _ORDER),
        ("", "limit|top|offset", "all matches are reported: cut the result instead"),
        (r"\bextract\s*\([^()]*", "from", "the parts of a time are functions: hour(a.ts)"),
        (r"\bevery\s+\S+\s+event", ".*", "windows of aggregates have a length of time: EVERY 1 hour"),
        ("", "every", _EVERY),
        ("", "match_recognize", _RECOGNIZE),
        ("", "select|from", "a query begins with PATTERN, and RETURN says what to report"),
        (r"\b(measures)", r"\w.*", _REPORT),
        ("", "measures", _REPORT),
        (r"\b(after)", "match", _SKIP),
        ("", "after", _SKIP),
        (r"\b(one|all)", "rows?", _ROWS),
        ("", "one|all", _ROWS),
        (r"\b(define)", r"\w.*", _CONDITIONS),
        ("", "subset", "a component may be of several types: ANY(A, B) c"),
        (r"\d", "m|mon|months?|y|yr|years?", "minutes are min; months and years differ in length: write days"),
        (r"\binterval", ".*", "a length of time is written 5 minutes"),
        (r"\b(?:date|timestamp|time)", r"['\"].*", "a time is written as a text: a.ts > '2026-01-31 12:00'"),
    ),
    "PATTERN": (
        (r"\b(followed)", "by", _SEQUENCE),
        (r"\b(and)", r"\w.*|\(", _BOTH),
        (r"\b(or)", r"\w.*|\(", _EITHER),
        (r"\bnot", r"\(", "a negative component is written !(B b)"),
        (r"\bany\s*\([^()]*", r"\w.*", "the variable stands behind the parenthesis: ANY(A, B) a"),
        (r"\bany", "[^(]*", "write ANY(A, B) a"),
        (r"\bseq", "[^(]*", "write SEQ(A a, B b)"),
        (r"\{", ",", "write {0,m} for at most m"),
        (r"", r"\+\+|\*\*", _ONE_CLOSURE),
        (r"[+*?}]", "[+*?{^]", _ONE_CLOSURE),
        (r"[\w\])]", "[+*?{^]", _CLOSURE),
        (r"[+*?}]", r"\[", _CLOSURE),
        (r"\[", ".+", _CLOSURE),
        (r"[\w\])+*?}]", ",|->|=>", _SEQUENCE),
        ("", "&&", _BOTH),
        ("", r"\|\|", _EITHER),
        ("", r"\.", "attributes stand in WHERE and RETURN"),
        ("", r"['\"‘“].*", _BACKTICKS),
        ("", "into", "INTO belongs to RETURN: RETURN a.x AS x INTO T"),
    ),
    "WHERE": (
        (r"['\"’”]", r"\.", _NAMES),
        (r"[.\[]", r"['\"‘“].*", _NAMES),
        (r"\bcast\s*\([^()]*", "as", "values have the types of their columns: cast the column"),
        (r"\bwhere", r"\{", "name a strategy before the braces, or leave them out"),
        (rf"{_STRATEGY}\s*\(", r"\)", "leave the parentheses out, which means all variables"),
        (rf"{_STRATEGY}(?:\s*\([^()]*\))?", ".+", "the predicates of a strategy stand in braces"),
        (r"\bnot|!", "=", "inequality is written !="),
        (r"\bin", ".+", "a list is written IN (1, 2, 3), a parameter IN $xs"),
        (r"\bis(?:\s+not)?", ".+", "IS tests for null; anything else is compared with = or !="),
        (r"\bbetween\b[^,]*", ",", "write BETWEEN 1 AND 2"),
        ("", "&&?", "write AND"),
        ("", r"\|\|?", "write OR"),
        ("", "===|:=", "equality is written ="),
        ("", "!==|=!", "inequality is written !="),
        ("", "=<", "write <="),
        ("", "=>", "write >="),
        ("", "->", "an attribute is written a.x"),
        ("", r"\*\*", "there is no operator for powers: multiply"),
        ("", r"[:?$@]", "a parameter is written $name"),
    ),
    "WITHIN": (
        (r"\bwithin", ".*", "for example WITHIN 12 hours or WITHIN 100 EVENTS"),
        ("", ",", "the parts of a length follow each other: 1 hour 30 minutes"),
    ),
    "RETURN": (
        (r"\.", r"\*", "a.* stands in RETURN alone; count(*) counts matches, count(a[]) events"),
        (r"\*", "as", "a.* makes several columns, called a_x, a_y, …: name single ones with AS"),
        (r"\breturn\s+into", ".*", "say what to return before INTO: RETURN a.x AS x INTO T"),
        (r"\bas", ".+", _BACKTICKS),
    ),
    "OUTPUT": (
        (r"\boutput\s+\S+", "aggregate", _ALL_MATCHES),
        (r"\baggregate(?:\s+every\s.*)?", r"non[_-]?overlap|all", _ALL_MATCHES),
        (r"\baggregate", r"[\d.$].*|per|each|over|tumbling|tumble|window", "write OUTPUT AGGREGATE EVERY 1 hour"),
        (r"\bevery", ".*", "for example EVERY 1 hour"),
        (r"\bevery\b.*", ",", "the parts of a length follow each other: 1 hour 30 minutes"),
        (r"\bevery\b.*", "inclusive", "a window begins where the one before it ends: leave out INCLUSIVE"),
    ),
}
