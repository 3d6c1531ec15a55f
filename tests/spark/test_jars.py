"""Packages are fetched from a Maven repository, here a small one of our own on loopback."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ouzel.errors import OuzelError
from ouzel.runtimes.spark.jars import Jars
from ouzel.testing.processes import free_port

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>{name}</artifactId>
  <version>{version}</version><dependencies>{dependencies}</dependencies></project>"""
NEEDED = (
    "<dependency><groupId>org.example</groupId><artifactId>{0}</artifactId><version>{1}</version></dependency>"
)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


def publish(root: Path, name: str, version: str, needs: tuple[tuple[str, str], ...] = ()) -> None:
    directory = root / "org" / "example" / name / version
    directory.mkdir(parents=True)
    needed = "".join(NEEDED.format(*other) for other in needs)
    (directory / f"{name}-{version}.pom").write_text(POM.format(name=name, version=version, dependencies=needed))
    (directory / f"{name}-{version}.jar").write_bytes(b"jar")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    root = tmp_path / "repository"
    root.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root))) as server:
        monkeypatch.setenv("DEFAULT_ARTIFACT_REPOSITORY", f"http://127.0.0.1:{server.server_port}/")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield root
        server.shutdown()


def test_packages_come_with_what_they_need_in_the_versions_forced(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(repository, "cart", "1.0", (("wheel", "1.0"), ("axle", "1.0")))
    publish(repository, "wheel", "1.0")
    publish(repository, "axle", "1.0")
    publish(repository, "axle", "2.0")
    jars = Jars(("org.example:cart:1.0",), forced=("org.example:axle:2.0",))
    assert [file.name for file in jars.fetch()] == ["axle-2.0.jar", "cart-1.0.jar", "wheel-1.0.jar"]
    monkeypatch.setenv("DEFAULT_ARTIFACT_REPOSITORY", f"http://127.0.0.1:{free_port()}/")
    assert len(jars.fetch()) == 3  # from the cache
    with pytest.raises(OuzelError, match=r"^cannot fetch org\.example:cart:1\.0: .*Connection refused"):
        Jars(("org.example:cart:1.0",)).fetch()


def test_a_package_that_is_not_there_is_named(repository: Path, tmp_path: Path) -> None:
    publish(repository, "cart", "1.0", (("wheel", "1.0"),))
    with pytest.raises(
        OuzelError, match=r"^cannot fetch org\.example:cart:1\.0: org\.example#wheel;1\.0: not found$"
    ):
        Jars(("org.example:cart:1.0",)).fetch()
    assert list((tmp_path / "cache" / "ouzel" / "jars").iterdir()) == []
