"""What outlives a process: the state of matchers as snapshots."""

from ouzel.state.snapshot import read_snapshot, write_snapshot

__all__ = ["read_snapshot", "write_snapshot"]
