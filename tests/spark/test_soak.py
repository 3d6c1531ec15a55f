"""A stream whose driver is killed goes on where it was: the short form of `scripts/soak_streaming.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "soak_streaming.py"


@pytest.mark.skipif(os.environ.get("OUZEL_HYPOTHESIS") != "nightly", reason="takes minutes: for the nightly run")
@pytest.mark.parametrize("options", [[], ["--corrections"]], ids=["final matches", "corrections"])
def test_a_stream_survives_its_driver(options: list[str]) -> None:
    command = [sys.executable, str(SCRIPT), "--kills", "2", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 missing, 0 too many" in done.stdout
    assert not options or "0 ids used twice" in done.stdout
