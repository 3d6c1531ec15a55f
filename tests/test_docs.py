"""What the documentation shows works: queries parse, links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ouzel as oz

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])


def test_every_query_in_the_language_page_is_accepted() -> None:
    text = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 5
    for block in blocks:
        assert oz.query(block).names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_map_names_modules_that_are_there() -> None:
    """And in the folders whose modules are each of its own kind, all of them."""
    package = ROOT / "src" / "ouzel"
    named = set(re.findall(r"`(\w+\.py)`", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")))
    assert named <= {path.name for path in package.rglob("*.py")}
    for folder in ("runtimes", "runtimes/spark"):
        held = {path.name for path in (package / folder).glob("*.py")} - {"__init__.py"}
        assert held <= named, "say in docs/architecture.md what it is for, in a clause"
