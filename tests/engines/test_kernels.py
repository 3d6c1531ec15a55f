"""Kernels: the same source interpreted, compiled, and loaded from a cache that several processes fill."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ouzel.kernels import arithmetic, arrays, jit, windows

GROWING = """
@jit
def kernel(values, seen, limit):
    found = np.empty(1, np.int64)
    count = 0
    for i in range(len(values)):
        seen[0] += 1
        total, null = add(values[i], limit)
        if not null and total > 0:
            if count == len(found):
                found = longer(found)
            found[count] = i
            count += 1
    return found, count
"""
VALUES = np.array([3, -9, 2**63 - 1, 0, 5])

# Run by processes of their own: what they find, how much of it was loaded, whether Numba got ready to compile.
PROGRAM = f"""
import sys
import numpy as np
from ouzel.kernels import jit
values, seen = np.array([3, -9, 0], sys.argv[1]), np.zeros(1, np.int64)
kernel = jit.compiled({GROWING!r})
found, count = kernel(values, seen, 2)
loaded = sum(kernel.stats.cache_hits.values())
print(found[:count].tolist(), seen.tolist(), loaded, "numba.np.linalg" in sys.modules)
"""


def started(cache: Path, dtype: str = "int64") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, dtype]
    environment = {**os.environ, "OUZEL_CACHE": str(cache)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> str:
    output, _errors = process.communicate(timeout=300)
    assert process.returncode == 0
    return output.strip()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that three processes filled at once, two of them with the same."""
    cache = tmp_path_factory.mktemp("kernels")
    processes = [started(cache, dtype) for dtype in ("int64", "int64", "int32")]
    assert all(ended(process).startswith("[0, 2] [3] ") for process in processes)
    return cache


# ---- on disk ---------------------------------------------------------------------------------------------


def test_another_process_loads_what_was_compiled_and_does_not_get_ready_for_compiling(filled: Path) -> None:
    assert ended(started(filled)) == "[0, 2] [3] 1 False"


def test_each_types_of_arguments_have_machine_code_of_their_own(filled: Path) -> None:
    assert len(list(filled.glob("k*.kernel.*.code"))) == 2
    assert not list(filled.glob("*.tmp"))


def test_a_damaged_file_is_compiled_again(filled: Path) -> None:
    for path in filled.glob("k*.code"):
        path.write_bytes(path.read_bytes()[:-1])
    assert ended(started(filled)) == "[0, 2] [3] 0 True"
    assert ended(started(filled)) == "[0, 2] [3] 1 False"


def test_another_source_in_its_place_is_not_run(filled: Path) -> None:
    name = next(iter(filled.glob("k*.kernel.*.code"))).name.partition(".")[0]
    (filled / f"{name}.py").write_text("raise SystemExit(1)")
    assert ended(started(filled)) == "[0, 2] [3] 1 False"


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_directory_that_others_may_write_to_is_not_used(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    assert ended(started(tmp_path)) == "[0, 2] [3] 0 True"
    assert not list(tmp_path.iterdir())


# ---- in this process -------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [jit.interpreted, jit.compiled])
def test_a_kernel_writes_to_the_arrays_it_is_given(make: Any) -> None:
    seen = np.zeros(1, np.int64)
    found, count = make(GROWING)(VALUES, seen, 2)
    assert found[:count].tolist() == [0, 3, 4]
    assert found.dtype == np.int64
    assert (type(count), seen.tolist()) == (int, [len(VALUES)])


@pytest.mark.parametrize("make", [jit.interpreted, jit.compiled])
def test_rows_columns_flags_and_single_arrays(make: Any) -> None:
    source = """
@jit
def kernel(rows, flags, scale):
    result = np.zeros((2, rows.shape[1]), np.float64)
    for k in range(len(rows)):
        for j in range(rows.shape[1]):
            if flags[k]:
                result[1, j] += rows[k, j] * scale
    return result
"""
    rows = np.asfortranarray(np.arange(6).reshape(3, 2))
    result = make(source)(rows, np.array([True, False, True]), np.float64(0.5))
    assert result.tolist() == [[0.0, 0.0], [2.0, 3.0]]


def test_a_source_that_needs_methods_of_arrays_gets_arrays() -> None:
    source = "def kernel(values):\n    return values.copy()\n"
    copied = jit.interpreted(source)(VALUES)
    assert copied is not VALUES
    assert copied.tolist() == VALUES.tolist()


def test_interpreted_kernels_read_python_numbers() -> None:
    source = "def kernel(values):\n    return values[0], values\n"
    first, values = jit.interpreted(source)(VALUES)
    assert type(first) is int
    assert np.shares_memory(values, VALUES)


# ---- plain functions -------------------------------------------------------------------------------------


def test_a_plain_function_calls_others_compiled_and_is_kept_on_disk(tmp_path: Path) -> None:
    program = """if True:
        import numpy as np
        from ouzel.kernels import jit, ordering
        order, edges, flat = np.arange(2), np.array([0, 2]), np.array([2, 1])
        sort = jit.compiled(ordering.order_groups)
        sort(order, np.empty(2, np.int64), edges, np.zeros(2), flat, np.arange(3), np.ones((2, 1), np.int64))
        print(order.tolist(), sum(sort.stats.cache_hits.values()))
    """
    command = [sys.executable, "-c", program]
    environment = {**os.environ, "OUZEL_CACHE": str(tmp_path)}
    answers = [subprocess.check_output(command, env=environment, text=True).strip() for _again in range(2)]
    assert answers == ["[1, 0] 0", "[1, 0] 1"]
    assert {path.name.split(".")[1] for path in tmp_path.glob("p*.code")} == {"order_groups", "comes_before"}


def test_a_plain_function_is_compiled_once() -> None:
    assert jit.compiled(windows.oldest_clock) is jit.compiled(windows.oldest_clock)
    assert jit.interpreted(arrays.copy_rows) is jit.interpreted(arrays.copy_rows)


def test_a_plain_function_may_have_the_name_of_what_it_calls_elsewhere() -> None:
    assert jit.compiled(arithmetic.floor)(2.5) == (2, False)


def test_no_two_plain_functions_have_one_name() -> None:
    names = [
        node.name
        for path in {function.__code__.co_filename for function in jit.PLAIN.values()}
        for node in ast.parse(Path(path).read_text()).body
        if isinstance(node, ast.FunctionDef)
    ]
    assert sorted(names) == sorted(jit.PLAIN)


def test_a_function_from_elsewhere_is_refused() -> None:
    def kernel(values: Any) -> Any:
        return values

    with pytest.raises(AssertionError, match="is not in a module of kernels"):
        jit.compiled(kernel)
