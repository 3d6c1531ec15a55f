"""Each stage imports only the stages above it; heavy or optional packages only where they belong."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "ouzel"

# In the order of the data flow; what stands in one line may import each other.
STAGES = [
    {"errors"},
    {"language"},
    {"logical"},
    {"explain"},
    {"kernels"},
    {"state"},
    {"physical"},
    {"optimizer"},
    {"compile", "explanation"},
    {"runtimes"},
    {"api"},
    {""},  # ouzel itself, which only re-exports
    {"testing"},
    {"bench"},
    {"cli"},
]
LEVEL = {name: level for level, names in enumerate(STAGES) for name in names}

# Who may import what is heavy or optional, by file or by folder; of these, the core install has Numba only.
OPTIONAL = {
    "numba": ("kernels/compiled.py", "kernels/store.py"),
    "duckdb": ("bench/peers.py",),
    "matplotlib": ("bench/plots.py",),
    "pandas": ("runtimes/pandas_frames.py", "testing/frame_columns.py"),
    "polars": ("runtimes/polars_frames.py", "testing/frame_columns.py"),
    "pyspark": ("runtimes/spark/", "bench/spark_", "cli/spark.py"),
    "hypothesis": ("testing/strategies.py", "testing/encodings.py"),
}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def stage(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def imports(path: Path) -> list[str]:
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: imports name the package in full"
            found.append(node.module)
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_stage_imports_only_the_stages_above_it(path: Path) -> None:
    own = path.relative_to(PACKAGE).with_suffix("").parts[0]
    own = "" if own == "__init__" else own
    assert own in LEVEL, f"{own} has no place in the order of stages"
    for name in imports(path):
        if name.split(".")[0] == "ouzel":
            assert LEVEL[stage(name)] <= LEVEL[own], f"{own} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_optional_packages_are_imported_only_where_they_belong(path: Path) -> None:
    for name in imports(path):
        package = name.split(".")[0]
        allowed = OPTIONAL.get(package)
        # a file's name begins only with its own, a folder's ends with a slash
        assert allowed is None or str(path.relative_to(PACKAGE)).startswith(allowed), f"{path} imports {package}"


def test_files_stay_short() -> None:
    long = {str(path): len(path.read_text(encoding="utf-8").splitlines()) for path in modules()}
    assert {name: lines for name, lines in long.items() if lines > 500} == {}
