"""A checkpoint in which something else has written a file of our name is refused as such."""

from __future__ import annotations

import pytest

import ouzel as oz
from ouzel.runtimes.spark import identity


@pytest.mark.parametrize("text", ['{"other": 1}', "[]", '{"queries": 7}', '{"queries": [1], "columns": ""}', "3"])
def test_a_foreign_file_is_refused(text: str) -> None:
    own = {"queries": [{"window": "none"}], "columns": "x int64", "events": "in one bucket"}
    with pytest.raises(oz.StateError, match=r"checkpoint 'there': required an ouzel\.json that Ouzel has written"):
        identity.check_identity(text, own, "there")
