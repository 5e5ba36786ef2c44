"""The web of a league: whoever has a token hands in, and everybody else gets one line."""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from arena.addons.league import inbox
from arena.addons.league.inbox import take_all
from arena.addons.league.league import League
from arena.addons.league.league_site import write_site
from arena.addons.league.web import POLICY
from arena.reports.http_server import REPORT_POLICY
from tests.addons.league.small import (
    BOT,
    BOUNDARY,
    KIND,
    Client,
    an_unchecked_league,
    form,
    play,
    serving,
    take,
)
from tests.entries.test_zipped import BAD, make_zip

SOURCE = BOT.replace("{number}", "0").encode()


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[League]:
    """Yield a league whose check finds nothing; its time is that of the uploads."""
    with an_unchecked_league(tmp_path / "club", monkeypatch, a_day=6, most_megabytes=1) as made:
        made.desk.now = lambda: datetime.now(UTC)
        yield made


@pytest.fixture
def client(league: League) -> Iterator[Client]:
    """Yield a client of its web."""
    with serving(league.folder) as client:
        yield client


@pytest.mark.slow
def test_a_file_gets_its_turn_and_an_answer(league: League, client: Client) -> None:
    """It is the owner's, whatever its name; sent again, as the answer was lost, it is one."""
    ann, bob = client.invite("Ann"), client.invite("Bob")
    for _ in "12":
        assert client.hand_in(ann, "mine.py", SOURCE) == (202, {"bot": "mine"})
    packed = make_zip(("mine/bot.py", b"from other import bot\n"), ("mine/other.py", SOURCE))
    assert client.hand_in(bob, "bot.zip", packed, "bobs")[0] == 202
    assert client.uploads(ann) == [{"bot": "mine", "place": 1}]
    assert client.uploads(bob)[0]["place"] == 2
    assert take(league) == ["accepted: mine 1, by Ann", "accepted: bobs 1, by Bob"]
    (answered,) = client.uploads(ann)
    assert (answered["place"], answered["answer"]) == (None, "accepted: mine 1")
    assert [one["answer"] for one in client.uploads(bob)] == ["accepted: bobs 1"]
    client.hand_in(ann, "mine.py", SOURCE)
    assert take(league) == ["left out: mine: the same as mine 1 of Ann"]
    assert len(league.find("mine")) == 1


@pytest.mark.slow
def test_a_refusal_is_one_line_without_a_path(league: League, client: Client) -> None:
    """The owner reads it; the league keeps it, too; what was refused can be tried again."""
    ann = client.invite("Ann")
    client.hand_in(ann, "syntax.zip", make_zip(("a/b/c.py", SOURCE)))
    client.hand_in(ann, "link.zip", BAD["a link"][0]())
    client.hand_in(ann, "bomb.zip", BAD["a bomb"][0]())
    assert len(take(league)) == 3
    for _ in "12":
        client.hand_in(ann, "bad.txt", b"x")
        assert len(take(league)) == 1
    answers = [one["answer"] for one in client.uploads(ann)]
    for said in [*answers, *(one.why for one in league.ledger.refusals())]:
        assert said.isprintable()
        assert "club" not in said
        assert "~Ann" not in said
    assert any("refused: link: link.zip: " in said for said in answers)
    assert sum(said.startswith("refused: bad: bad.txt: a bot is") for said in answers) == 2
    assert [*(league.folder / "uploads").iterdir()] == []


def test_a_day_has_a_limit_and_a_full_queue_takes_no_more(
    league: League, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does a full disk; the sender is told to come again, and no path."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    ann, again = client.invite("Ann"), "the league cannot be used now; try again in a minute"
    for name, value in ("_MOST_BYTES", len(SOURCE) - 1), ("replacing", fail):
        with monkeypatch.context() as full:
            full.setattr(inbox, name, value)
            assert client.hand_in(ann, "mine.py", SOURCE) == (503, {"error": again})
    assert inbox.find_uploads(league.folder) == []
    assert client.hand_in(ann, "mine.py", SOURCE)[0] == 202
    for number in range(5):
        inbox.receive(league.folder, "Ann", f"a{number}.py", b"x")
    said = {"error": "6 of your uploads wait, as many as you have in a day"}
    assert client.hand_in(ann, "more.py", SOURCE) == (429, said)


BODIES: dict[str, tuple[bytes, int, str]] = {
    "no file": (f"--{BOUNDARY}--\r\n".encode(), 400, "choose a file"),
    "another boundary": (b"--x\r\n\r\n1\r\n--x--\r\n", 400, "Invalid multipart data"),
    "an empty file": (form("mine.py", b""), 400, "empty"),
    "no ending": (form("mine", SOURCE), 400, "no ending"),
    "a name above": (form("mine.py", SOURCE, "../mine"), 400, "not one of A-Z"),
    "a device": (form("con.py", SOURCE), 400, "Windows"),
    "a control character": (form("mi\x1b[2Jne.py", SOURCE), 400, "not one of A-Z"),
    "a name of the panel": (form("greedy.py", SOURCE), 400, "it is arena's"),
    "too large": (form("mine.py", b"#" * (2 << 20)), 413, "larger than 1,040 KB"),
    "two files": (form("a.py", b"1")[: -len(BOUNDARY) - 6] + form("b.py", b"2"), 400, "many"),
    "half a form": (form("mine.py", SOURCE)[:-60], 400, ""),
}


def test_a_body_that_does_not_fit_is_refused_in_one_line(league: League, client: Client) -> None:
    """And nothing waits."""
    headers = client.invite("Ann") | KIND
    for what, (body, status, message) in BODIES.items():
        answer, data = client.send("POST", "/hand-in", headers, body)
        said = json.loads(data)["error"]
        assert (answer.status, message in said, said.isprintable()) == (status, True, True), what
    assert inbox.find_uploads(league.folder) == []


def test_a_token_is_kept_as_a_hash_and_can_be_revoked(league: League, client: Client) -> None:
    """A new one replaces the one before."""
    first = client.invite("Ann")
    second = client.invite("Ann")
    assert client.send("GET", "/", first)[0].status == 403
    assert client.uploads(second) == []
    (kept,) = (league.folder / "tokens").iterdir()
    assert second["Authorization"].partition(" ")[2] not in kept.name + kept.read_text()
    kept.unlink()
    assert client.hand_in(second, "mine.py", SOURCE)[0] == 403


def enter(client: Client, token: str, **headers: str) -> tuple[Any, bytes]:
    """Enter with a token as a browser does."""
    sent = {
        "Origin": client.origin,
        "Content-Type": "application/x-www-form-urlencoded",
        "Sec-Fetch-Site": "same-origin",
    }
    return client.send("POST", "/enter", sent | headers, f"token={token}".encode())


@pytest.mark.slow
def test_a_browser_enters_hands_in_and_reads_the_answer(league: League, client: Client) -> None:
    """Its cookie ends with it, and scripts cannot read it; what a stranger wrote is text."""
    token = client.invite("Ann")["Authorization"].partition(" ")[2]
    answer, _ = enter(client, token)
    assert (answer.status, answer.headers["location"]) == (303, "./")
    cookie, *words = str(answer.headers["set-cookie"]).split("; ")
    assert {*words} == {"HttpOnly", "SameSite=lax"}
    browser = {"Cookie": cookie, "Origin": client.origin}
    hostile = b"raise SystemExit('<script>alert(1)</script>')\n"
    packed = make_zip(("<b>.py", hostile))
    for file, content in ("mine.py", SOURCE), ("hostile.zip", packed):
        answer, _ = client.send("POST", "/hand-in", browser | KIND, form(file, content))
        assert (answer.status, answer.headers["location"]) == (303, "./")
    answer, page = client.send("GET", "/", browser)
    assert b"Received: mine</strong>, place 1 in the queue" in page
    assert answer.headers["refresh"] == "15"
    take(league)
    answer, page = client.send("GET", "/", browser)
    assert b"accepted: mine 1 <" in page
    assert b"refused: hostile: " in page
    assert answer.headers["refresh"] is None
    for path in ("/", "/nothing", "/site/nothing.html"):
        answer, page = client.send("GET", path, {"Cookie": cookie})
        assert answer.headers["content-security-policy"] == POLICY
        assert b"<script" not in page
        assert b"style=" not in page
    assert "script-src" not in POLICY
    assert POLICY.startswith("default-src 'none';")


def test_a_form_of_another_site_is_refused(client: Client) -> None:
    """Also with the cookie."""
    token = client.invite("Ann")["Authorization"].partition(" ")[2]
    for name, site in (
        *(("Origin", site) for site in ("https://example.com", "null")),
        *(("Sec-Fetch-Site", site) for site in ("cross-site", "same-site")),
    ):
        assert enter(client, token, **{name: site})[0].status == 403
        sent = {"Cookie": f"arena_league={token}", "Origin": client.origin, name: site}
        assert client.send("POST", "/hand-in", sent | KIND, form("a.py", SOURCE))[0].status == 403
    assert client.uploads({"Authorization": f"Bearer {token}"}) == []


@pytest.mark.slow
def test_everybody_reads_the_leagues_pages_and_nothing_else(league: League, client: Client) -> None:
    """They run in an origin of their own, so that they cannot use an owner's cookie."""
    client.invite("Ann")
    play(league)
    write_site(league)
    for path in ("/site/", "/site/index.html", "/site/bots/greedy.html"):
        answer, page = client.send("GET", path, {})
        assert (answer.status, page[:9]) == (200, b"<!doctype")
        assert answer.headers["content-security-policy"] == REPORT_POLICY
    assert client.send("GET", "/site/league.csv", {})[1].startswith(b"bot,rank,")
    (league.folder / "site" / "link.html").symlink_to(league.folder / "league.yaml")
    (league.folder / "site" / ".hidden.html").write_text("x")
    for path in (
        "/site/link.html",
        "/site/.hidden.html",
        "/site/../league.yaml",
        "/site/%2e%2e/league.yaml",
        "/site/bots/../../league.yaml",
        "/site//etc/passwd",
        "/site/index.html%00",
        "/league.yaml",
        "/tokens",
    ):
        assert client.send("GET", path, {})[0].status == 404, path


def test_a_league_behind_a_proxy_with_tls(league: League, client: Client) -> None:
    """No address is absolute, so a prefix is kept; the cookie is for it, and for TLS."""
    write_site(league)
    proxy = {"Host": "uni.example", "X-Forwarded-Proto": "https"}
    own = proxy | {"Origin": "https://uni.example"}
    token = client.invite("Ann")["Authorization"].partition(" ")[2]
    answer, _ = enter(client, token, **own)
    assert (answer.status, answer.headers["location"]) == (303, "./")
    cookie, *words = str(answer.headers["set-cookie"]).split("; ")
    assert {*words} == {"HttpOnly", "SameSite=lax", "Secure"}  # without a path it is the prefix
    browser = own | {"Cookie": cookie}
    answer, _ = client.send("POST", "/hand-in", browser | KIND, form("mine.py", SOURCE))
    assert (answer.status, answer.headers["location"]) == (303, "./")
    for path in ("/", "/site/index.html"):
        page = client.send("GET", path, browser)[1].decode()
        found = re.findall(r'(?:href|src|action)="([^"]*)"', page)
        assert len(found) > 2
        assert not [one for one in found if one.startswith(("/", "http"))]
    assert enter(client, token, **proxy | {"Origin": "http://uni.example"})[0].status == 403


class Killed(BaseException):
    """A kill at this moment."""


def die(*_: object) -> None:
    """Be killed."""
    raise Killed


@pytest.mark.slow
def test_uploads_survive_a_kill_unanswered(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that was made is not made again; a refusal is recorded again at most."""
    for owner, file in ("Ann", "mine.py"), ("Bob", "bad.txt"):
        inbox.receive(league.folder, owner, file, SOURCE)
    for _ in range(4):  # each answer is lost, whichever comes first
        with monkeypatch.context() as patched:
            patched.setattr("arena.addons.league.inbox.remove_tree", die)
            with pytest.raises(Killed):
                [*take_all(league, lambda _: None, checks=2)]
    assert sorted(take_all(league, lambda _: None)) == ["bad", "mine"]
    assert len(league.ledger.versions("NOT panel")) == 1
    assert {one.name for one in league.ledger.refusals()} == {"bad"}
    assert inbox.find_uploads(league.folder) == []
