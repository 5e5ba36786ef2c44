"""The server of the table: who is let in, and its command."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
from base64 import urlsafe_b64decode
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import unquote, urlsplit

import psutil
import pytest

from arena.addons.table import table_server as module
from arena.addons.table.table_server import MOST_BODY, POLICY, REFUSED, write_page
from arena.errors import InputError
from arena.reports.front import listen
from tests.addons.table import SLEEPER, Client
from tests.conftest import Arena, start_command
from tests.tiers import few
from tests.waiting import PATIENCE, until

PATHS = ["table.js", "api/home", "api/games/1", "api/games/1/act"]


def is_refused(client: Client, method: str, path: str, headers: dict[str, str]) -> bool:
    """Return whether a request is refused, with nothing but where the address is."""
    answer, content = client.send(method, path, headers, b"{}")
    assert answer.headers["content-security-policy"] == POLICY
    assert not [name for name in answer.headers if name.lower().startswith("access-")]
    return (answer.status, content.decode()) == (403, "" if method == "HEAD" else REFUSED)


def test_the_address_has_256_random_bits_and_no_other_is_let_in(client: Client) -> None:
    """Neither a part of it, nor one with other letters, with or without the headers of a page."""
    secret = client.root.strip("/")
    assert len(urlsafe_b64decode(f"{secret}=")) == 32
    for root in ("/", "/x/", f"/{secret[:-1]}/", f"/{secret[::-1]}/", f"/{secret}x/", "/\u00e4/"):
        for path in ("", *PATHS):
            address = f"{root}{path}".encode().decode("latin1").replace("\u00c3\u00a4", "%C3%A4")
            assert is_refused(client, "GET", address, client.headers), address
    assert client.send("GET", client.root, {})[0].status == 200
    assert secret not in REFUSED


def test_who_may_open_the_page_and_what_changes_something(client: Client) -> None:
    """The page may be opened from anywhere; a POST needs an Origin and JSON."""
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.send("GET", client.root, headers)[0].status == 200
    for method, path in (("POST", ""), ("HEAD", ""), *(("GET", path) for path in PATHS)):
        assert is_refused(client, method, f"{client.root}{path}", headers)
    path = f"{client.root}api/games"
    assert is_refused(client, "POST", path, {"Content-Type": "application/json"})
    headers = client.headers | {"Content-Type": "text/plain"}
    assert client.send("POST", path, headers, b'{"bots": ["greedy"]}')[0].status == 400


@pytest.mark.parametrize(
    "host",
    ["example.com", "127.0.0.1", "127.0.0.1:1", "localhost", "example.com:{port}", "[::1]:{port}"],
)
def test_another_host_is_refused(client: Client, host: str) -> None:
    """A site whose name leads to 127.0.0.1 (DNS rebinding) has the browser, and not the host."""
    name = host.format(port=client.port)
    for path in ("", *PATHS):
        assert is_refused(client, "GET", f"{client.root}{path}", client.headers | {"Host": name})


FOREIGN: list[dict[str, str]] = [
    {"Origin": "https://example.com"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},  # another port of this machine
]


@pytest.mark.parametrize("changed", FOREIGN, ids=lambda one: str(*one.items()))
def test_another_origin_is_refused_everywhere(client: Client, changed: dict[str, str]) -> None:
    """Whatever is asked for, even with the address."""
    for path in PATHS:
        for method in ("GET", "POST", "OPTIONS", "DELETE"):
            assert is_refused(client, method, f"{client.root}{path}", client.headers | changed)


def test_the_page_loads_only_files_of_the_server(client: Client) -> None:
    """It has no script of its own; each answer has the headers that keep it in."""
    page = client.ask_bytes("").decode()
    tags = re.findall(r"<(?:script|link|style|img)[^>]*>", page)
    names = [name for tag in tags for name in re.findall(r'(?:src|href)="([^"]+)"', tag)]
    assert len(tags) == len(names) > 10
    assert "<script>" not in page
    assert not re.search(r"\son\w+=", page)
    for name in names:
        assert name == "data:," or client.ask_bytes(name)
    for path, status in (("", 200), ("api/home", 200), ("nothing", 404), ("api/games/99", 404)):
        answer, _ = client.send("GET", f"{client.root}{path}", client.headers)
        assert answer.status == status
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "server" not in answer.headers
    assert "unsafe" not in POLICY


BODIES: list[tuple[bytes, str]] = [
    (b"", "truncated"),
    (b"[]", "Expected `object`"),
    (b'{"bots": 5}', "$.bots"),
    (b'{"bots": []}', "$.bots"),
    (b'{"bots": [""]}', "$.bots[0]"),
    (b'{"bots": ["greedy", "greedy", "greedy"]}', "$.bots"),
    (b'{"bots": ["greedy"], "more": 1}', "more"),
    (b'{"bots": ["greedy"], "begins": "them"}', "them"),
    (b'{"bots": ["no_such_bot"]}', "no bot 'no_such_bot'"),
    (b'{"bots": ["human"]}', "human"),
    (b'{"bots": ["greedy", "./none.py"]}', "none.py"),
    (b'{"bots": ["greedy(speed=3)"]}', "speed"),
    (b"\xff", "invalid"),
    (b"[" * 5000, "Expected"),
]


@pytest.mark.parametrize(("body", "message"), BODIES, ids=range(len(BODIES)))
def test_a_body_that_does_not_fit_is_refused_in_one_line(
    client: Client, body: bytes, message: str
) -> None:
    """And nothing is begun."""
    before = client.ask("api/home")["games"]
    answer, content = client.send("POST", f"{client.root}api/games", client.headers, body)
    assert answer.status == 400
    assert message.lower() in content.decode().lower()
    assert b"\\n" not in content
    assert client.ask("api/home")["games"] == before


def test_the_server_is_bound_to_this_machine_alone_and_bodies_have_a_limit(client: Client) -> None:
    """To 127.0.0.1, and not to all addresses; a port in use is refused."""
    with listen(0) as bound:
        assert bound.getsockname()[0] == "127.0.0.1"
    with pytest.raises(InputError, match=f"--port {client.port}: "), listen(client.port):
        pass
    sent = b" " * (MOST_BODY + 1)
    answer, content = client.send("POST", f"{client.root}api/games", client.headers, sent)
    assert (answer.status, content) == (413, b"larger than 16 KB")


def test_the_page_with_the_address_is_a_new_file_of_this_user(tmp_path: Path) -> None:
    """Neither a file nor a link that lies there is followed; its text is no markup."""
    page, other = tmp_path / "page.html", tmp_path / "other"
    before = os.umask(0)
    try:
        write_page(page, 'http://localhost/?a=1&b="<>')
    finally:
        os.umask(before)
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert "http://localhost/?a=1&amp;b=&quot;&lt;&gt;" in page.read_text()
    other.write_text("mine")
    (tmp_path / "link").symlink_to(other)
    (tmp_path / "loose").symlink_to(tmp_path / "nowhere")
    for taken in ("other", "link", "loose"):
        with pytest.raises(FileExistsError):
            write_page(tmp_path / taken, "http://localhost/")
    assert other.read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


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
