"""Java packages from Maven's central repository, fetched by PySpark's Ivy and kept in the user's cache.

A directory in the cache is complete: it is put in place whole, named after all that was asked for.  Another
repository is named as for Spark itself, in DEFAULT_ARTIFACT_REPOSITORY.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pyspark

from ouzel.errors import OuzelError
from ouzel.runtimes.spark.java import find_java

SPARK_HOME = Path(pyspark.__file__).parent

_SETTINGS = """<ivysettings>
  <settings defaultResolver="central"/>
  <timeout-constraints>
    <timeout-constraint name="patience" connectionTimeout="10000" readTimeout="60000"/>
  </timeout-constraints>
  <resolvers><ibiblio name="central" m2compatible="true" timeoutConstraint="patience"{root}/></resolvers>
</ivysettings>
"""
_MODULE = """<ivy-module version="2.0">
  <info organisation="ouzel" module="jars"/>
  <configurations><conf name="default"/></configurations>
  <dependencies>
{dependencies}
  </dependencies>
</ivy-module>
"""
_FORMS = {
    "wanted": '    <dependency org={0} name={1} rev={2} conf="default->compile(*),master(*),runtime(*)"/>',
    "excluded": "    <exclude org={0}/>",
    "forced": "    <override org={0} module={1} rev={2}/>",
}


@dataclass(frozen=True)
class Jars:
    """Packages, as group:name:version, and what they need, but for excluded groups and in forced versions."""

    wanted: tuple[str, ...]
    excluded: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()

    def fetch(self, seconds: float = 300) -> list[Path]:
        """The files; from the cache if they were fetched before."""
        kept = self.place()
        if not kept.is_dir():
            kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=kept.parent, prefix="tmp") as name:
                files = self._retrieve(Path(name), seconds)
                with suppress(OSError):  # another process was faster
                    files.rename(kept)
        return sorted(kept.glob("*.jar"))

    def place(self) -> Path:
        """Where the files are, once they were fetched."""
        return _cache() / hashlib.sha256(self.module().encode()).hexdigest()[:32]

    def module(self) -> str:
        """What Ivy is asked for."""
        return _MODULE.format(
            dependencies="\n".join(
                form.format(*map(quoteattr, package.split(":")))
                for kind, form in _FORMS.items()
                for package in getattr(self, kind)
            )
        )

    def _retrieve(self, directory: Path, seconds: float) -> Path:
        root = os.environ.get("DEFAULT_ARTIFACT_REPOSITORY")
        settings, module, files = directory / "settings.xml", directory / "ivy.xml", directory / "jars"
        settings.write_text(_SETTINGS.format(root=f" root={quoteattr(root)}" if root else ""), encoding="utf-8")
        module.write_text(self.module(), encoding="utf-8")
        options: list[str | Path] = ["-settings", settings, "-ivy", module, "-cache", directory / "cache", "-warn"]
        options += ["-retrieve", f"{files}/[artifact]-[revision](-[classifier]).[ext]", "-types", "jar", "bundle"]
        command = [find_java(), "-jar", next((SPARK_HOME / "jars").glob("ivy-*.jar")), *options]
        try:
            ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)  # noqa: S603
        except subprocess.TimeoutExpired:
            raise OuzelError(f"cannot fetch {', '.join(self.wanted)}: no end after {seconds:g} seconds") from None
        if ran.returncode or not files.is_dir():
            raise OuzelError(f"cannot fetch {', '.join(self.wanted)}: {_reason(ran.stdout + ran.stderr)}")
        return files


def _reason(output: str) -> str:
    """The part of Ivy's output that says most: the repository cannot be reached, or lacks something."""
    for telling in (r"Server access error.*\((.+)\)", r"(Host \S+ not found)", r":: (\S+: not found)"):
        if found := re.search(telling, output):
            return found[1]
    return output.strip()[-500:]


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ouzel" / "jars"
