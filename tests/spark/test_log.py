"""A Spark that Ouzel starts is quiet: what it and PySpark's processes say is in a file, which errors name."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ouzel.errors import OuzelError
from ouzel.runtimes.spark.masters import require_answer
from ouzel.testing.processes import LOOPBACK, free_port

QUERY = "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 10 RETURN a.k"
ROWS = [{"ts": n, "type": "AB"[n % 2], "k": n // 2 % 3} for n in range(12)]


def ouzel(directory: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A process of its own, with a directory for temporary files of its own."""
    (directory / "tmp").mkdir(exist_ok=True)
    variables = {**os.environ, "TMPDIR": str(directory / "tmp"), **environment}
    command = [sys.executable, "-m", "ouzel.cli.main", "run", QUERY, "--master", "local[1]", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, env=variables, cwd=directory
    )


def test_a_stream_is_quiet(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for number in range(2):
        part = ROWS[6 * number : 6 * number + 6]
        (source / f"{number}.json").write_text("\n".join(map(json.dumps, part)), encoding="utf-8")
    places = ["--stream", str(source), "--schema", "ts long, type string, k long", "--available-now"]
    log = tmp_path / "spark.log"
    ran = ouzel(tmp_path, *places, "--buckets", "1", OUZEL_SPARK_LOG=str(log))
    assert ran.returncode == 0, ran.stderr
    assert re.fullmatch(r"12 events, \d+ match\w*\n", ran.stderr), ran.stderr
    assert "TransformWithStateInPandas" in log.read_text(encoding="utf-8")
    assert not list((tmp_path / "tmp").glob("ouzel-spark-*"))


def test_an_error_of_sparks_names_the_log(tmp_path: Path) -> None:
    """Files that are not what their names say: Spark's reader fails, and says why on a page of its own."""
    (tmp_path / "events.parquet").write_bytes(b"PAR1 but nothing else")
    ran = ouzel(tmp_path, "--events", "events.parquet")
    assert ran.returncode == 5
    found = re.fullmatch(r"error: Spark: .*\n  hint: more of it is in Spark's log, (\S+)\n", ran.stderr)
    assert found, ran.stderr
    assert Path(found[1]).parent == tmp_path / "tmp"
    assert "ERROR" in Path(found[1]).read_text(encoding="utf-8")


def test_nobody_answers() -> None:
    port = free_port()
    for scheme in ("spark", "sc"):
        with pytest.raises(OuzelError, match=rf"no Spark answers at '{scheme}://.*: 127.0.0.1:{port}: Connection"):
            require_answer(f"{scheme}://{LOOPBACK}:{port}")
    require_answer("local[2]")
    require_answer("yarn")
