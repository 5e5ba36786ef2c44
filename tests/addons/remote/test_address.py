"""Where a connection goes, what it takes with it, and what is refused."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpcore
import pytest

from arena.addons.remote import address
from arena.addons.remote.address import (
    SESSION,
    TOKENS,
    Line,
    Unreached,
    find_token,
    is_public,
    parse_address,
)
from arena.entries.resolve import default_lane, resolve
from arena.errors import InputError
from tests.addons.remote.servers import Server, serving


@pytest.fixture
def server() -> Iterator[Server]:
    """A good server."""
    with serving() as made:
        yield made


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("http://ann:secret@host:1", "no user and no password"),
        ("http://host:1/?key=secret", "no [?] and no #"),
        ("http://host:1/#x", "no [?] and no #"),
        ("http://:8000", "http://HOST:PORT"),
        ("http://", "http://HOST:PORT"),
        ("http://host:0", "http://HOST:PORT"),
        ("http://host:99999", "not an address"),
        ("http://[::1", "not an address"),
        ("http://h\u00f6st", "in ASCII"),
        ("http://ho st", "in ASCII"),
    ],
)
def test_an_address_has_a_host_a_port_and_a_path(spec: str, why: str) -> None:
    """Anything else is one line that names the bot; nothing is asked."""
    with pytest.raises(InputError, match=why):
        resolve(spec)


def test_a_bot_is_its_address_and_its_version(server: Server) -> None:
    """Whatever the spelling; parameters and labels are as for any bot."""
    server.version = "7.1"
    entry = resolve(f"gpu={server.url}/(depth=3)")
    assert (entry.label, entry.target, entry.lane) == ("gpu", server.url, "remote")
    assert (entry.program, entry.params, entry.source) == ("7.1", {"depth": 3}, None)
    assert entry.sha256 == resolve(server.url.upper()).sha256
    assert resolve(server.url).label == f"127.0.0.1-{server.server_address[1]}"
    assert default_lane(server.url) == "remote"
    assert entry.sha256 != resolve(f"{server.url}/other").sha256


def test_a_byte_order_mark_before_an_answer_is_skipped(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Servers in some languages write one; a page of a proxy is shown by its beginning."""
    lines = server.lines
    monkeypatch.setattr(server, "lines", lambda asked: b"\xef\xbb\xbf" + lines(asked))
    assert resolve(server.url).program == "1"
    page = b"<!doctype html><html><body>404 not found, and so on</body></html>"
    monkeypatch.setattr(server, "lines", lambda _: page)
    with pytest.raises(InputError, match="'<!doctype html><html><body>404 not found'"):
        resolve(server.url)


@pytest.mark.parametrize("lane", ["inproc", "process", "jail"])
def test_it_has_no_other_lane(server: Server, lane: str) -> None:
    """And no other bot has its lane."""
    with pytest.raises(InputError, match=f"lane '{lane}' is not one of its lanes: remote"):
        resolve(server.url, lane=lane)
    with pytest.raises(InputError, match="lane 'remote' is not one of its lanes: inproc, process"):
        resolve("greedy", lane="remote")


def test_a_token_is_bound_to_one_host(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host with a similar name does not get it, nor does the same host at another port."""
    port = server.server_address[1]
    tokens = f"127.0.0.1:{port}=right-one 127.0.0.1:{port + 1}=wrong-one"
    tokens += " a.org=of-a-org a.org:8000=of-port-8000"
    monkeypatch.setenv(TOKENS, tokens)
    resolve(server.url)
    assert server.headers[-1]["Authorization"] == "Bearer right-one"
    found = {
        url: find_token(parse_address(url))
        for url in ("https://a.org", "http://a.org", "https://a.org:8000", "https://A.org/x")
    }
    assert [*found.values()] == ["of-a-org", "of-a-org", "of-port-8000", "of-a-org"]
    for url in ("https://a-org", "https://b.a.org", "https://a.org.b", "https://a.org:8001"):
        assert not find_token(parse_address(url))


def test_a_bad_list_of_tokens_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says which item is wrong, and nothing that stands there."""
    monkeypatch.setenv(TOKENS, "a.org=fine-one hush-hush")
    with pytest.raises(InputError) as told:
        find_token(parse_address("https://a.org"))
    assert str(told.value) == f"{TOKENS}: item 2 is not HOST:PORT=TOKEN"


def leads_to(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Let names lead to addresses, each time to the next; return where connections went."""
    left = [*answers]
    went: list[str] = []

    def find(_: str, port: int, **__: Any) -> list[tuple[Any, ...]]:
        found = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in found]

    class Backend:
        def connect_tcp(self, host: str, *_: Any) -> None:
            went.append(host)
            raise httpcore.ConnectError("nobody there")

    monkeypatch.setattr(socket, "getaddrinfo", find)
    monkeypatch.setattr(httpcore, "SyncBackend", Backend)
    return went


def test_no_private_address_where_only_public_ones_may_be_asked(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every address of a name is looked at before any is connected to."""
    with pytest.raises(InputError, match=r"127\.0\.0\.1 is not a public address"):
        resolve(server.url, public=True)
    went = leads_to(monkeypatch, ["1.1.1.1", "10.0.0.7"])
    with pytest.raises(InputError, match=r"10\.0\.0\.7 is not a public address"):
        resolve("http://bots.org", public=True)
    assert not went


def test_a_name_that_changes_leads_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address that was checked is the one that is connected to, not a second answer."""
    went = leads_to(monkeypatch, ["1.1.1.1"], ["127.0.0.1"])
    line = Line(parse_address("http://bots.org"), public=True)
    for why in ("nobody there", "127.0.0.1 is not a public address"):
        with pytest.raises(Unreached, match=why):
            line.ask(b"", {SESSION: "a"}, 5.0, 1000)
    assert went == ["1.1.1.1"]


def test_a_token_goes_to_a_public_address_by_tls_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a private network it may go as it is."""
    monkeypatch.setenv(TOKENS, "bots.org=hush-hush gpu.local:8000=hush-hush")
    leads_to(monkeypatch, ["1.1.1.1"])
    with pytest.raises(Unreached, match="only sent by https"):
        Line(parse_address("http://bots.org")).find_addresses()
    assert Line(parse_address("https://bots.org")).find_addresses() == ["1.1.1.1"]
    leads_to(monkeypatch, ["10.0.0.7"])
    assert Line(parse_address("http://gpu.local:8000")).find_addresses() == ["10.0.0.7"]


@pytest.mark.parametrize(
    ("one", "public"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1", True),
        ("0.0.0.0", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
    ],
)
def test_which_addresses_are_public(one: str, public: bool) -> None:
    """Also where an address of IPv6 holds one of IPv4."""
    assert is_public(one) == public


def test_without_its_library_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library is imported where a server is asked, and nowhere before."""
    monkeypatch.delitem(sys.modules, address.__name__)
    monkeypatch.setitem(sys.modules, "httpcore", None)
    with pytest.raises(InputError, match=r"pip install 'district-noir-arena\[remote\]'"):
        resolve("http://127.0.0.1:1")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificate")
def test_a_certificate_is_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the name of the host; a server whose certificate nobody knows is not asked."""
    key, made = tmp_path / "key.pem", tmp_path / "made.pem"
    words = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext"
    more = ["subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(made)]
    subprocess.run([*words.split(), *more], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made, key)
    address._context.cache_clear()
    try:
        with serving(context) as server:
            url = server.url.replace("http", "https").replace("127.0.0.1", "localhost")
            with pytest.raises(InputError, match="certificate verify failed"):
                resolve(url)
            assert not server.requests
            address._context.cache_clear()
            monkeypatch.setenv("SSL_CERT_FILE", str(made))
            assert resolve(url).program == "1"
            with pytest.raises(InputError, match="certificate verify failed: IP address mismatch"):
                resolve(url.replace("localhost", "127.0.0.1"))
    finally:
        address._context.cache_clear()
