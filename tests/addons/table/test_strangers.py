"""Another user of this machine looks on while the table starts, and gets nothing."""

from __future__ import annotations

import errno
import json
import os
import shlex
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from subprocess import Popen
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from arena.addons.table import guard, server
from arena.addons.table.guard import find_user, is_of_stranger, kernel_tells
from arena.reports import page_server
from arena.reports.page_server import Connection
from tests import ROOT
from tests.addons.table import Client, running
from tests.addons.table.stranger import is_closed
from tests.tiers import few
from tests.users import FIRST_AND_SLOW, IS_ROOT, interrupt, start_python
from tests.waiting import PATIENCE, until

BROWSER = Path(__file__).parent / "browser.py"


@pytest.fixture
def place() -> Iterator[Path]:
    """Return a folder that every user can reach, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def make_folder(path: Path, mode: int = 0o755) -> Path:
    path.mkdir()
    path.chmod(mode)
    return path


def start_stranger(folder: Path, temporary: Path, *handed: tuple[str, str]) -> Popen[str]:
    """Start the program of another user; who is not root can only start it as this one."""
    (folder / "handed").write_text(json.dumps(handed))
    return start_python("stranger", folder, "-m", "tests.addons.table.stranger", str(temporary))


def end_stranger(stranger: Popen[str]) -> Any:
    """End the stranger's search, and return what it has got, and the pages it could not read."""
    out, errors = stranger.communicate(timeout=PATIENCE)
    assert stranger.returncode == 0, errors
    return json.loads(out.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("user", FIRST_AND_SLOW)
def test_nobody_finds_the_address_while_it_is_opened(place: Path, user: str) -> None:
    """Every command line and every readable file is looked at; the owner's browser is let in."""
    temporary = make_folder(place / "temporary", 0o1777)
    home, outside = make_folder(place / "home"), make_folder(place / "outside")
    kept = home / "opened"
    stranger = start_stranger(outside, temporary)
    assert stranger.stdout is not None
    assert stranger.stdout.readline() == "looking\n"
    browser = f"{shlex.join([sys.executable, str(BROWSER), str(outside / 'seen'), str(kept)])} %s"
    environment = {"BROWSER": browser, "TMPDIR": str(temporary)}
    server = start_python(user, home, "-m", "arena", "table", **environment)
    try:
        until(lambda: kept.exists() or server.poll() is not None)
        found = end_stranger(stranger)
    finally:
        interrupt(server)
        out, errors = server.communicate(timeout=PATIENCE)
        stranger.kill()
    assert (server.returncode, errors) == (0, ""), out
    opened = json.loads(kept.read_text())
    assert opened["status"] == 200
    assert found["got"] == []
    assert unquote(urlsplit(opened["given"]).path) in found["closed"]  # it has looked
    assert not (outside / "id").exists()
    assert opened["address"] not in out
    assert not [*temporary.iterdir()]


def test_nothing_else_opens_a_browser() -> None:
    """But `arena docs`, whose pages have none: so nothing else can give away a secret."""
    opening = {
        path.name for path in (ROOT / "arena").rglob("*.py") if "webbrowser" in path.read_text()
    }
    assert opening == {"look.py", "person.py"}


@pytest.mark.slow
@pytest.mark.skipif(not IS_ROOT, reason="only root can start a program of another user")
def test_an_address_and_the_cookie_are_of_no_use_to_another_user(
    client: Client, place: Path
) -> None:
    """He may have an address from a click in a terminal, which puts it into a command line."""
    path = client.new_path()
    with_cookie = f"{client.origin}{client.root}/", client.cookie
    stranger = start_stranger(place, place, (client.origin + path, ""), with_cookie)
    tries = end_stranger(stranger)["got"]
    assert len(tries) == 4  # each over IPv4 and, where there is one, IPv6
    for one in tries:
        assert one["began"] is None
        assert isinstance(one["status"], str)  # closed, and nothing was said
    assert client.send("GET", path, {})[0].status == 200


@pytest.mark.slow
@pytest.mark.skipif(not IS_ROOT, reason="only root can start a program of another user")
def test_another_user_holds_no_place_at_the_table(
    client: Client, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What he opens is closed at once, whatever he sends; the owner is answered meanwhile."""
    monkeypatch.setattr(Connection, "whole", PATIENCE)
    monkeypatch.setattr(page_server, "MOST_WAITING", 1000)
    (place / "handed").write_text(json.dumps([[client.origin, ""]]))
    stranger = start_python(
        "stranger", place, "-m", "tests.addons.table.stranger", str(place), "hold"
    )
    assert stranger.stdout is not None
    assert stranger.stdout.readline() == "205\n"
    assert client.ask("api/home")["bots"]
    end_stranger(stranger)


@pytest.mark.slow
def test_where_nobody_knows_whose_connections_are_they_hold_nothing_either(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one on which nothing whole came for longest makes room."""
    monkeypatch.setattr(server, "is_of_stranger", lambda *_: False)
    held = []
    try:
        for half in range(205):
            held.append(socket.create_connection(("127.0.0.1", client.port)))
            held[-1].sendall(b"GET / HTTP/1.1\r\nHost: x\r\n" if half % 2 else b"")
        assert client.ask("api/home")["bots"]
        assert all(map(is_closed, held[:100]))
    finally:
        for one in held:
            one.close()


WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent",
    [b"", WHOLE[:-2], b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1"],
    ids=["nothing", "half a header", "half a body"],
)
def test_a_request_that_does_not_come_whole_is_given_up(
    client: Client, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    """Also the second one of a connection; one that has come is answered, however long it takes."""
    monkeypatch.setattr(Connection, "whole", 0.2)
    with socket.create_connection(("127.0.0.1", client.port)) as one:
        one.sendall(sent)
        until(partial(is_closed, one))
    connection = HTTPConnection("127.0.0.1", client.port, timeout=PATIENCE)
    connection.request("GET", f"{client.root}/api/home", headers=client.headers)
    assert connection.getresponse().read()
    assert connection.sock is not None
    connection.sock.sendall(sent)
    until(partial(is_closed, connection.sock))
    game = f"api/games/{client.ask('api/games', {'bot': 'greedy', 'begins': 'me'})['id']}"
    stream = client.news(f"{game}/events")
    frame = next(news for news in stream if news["phase"] == "yours")["frames"][-1]
    time.sleep(2 * Connection.whole)
    client.ask(f"{game}/act", {"ply": frame["ply"], "action": frame["legal"][0]})
    assert next(stream)
    client.ask(f"{game}/leave", {})
    assert [*stream][-1]["phase"] == "left"


def test_an_accept_that_fails_is_one_line(
    results: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Where this process may have no further file, say; it goes on when it may."""
    accept, fails = socket.socket.accept, [True] * 5

    def accept_late(listening: socket.socket) -> Any:
        if fails:
            fails.pop()
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return accept(listening)

    monkeypatch.setattr(socket.socket, "accept", accept_late)
    with running(results) as client:
        assert client.ask("api/home")["bots"]
    said = capfd.readouterr().err
    assert said == "warning: no connection can be accepted now: Too many open files\n"


@pytest.mark.skipif(not IS_ROOT, reason="only root can start a program of another user")
@pytest.mark.parametrize("ending", few(["reset", "close"], 0))
def test_who_closes_his_end_at_once_is_a_stranger_too(
    client: Client, place: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """The kernel calls what nobody has any more root's; the request has come before."""
    obeyed: list[object] = []
    monkeypatch.setattr(client.table, "sit_down", obeyed.append)
    look = guard.is_of_stranger

    def look_late(*ends: Any) -> bool:
        time.sleep(0.05)  # as on a busy machine: he has closed it by now
        return look(*ends)

    monkeypatch.setattr(server, "is_of_stranger", look_late)
    (place / "handed").write_text(json.dumps([[f"{client.origin}{client.root}/", client.cookie]]))
    stranger = start_python(
        "stranger", place, "-m", "tests.addons.table.stranger", str(place), ending
    )
    end_stranger(stranger)
    for _ in range(3):  # what has come before is answered before
        client.ask("api/home")
    assert obeyed == []


@pytest.mark.parametrize("host", ["127.0.0.1", "::ffff:127.0.0.1"])
def test_the_owner_is_no_stranger(client: Client, host: str) -> None:
    """Whatever kind of socket the browser has: one of IPv6 stands in another table."""
    connection = HTTPConnection(host, client.port, timeout=PATIENCE)
    try:
        connection.request("GET", client.new_path(), headers={"Host": f"127.0.0.1:{client.port}"})
    except OSError:
        pytest.skip("this machine has no IPv6")
    assert connection.getresponse().status == 200
    connection.close()


def refuse(*_: object) -> int:
    raise OSError(24, "Too many open files")


@pytest.fixture
def _forgotten() -> Iterator[None]:
    """What the kernel tells is asked once; here it is asked again, and so it is afterwards."""
    kernel_tells.cache_clear()
    yield
    kernel_tells.cache_clear()


@pytest.mark.usefixtures("_forgotten")
@pytest.mark.parametrize("answer", [refuse, lambda *_: None])
def test_where_the_kernel_does_not_tell_nobody_is_a_stranger(
    client: Client, monkeypatch: pytest.MonkeyPatch, answer: Callable[..., int | None]
) -> None:
    """Such as on another system, or in a sandbox."""
    with monkeypatch.context() as patch:
        patch.setattr(socket, "AF_NETLINK", 12345)
        assert client.send("GET", client.new_path(), {})[0].status == 200
    kernel_tells.cache_clear()
    monkeypatch.setattr(guard, "find_user", answer)
    assert client.send("GET", client.new_path(), {})[0].status == 200


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a connection is")
def test_a_kernel_that_has_told_and_cannot_now_lets_nobody_in(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as while another user holds all files that this one may have open."""
    path = client.new_path()
    assert kernel_tells()
    with monkeypatch.context() as patch:
        patch.setattr(guard, "find_user", refuse)
        with pytest.raises(ConnectionError):
            client.send("GET", path, {})
    assert client.send("GET", path, {})[0].status == 200


HERE, THERE = ("127.0.0.1", 8080), ("127.0.0.2", 81)


@pytest.mark.parametrize(
    ("ours", "theirs", "stranger"),
    [
        (1000, 1000, False),
        (1000, 1001, True),
        (1000, 0, False),  # root's
        (0, 0, False),
        (0, 1000, True),
        (1000, None, True),  # a connection of which one end is unknown
        (None, None, True),  # the connection is gone
        (None, 1000, True),
    ],
)
def test_a_stranger_is_neither_the_owner_nor_root(
    monkeypatch: pytest.MonkeyPatch, ours: int | None, theirs: int | None, stranger: bool
) -> None:
    """The server's end of a connection is the owner's."""
    users = {(HERE, THERE): ours, (THERE, HERE): theirs}
    monkeypatch.setattr(guard, "kernel_tells", lambda: True)
    monkeypatch.setattr(guard, "find_user", lambda *ends: users[ends])
    assert is_of_stranger(THERE, HERE) is stranger


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a connection is")
def test_the_kernel_knows_the_user_of_a_socket() -> None:
    """And nothing of one that is not there."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as one:
            ends = one.getsockname(), server.getsockname()
            assert find_user(*ends) == os.geteuid()
        assert find_user(*ends) is None  # nobody's any more
        assert find_user(("127.0.0.3", 1), ends[1]) is None
