"""Ways to test patterns and engines: the reference matcher and seeded streams."""

from ouzel.physical.reference import Event, Match, Stream, Values, find_matches
from ouzel.testing.retail import Retail, retail_readings, write_retail

__all__ = ["Event", "Match", "Retail", "Stream", "Values", "find_matches", "retail_readings", "write_retail"]
