"""The README's code blocks run, one after another, and print what it says they print."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_python_blocks_print_what_is_shown() -> None:
    code, shown = blocks("python"), blocks("text")
    assert len(code) == len(shown) >= 4
    names: dict[str, Any] = {}
    for source, expected in zip(code, shown, strict=True):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(source, "README.md", "exec"), names)  # noqa: S102 - our own README
        assert printed.getvalue().rstrip() == expected.rstrip()


def test_the_commands_exist() -> None:
    makefile = (Path(__file__).parents[1] / "Makefile").read_text(encoding="utf-8")
    for command in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{command}:", makefile, re.MULTILINE), command
