"""What a bot at an address is, what a connection takes with it, and what is refused."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.addons.remote import remote_bot
from arena.addons.remote.remote_bot import (
    TOKENS,
    find_token,
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
        ("http://ann:secret@host:1", f"a token stands in {TOKENS}"),
        ("http://host:1/?key=secret", "parameters stand in"),
        ("http://host:1/#x", "parameters stand in"),
        ("http://:8000", "http://HOST:PORT"),
        ("http://", "http://HOST:PORT"),
        ("http://host:0", "http://HOST:PORT"),
        ("http://host:99999", "http://HOST:PORT"),
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


def test_the_page_of_a_proxy_is_shown_by_its_beginning(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no answer of a bot."""
    page = b"<!doctype html><html><body>404 not found, and so on</body></html>"
    monkeypatch.setattr(server, "lines", lambda _: page)
    with pytest.raises(InputError, match="<!doctype html><html><body>404 not found"):
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


def test_a_token_goes_to_a_public_address_by_tls_only(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address is the one that was connected to; within a private network it goes as it is."""
    monkeypatch.setattr(remote_bot, "is_public", lambda _: True)
    assert resolve(server.url).program == "1"
    monkeypatch.setenv(TOKENS, f"127.0.0.1:{server.server_address[1]}=hush-hush")
    seen = len(server.headers)
    with pytest.raises(InputError, match="only sent by https"):
        resolve(server.url)
    assert len(server.headers) == seen
    monkeypatch.undo()
    assert resolve(server.url).program == "1"


def test_without_its_library_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library is imported where a server is asked, and nowhere before."""
    monkeypatch.delitem(sys.modules, remote_bot.__name__)
    monkeypatch.setitem(sys.modules, "httpx", None)
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
    remote_bot._context.cache_clear()
    try:
        with serving(context) as server:
            url = server.url.replace("http", "https").replace("127.0.0.1", "localhost")
            with pytest.raises(InputError, match="certificate verify failed"):
                resolve(url)
            assert not server.requests
            remote_bot._context.cache_clear()
            monkeypatch.setenv("SSL_CERT_FILE", str(made))
            assert resolve(url).program == "1"
            with pytest.raises(InputError, match="certificate verify failed: IP address mismatch"):
                resolve(url.replace("localhost", "127.0.0.1"))
    finally:
        remote_bot._context.cache_clear()
