"""Hypothesis profiles: OUZEL_HYPOTHESIS names the one to use, "default" if it is not set."""

import os

from hypothesis import settings

# In CI a change must not fail on an example that has nothing to do with it; the nightly run looks for those.
settings.register_profile("default", max_examples=60, deadline=None, derandomize=bool(os.environ.get("CI")))
settings.register_profile("nightly", max_examples=20_000, deadline=None, derandomize=False)
settings.load_profile(os.environ.get("OUZEL_HYPOTHESIS", "default"))
