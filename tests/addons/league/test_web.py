"""The web of a league: whoever has a token hands in, and everybody else gets one line."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.addons.league import submission
from arena.addons.league.inbox import take_all
from arena.addons.league.league import League
from arena.addons.league.league_site import write_site
from arena.addons.league.post import Post
from arena.addons.league.web import MOST_GUESSES, POLICY
from arena.errors import InputError
from arena.reports.front import REPORT_POLICY
from tests.addons.league.small import BOT, NOON, a_league, accept, play
from tests.addons.league.web import BOUNDARY, Client, form, serving
from tests.entries.test_zipped import BAD, make_zip

SOURCE = BOT.replace("{number}", "0").encode()


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[League]:
    """Yield a league whose check finds nothing."""
    monkeypatch.setattr(submission, "run_check", accept)
    with a_league(tmp_path / "club", a_day=6, most_megabytes=1) as made:
        yield made


@pytest.fixture
def client(league: League) -> Iterator[Client]:
    """Yield a client of its web."""
    with serving(league.folder) as client:
        yield client


def take(league: League) -> list[str]:
    """Take what was handed in, and return what was told of each upload."""
    told: list[str] = []
    for _ in take_all(league, told.append):
        pass
    return [line for line in told if line.startswith(("accepted", "refused"))]


@pytest.mark.slow
def test_a_file_gets_a_receipt_its_turn_and_an_answer(league: League, client: Client) -> None:
    """And it is the owner's, whatever its name."""
    ann, bob = client.invite("Ann"), client.invite("Bob")
    status, receipt = client.hand_in(ann, "mine.py", SOURCE)
    assert (status, receipt["receipt"], receipt["bot"], receipt["place"]) == (202, 1, "mine", 1)
    assert client.hand_in(bob, "bot.py", SOURCE + b"# other\n", "bobs")[1]["place"] == 2
    (waiting,) = client.mine(ann)["uploads"]
    assert (waiting["state"], waiting["place"]) == ("waiting", 1)
    assert take(league) == ["accepted: mine 1, by Ann", "accepted: bobs 1, by Bob"]
    (answered,) = client.mine(ann)["uploads"]
    assert (answered["state"], answered["answer"], answered["place"]) == (
        "accepted",
        "mine 1",
        None,
    )
    assert [one["bot"] for one in client.mine(bob)["uploads"]] == ["bobs"]
    assert take(league) == []


@pytest.mark.slow
def test_a_folder_comes_as_a_zip(league: League, client: Client) -> None:
    """It is the bot that the same folder is in the inbox."""
    ann = client.invite("Ann")
    packed = make_zip(("mine/bot.py", b"from other import bot\n"), ("mine/other.py", SOURCE))
    assert client.hand_in(ann, "mine.zip", packed)[0] == 202
    assert take(league) == ["accepted: mine 1, by Ann"]
    folder = league.folder.parent / "again"
    folder.mkdir()
    (folder / "bot.py").write_bytes(b"from other import bot\n")
    (folder / "other.py").write_bytes(SOURCE)
    with pytest.raises(InputError, match="the same as mine 1 of Ann"):
        league.desk.submit(str(folder), "again")


@pytest.mark.slow
def test_a_refusal_is_one_line_without_a_path(league: League, client: Client) -> None:
    """The owner reads it; the league keeps it, too."""
    ann = client.invite("Ann")
    client.hand_in(ann, "notes.txt", b"hello")
    client.hand_in(ann, "syntax.zip", make_zip(("a/b/c.py", SOURCE)))
    client.hand_in(ann, "link.zip", BAD["a link"][0]())
    client.hand_in(ann, "bomb.zip", BAD["a bomb"][0]())
    told = take(league)
    assert len(told) == 4
    for one in client.mine(ann)["uploads"]:
        assert one["state"] == "refused"
        assert one["answer"].isprintable()
        assert str(league.folder.parent) not in one["answer"]
        assert "web/" not in one["answer"]
    assert "a link or device" in client.mine(ann)["uploads"][1]["answer"]
    assert take(league) == []
    assert [*(league.folder / "web").iterdir()] == []


@pytest.mark.slow
def test_a_request_that_is_sent_again_is_one_submission(league: League, client: Client) -> None:
    """Where the receipt was lost on the way; what was refused can be tried again."""
    ann = client.invite("Ann")
    first = client.hand_in(ann, "mine.py", SOURCE)
    assert client.hand_in(ann, "mine.py", SOURCE) == first
    take(league)
    assert client.hand_in(ann, "mine.py", SOURCE)[1]["receipt"] == first[1]["receipt"]
    assert take(league) == []
    assert len(league.ledger.versions("NOT panel")) == 1
    client.hand_in(ann, "bad.txt", b"x")
    take(league)
    assert client.hand_in(ann, "bad.txt", b"x")[1]["receipt"] == 3


def test_a_day_has_a_limit(league: League, client: Client) -> None:
    """What is over it gets no receipt, and waits for nobody."""
    ann = client.invite("Ann")
    with closing(Post(league.folder)) as post:
        for number in range(6):
            post.receive(("Ann", f"a{number}", ".py"), "", 1, lambda _: None)
    status, said = client.hand_in(ann, "mine.py", SOURCE)
    assert (status, said) == (429, {"error": "owner Ann: 6 uploads today, and a_day is 6"})
    assert client.mine(ann)["left"] == 0


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
    "half a form": (form("mine.py", SOURCE)[:-60], 400, "."),
}


@pytest.mark.parametrize("what", BODIES)
def test_a_body_that_does_not_fit_is_refused_in_one_line(
    league: League, client: Client, what: str
) -> None:
    """And nothing is queued."""
    body, status, message = BODIES[what]
    kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    answer, data = client.send("POST", "/hand-in", client.invite("Ann") | kind, body)
    said = json.loads(data)["error"]
    assert (answer.status, bool(re.search(message, said))) == (status, True), said
    assert said.isprintable()
    with closing(Post(league.folder)) as post:
        assert post.queue() == []


def test_a_token_is_kept_as_a_hash_and_can_be_revoked(league: League, client: Client) -> None:
    """A new one replaces the one before."""
    first = client.invite("Ann")
    second = client.invite("Ann")
    assert client.send("GET", "/mine", first)[0].status == 403
    assert client.mine(second)["owner"] == "Ann"
    with closing(sqlite3.connect(league.folder / "web.sqlite")) as database:
        kept = "".join(map(str, database.execute("SELECT * FROM tokens").fetchall()))
    assert second["Authorization"].partition(" ")[2] not in kept
    with closing(Post(league.folder)) as post:
        post.revoke("Ann")
        assert post.invited() == {}
    assert client.hand_in(second, "mine.py", SOURCE)[0] == 403


def test_guesses_are_limited_and_cost_those_who_are_in_nothing(client: Client) -> None:
    """A right token that was used before is not refused, wherever guesses come from."""
    ann, bob = client.invite("Ann"), client.invite("Bob")
    client.mine(ann)
    wrong = {"Authorization": "Bearer wrong"}
    for _ in range(MOST_GUESSES):
        assert client.hand_in(wrong, "mine.py", SOURCE)[0] == 403
    status, said = client.hand_in(wrong, "mine.py", SOURCE)
    assert (status, said["error"]) == (429, "too many wrong tokens: wait a minute")
    assert client.send("GET", "/mine", bob)[0].status == 429
    assert client.mine(ann)


def enter(client: Client, token: str, **headers: str) -> tuple[Any, bytes]:
    """Enter with a token as a browser does."""
    sent = {
        "Origin": client.origin,
        "Content-Type": "application/x-www-form-urlencoded",
        "Sec-Fetch-Site": "same-origin",
    }
    return client.send("POST", "/enter", sent | headers, f"token={token}".encode())


@pytest.mark.slow
def test_a_browser_enters_hands_in_and_leaves(league: League, client: Client) -> None:
    """Its cookie is for this league alone, and scripts cannot read it."""
    token = client.invite("Ann")["Authorization"].partition(" ")[2]
    answer, _ = enter(client, token)
    assert (answer.status, answer.headers["location"]) == (303, "./mine")
    cookie, *words = str(answer.headers["set-cookie"]).split("; ")
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= {*words}
    browser = {"Cookie": cookie, "Origin": client.origin}
    kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    answer, _ = client.send("POST", "/hand-in", browser | kind, form("mine.py", SOURCE))
    assert (answer.status, answer.headers["location"]) == (303, "./mine?receipt=1")
    answer, page = client.send("GET", "/mine?receipt=1", browser)
    assert b"Receipt 1" in page
    assert b"Place 1 in the queue" in page
    assert answer.headers["refresh"] == "15"
    take(league)
    answer, page = client.send("GET", "/mine?receipt=1", browser)
    assert b"It is mine 1" in page
    assert answer.headers["refresh"] is None
    answer, _ = client.send("POST", "/leave", browser)
    assert "Max-Age=0" in str(answer.headers["set-cookie"])


@pytest.mark.parametrize(
    "changed",
    [
        {"Origin": "https://example.com"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_a_form_of_another_site_is_refused(client: Client, changed: dict[str, str]) -> None:
    """Also with the cookie."""
    token = client.invite("Ann")["Authorization"].partition(" ")[2]
    assert enter(client, token, **changed)[0].status == 403
    sent = {"Cookie": f"arena_league={token}", "Origin": client.origin} | changed
    kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    assert client.send("POST", "/hand-in", sent | kind, form("a.py", SOURCE))[0].status == 403
    assert client.send("POST", "/leave", sent)[0].status == 403
    assert client.mine({"Authorization": f"Bearer {token}"})["uploads"] == []


@pytest.mark.slow
def test_pages_are_escaped_and_have_no_scripts(league: League, client: Client) -> None:
    """What a stranger wrote is text."""
    ann = client.invite("Ann")
    hostile = b"raise SystemExit('<script>alert(1)</script>')\n"
    client.hand_in(ann, "mine.zip", make_zip(("<b>.py", hostile)))
    client.hand_in(ann, "other.py", hostile)
    take(league)
    with closing(Post(league.folder)) as post:
        (one,) = (one for one in post.uploads_of("Ann", 9) if one.name == "other")
        post.answer(one, "refused", "<script>alert(1)</script>")
    cookie = ann["Authorization"].replace("Bearer ", "arena_league=")
    for path in ("/", "/mine", "/nothing", "/site/nothing.html"):
        answer, page = client.send("GET", path, {"Cookie": cookie})
        assert answer.headers["content-security-policy"] == POLICY
        assert b"<script" not in page
        assert b"style=" not in page
    assert b"&lt;script&gt;" in client.send("GET", "/mine", {"Cookie": cookie})[1]
    assert "script-src" not in POLICY
    assert POLICY.startswith("default-src 'none';")


@pytest.mark.slow
def test_everybody_reads_the_pages_of_the_league_and_nothing_else(
    league: League, client: Client
) -> None:
    """They run in an origin of their own, so that they cannot use an owner's cookie."""
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
        "/web.sqlite",
    ):
        assert client.send("GET", path, {})[0].status == 404, path


def test_a_host_that_is_not_served_is_refused(client: Client) -> None:
    """A site whose name leads here (DNS rebinding) has the browser, and not the host."""
    for host in ("example.com", "127.0.0.1", f"example.com:{client.port}"):
        answer, said = client.send("GET", "/", {"Host": host})
        assert (answer.status, b"--proxy" in said) == (403, True)
        assert answer.headers["content-security-policy"] == POLICY


FORWARDED = {
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "league.example",
    "X-Forwarded-Prefix": "/club",
    "X-Forwarded-For": "203.0.113.7",
    "Origin": "https://league.example",
}


def test_what_was_forwarded_is_believed_from_the_proxy_alone(league: League) -> None:
    """Its scheme, host and prefix are those of the cookie and of the origin of a form."""
    with serving(league.folder, proxy="127.0.0.1") as client:
        token = client.invite("Ann")["Authorization"].partition(" ")[2]
        answer, _ = enter(client, token, **FORWARDED)
        assert answer.status == 303
        assert {"Secure", "Path=/club/"} <= {*str(answer.headers["set-cookie"]).split("; ")}
        assert enter(client, token, **FORWARDED | {"Origin": client.origin})[0].status == 403
        for bad in ({"X-Forwarded-Host": "a/b"}, {"X-Forwarded-Prefix": "/a;b"}):
            assert client.send("GET", "/", FORWARDED | bad)[0].status == 403
        wrong = {"Authorization": "Bearer wrong"}
        for number in range(MOST_GUESSES + 1):
            claimed = f"198.51.100.{number}, 203.0.113.7"  # the last one is the proxy's own word
            client.send("GET", "/mine", wrong | FORWARDED | {"X-Forwarded-For": claimed})
        assert client.send("GET", "/mine", wrong | FORWARDED)[0].status == 429
        other = FORWARDED | {"X-Forwarded-For": "203.0.113.8"}
        assert client.send("GET", "/mine", wrong | other)[0].status == 403
    with serving(league.folder, proxy="192.0.2.1") as client:
        answer, _ = enter(client, token, **FORWARDED | {"Origin": client.origin})
        assert "Secure" not in str(answer.headers["set-cookie"])
        assert enter(client, token, **FORWARDED)[0].status == 403


@pytest.mark.slow
def test_the_page_of_an_owner_says_how_the_bots_do(league: League, client: Client) -> None:
    """Whom each surely beats, its worst game with its replay, and what to do next."""
    ann = client.invite("Ann")
    client.hand_in(ann, "mine.py", SOURCE)
    take(league)
    play(league, 3)
    write_site(league)
    (bot,) = client.mine(ann)["bots"]
    assert (bot["bot"], bot["version"], bot["state"]) == ("mine", 1, "active")
    assert bot["next"]
    assert bot["worst"]["why"].startswith("A loss")
    page = client.send("GET", f"/{bot['page']}", {})[1].decode()
    assert f'"{bot["worst"]["id"]}":' in page
    cookie = ann["Authorization"].replace("Bearer ", "arena_league=")
    shown = client.send("GET", "/mine", {"Cookie": cookie})[1].decode()
    assert f'href="site/bots/mine.html#{bot["worst"]["id"]}"' in shown
    assert "Surely beats" in shown
    assert NOON.year == 2026
