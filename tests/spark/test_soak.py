"""A stream whose driver is killed goes on where it was: the short form of `scripts/soak_streaming.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "soak_streaming.py"


@pytest.mark.skipif(os.environ.get("OUZEL_HYPOTHESIS") != "nightly", reason="takes minutes: for the nightly run")
def test_a_stream_survives_its_driver() -> None:
    command = [sys.executable, str(SCRIPT), "--kills", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 missing, 0 too many" in done.stdout
