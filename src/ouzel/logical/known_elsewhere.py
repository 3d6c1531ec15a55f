"""Functions that users of other systems look for: what there is in their place."""

from __future__ import annotations

_PARTS = "the parts of a time are year, quarter, month, day, hour, minute, second and weekday: hour(a.ts)"
_CAST = "values have the types of their columns: cast the column"
_OWN = "there is none: register one of your own with oz.register_function"
_CASE = "write CASE WHEN condition THEN value ELSE other END"
_NOW = "a query knows the times of its events alone: pass the time as a parameter, $now"
_LENGTH = "for the length of a text register a function with oz.register_function; a.LEN is that of a closure"
_BEFORE = "the element before a[i] of a closure is a[i-1]: a[i].x > a[i-1].x"
_SEARCH = "write a.x LIKE 'text%', or a.x RLIKE 'regex'"

_SAYINGS = {
    "write ln, the natural logarithm": "log log10 log2",
    "write ceil": "ceiling",
    "write floor(x + 0.5)": "round",
    "write x % y": "mod",
    "multiply: x * x": "pow power square",
    "write substring(a.x, first, length)": "substr mid left right",
    "write lower": "lcase",
    "write upper": "ucase",
    "write a.ts + 5 minutes": "dateadd date_add timestampadd timestamp_add adddate date_sub",
    "write b.ts - a.ts, and compare it with a length of time: < 5 minutes": (
        "datediff date_diff timestampdiff timestamp_diff timediff months_between age"
    ),
    "write coalesce(a.x, b.x)": "ifnull nvl zeroifnull",
    "write a.x IS NULL": "isnull isna",
    "write weekday(a.ts), 1 for Monday to 7": "dayofweek day_of_week dow isodow dayname",
    "write day(a.ts)": "dayofmonth day_of_month",
    "write date_trunc('week', a.ts)": "week weekofyear week_of_year",
    "write date_trunc('day', a.ts)": "date trunc to_day dayofyear",
    "write avg": "mean average",
    "write stddev, which is that of a sample": "std stdev stddev_samp stddev_pop variance var var_samp var_pop",
    "write count(distinct a[].x)": "count_distinct approx_count_distinct nunique",
    "write a[].x in RETURN, which is a list": "array_agg collect_list collect_set list group_concat string_agg",
    "write match_number()": "row_number rownum rank",
    "write count(a[]) or a.LEN": "size cardinality array_length",
    "write first(a[].x) or a[1].x": "first_value",
    "write last(a[].x) or a[a.LEN].x": "last_value",
    "write the attribute that holds the type: a.type": "classifier typeof",
    _PARTS: "date_part datepart extract",
    _CAST: "cast try_cast convert to_timestamp to_date timestamp to_number to_char int float str string double",
    _CASE: "if iif nullif decode",
    _NOW: "now current_timestamp current_date current_time getdate sysdate today unix_timestamp",
    _LENGTH: "length len char_length character_length strlen",
    _BEFORE: "prev lag previous",
    "compare elements of a closure from the later one: a[i].x > a[i-1].x": "next lead",
    _SEARCH: "contains startswith starts_with endswith ends_with instr position regexp regexp_like",
    _OWN: "concat concat_ws trim ltrim rtrim replace split reverse sin cos tan median percentile mode hash",
}
_INSTEAD = {name: saying for saying, names in _SAYINGS.items() for name in names.split()}


def instead_of(function: str) -> str | None:
    """What to write in place of a function that other systems have.

    >>> instead_of("ceiling"), instead_of("frobnicate")
    ('write ceil', None)
    """
    return _INSTEAD.get(function)
