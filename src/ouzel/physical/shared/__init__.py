"""Many queries as one plan (Cayuga 4): automata with merged prefixes, and indexes that events probe."""
