"""What a run may cost: bounds that end in a clear error, or beyond which work is shed and counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ouzel.errors import OuzelError
from ouzel.physical.available import available_memory, bytes_of, size_text
from ouzel.physical.limit_errors import COUNTING, FEWER, LimitError

POLICIES = ("error", "shed")
UNBOUNDED = 2**62
# Where the memory of a run is not bounded by the caller, it is by this part of what is available when it begins.
SHARE = 2


@dataclass(frozen=True)
class Limits:
    """Bounds on open runs, on the events of a match, on each query's matches in one answer, and on memory.

    `max_memory` is in bytes, or a text such as "4GB"; by default it is half of what is available when a run
    begins: of the machine's memory, a container's, or an address space that is limited.
    """

    max_runs: int = 50_000_000
    max_match_size: int = 1_000_000
    max_matches: int = 2**30
    max_nodes: int = 1_000_000_000
    on_limit: str = "error"
    max_memory: int | str | None = None

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if isinstance(self.max_memory, str):
            size = bytes_of(self.max_memory)
            if size is None:
                raise OuzelError(f"max_memory: required bytes or a text such as '4GB'; got {self.max_memory!r}")
            object.__setattr__(self, "max_memory", size)
        for name in ("max_runs", "max_match_size", "max_matches", "max_nodes", "max_memory"):
            value = getattr(self, name)
            if name == "max_memory" and value is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise OuzelError(f"{name}: required a whole number of at least 1; got {value!r}")
        if self.on_limit not in POLICIES:
            raise OuzelError(f"on_limit: required one of {', '.join(POLICIES)}; got {self.on_limit!r}")

    @property
    def sheds(self) -> bool:
        """Whether what goes beyond is dropped and counted, instead of ending the run."""
        return self.on_limit == "shed"

    def memory(self) -> Room:
        """The memory for a run that begins now."""
        settled: Room | None = vars(self).get("_settled")
        if settled is not None:
            return settled
        if isinstance(self.max_memory, int):
            return Room(self.max_memory, "as max_memory says")
        there = available_memory()
        return Room(there // SHARE, f"half of the {size_text(there)} that were available")

    def settled(self) -> Limits:
        """The same for many runs that begin with this one: the system is asked for its memory once."""
        if "_settled" in vars(self):
            return self
        limits = replace(self)
        object.__setattr__(limits, "_settled", self.memory())
        return limits

    def of_all_matches(self) -> Limits:
        """The same where events are matched again: matches that were reported before do not count once more."""
        return replace(self, max_matches=Limits.max_matches, max_match_size=UNBOUNDED).settled()

    def allowed(self, matches: int) -> int:
        """How many of the matches of one query may be reported: all, or the first; else an error."""
        if matches > self.max_matches and not self.sheds:
            raise self.exceeded("max_matches")
        return min(matches, self.max_matches)

    def exceeded(self, name: str) -> LimitError:
        """The error for a bound that was reached."""
        what = {
            "max_runs": "open runs at once",
            "max_match_size": "events in one match",
            "max_matches": "matches",
            "max_nodes": "events bound in open runs",
        }[name]
        counting = [COUNTING] if name == "max_matches" else []
        larger = f"a larger {name}, or on_limit='shed'"
        return LimitError(f"more than {getattr(self, name):,} {what}", FEWER, larger, *counting)


@dataclass(frozen=True)
class Room:
    """The memory that a run may take for what grows, in bytes, and where that number comes from."""

    size: int
    origin: str

    def part(self, count: int) -> Room:
        """An equal part for each of some threads."""
        return Room(self.size // count, self.origin)

    def most(self, each: float, share: float = 1.0) -> int:
        """How many of something there may be, of so many bytes each, that may take a share of the memory."""
        return max(1, int(self.size * share / max(each, 1)))

    def exceeded(self, count: int, what: str) -> LimitError:
        """The error for so many of something that would take more."""
        return LimitError(
            f"{count:,} {what} and more would not fit into the memory for this run: {size_text(self.size)}, "
            f"{self.origin}",
            FEWER,
            COUNTING,
            "a larger max_memory, or on_limit='shed'",
        )


@contextmanager
def memory_errors() -> Iterator[None]:
    """Raise what Python, NumPy or Arrow say of memory as our error, without the frames that hold it."""
    try:
        yield
    except MemoryError:
        raise out_of_memory() from None


def out_of_memory() -> OuzelError:
    """The error where memory came to an end before a bound did."""
    return LimitError(
        f"out of memory: {size_text(available_memory())} are left of what this process may take",
        FEWER,
        COUNTING,
        "a smaller max_memory, to be told before; or fewer events at once",
    )
