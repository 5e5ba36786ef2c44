"""The command: it says what it needs, serves until it is told to end, and leaves nothing."""

from __future__ import annotations

import json
import re
import signal
import stat
import subprocess
import sys
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import unquote, urlsplit

import psutil
import pytest

from arena.addons.table import server as module
from tests.addons.table.bots import SLEEPER
from tests.conftest import Arena, start_command
from tests.tiers import few
from tests.waiting import PATIENCE, until


def open_address(address: str) -> tuple[HTTPConnection, str, dict[str, str]]:
    """Open the printed address as a browser does."""
    parts = urlsplit(address.strip())
    assert parts.hostname == "127.0.0.1"
    assert parts.port is not None
    connection = HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE)
    connection.request("GET", parts.path)
    assert b"<title>" in connection.getresponse().read()
    origin = f"http://127.0.0.1:{parts.port}"
    return connection, parts.path, {"Origin": origin, "Content-Type": "application/json"}


def is_alive(process: psutil.Process) -> bool:
    """Return whether a process is there, and not only waits to be forgotten."""
    with suppress(psutil.NoSuchProcess):
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    return False


@pytest.mark.parametrize(
    ("number", "status"),
    few([(signal.SIGTERM, 143), (signal.SIGINT, 0), (signal.SIGHUP, 129)], 0, unpack=True),
)
def test_it_ends_with_a_signal_and_leaves_no_process(
    tmp_path: Path, number: int, status: int
) -> None:
    """Also while a bot thinks, and a page waits for news, which it gets."""
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    server = start_command(tmp_path, "table", "--no-browser")
    assert server.stdout is not None
    try:
        connection, root, headers = open_address(server.stdout.readline())
        assert "Ctrl-C" in server.stdout.readline()
        body = b'{"bots": ["./sleeper.py"], "begins": "bot"}'
        connection.request("POST", f"{root}api/games", body, headers)
        path = f"{root}api/games/{json.load(connection.getresponse())['id']}"
        news = {"phase": "", "version": 0}
        while news["phase"] != "bot":
            connection.request("GET", f"{path}?after={news['version']}", headers=headers)
            news = json.load(connection.getresponse())
        below = until(lambda: psutil.Process(server.pid).children(recursive=True))
        connection.request("GET", f"{path}?after={news['version']}", headers=headers)
        server.send_signal(number)
        assert json.load(connection.getresponse())["phase"] == "bot"
        out, errors = server.communicate(timeout=PATIENCE)
    finally:
        server.kill()
    assert (server.returncode, out, errors) == (status, "", "")
    until(lambda: not any(map(is_alive, below)))
    assert (tmp_path / "results" / "human" / "games.jsonl").read_text() == ""


@pytest.mark.slow
def test_a_page_that_leads_to_the_table_is_opened_in_the_browser(tmp_path: Path) -> None:
    """Only the user can read it, and it goes with the server. $BROWSER is given the page."""
    opened = tmp_path / "opened"
    browser = tmp_path / "browser.sh"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.part\nmv {opened}.part {opened}\n')
    browser.chmod(0o755)
    server = subprocess.Popen(
        ["/usr/bin/env", f"BROWSER={browser}", sys.executable, "-m", "arena", "table"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    try:
        until(opened.exists)
        page = Path(unquote(urlsplit(opened.read_text().strip()).path))
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
        assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700
        (address,) = set(re.findall(r"http:[^\"]+", page.read_text()))
        connection, root, headers = open_address(address)
        connection.request("GET", f"{root}api/home", headers=headers)
        assert connection.getresponse().status == 200
    finally:
        server.send_signal(signal.SIGINT)
        out, _ = server.communicate(timeout=PATIENCE)
    assert out.startswith(f"{address}\n")
    assert not page.exists()
    assert server.returncode == 0


@pytest.mark.parametrize(
    ("words", "port", "results", "opens"),
    [
        ("", 0, "results", True),
        ("--no-browser", 0, "results", False),
        ("--port 8123 --results elsewhere", 8123, "elsewhere", True),
    ],
)
def test_the_options_say_where_and_whether_a_browser_is_opened(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, words: str, port: int, results: str, opens: bool
) -> None:
    """Port 0 is a free one."""
    served: list[tuple[Path, int, bool]] = []

    def serve(folder: Path, number: int, _tell: object, show: object) -> None:
        served.append((folder, number, show is not None))

    monkeypatch.setattr(module, "serve", serve)
    assert arena("table", *words.split()).returncode == 0
    assert served == [(Path(results), port, opens)]


def test_results_that_cannot_be_written_are_refused(arena: Arena, tmp_path: Path) -> None:
    """Before anything is served."""
    (tmp_path / "file").touch()
    done = arena("table", "--no-browser", "--results", "file")
    assert done.returncode == 2
    assert done.stderr.startswith("error: file/human: cannot be written")
