"""Who is let in: a page of this server at its secret address, and nobody else."""

from __future__ import annotations

import os
import re
import stat
from base64 import urlsafe_b64decode
from pathlib import Path

import pytest

from arena.addons.table.server import MOST_BODY, POLICY, REFUSED, write_page
from arena.errors import InputError
from arena.reports.front import listen
from tests.addons.table import Client

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


def test_the_page_may_be_opened_from_anywhere(client: Client) -> None:
    """As by the page in a file, which the browser calls another site; nothing else may."""
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.send("GET", client.root, headers)[0].status == 200
    for method, path in (("POST", ""), ("HEAD", ""), *(("GET", path) for path in PATHS)):
        assert is_refused(client, method, f"{client.root}{path}", headers)


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


def test_what_changes_something_needs_an_origin_and_json(client: Client) -> None:
    """Every browser sends an Origin with POST; a form of another site cannot send JSON."""
    path = f"{client.root}api/games"
    assert is_refused(client, "POST", path, {"Content-Type": "application/json"})
    headers = client.headers | {"Content-Type": "text/plain"}
    assert client.send("POST", path, headers, b'{"bots": ["greedy"]}')[0].status == 400


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


def test_the_server_is_bound_to_this_machine_alone(client: Client) -> None:
    """To 127.0.0.1, and not to all addresses; a port in use is refused."""
    with listen(0) as bound:
        assert bound.getsockname()[0] == "127.0.0.1"
    with pytest.raises(InputError, match=f"--port {client.port}: "), listen(client.port):
        pass


def test_a_body_has_a_limit(client: Client) -> None:
    """No game needs more."""
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
