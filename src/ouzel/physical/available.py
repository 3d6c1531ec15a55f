"""How much memory there is for this process: of the machine, of its container, and of its address space."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROC, CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def available_memory() -> int:
    """The bytes that this process may still take: the least of all bounds, and very many where none is known."""
    return max(0, min([*_machine(), *_container(), *_address_space()], default=2**62))


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - a path takes longer than to read a line
        return file.read()


def _machine() -> Iterator[int]:
    with suppress(OSError):
        found = re.search(r"MemAvailable:\s+(\d+) kB", _read(f"{PROC}/meminfo"))
        if found:
            yield int(found[1]) << 10
            return
    with suppress(OSError, ValueError, AttributeError):
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _container() -> Iterator[int]:
    """What a control group leaves, of the second version or of the first, and those that it is part of."""
    own = ""
    with suppress(OSError, IndexError):
        lines = _read(f"{PROC}/self/cgroup").splitlines()
        own = next((line.split(":", 2)[2] for line in lines if line.startswith("0::")), "")
    groups = [str(CGROUPS)]
    for name in filter(None, own.split("/")):
        if name == "..":  # it lies outside of what is seen from here
            break
        groups.append(f"{groups[-1]}/{name}")
    for group in reversed(groups):
        yield from _left(f"{group}/memory.max", f"{group}/memory.current", f"{group}/memory.stat")
    first = f"{CGROUPS}/memory"
    yield from _left(f"{first}/memory.limit_in_bytes", f"{first}/memory.usage_in_bytes", f"{first}/memory.stat")


def _left(limit: str, used: str, statistics: str) -> Iterator[int]:
    with suppress(OSError, ValueError):
        most, now = int(_read(limit)), int(_read(used))  # "max" is no limit
        # files that were read count as used, and go when there is need
        cached = re.search(r"^(?:total_)?inactive_file (\d+)", _read(statistics), re.MULTILINE)
        yield most - now + (int(cached[1]) if cached else 0)


def _address_space() -> Iterator[int]:
    with suppress(ImportError, OSError, ValueError):
        import resource  # there is none on Windows

        most, _hard = resource.getrlimit(resource.RLIMIT_AS)
        if most != resource.RLIM_INFINITY:
            pages = int(_read(f"{PROC}/self/statm").split()[0])
            yield most - pages * resource.getpagesize()


def bytes_of(text: str) -> int | None:
    """A number of bytes as one writes it; None if it is none.

    >>> bytes_of("4GB"), bytes_of("512 MiB"), bytes_of("1000"), bytes_of("much")
    (4294967296, 536870912, 1000, None)
    """
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    return None if found is None else int(float(found[1]) * 2 ** _UNITS[found[2].upper()])


def size_text(size: float) -> str:
    """A number of bytes for people.

    >>> size_text(1536), size_text(4 << 30), size_text(300)
    ('1.5 KiB', '4.0 GiB', '300 bytes')
    """
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1024
    raise AssertionError
