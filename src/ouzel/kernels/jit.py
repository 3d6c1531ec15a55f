"""Generated source becomes a function: run as it is, or compiled by Numba and cached on disk.

The cache is keyed by the source, which depends on the shape of a plan only: constants and columns are arguments.
Files are put in place whole, so that processes which fill the cache at once cannot see half of one.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ouzel.kernels import arithmetic, arrays

Kernel = Callable[..., Any]

_HEADER = '''"""Written by Ouzel {version}; safe to delete."""
import numpy as np
from ouzel.kernels.compiled import *

'''


def is_enabled() -> bool:
    """Whether kernels may be compiled; OUZEL_JIT=0 says no."""
    return os.environ.get("OUZEL_JIT", "1") != "0"


def cache_directory() -> Path:
    """Where compiled kernels are kept: OUZEL_CACHE, or the user's cache."""
    chosen = os.environ.get("OUZEL_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(base) / "ouzel" / "kernels"


@cache
def interpreted(source: str) -> Kernel:
    """The function `kernel` of generated source, uncompiled."""
    names: dict[str, Any] = {**vars(arithmetic), **vars(arrays), "np": np, "jit": lambda function: function}
    exec(compile(source, "<kernel>", "exec"), names)  # noqa: S102 - our own source; no user text is in it
    return names["kernel"]  # type: ignore[no-any-return]


@cache
def compiled(source: str) -> Kernel:
    """The function `kernel` of generated source, compiled; from the cache if it was compiled before."""
    text = _HEADER.format(version=version("ouzel")) + source
    # Numba does not notice when a function that a cached one calls has changed
    digest = hashlib.sha256(
        (text + inspect.getsource(arithmetic) + inspect.getsource(arrays)).encode()
    ).hexdigest()[:32]
    module = _load(f"ouzel_kernel_{digest}", _place(f"k{digest}.py", text))
    return module.kernel  # type: ignore[no-any-return]


def _place(name: str, text: str) -> Path:
    """Put the source in its place in the cache, unless it is there."""
    directory = cache_directory()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / name
        if not path.exists():
            handle, temporary = tempfile.mkstemp(dir=directory, suffix=".tmp")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(temporary).replace(path)
        return path
    except OSError:
        # nowhere to keep it (a read-only home): compile it for this process alone
        path = Path(tempfile.mkdtemp(prefix="ouzel-kernels-")) / name
        path.write_text(text, encoding="utf-8")
        return path


def _load(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
