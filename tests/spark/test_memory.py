"""A partition larger than memory is matched all the same, in order of time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("memory_script.py")


def run(memory: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), str(memory)], capture_output=True, text=True, check=False)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="a worker's memory is limited by Linux only")
def test_a_partition_larger_than_memory() -> None:
    done = run(8 << 20)
    assert "found 2000\n" in done.stdout, done.stdout + done.stderr[-3_000:]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="a worker's memory is limited by Linux only")
def test_the_limit_is_one() -> None:
    """Without the disk the same worker has not enough."""
    done = run(1 << 40)
    assert done.returncode != 0
    assert "MemoryError" in done.stderr or "malloc" in done.stderr, done.stderr[-3_000:]
