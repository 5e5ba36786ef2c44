"""`arena league web` and `invite`: their lines, a proxy with TLS, a browser, and kills."""

from __future__ import annotations

import json
import shutil
import socket
from contextlib import closing
from functools import partial
from pathlib import Path

import httpx
import pytest

from arena.addons.league import submission
from arena.addons.league.inbox import take_all
from arena.addons.league.league_site import write_site
from arena.addons.league.post import Post
from arena.addons.league.sources import open_web, store
from bench.studies.handing_in import HandedIn, hand_in
from tests.addons.league.proxy import make_certificate, proxied
from tests.addons.league.small import BOT, a_league, accept
from tests.addons.league.web import serving
from tests.conftest import run_here, start_command
from tests.waiting import PATIENCE

SOURCE = BOT.replace("{number}", "0").encode()


def test_a_token_is_shown_once(tmp_path: Path) -> None:
    """The list has owners and times, and no token."""
    with a_league(tmp_path / "club"):
        pass
    done = run_here(tmp_path, "league", "invite", "club", "Ann", "Bob B.", "--json")
    tokens = json.loads(done.stdout)["tokens"]
    assert [*tokens] == ["Ann", "Bob B."]
    assert len({*tokens.values()}) == 2
    shown = run_here(tmp_path, "league", "invite", "club").stdout
    assert shown.count("since") == 2
    assert not any(token in shown for token in tokens.values())
    assert (
        run_here(tmp_path, "league", "invite", "club", "Ann", "--revoke").stdout == "Ann: revoked\n"
    )
    assert "Ann" not in run_here(tmp_path, "league", "invite", "club").stdout
    assert (tmp_path / "club" / "web.sqlite").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("invite", "nowhere", "Ann"), "no league there"),
        (("invite", "club", "a/b"), "owner 'a/b': 1 to 60 of"),
        (("invite", "club", "arena"), "of the panel"),
        (("invite", "club", "--revoke"), "name the owners"),
        (("invite", "club", "Zed", "--revoke"), "no token was given"),
        (("web", "nowhere"), "no league there"),
        (("web", "club", "--proxy", "me"), "--proxy 'me': not an IP address"),
        (("web", "club", "--host", "me"), "--host 'me': not an IP address"),
        (("web", "club", "--port", "70000"), "70000"),
        (("web", "club", "--port", "{taken}"), "in use"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else "",
)
def test_bad_input_is_one_line(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    """With the exit status 2."""
    with a_league(tmp_path / "club"):
        pass
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = run_here(tmp_path, "league", *(word.format(taken=port) for word in words))
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_the_command_serves_until_it_is_stopped(tmp_path: Path) -> None:
    """Its first line has the address."""
    with a_league(tmp_path / "club"):
        pass
    process = start_command(tmp_path, "league", "web", "club", "--port", "0")
    assert process.stdout is not None
    line = process.stdout.readline()
    assert httpx.get(line.split()[3].rstrip(";"), timeout=PATIENCE).status_code == 200
    process.terminate()
    assert process.wait(PATIENCE) == 128 + 15


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificate")
def test_a_league_behind_a_proxy_with_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every address is relative, so the prefix is kept; the cookie is for it, and for TLS."""
    monkeypatch.setattr(submission, "run_check", accept)
    with (
        a_league(tmp_path / "club") as league,
        serving(league.folder, proxy="127.0.0.1") as client,
        proxied(client.port, make_certificate(tmp_path)) as address,
        httpx.Client(verify=False, follow_redirects=True, timeout=PATIENCE) as browser,
    ):
        write_site(league)
        assert "Standings" in browser.get(f"{address}/").text
        browser.headers["Origin"] = address.removesuffix("/club")
        token = client.invite("Ann")["Authorization"].partition(" ")[2]
        page = browser.post(f"{address}/enter", data={"token": token})
        assert page.url == f"{address}/mine"
        (cookie,) = browser.cookies.jar
        assert (cookie.path, cookie.secure) == ("/club/", True)
        page = browser.post(f"{address}/hand-in", files={"file": ("mine.py", SOURCE)})
        assert "Receipt 1" in page.text
        assert [*take_all(league, lambda _: None)] == ["mine"]
        assert "It is mine 1" in browser.get(page.url).text
        assert browser.get(f"{address}/site/").status_code == 200
        assert browser.get(f"{address}/style.css").headers["content-type"].startswith("text/css")
        browser.headers["Origin"] = f"http://127.0.0.1:{client.port}"
        assert browser.post(f"{address}/leave").status_code == 403


def check_counts(found: HandedIn) -> None:
    """Check that nothing was lost or taken twice, while rounds were played."""
    assert (found.lost, found.twice) == (0, 0)
    assert found.rounds > 0


@pytest.mark.study
def test_a_few_kills_lose_nothing() -> None:
    """Of the web and of `serve`, while a few owners hand in and rounds are played."""
    check_counts(hand_in(8, 4, 6.0, kills=4))


class Killed(BaseException):
    """A kill at this moment."""


def die(*_: object) -> None:
    """Be killed."""
    raise Killed


@pytest.mark.slow
def test_uploads_survive_a_kill_between_the_two_databases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version that was made without an answer is found, and not made again; so is a refusal."""
    monkeypatch.setattr(submission, "run_check", accept)
    with a_league(tmp_path / "club") as league, closing(Post(league.folder)) as post:
        folder = open_web(league.folder)
        for owner, name, ending in ("Ann", "mine", ".py"), ("Bob", "bad", ".txt"):
            keep = partial(store, folder, content=SOURCE)
            post.receive((owner, name, ending), name, len(SOURCE), keep)
        for _ in range(4):  # each answer is lost, whichever comes first
            with monkeypatch.context() as patched:
                patched.setattr(Post, "answer", die)
                with pytest.raises(Killed):
                    [*take_all(league, lambda _: None, checks=2)]
        assert {one.state for one in post.queue()} == {"taken"}
        assert sorted(take_all(league, lambda _: None)) == ["bad", "mine"]
        assert len(league.ledger.versions("NOT panel")) == 1
        assert len(league.ledger.refusals()) == 1
        uploads = [one for owner in ("Ann", "Bob") for one in post.uploads_of(owner, 9)]
        answers = {one.name: one.state for one in uploads}
        assert answers == {"mine": "accepted", "bad": "refused"}
