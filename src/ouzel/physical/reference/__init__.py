"""The reference matcher."""

from ouzel.physical.reference.events import Event, Stream, Values
from ouzel.physical.reference.match import Match
from ouzel.physical.reference.matcher import find_matches

__all__ = ["Event", "Match", "Stream", "Values", "find_matches"]
