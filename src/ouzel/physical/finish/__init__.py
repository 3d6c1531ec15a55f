"""Where engines hand over what they bound: negation, what is not final yet, NON_OVERLAP, the order of results."""
