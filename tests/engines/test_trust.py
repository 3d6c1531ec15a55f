"""The cache of kernels trusts only what this user wrote, where nobody else can write."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ouzel.kernels import jit, trust

CONTENT = b"machine code"


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    trust.key_of.cache_clear()
    yield
    trust.key_of.cache_clear()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory for a cache, which is not there yet."""
    path = tmp_path.resolve() / "some" / "cache"
    monkeypatch.setenv("OUZEL_CACHE", str(path))
    return path


def test_a_directory_is_made_for_this_user_alone(cache: Path) -> None:
    before = os.umask(0o002)
    try:
        assert jit.usable_directory() == cache
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in (cache.parent, cache, cache / "key")] == [0o700, 0o700, 0o600]


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o770, 0o1777])
def test_a_directory_that_others_can_write_to(cache: Path, mode: int) -> None:
    cache.mkdir(parents=True)
    cache.chmod(mode)
    assert jit.usable_directory() != cache
    assert not list(cache.iterdir())


@pytest.mark.parametrize(("mode", "usable"), [(0o777, False), (0o775, False), (0o1777, True), (0o755, True)])
def test_a_way_that_others_can_write_to(
    cache: Path, mode: int, usable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trust, "_is_private", lambda _group: False)
    cache.mkdir(parents=True, mode=0o700)
    cache.parent.chmod(mode)
    assert (jit.usable_directory() == cache) is usable


def test_a_group_of_this_user_alone_is_no_other(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "_is_private", lambda _group: True)
    cache.mkdir(parents=True, mode=0o700)
    cache.parent.chmod(0o775)
    assert jit.usable_directory() == cache


def test_the_directory_of_another_user(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.mkdir(parents=True)
    monkeypatch.setattr(os, "geteuid", lambda: cache.stat().st_uid + 1)
    assert not trust.is_own_directory(cache)
    assert jit.usable_directory() != cache


def test_a_link_leads_to_a_directory_that_is_checked(cache: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    cache.parent.mkdir(parents=True)
    cache.symlink_to(target)
    assert jit.usable_directory() == target.resolve()
    target.chmod(0o777)
    assert jit.usable_directory() != target.resolve()


def test_no_home_to_write_to(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OUZEL_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/proc/nowhere")
    assert jit.usable_directory().name.startswith("ouzel-kernels-")


def test_no_home_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("OUZEL_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert jit.usable_directory().name.startswith("ouzel-kernels-")


# ---- files -----------------------------------------------------------------------------------------------


@pytest.fixture
def signed(tmp_path: Path) -> Path:
    path = tmp_path / "k.code"
    trust.put_signed(path, CONTENT)
    assert trust.read_signed(path) == CONTENT
    assert path.stat().st_mode & 0o777 == 0o600
    return path


def test_a_file_that_was_changed(signed: Path) -> None:
    held = signed.read_bytes()
    for changed in (held[:-1], held + b"x", b"\0" * len(held), b"", held[:-1] + b"X"):
        signed.write_bytes(changed)
        assert trust.read_signed(signed) is None


def test_a_file_under_the_name_of_another(signed: Path) -> None:
    other = signed.with_name("other.code")
    signed.rename(other)
    assert trust.read_signed(other) is None


def test_a_file_that_others_can_write_to(signed: Path) -> None:
    signed.chmod(0o620)
    assert trust.read_signed(signed) is None


def test_a_link_is_not_followed(signed: Path) -> None:
    other = signed.with_name("elsewhere")
    signed.rename(other)
    signed.symlink_to(other)
    assert trust.read_signed(signed) is None
    signed.unlink()
    signed.mkdir()
    assert trust.read_signed(signed) is None
    signed.rmdir()
    os.mkfifo(signed)
    assert trust.read_signed(signed) is None


def test_a_file_of_another_user(signed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trust.key_of(signed.parent)
    monkeypatch.setattr(os, "geteuid", lambda: signed.stat().st_uid + 1)
    assert trust.read_signed(signed) is None


# ---- the key -----------------------------------------------------------------------------------------------


def test_files_of_another_key(signed: Path) -> None:
    (signed.parent / "key").write_bytes(b"k" * trust.KEY_LENGTH)
    trust.key_of.cache_clear()
    assert trust.read_signed(signed) is None


@pytest.mark.parametrize("trouble", ["mode", "length", "link", "missing"])
def test_a_key_that_cannot_be_trusted_is_made_anew(signed: Path, trouble: str) -> None:
    key = signed.parent / "key"
    before = key.read_bytes()
    if trouble == "mode":
        key.chmod(0o644)
    elif trouble == "length":
        key.write_bytes(before[:-1])
    else:
        key.rename(signed.parent / "elsewhere")
        if trouble == "link":
            key.symlink_to(signed.parent / "elsewhere")
    trust.key_of.cache_clear()
    assert trust.read_signed(signed) is None
    assert key.read_bytes() != before
    assert not key.is_symlink()
    assert key.stat().st_mode & 0o777 == 0o600
    trust.put_signed(signed, CONTENT)
    assert trust.read_signed(signed) == CONTENT


PROGRAM = (
    "import sys, pathlib; from ouzel.kernels import trust; print(trust.key_of(pathlib.Path(sys.argv[1])).hex())"
)


def test_processes_that_make_the_key_at_once_agree(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    keys = {process.communicate(timeout=60)[0].strip() for process in processes}
    assert keys == {(tmp_path / "key").read_bytes().hex()}
    assert [path.name for path in tmp_path.iterdir()] == ["key"]
