"""What the documentation shows works: queries parse, links lead somewhere."""

from __future__ import annotations

import contextlib
import io
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


@pytest.mark.parametrize(("page", "count"), [("algebra.md", 7), ("automata.md", 5)])
def test_a_page_prints_what_it_shows(page: str, count: int) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    code, shown = (
        re.findall(rf"^```{one}\n(.*?)^```", text, re.MULTILINE | re.DOTALL) for one in ("python", "text")
    )
    assert len(code) == len(shown) == count
    names: dict[str, object] = {}
    for source, expected in zip(code, shown, strict=True):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(source, page, "exec"), names)  # noqa: S102 - our own page
        assert printed.getvalue() == expected


def test_the_page_on_corrections_prints_what_it_shows() -> None:
    text = (ROOT / "docs" / "corrections.md").read_text(encoding="utf-8")
    ((source,), (expected,)) = (
        re.findall(rf"^```{one}\n(.*?)^```", text, re.MULTILINE | re.DOTALL) for one in ("python", "text")
    )
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, "corrections.md", "exec"), {})  # noqa: S102 - our own page
    assert printed.getvalue() == expected


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", prose):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_map_names_all_modules_that_are_there() -> None:
    package, map_ = ROOT / "src" / "ouzel", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+\.py)`", map_))
    held = {path.name for path in package.rglob("*.py")} - {"__init__.py"}
    missing = sorted(held - named)
    assert named <= held, "docs/architecture.md names what is not there"
    assert not missing, f"say in docs/architecture.md what they are for, in a clause: {missing}"


def test_the_map_describes_each_folder_once() -> None:
    package, map_ = ROOT / "src" / "ouzel", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    folders = {path.parent.relative_to(package).as_posix() for path in package.rglob("__init__.py")} - {"."}
    described = re.findall(r"\*\*([\w/]+)\*\*", map_)
    assert sorted(described) == sorted({*folders, "api"})
