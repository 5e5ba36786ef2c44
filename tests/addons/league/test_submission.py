"""A submission is taken once, checked, kept by its hash or refused; also a program of a folder."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Generator, Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from arena.addons.league import submission
from arena.addons.league.inbox import take_all
from arena.addons.league.league import League
from arena.addons.league.league_standing import standings
from arena.addons.league.ledger import ACTIVE, REPLACED, SUSPENDED
from arena.addons.league.submission import NotNow, Refused, Unchanged
from arena.addons.programs import build
from arena.check.inspector import run_check
from arena.check.item import Item, Order
from arena.entries.bot_files import find_files
from arena.entries.resolve import resolve
from arena.errors import ArenaError, InputError
from tests import ROOT
from tests.addons.league.small import (
    BOT,
    NOON,
    a_league,
    accept,
    an_unchecked_league,
    play,
    serving,
    write_bot,
)
from tests.addons.programs.test_build import SHORT, rogue
from tests.entries.test_read_bot import write_program
from tests.entries.test_zipped import make_zip
from tests.runs.test_rogues import needs_jail
from tests.tiers import tier


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[League]:
    """Yield a league whose check finds nothing."""
    with an_unchecked_league(tmp_path / "club", monkeypatch, a_day=9, most_megabytes=1) as made:
        yield made


@pytest.mark.slow
def test_a_bot_is_checked_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real check: it plays, and its time decides the class of its cost."""
    items: list[Item] = []

    def check(*order: Any, **how: Any) -> Iterator[Item]:
        for item in run_check(*order, **how):
            items.append(item)
            yield item

    monkeypatch.setattr(submission, "run_check", check)
    with a_league(tmp_path / "club") as league:
        version = league.desk.submit(str(write_bot(tmp_path)), "mine", "Ann")
        assert (version.title, version.owner, version.state) == ("mine 1", "Ann", ACTIVE)
        (figures,) = (item.figures for item in items if item.name == "time")
        pair = 25 * (figures["median"] + figures["p99"])
        assert pair <= version.cost < max(0.4, 4 * pair)
        kept = league.folder / version.spec
        assert kept.read_bytes() == (tmp_path / "mine.py").read_bytes()
        assert re.fullmatch(r"bots/[0-9a-f]{64}\.py", version.spec)
        assert league.ledger.versions("name = 'mine'") == [version]


@pytest.mark.slow
def test_a_bot_that_breaks_the_contract_is_refused_with_the_reason(tmp_path: Path) -> None:
    """The refusal is kept, and no version is made."""
    bot = tmp_path / "bad.py"
    bot.write_text("raise ValueError('no')\n")
    with a_league(tmp_path / "club") as league:
        with pytest.raises(Refused, match=r"the check failed: imports: .*ValueError"):
            league.desk.submit(str(bot), "bad")
        (refusal,) = league.ledger.refusals()
        assert (refusal.name, refusal.owner) == ("bad", "bad")
        assert "ValueError" in refusal.why
        assert len(refusal.sha256) == 64
        assert len(league.ledger.versions()) == 3
        assert "/" not in refusal.why
        bot.write_text("raise BlockingIOError(11, 'Resource temporarily unavailable')\n")
        with pytest.raises(
            Refused, match=r"unavailable \(line 1 of bad\.py\): started more than 32"
        ):
            league.desk.submit(str(bot), "bad")
        assert league.ledger.refusals()[-1].public == (
            "the check failed: it starts too many processes"
        )


@pytest.mark.slow
def test_a_version_replaces_another_and_the_same_bytes_none(league: League, tmp_path: Path) -> None:
    """Also one that was suspended: its owner has mended it. Name and bytes stay their owner's."""
    one = league.desk.submit(str(write_bot(tmp_path, number=1)), "mine", "Ann")
    two = league.desk.submit(str(write_bot(tmp_path, number=2)), "mine")
    assert (two.number, two.owner) == (2, "Ann")
    with league.ledger.changing():
        league.ledger.set_state(two, SUSPENDED, "faults")
    three = league.desk.submit(str(write_bot(tmp_path, number=3)), "mine", "Ann")
    states = [version.state for version in league.find("mine")]
    assert states == [REPLACED, REPLACED, ACTIVE]
    assert one.spec != three.spec
    with pytest.raises(Refused, match="name mine: it is Ann's"):
        league.desk.submit(str(write_bot(tmp_path, number=4)), "mine", "Bob")
    for name, owner, why in (
        *(("greedy", owner, "name greedy: it is arena's") for owner in ("Bob", "arena", "")),
        *((name, "Bob", "the same as mine 3 of Ann") for name in ("bobs", "other")),
    ):
        number = 4 if name == "greedy" else 3
        with pytest.raises(Refused, match=why):
            league.desk.submit(str(write_bot(tmp_path, number=number)), name, owner)
    with pytest.raises(Unchanged, match="the same as mine 3 of Ann"):
        league.desk.submit(str(write_bot(tmp_path, number=3)), "mine", "Ann")
    with pytest.raises(Refused, match="the same as greedy 1 of arena"):
        league.desk.submit("greedy", "other")


@pytest.mark.slow
def test_our_bot_is_timed(league: League, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So a slow one is not cut short; one that is handed in has the time of the league."""
    seen = []

    def look(order: Order, *_: object, longest: float) -> Iterator[Item]:
        seen.append((order.games, longest))
        yield Item("time", "ok", "slow", figures={"median": 0.1, "p99": 0.1})

    monkeypatch.setattr(submission, "run_check", look)
    assert league.desk.submit("greedy(patience=11)", "fast").cost == 0.1
    assert not seen
    assert league.desk.submit(str(write_bot(tmp_path)), "mine").cost == 6.4
    assert seen == [(4, 60.0)]
    with pytest.raises(Refused, match="unexpected keyword argument"):
        league.desk.submit("greedy(hurry=11)", "wrong")


WHY_NOT = "is not one of A-Z a-z 0-9|Windows has a device of this name|1 to 40 characters"


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "../up", "a/b", "a\\b", "/etc", "a b", "a\0b", "a\nb", "\x1b[2J", "-a"),
        *("x" * 41, "x" * 10_000, "Ann.", "con", "NUL", "gr\u0435edy", "a\u202eb", "é", "٣"),
    ],
)
def test_a_name_that_is_no_word_is_refused(league: League, tmp_path: Path, name: str) -> None:
    """In one line that can be printed, and with nothing kept."""
    with pytest.raises(InputError, match=WHY_NOT) as caught:
        league.desk.submit(str(write_bot(tmp_path)), name)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300
    assert not league.ledger.refusals()
    assert not [*(league.folder / "bots").iterdir()]


@pytest.mark.slow
def test_a_day_has_a_limit(league: League, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused ones count; what is over the limit is not kept, so a flood fills no disk."""
    for number in range(9):
        league.desk.submit(str(write_bot(tmp_path, number=number)), f"bot{number}", "Ann")
    for number in range(9):
        with pytest.raises(NotNow, match="owner Ann: 9 submissions today, and a_day is 9"):
            league.desk.submit(str(write_bot(tmp_path, number=50 + number)), "more", "Ann")
    assert not league.ledger.refusals()
    assert len([*(league.folder / "bots").iterdir()]) == 9
    with pytest.raises(NotNow):  # nor is a name that is not hers
        league.desk.submit(str(write_bot(tmp_path, number=50)), "greedy", "Ann")
    league.desk.submit(str(write_bot(tmp_path, number=99)), "hers", "Bea")
    monkeypatch.setattr(league.desk, "now", lambda: NOON + timedelta(days=1))
    league.desk.submit(str(write_bot(tmp_path, number=98)), "more", "Ann")


@pytest.mark.slow
def test_what_changes_while_it_is_checked_changes_nothing(
    league: League, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bytes that were read are those that are checked, kept and played."""
    path = write_bot(tmp_path)
    before = path.read_bytes()
    checked = []

    def change(order: Order, *_: object, **__: object) -> Iterator[Item]:
        path.write_text("raise SystemExit\n")
        checked.append(Path(order.spec.partition("=")[2]).read_bytes())
        yield from accept(order)

    monkeypatch.setattr(submission, "run_check", change)
    version = league.desk.submit(str(path), "mine")
    assert checked == [before]
    assert (league.folder / version.spec).read_bytes() == before


@pytest.mark.slow
def test_two_come_at_once(league: League, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One comes while the other is being checked: both are versions, or one is refused."""
    first, second = (write_bot(tmp_path, f"bot{n}", n) for n in (1, 2))

    def overtake(order: Order, *_: object, **__: object) -> Iterator[Item]:
        monkeypatch.setattr(submission, "run_check", accept)
        league.desk.submit(str(second), "mine", "Ann")
        yield from accept(order)

    monkeypatch.setattr(submission, "run_check", overtake)
    version = league.desk.submit(str(first), "mine", "Ann")
    assert version.number == 2
    assert [one.state for one in league.find("mine")] == [REPLACED, ACTIVE]
    monkeypatch.setattr(submission, "run_check", overtake)
    third = write_bot(tmp_path, "third", 3)
    second.write_bytes(third.read_bytes())
    with pytest.raises(Refused, match="the same as mine 3 of Ann"):
        league.desk.submit(str(third), "other", "Bob")


def test_a_build_ends_in_time(
    league: League, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixty times its seconds, by the clock."""
    times = iter([100.0, 3699.0, 3701.0])
    monkeypatch.setattr(submission, "time", SimpleNamespace(monotonic=lambda: next(times)))

    def build(_folder: Path, _bot: str, _settings: object, waiting: Any) -> None:
        while True:
            waiting()

    monkeypatch.setattr(submission, "take", build)
    with pytest.raises(Refused, match="not done within 3600 s"):
        league.desk.submit(str(write_bot(tmp_path)), "mine")
    assert not [*times]


def test_a_zip_is_the_bot_of_its_folder(league: League, tmp_path: Path) -> None:
    """It is stored as a zip of the same bytes; one without a bot is refused."""
    (tmp_path / "folder").mkdir()
    shutil.copy(write_bot(tmp_path), tmp_path / "folder" / "bot.py")
    (tmp_path / "folder" / "data.txt").touch()
    path = shutil.make_archive(str(tmp_path / "mine"), "zip", tmp_path, "folder")
    version = league.desk.submit(path, "mine")
    assert version.spec.endswith(".zip")
    with pytest.raises(Refused, match="the same as mine 1 of mine"):
        league.desk.submit(str(tmp_path / "folder"), "mine")
    (tmp_path / "mine.zip").write_bytes(b"PK")
    with pytest.raises(Refused, match="the zip is damaged"):
        league.desk.submit(path, "mine")


@pytest.mark.parametrize("swapped", ["own.txt", "own"])
def test_a_folder_that_changes_while_it_is_read_leads_nowhere_else(
    league: League, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    """Its owner may put a link into the inbox after the look that refuses links."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "data.txt").write_text("secret")
    folder = tmp_path / "folder"
    (folder / "own").mkdir(parents=True)
    shutil.copy(write_bot(tmp_path), folder / "bot.py")
    for name in ("own.txt", "own/data.txt"):
        (folder / name).write_text("mine")

    def look_and_swap(place: Path) -> dict[str, Path]:
        found = find_files(place)
        os.rename(folder / swapped, tmp_path / "before")
        is_file = swapped == "own.txt"
        theirs = tmp_path / "theirs" / ("data.txt" if is_file else "")
        (folder / swapped).symlink_to(theirs)
        return found

    monkeypatch.setattr("arena.entries.read_bot.find_files", look_and_swap)
    with pytest.raises(Refused, match="own"):
        league.desk.submit(str(folder), "mine")
    assert not [*(league.folder / "bots").iterdir()]


@pytest.mark.slow
def test_a_full_disk_loses_nothing(league: League, tmp_path: Path) -> None:
    """One line says it; when there is room again, the same submission is accepted."""
    connection = league.ledger.connection
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    bots = [str(write_bot(tmp_path, f"b{number}", number)) for number in range(100)]
    with pytest.raises(ArenaError, match="full") as caught:
        [league.desk.submit(bot, f"b{number}") for number, bot in enumerate(bots)]
    assert not isinstance(caught.value, Refused)
    assert not league.ledger.refusals()
    before = len(league.ledger.versions())
    connection.execute("PRAGMA max_page_count = 1000000")
    version = league.desk.submit(str(write_bot(tmp_path, number=999)), "later")
    assert len(league.ledger.versions()) == before + 1
    assert (league.folder / version.spec).is_file()


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
def test_a_folder_is_kept_with_its_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The league plays the bytes that were checked: it builds nothing again."""
    monkeypatch.setattr(submission, "run_check", accept)
    folder = write_program(tmp_path / "first")
    entry = resolve(str(folder))
    with a_league(tmp_path / "club") as league:
        version = league.desk.submit(str(folder), "first", "Ann")
        assert version.sha256 == entry.sha256
        with pytest.raises(Unchanged, match="the same as first 1 of Ann"):
            league.desk.submit(str(folder), "first")
        with pytest.raises(Refused, match="the same as first 1 of Ann"):
            league.desk.submit(str(league.folder / version.spec), "other", "Bob")
        shutil.rmtree(folder)
        kept = resolve(f"kept={league.folder / version.spec}")
        assert kept.files() == entry.files()
        assert play(league)
        assert league.find("first")[0].is_active


@pytest.mark.slow
@needs_jail
def test_a_build_that_hangs_holds_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others are built, checked and accepted, and read their pages; its owner's next one waits.

    It ends with the evening.
    """
    monkeypatch.setattr(submission, "run_check", accept)
    monkeypatch.setattr(build, "LIMITS", replace(SHORT, idle=1e4, backstop=1e4))
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
        assert [one["answer"] for one in client.uploads(bob)] == ["accepted: plain 1"]
        places = {one["bot"]: one["place"] for one in client.uploads(ann)}
        assert places == {"hangs": 1, "waits": 2}
        assert isinstance(taking, Generator)
        taking.close()
        assert not league.ledger.refusals()
