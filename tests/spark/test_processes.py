"""Servers are started, waited for and stopped, whatever they do."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from ouzel.errors import OuzelError
from ouzel.testing.processes import Server, free_port, listens

LISTEN = "import socket, sys, time; kept = socket.create_server(('127.0.0.1', int(sys.argv[1]))); time.sleep(60)"
DEAF = "trap '' TERM; echo $$; while :; do sleep 0.1; done"


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not Path(f"/proc/{pid}/stat").exists() or ") Z " not in Path(f"/proc/{pid}/stat").read_text()


def wait_for(log: Path) -> str:
    while not (text := log.read_text()).endswith("\n"):
        time.sleep(0.01)
    return text


def test_a_server_runs_to_the_end_of_the_block(tmp_path: Path) -> None:
    port = free_port()
    with Server([sys.executable, "-c", LISTEN, str(port)], tmp_path / "some.log", {}) as server:
        server.wait_until(lambda: listens(port))
        assert server.process.poll() is None
    assert not listens(port)
    assert server.process.poll() is not None


def test_what_a_server_started_ends_with_it(tmp_path: Path) -> None:
    log = tmp_path / "some.log"
    with Server(["sh", "-c", "sleep 60 & echo $!; wait"], log, {}):
        child = int(wait_for(log))
        assert is_alive(child)
    end = time.monotonic() + 5
    while is_alive(child) and time.monotonic() < end:
        time.sleep(0.01)
    assert not is_alive(child)


def test_a_server_that_does_not_listen_to_reason_is_killed(tmp_path: Path) -> None:
    server = Server(["sh", "-c", DEAF], tmp_path / "some.log", {})
    pid = int(wait_for(server.log))
    server.stop(seconds=0.3)
    assert not is_alive(pid)


def test_a_server_that_ends_before_it_is_ready_tells_why(tmp_path: Path) -> None:
    with (
        pytest.raises(OuzelError, match=r"^the server 'some' ended with code 3; the end of its log:\nno room$"),
        Server(["sh", "-c", "echo no room >&2; exit 3"], tmp_path / "some.log", {}) as server,
    ):
        server.wait_until(lambda: False)


def test_a_server_that_is_never_ready_is_stopped(tmp_path: Path) -> None:
    with (
        pytest.raises(
            OuzelError, match=r"^the server 'some' was not ready after 0\.2 seconds; the end of its log:\n"
        ),
        Server(["sleep", "60"], tmp_path / "some.log", {}) as server,
    ):
        server.wait_until(lambda: False, seconds=0.2)
    assert server.process.poll() is not None
