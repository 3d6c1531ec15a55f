"""Each stage imports only the stages above it, and each room of a stage only those above it; no imports go round.

Heavy or optional packages are imported only where they belong.
"""

from __future__ import annotations

import ast
from functools import cache
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
    {"arguments"},
    {"algebra", "automata"},
    {"query_sets"},
    {"forms"},
    {"rule_tables"},
    {"api"},
    {""},  # ouzel itself, which only re-exports
    {"testing"},
    {"bench"},
    {"cli"},
    {"__main__"},
]
LEVEL = {name: level for level, names in enumerate(STAGES) for name in names}

# The rooms of the large stages, by folder or file, in the same order; what stands in one line is one room.
ROOMS = {
    "physical": [
        {"available", "limit_errors", "limits", "meaning", "recycled", "each_once", "stoppable", "worker"},
        {"compiled/kernel", "compiled/names", "compiled/share"},
        {"event_table", "event_types", "match_table", "match_totals", "pairing"},
        {"statistics"},
        {"contract"},
        {"apart"},
        {"compiled"},
        {"memory"},
        {"finish"},
        {"scan"},
        {"automaton"},
        {"tree"},
        {"shared"},
        {"reference"},
        {"__init__"},
    ],
    "runtimes": [
        # events in
        {
            "origins",
            "quarantine",
            "rows",
            "files",
            "file_lines",
            "file_quotes",
            "file_times",
            "time_units",
            "type_names",
        }
        | {"mixed_values", "time_values", "odd_days"}
        | {"pandas_cells", "pandas_frames", "polars_frames", "kinds", "reading", "ingest"},
        # matches out
        {"gathering", "partition_keys", "results", "aggregates", "running_totals", "composites", "json_lines"},
        # queries that feed each other, and sets of them
        {"carrying", "chain", "members", "replay"},
        # all events at once
        {"embedded", "compressed"},
        # batch by batch
        {
            "arc_values",
            "arcs",
            "batches",
            "changed_arcs",
            "changing",
            "fingerprint",
            "fixed",
            "intake",
            "kept_parameters",
            "options",
            "ordering",
            "promises",
            "replacing",
            "roster",
            "matcher",
        }
        | {"rules", "ruled", "arc_rows"},
        # with corrections
        {
            "row_numbers",
            "sought",
            "tail",
            "op_column",
            "revision",
            "arrivals",
            "counted_rows",
            "reported",
            "way",
            "rewinding",
            "rewound",
            "revising",
        }
        | {"by_event", "netting"}
        | {"key_buckets", "dirty", "region_keys", "region", "regions"},
        {"spark"},
        {"__init__"},
    ],
}

# Engines are apart from each other, and the yardstick is so from all that it measures.
APART = [
    ("physical/scan", "physical/automaton"),
    ("physical/scan", "physical/tree"),
    ("physical/automaton", "physical/tree"),
    ("physical/shared", "physical/tree"),
    ("physical/shared", "physical/scan"),
    ("runtimes/embedded", "runtimes/matcher"),
    *(
        ("physical/reference", f"physical/{room}")
        for room in ("compiled", "memory", "finish", "scan", "automaton", "tree", "shared")
    ),
    ("physical/reference", "kernels"),
]

# Who may import what is heavy or optional, by file or by folder; of these, the core install has Numba only.
OPTIONAL = {
    "numba": ("kernels/compiled.py", "kernels/store.py"),
    "duckdb": ("bench/peers.py",),
    "matplotlib": ("bench/plots.py",),
    "pandas": ("runtimes/pandas_frames.py", "testing/frame_columns.py"),
    "polars": ("runtimes/polars_frames.py", "testing/frame_columns.py"),
    "pyspark": ("runtimes/spark/", "bench/spark_", "cli/spark.py"),
    "hypothesis": (
        "testing/algebra.py",
        "testing/automata.py",
        "testing/strategies.py",
        "testing/combinations.py",
        "testing/programs.py",
        "testing/encodings.py",
    ),
}


@cache
def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def stage(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def names() -> frozenset[str]:
    return frozenset(name_of(one) for one in modules())


def imported_modules(path: Path, *, first: bool = False) -> list[str]:
    """The modules of ours that a file imports; `first` are those it imports before anything else happens."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    known = names()
    found: list[str] = []
    for node in tree.body if first else ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            found += [name if name in known else node.module for name in full]
    return [name for name in dict.fromkeys(found) if name in known]


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


def place(module: str) -> str:
    """A module as a path below the package, without its suffix."""
    path = PACKAGE.parent.joinpath(*module.split("."))
    path = path / "__init__" if path.is_dir() else path
    return path.relative_to(PACKAGE).as_posix()


def room(place: str) -> tuple[str, int]:
    """The stage of a module and the number of its room there, -1 if the stage has no rooms."""
    stage, _slash, within = place.partition("/")
    if stage not in ROOMS:
        return stage, -1
    listed = {name: number for number, names in enumerate(ROOMS[stage]) for name in names}
    parts = within.split("/")
    known = [name for length in range(len(parts), 0, -1) if (name := "/".join(parts[:length])) in listed]
    assert known, f"{place} has no room in the list"
    return stage, listed[known[0]]


def lies_in(place: str, folder: str) -> bool:
    return f"{place}/".startswith(f"{folder}/")


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_only_the_rooms_above_it(path: Path) -> None:
    own = path.relative_to(PACKAGE).with_suffix("").as_posix()
    stage, number = room(own)
    for module in imported_modules(path):
        other = place(module)
        other_stage, other_number = room(other)
        assert other_stage != stage or other_number <= number, f"{own} imports {other}"
        for one, another in APART:
            for here, there in ((one, another), (another, one)):
                assert not (lies_in(own, here) and lies_in(other, there)), f"{own} imports {other}"


def test_every_room_of_the_list_is_there() -> None:
    for stage, rooms in ROOMS.items():
        for name in set().union(*rooms):
            found = PACKAGE / stage / name
            assert found.is_dir() or found.with_suffix(".py").is_file(), f"{stage}/{name}"


def test_no_imports_go_round() -> None:
    after = {
        place(name_of(path)): {place(one) for one in imported_modules(path, first=True)} for path in modules()
    }
    done: list[str] = []
    while ready := [one for one, others in after.items() if one not in done and others <= {*done, one}]:
        done += ready
    assert sorted(set(after) - set(done)) == []


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
