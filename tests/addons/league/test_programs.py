"""Programs enter a league: in each language, by the command and by the inbox, built once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.addons.league import submission
from arena.addons.league.inbox import take_all
from arena.addons.league.league_tables import ACTIVE
from arena.addons.league.shown import standings
from arena.addons.league.submission import Refused, Unchanged
from arena.addons.programs import build
from arena.entries.resolve import resolve
from arena.errors import InputError
from tests import ROOT
from tests.addons.league.small import BOT, a_league, accept, play
from tests.addons.league.web import serving
from tests.addons.programs.test_build import SHORT, rogue
from tests.entries.test_program import write_program
from tests.entries.test_zipped import make_zip
from tests.runs.test_rogues import needs_jail
from tests.tiers import tier

EXAMPLES = ROOT / "docs" / "examples"
TOOLS = {
    # example: the program that builds or runs it
    "careful": "/usr/bin/cc",
    "greedy.js": "node",
    "thrifty": "/usr/bin/rustc",
    "steady": "javac",
}


def tooled(name: str, *marks: pytest.MarkDecorator) -> object:
    """Return the parameter of an example, skipped where its tool is missing but not in CI."""
    lacks = shutil.which(TOOLS[name]) is None and "CI" not in os.environ
    skips = pytest.mark.skipif(lacks, reason=f"{TOOLS[name]} is missing; `make tools`")
    return pytest.param(name, marks=[skips, needs_jail, *marks])


@pytest.mark.parametrize("name", [tooled(name, *tier(n, 0, 1)) for n, name in enumerate(TOOLS)])
def test_each_language_is_checked_and_plays_in_the_jail(tmp_path: Path, name: str) -> None:
    """The example is accepted as it is; it plays a round without a forfeit."""
    with a_league(tmp_path / "club", lane="jail", round_pairs=30) as league:
        version = league.desk.submit(str(EXAMPLES / name), "mine", "Ann")
        assert version.spec.endswith(".bot")
        assert play(league)
        (row,) = [row for row in standings(league) if row.bot == "mine"]
        assert (row.state, row.note) == (ACTIVE, "")
        assert row.pairs > 0


@pytest.mark.slow
def test_a_folder_is_kept_with_what_its_build_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The league plays the bytes that were checked: it builds nothing again."""
    monkeypatch.setattr(submission, "run_check", accept)
    folder = write_program(tmp_path / "first")
    entry = resolve(str(folder))
    with a_league(tmp_path / "club") as league:
        version = league.desk.submit(str(folder), "first", "Ann")
        assert version.sha256 == entry.sha256
        shutil.rmtree(folder)
        kept = resolve(f"kept={league.folder / version.spec}")
        assert kept.files() == entry.files()
        assert play(league)
        assert league.find("first")[0].is_active


@pytest.mark.slow
def test_the_same_program_is_refused_in_any_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder, a copy, and as stored: the hash is that of its files."""
    monkeypatch.setattr(submission, "run_check", accept)
    folder = write_program(tmp_path / "first")
    with a_league(tmp_path / "club") as league:
        league.desk.submit(str(folder), "first", "Ann")
        with pytest.raises(Unchanged, match="the same as first 1 of Ann"):
            league.desk.submit(str(folder), "first", resent=True)
        packed = tmp_path / "other.bot"
        packed.write_bytes((league.folder / league.find("first")[0].spec).read_bytes())
        with pytest.raises(Refused, match="the same as first 1 of Ann"):
            league.desk.submit(str(packed), "other", "Bob")


def test_a_command_is_no_submission(tmp_path: Path) -> None:
    """It names files that may change: what to hand in is said."""
    with a_league(tmp_path / "club") as league, pytest.raises(InputError) as caught:
        league.desk.submit("cmd:./first", "mine")
    assert str(caught.value) == (
        "bot 'cmd:./first': a league keeps files: hand in the program's file, or its folder with "
        "a bot.toml that names the command"
    )


@pytest.mark.slow
@needs_jail
def test_a_build_that_fails_is_refused_with_its_output(tmp_path: Path) -> None:
    """The owner reads what the compiler said, and the attempt is recorded."""
    folder = write_program(tmp_path / "first", 'run = ["./first"]\nbuild = ["sh", "first.c"]')
    (folder / "first.c").write_text("echo 'first.c:3:1: error: expected a semicolon'; exit 1")
    with a_league(tmp_path / "club") as league:
        why = r"build: exit status 1 \| first\.c:3:1: error: expected a semicolon"
        with pytest.raises(Refused, match=why):
            league.desk.submit(str(folder), "first", "Ann")
        (refusal,) = league.ledger.refusals()
        assert "expected a semicolon" in refusal.why


@needs_jail
@pytest.mark.study
def test_hostile_folders_stop_no_league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is refused with a reason of one line and removed; the honest one is accepted."""
    monkeypatch.setattr(build, "LIMITS", SHORT)
    with a_league(tmp_path / "club") as league:
        inbox = league.folder / "inbox"
        inbox.mkdir(exist_ok=True)
        write_program(inbox / "honest")
        os.truncate(write_program(inbox / "huge") / "bot.toml", 1 << 30)
        os.symlink("/etc/passwd", write_program(inbox / "linked") / "passwd")
        os.symlink(tmp_path, inbox / "link.bot")
        os.mkfifo(inbox / "pipe.js")
        write_program(inbox / "shell", 'run = ["/bin/sh"]')
        write_program(inbox / "asks", 'run = ["sh", "first.sh"]\nneeds = ["../../league.yaml"]')
        (inbox / "zip.bot").write_bytes(b"PK\3\4" + bytes(1000))
        for what in ("litters", "loops", "kills", "fills"):
            rogue(inbox, what)
        lines: list[str] = []
        names = [*take_all(league, lines.append, 0)]
        assert not [*inbox.iterdir()]
        assert [line for line in lines if line.startswith("accepted")] == [
            "accepted: honest 1, by honest"
        ]
        refusals = league.ledger.refusals()
        assert {one.name for one in refusals} == {*names} - {"honest"}
        assert all(one.why.isprintable() and len(one.why) < 700 for one in refusals)


@pytest.mark.slow
@needs_jail
def test_a_build_that_hangs_holds_no_other_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others are built, checked and accepted, and read their pages; its owner's next one waits.

    It ends with the evening.
    """
    monkeypatch.setattr(submission, "run_check", accept)
    monkeypatch.setattr(build, "LIMITS", replace(SHORT, idle=100.0, backstop=100.0))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with a_league(tmp_path / "club") as league, serving(league.folder) as client:
        ann, bob = client.invite("Ann"), client.invite("Bob")
        for name, what in ("hangs", "sleeps"), ("waits", "makes"):
            files = rogue(tmp_path / name, what).iterdir()
            zipped = make_zip(*((f"{name}/{one.name}", one.read_bytes()) for one in files))
            assert client.hand_in(ann, f"{name}.zip", zipped)[0] == 202
        rogue(league.folder / "inbox", "makes").joinpath("own.txt").write_text("other bytes")
        client.hand_in(bob, "plain.py", BOT.replace("{number}", "0").encode())
        taking = take_all(league, lambda _: None, 0.0, checks=2)
        assert {next(taking), next(taking)} == {"makes", "plain"}
        assert {one.name for one in league.ledger.versions("NOT panel")} == {"makes", "plain"}
        assert client.send("GET", "/", {})[0].status == 200
        assert [one["answer"] for one in client.uploads(bob)] == ["accepted: plain 1, by Bob"]
        assert {one["answer"]: one["place"] for one in client.uploads(ann)} == {
            "hangs": 1,
            "waits": 2,
        }
        assert isinstance(taking, Generator)
        taking.close()
        assert not league.ledger.refusals()
