"""Whether anybody answers where a Spark master is said to be: Spark itself asks for minutes before it gives up."""

from __future__ import annotations

import re
import socket

from ouzel.errors import OuzelError

SECONDS = 10.0
_PORTS = {"spark": 7077, "sc": 15002}
_MASTER = re.compile(r"local(\[.+\])?|local-cluster\[.+\]|yarn|[\w+-]+://.+")


def check_master(master: str) -> None:
    """Refuse what names no master: Spark would start, and then tell at length that it cannot parse it."""
    if not _MASTER.fullmatch(master):
        raise OuzelError(f"master: required local[*], spark://…, sc://…, yarn or the like; got '{master}'")


def require_answer(master: str, seconds: float = SECONDS) -> None:
    """Refuse a master (spark://…) or a server of Spark Connect (sc://…) that nobody can be reached at."""
    check_master(master)
    problems = []
    for host, port in addresses(master):
        try:
            socket.create_connection((host, port), seconds).close()
        except OSError as error:
            problems.append(f"{host}:{port}: {error.strerror or error}")
        else:
            return
    if problems:
        raise OuzelError(
            f"no Spark answers at '{master}': {'; '.join(problems)}\n"
            "  hint: start it, name another master, or leave it out to run on this machine"
        )


def addresses(master: str) -> list[tuple[str, int]]:
    """The hosts and ports that a master's URL names; none if it is of another kind.

    >>> addresses("spark://one:7077,two:7078"), addresses("sc://host/;token=x"), addresses("local[2]")
    ([('one', 7077), ('two', 7078)], [('host', 15002)], [])
    """
    found = re.match(r"(spark|sc)://([^/;]+)", master)
    if found is None:
        return []
    places = [place.rsplit(":", 1) if re.search(r":\d+$", place) else [place] for place in found[2].split(",")]
    return [(place[0].strip("[]"), int(place[1]) if len(place) > 1 else _PORTS[found[1]]) for place in places]
