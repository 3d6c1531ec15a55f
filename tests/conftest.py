"""Hypothesis profiles, and one process for all Spark tests.

OUZEL_HYPOTHESIS names the profile to use, "default" if it is not set.
"""

import os
import signal

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

# Where a shell started the tests in the background, Ctrl-C would be ignored, in the processes they start too.
signal.signal(signal.SIGINT, signal.default_int_handler)

# In CI a change must not fail on an example that has nothing to do with it; the nightly run looks for those.
settings.register_profile("default", max_examples=60, deadline=None, derandomize=bool(os.environ.get("CI")))
settings.register_profile("nightly", max_examples=20_000, deadline=None, derandomize=False)
settings.load_profile(os.environ.get("OUZEL_HYPOTHESIS", "default"))


class SparkApart(LoadScopeScheduling):  # type: ignore[misc] # xdist has no types
    """Of xdist's processes, one gets all Spark tests, first, and so starts Spark; the others share the rest.

    xdist's own way, a mark and `--dist loadgroup`, has no effect with pytest 9.2 (pytest-xdist's issue 1386).
    """

    def _split_scope(self, nodeid: str) -> str:
        return "spark" if nodeid.startswith("tests/spark/") else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> SparkApart:
    return SparkApart(config, log)
