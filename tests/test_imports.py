"""What is heavy or optional is not imported before it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = (
    "duckdb",
    "hypothesis",
    "llvmlite",
    "matplotlib",
    "narwhals",
    "numba",
    "pandas",
    "polars",
    "pyspark",
    "rich",
    "typer",
)
FEW_EVENTS = """
import pyarrow as pa
rows = {"ts": range(1000), "type": ["A", "B"] * 500, "x": [1.5] * 1000}
oz.match(pa.table(rows), "PATTERN SEQ(A a, B b) WHERE a.x = b.x WITHIN 5")
oz.match(pa.table(rows).to_pylist(), "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match { [x] } WITHIN 5")
"""


def imported(code: str) -> set[str]:
    """The packages that a program has imported in the end."""
    program = f"import sys\nimport ouzel as oz\noz.match\n{code}\nprint(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {module.split(".")[0] for module in ran.stdout.split()}


def test_ouzel_alone_imports_nothing_heavy() -> None:
    assert imported("") & set(HEAVY) == set()


def test_ouzel_alone_looks_up_no_versions_and_no_resources() -> None:
    assert imported("") & {"email", "zipfile"} == set()  # what importlib.metadata and importlib.resources need


@pytest.mark.parametrize("package", ["llvmlite", "narwhals", "numba"])
def test_few_events_in_arrow_or_as_rows_need_neither_compiler_nor_frames(package: str) -> None:
    assert package not in imported(FEW_EVENTS)
