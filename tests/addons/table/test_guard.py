"""Who is let in: the browser that opened the address, and nobody else."""

from __future__ import annotations

import os
import re
import socket
import stat
from base64 import urlsafe_b64decode
from pathlib import Path
from typing import Any

import pytest

from arena.addons.table.guard import LOST, POLICY, write_page
from arena.addons.table.visitor import MOST_BODY
from arena.errors import InputError
from arena.reports.page_server import REPORT_POLICY, listen
from tests.addons.table import Client


@pytest.mark.slow
def test_an_address_lets_one_browser_in(client: Client) -> None:
    """Scripts cannot read the cookie, other sites cannot use it, and other ports never get it."""
    address = client.new_path()
    answer, content = client.send("GET", address, {})
    assert answer.status == 200
    assert b'content="0; url=./"' in content
    value, *words = str(answer.headers["set-cookie"]).split(";")
    assert {word.strip().lower() for word in words} == {
        "httponly",
        "samesite=strict",
        f"path={client.root}/",
    }
    assert value.partition("=")[2] not in address
    for _ in range(2):
        answer, content = client.send("GET", address, {})
        assert (answer.status, content) == (403, LOST.encode())
        assert "set-cookie" not in answer.headers
    assert client.send("GET", client.new_path(), {})[0].status == 200


def test_a_token_and_the_cookie_are_256_random_bits(client: Client) -> None:
    """Each is another one."""
    tokens = [client.new_path().partition("?token=")[2] for _ in range(3)]
    secrets = [*tokens, client.cookie.partition("=")[2], client.root[1:]]
    assert len({*secrets}) == 5
    assert {len(urlsafe_b64decode(f"{one}=")) for one in secrets[:4]} == {32}


def test_the_page_has_no_script_or_style_of_its_own(client: Client) -> None:
    """All are files of the server, and each of them is there."""
    page = client.ask_bytes("").decode()
    tags = re.findall(r"<(?:script|link|style|img)[^>]*>", page)
    names = [name for tag in tags for name in re.findall(r'(?:src|href)="([^"]+)"', tag)]
    assert len(tags) == len(names) > 10
    assert "<script>" not in page
    assert not re.search(r"\son\w+=", page)
    for name in names:
        assert name == "data:," or client.ask_bytes(name)


def test_a_browser_that_is_in_may_open_an_address_again(client: Client) -> None:
    """From its history, say, or where something has opened it twice."""
    address = client.new_path()
    client.send("GET", address, {})
    answer, content = client.send("GET", address, {"Cookie": client.cookie})
    assert (answer.status, content) == (303, b"")
    assert answer.headers["location"] == "./"


GUESSES = [{"Sec-Purpose": "prefetch;prerender"}, {"Purpose": "prefetch"}, {"X-moz": "prefetch"}]


def test_only_a_browser_that_opens_an_address_uses_it_up(client: Client) -> None:
    """And not one that loads in advance, a look at its head, or what comes from another site."""
    address = client.new_path()
    tries = [("GET", address, headers) for headers in [*GUESSES, {"Host": "example.com"}]]
    tries += [(method, address, {}) for method in ("HEAD", "POST", "OPTIONS")]
    tries += [
        ("GET", address.replace(client.root, root), {}) for root in ("", "/x", client.root[:-1])
    ]
    tries += [("GET", address, {**headers, "Cookie": client.cookie}) for headers in GUESSES]
    for method, path, headers in tries:
        answer, content = client.send(method, path, headers)
        assert (answer.status, content) == (403, b""), (method, path, headers)
    assert client.send("GET", address, {})[0].status == 200


@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", "?token=%C3%A4", "?token=%FF"])
def test_a_wrong_token_is_refused(client: Client, query: str) -> None:
    """Also one that is no text; and nothing is said but where to find a right one."""
    for path, said in ((f"{client.root}/", LOST), ("/", ""), ("/x/", "")):
        answer, content = client.send("GET", f"{path}{query}", {})
        assert (answer.status, content.decode()) == (403, said)
        assert "set-cookie" not in answer.headers
    assert client.root not in LOST


def test_a_tab_of_a_table_that_has_ended_is_told_so(client: Client) -> None:
    """Whoever opens a page of another root is a person; what a script asks for is not answered."""
    for path in ("/0123456789abcdef/", "/0123456789abcdef/?token=old"):
        answer, content = client.send("GET", path, {"Sec-Fetch-Mode": "navigate"})
        assert (answer.status, content.decode()) == (403, LOST)
        assert client.send("GET", path, {"Sec-Fetch-Mode": "no-cors"})[1] == b""


HOSTS = [
    "example.com",
    "127.0.0.1",
    "127.0.0.1:1",
    "localhost",
    "example.com:{port}",
    "[::1]:{port}",
]


@pytest.mark.parametrize("host", HOSTS)
def test_another_host_is_refused(client: Client, host: str) -> None:
    """A site whose name leads to 127.0.0.1 (DNS rebinding) has the browser, and not the host."""
    name = host.format(port=client.port)
    for path in (client.new_path(), f"{client.root}/api/home"):
        answer, content = client.send("GET", path, client.headers | {"Host": name})
        assert (answer.status, content) == (403, b"")


def test_localhost_is_this_machine(client: Client) -> None:
    """Its name and its number are both used."""
    host = f"localhost:{client.port}"
    headers = client.headers | {"Host": host, "Origin": f"http://{host}"}
    assert client.send("GET", f"{client.root}/api/home", headers)[0].status == 200


FOREIGN: list[dict[str, str]] = [
    {"Origin": "https://example.com"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},  # another port of this machine
    {"Cookie": ""},
    {"Cookie": "arena_table_1=x"},
    {"Cookie": "arena_table_{port}=wrong"},
    {"Cookie": "arena_table_{port}=\u00e4"},
]
PATHS = [
    "",
    "main.js",
    "api/home",
    "api/runs",
    "api/games/1/events",
    "api/games/1/act",
    "report/cup/report.html",
]


@pytest.mark.parametrize("changed", FOREIGN, ids=lambda one: str(*one.items()))
def test_another_origin_is_refused_everywhere(client: Client, changed: dict[str, str]) -> None:
    """With the cookie and without it, whatever is asked for."""
    port = client.port
    headers = client.headers | {name: text.format(port=port) for name, text in changed.items()}
    for path in PATHS:
        for method in ("GET", "POST", "OPTIONS", "DELETE"):
            answer, content = client.send(method, f"{client.root}/{path}", headers, b"{}")
            said = LOST if (method, path) == ("GET", "") else ""
            assert (answer.status, content.decode()) == (403, said), (method, path)
            assert not [name for name in answer.headers if name.lower().startswith("access-")]


def test_what_changes_something_needs_an_origin(client: Client) -> None:
    """Every browser sends one with POST."""
    headers = client.headers
    del headers["Origin"]
    path = f"{client.root}/api/games"
    assert client.send("POST", path, headers, b"{}")[0].status == 403
    assert client.send("POST", path, client.headers, b"{}")[0].status == 400


def test_every_answer_has_the_headers_that_keep_it_in(client: Client) -> None:
    """A policy without inline scripts, no cache, no referrer, and no header that shares it."""
    for path, status in (
        ("", 200),
        ("api/home", 200),
        ("nothing", 404),
        ("api/record?line=x", 404),
    ):
        answer, _ = client.send("GET", f"{client.root}/{path}", client.headers)
        assert answer.status == status
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "server" not in answer.headers
        assert not [name for name in answer.headers if name.lower().startswith("access-")]
    assert "unsafe" not in POLICY
    answer, content = client.send("GET", "/elsewhere", {})
    assert (answer.status, content) == (403, b"")
    assert answer.headers["content-security-policy"] == POLICY


def test_a_report_is_a_page_of_nobody(client: Client) -> None:
    """Its scripts run in an origin of their own, and nothing is loaded or sent."""
    answer, content = client.send("GET", f"{client.root}/report/cup/report.html", client.headers)
    assert (answer.status, content[:9]) == (200, b"<!doctype")
    assert answer.headers["content-security-policy"] == REPORT_POLICY
    assert "allow-same-origin" not in REPORT_POLICY
    assert REPORT_POLICY.startswith("sandbox allow-scripts; default-src 'none';")


def test_a_report_is_sent_into_a_frame_alone(client: Client) -> None:
    """In a tab of its own its scripts could lead that elsewhere, with what they know."""
    path = f"{client.root}/report/cup/report.html"
    answer, content = client.send("GET", path, client.headers | {"Sec-Fetch-Dest": "document"})
    assert (answer.status, content) == (303, b"")
    assert answer.headers["location"] == f"{client.root}/alone/cup/report.html"
    answer, content = client.send("GET", f"{client.root}/alone/cup/report.html", client.headers)
    assert answer.headers["content-security-policy"] == POLICY
    assert (
        f'sandbox="allow-scripts" title="Report of cup/report.html" src="{path}"'.encode()
        in content
    )
    answer, _ = client.send("GET", path, client.headers | {"Sec-Fetch-Dest": "iframe"})
    assert answer.status == 200


BODIES: list[tuple[bytes, str]] = [
    (b"", "truncated"),
    (b"[]", "Expected `object`"),
    (b'{"bot": 5}', "$.bot"),
    (b'{"bot": ""}', "$.bot"),
    (b'{"bot": "greedy", "more": 1}', "more"),
    (b'{"bot": "greedy", "begins": "them"}', "them"),
    (b'{"bot": "greedy", "names": "klingon"}', "klingon"),
    (b'{"bot": "no_such_bot"}', "no bot 'no_such_bot'"),
    (b'{"bot": "human"}', "human"),
    (b'{"bot": "./none.py"}', "none.py"),
    (b'{"bot": "greedy(speed=3)"}', "speed"),
    (b"\xff", "invalid"),
    (b"[" * 5000, "Expected"),
    (b" " * (MOST_BODY + 1), f"more than {MOST_BODY:,} bytes"),
]


@pytest.mark.parametrize(("body", "message"), BODIES, ids=range(len(BODIES)))
def test_a_body_that_does_not_fit_is_refused_in_one_line(
    client: Client, body: bytes, message: str
) -> None:
    """And nothing is begun."""
    before = client.ask("api/home")["open"]
    answer, content = client.send("POST", f"{client.root}/api/games", client.headers, body)
    assert answer.status == 400
    assert message.lower() in content.decode().lower()
    assert b"\\n" not in content
    assert client.ask("api/home")["open"] == before


def test_a_form_of_another_site_has_the_wrong_type(client: Client) -> None:
    """Only a script can send JSON, and other sites' scripts are asked for leave first."""
    headers = client.headers | {"Content-Type": "text/plain"}
    answer, _ = client.send("POST", f"{client.root}/api/games", headers, b'{"bot": "greedy"}')
    assert answer.status == 400


def test_the_server_is_bound_to_this_machine_alone(client: Client) -> None:
    """To 127.0.0.1, and not to all addresses; a port in use is refused."""
    with listen(0) as bound:
        host, port = bound.getsockname()
        assert host == "127.0.0.1"
    with listen(port) as bound:
        assert bound.getsockname() == (host, port)
    with pytest.raises(InputError, match=f"--port {client.port}: "), listen(client.port):
        pass


def test_what_is_not_http_ends_that_connection_alone(client: Client) -> None:
    """Noise, a request that never ends, and one that is left."""
    noise: list[Any] = [b"\x00\xff" * 100 + b"\r\n\r\n", b"GET / HTTP/1.1\r\n", b"G" * 70_000]
    for sent in noise:
        with socket.create_connection(("127.0.0.1", client.port)) as raw:
            raw.sendall(sent)
    assert client.ask("api/home")["bots"]


def test_the_page_with_an_address_is_a_new_file_of_this_user(tmp_path: Path) -> None:
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
