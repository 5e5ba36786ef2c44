"""The command: it says what it needs, serves until it is told to end, and leaves nothing."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from tests.conftest import Arena, start_command
from tests.table.test_playing import SLEEPER
from tests.waiting import PATIENCE, until


def open_address(address: str) -> tuple[HTTPConnection, str, dict[str, str]]:
    """Open the printed address as a browser does."""
    parts = urlsplit(address.strip())
    assert parts.hostname == "127.0.0.1"
    assert parts.port is not None
    connection = HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE)
    connection.request("GET", f"/?{parts.query}")
    answer = connection.getresponse()
    answer.read()
    cookie = str(answer.headers["set-cookie"]).partition(";")[0]
    origin = f"http://127.0.0.1:{parts.port}"
    headers = {"Cookie": cookie, "Origin": origin, "Content-Type": "application/json"}
    return connection, str(answer.headers["location"]), headers


def is_alive(process: psutil.Process) -> bool:
    """Return whether a process is there, and not only waits to be forgotten."""
    with suppress(psutil.NoSuchProcess):
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    return False


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_it_ends_with_a_signal_and_leaves_no_process(
    tmp_path: Path, number: int, status: int
) -> None:
    """Also while a bot thinks; the game is recorded as it stands."""
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    server = start_command(tmp_path, "table", "--no-browser")
    assert server.stdout is not None
    try:
        connection, root, headers = open_address(server.stdout.readline())
        assert "Ctrl-C" in server.stdout.readline()
        body = b'{"bot": "./sleeper.py", "begins": "bot"}'
        connection.request("POST", f"{root}api/games", body, headers)
        path = f"{root}api/games/{json.load(connection.getresponse())['id']}/events"
        connection.request("GET", path, headers=headers)
        assert b'"phase":"bot"' in connection.getresponse().readline()
        below = until(lambda: psutil.Process(server.pid).children(recursive=True))
        server.send_signal(number)
        out, errors = server.communicate(timeout=PATIENCE)
    finally:
        server.kill()
    assert (server.returncode, out, errors) == (status, "", "")
    until(lambda: not any(map(is_alive, below)))
    assert (tmp_path / "results" / "human" / "games.jsonl").read_text() == ""


def test_the_address_is_opened_in_the_browser(tmp_path: Path) -> None:
    """In the one that the user has chosen; $BROWSER is a program that is given the address."""
    browser = tmp_path / "browser.sh"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened.part\nmv {tmp_path}/opened.part '
                       f"{tmp_path}/opened\n")  # fmt: skip
    browser.chmod(0o755)
    server = subprocess.Popen(
        ["/usr/bin/env", f"BROWSER={browser}", sys.executable, "-m", "arena", "table"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    try:
        address = server.stdout.readline()
        until((tmp_path / "opened").exists)
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=PATIENCE)
    assert (tmp_path / "opened").read_text() == address
    assert server.returncode == 0


def test_without_its_libraries_it_says_what_to_install(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line, with status 2."""
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "uvicorn" else found(name)
    )
    done = arena("table")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: arena table needs uvicorn: pip install 'district-noir-arena[table]'\n"
    )


def test_results_that_cannot_be_written_are_refused(arena: Arena, tmp_path: Path) -> None:
    """Before anything is served."""
    (tmp_path / "file").touch()
    done = arena("table", "--no-browser", "--results", "file")
    assert done.returncode == 2
    assert done.stderr.startswith("error: file/human: cannot be written")
