"""Machine code on disk: what Numba compiled, one file for each function and types of its arguments.

Numba has a cache of its own.  But before it looks there it gets ready for compiling, which takes longer than to
load; and it numbers its files, so that processes which compile at once may take one number for different code.
Here a file is named after all that its content depends on.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from ouzel.kernels.trust import put_signed, read_signed


class Store(NullCache):
    """The machine code of one function; the paths of its files begin with `home`."""

    def __init__(self, home: Path) -> None:
        """Say where the files are; there need not be any."""
        self.home = home

    @property
    def cache_path(self) -> str:
        """The directory, for Numba's statistics."""
        return str(self.home.parent)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The function compiled for some types of arguments; None if it is not there, or not ours."""
        content = read_signed(self._path(sig, target_context))
        if content is None:
            return None
        # loaded code needs only this; where something has to be compiled, Numba sees to the rest by itself
        rtsys.initialize(target_context)
        parts = pickle.loads(content)  # noqa: S301 - this user wrote it, as its code proves
        return CompileResult._rebuild(target_context, *parts)  # type: ignore[no-untyped-call]

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if there is a place for it."""
        if data.lifted or data.library.has_dynamic_globals:
            return
        content = dumps(data._reduce())  # type: ignore[no-untyped-call]
        with suppress(OSError):
            put_signed(self._path(sig, data.target_context), content)

    def _path(self, sig: Any, target_context: Any) -> Path:
        """The file for types of arguments, on this processor, by this Numba and this Python."""
        of = f"{numba.__version__} {sys.version_info[:2]} {target_context.codegen().magic_tuple()} {sig}"
        return Path(f"{self.home}.{hashlib.sha256(of.encode()).hexdigest()[:32]}.code")
