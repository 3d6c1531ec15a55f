"""What a run may cost: bounds that end in a clear error, or beyond which work is shed and counted."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.errors import OuzelError

POLICIES = ("error", "shed")


@dataclass(frozen=True)
class Limits:
    """Bounds on open runs, on the events of a match, and on the matches of one answer."""

    max_runs: int = 50_000_000
    max_match_size: int = 1_000_000
    max_matches: int = 2**30
    max_nodes: int = 1_000_000_000
    on_limit: str = "error"

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        for name in ("max_runs", "max_match_size", "max_matches"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise OuzelError(f"{name}: required a whole number of at least 1; got {value!r}")
        if self.on_limit not in POLICIES:
            raise OuzelError(f"on_limit: required one of {', '.join(POLICIES)}; got {self.on_limit!r}")

    @property
    def sheds(self) -> bool:
        """Whether what goes beyond is dropped and counted, instead of ending the run."""
        return self.on_limit == "shed"

    def exceeded(self, name: str) -> OuzelError:
        """The error for a bound that was reached."""
        what = {
            "max_runs": "open runs at once",
            "max_match_size": "events in one match",
            "max_matches": "matches",
            "max_nodes": "events bound in open runs",
        }[name]
        return OuzelError(
            f"more than {getattr(self, name):,} {what}\n"
            "  hint: a narrower window, more conditions, or skip_till_next_match"
            + ("" if name == "max_nodes" else f"; or a larger {name}, or on_limit='shed'")
        )
