"""A run with fixed deals plays those of its file, pair by pair, and needs the file only once."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import pytest

import arena as library
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.store.manifest import manifest_text, read_tournament
from arena.tournament import schedule
from arena.tournament.schedule import read_deals
from arena.tournament.stop import make_sprt
from arena.tournament.tournament import Tournament
from engine import STANDARD, Rules, to_text
from engine.state import random_deal
from tests.conftest import Arena
from tests.positions import DECK

DEALS = [to_text(random_deal(Random(n))) for n in range(3)]
BOOK = (
    f"# three deals\n\n{DEALS[0]}\n  {DEALS[1]}\r\n{json.dumps({'deal': DEALS[2], 'actions': ''})}"
)
BOTS = [resolve(bot) for bot in ("greedy", "uniform", "majority")]
CUP = Tournament("cup", 7, 3, BOTS, STANDARD, deals=DEALS)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Return a file of three deals: a comment, an empty line, two texts and a record."""
    path = tmp_path / "book.txt"
    path.write_text(BOOK)
    return path


def test_a_file_has_deals_and_records_in_its_lines(book: Path) -> None:
    """Comments and empty lines are skipped, and so are spaces at the ends."""
    assert read_deals(str(book), STANDARD) == DEALS
    assert read_deals(DEALS, STANDARD) == DEALS
    assert read_deals("", STANDARD) == ()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (DECK[1:], "line 2: the deal has 44 cards, not 45"),
        (f"6{DECK[1:]}", "line 2: the deal has 4 of card 5, not 5"),
        ("what is this?", "line 2: 'w' at index 0 is not a card: use"),
        (DEALS[0], "line 2: the same deal as in line 1"),
        ('{"deal": 5}', "line 2: a record needs a string 'deal'"),
        ("{" * 2000, "line 2: not JSON"),
        ("\0\N{SNOWMAN}", r"line 2: '\x00' at index 0 is not a card"),
    ],
)
def test_a_bad_line_is_one_clear_line(tmp_path: Path, line: str, why: str) -> None:
    """It names the file and the line."""
    path = tmp_path / "book.txt"
    path.write_text(f"{DEALS[0]}\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_deals(str(path), STANDARD)
    said = str(caught.value)
    assert said.startswith(f"deals: {path}: line 2")
    assert why in said
    assert said.isprintable()


def test_a_file_must_have_some_deals_and_not_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is a folder, a missing or a very large file read."""
    path = tmp_path / "book.txt"
    path.write_text("# nothing\n")
    for place, why in ((path, "0 deals; expected 1 to"), (tmp_path, "is a directory")):
        with pytest.raises(InputError, match=f"deals: {place}: {why}"):
            read_deals(str(place), STANDARD)
    with pytest.raises(InputError, match="No such file"):
        read_deals(str(tmp_path / "none"), STANDARD)
    path.write_text(BOOK)
    monkeypatch.setattr(schedule, "MOST_DEALS", 2)
    with pytest.raises(InputError, match="3 deals; expected 1 to 2"):
        read_deals(str(path), STANDARD)
    monkeypatch.setattr(schedule, "_MOST_BYTES", 50)
    with pytest.raises(InputError, match="larger than 50 bytes"):
        read_deals(str(path), STANDARD)


def test_pair_k_of_every_pairing_is_deal_k() -> None:
    """In both games of the pair; the luck of the bots is that of the pair, as without the file."""
    usual = replace(CUP, deals=())
    for pairing, pair, seat in product(range(3), range(3), (0, 1)):
        fixture = CUP.fixture(pairing, pair, seat)
        drawn, random = CUP.draw(fixture), usual.draw(fixture)
        assert to_text(drawn.deal) == DEALS[pair]
        assert drawn.lucks == random.lucks
        assert drawn.deal != random.deal


@pytest.mark.slow
def test_a_run_goes_on_and_is_verified_without_the_file(
    arena: Arena, tmp_path: Path, book: Path
) -> None:
    """The deals are in its manifest; other deals are another run."""
    words = ("play", "greedy", "uniform", "--workers", "1", "-q", "--deals", book.name)
    assert not arena(*words, "--pairs", "1", "--out", "run").returncode
    book.rename(tmp_path / "away")
    assert not arena(*words, "--pairs", "3", "--out", "run").returncode
    verified = arena("verify", "run", "--workers", "1")
    assert (verified.returncode, verified.stdout.splitlines()[0]) == (0, "games: 6 replayed")
    lines = [json.loads(line) for line in arena("export", "run").stdout.splitlines()]
    assert [line["deal"] for line in lines] == [deal for deal in DEALS for _ in (0, 1)]
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["deals"] == DEALS
    assert not arena("run", "run/manifest.json", "--out", "again", "-q").returncode
    assert (tmp_path / "run/games.csv").read_bytes() == (tmp_path / "again/games.csv").read_bytes()
    book.write_text(f"{DEALS[1]}\n{DEALS[0]}\n{DEALS[2]}\n")
    other = arena(*words, "--pairs", "3", "--out", "run")
    assert other.returncode == 2
    assert "holds another run: deals[0]: there" in other.stderr
    gone = arena(*words[:-1], "nowhere", "--pairs", "1", "--out", "fresh")
    assert (gone.returncode, gone.stderr.count("\n")) == (2, 1)
    assert "deals: nowhere: No such file" in gone.stderr


@pytest.mark.slow
def test_a_config_and_a_call_take_deals(arena: Arena, tmp_path: Path, book: Path) -> None:
    """As the name of a file, or as the schedule."""
    for number, given in enumerate((book.name, DEALS)):
        text = json.dumps({"bots": ["greedy", "uniform"], "pairs": 2, "deals": given})
        (tmp_path / f"cup{number}.yaml").write_text(text)
        assert not arena("run", f"cup{number}.yaml", "-q", "--workers", "1").returncode
    made = [(tmp_path / "results" / f"cup{n}" / "games.csv").read_bytes() for n in (0, 1)]
    assert made[0] == made[1]
    for of_call in (book, [*DEALS]):
        results = library.run(["greedy", "uniform"], pairs=2, deals=of_call, progress=False)
        of_pairs = [results.game("greedy", "uniform", pair).record.deal for pair in (0, 1)]
        assert of_pairs == DEALS[:2]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"pairs": 4}, "deals: 4 pairs, and only 3 deals"),
        ({"rounds": 1}, "deals: only a round robin or a gauntlet"),
        ({"stop": make_sprt(0, 10, 0.05, 0.05, 3)}, "deals: only a round robin or a gauntlet"),
        ({"rules": Rules(copies=(6, 5, 7, 8, 4, 2, 1, 3, 4, 2, 3))}, "have other cards than the"),
    ],
)
def test_what_cannot_play_fixed_deals_is_refused(changes: dict[str, object], why: str) -> None:
    """Each in one line, also where a tournament is made of another one."""
    with pytest.raises(InputError, match=why):
        replace(CUP, **changes)  # type: ignore[arg-type]


def test_options_that_do_not_go_with_deals(arena: Arena, book: Path) -> None:
    """More pairs than deals, and a target that decides how many are played."""
    for words, why in (
        (("play", "greedy", "uniform", "--pairs", "4"), "deals: 4 pairs, and only 3 deals"),
        (("run", "quickstart", "--pairs", "2", "--until", "resolved"), "without `until`"),
    ):
        done = arena(*words, "--deals", book.name)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert why in done.stderr


def test_a_manifest_with_wrong_deals_is_no_manifest() -> None:
    """It may be a stranger's."""
    manifest = CUP.manifest()
    assert read_tournament(manifest_text(manifest)).deals == DEALS
    twice = [DEALS[0], DEALS[0], DEALS[1]]
    for wrong in (["5"], DEALS[:1], twice, ["?"] * 3, 5, [DEALS[0], "", DECK]):
        with pytest.raises(InputError):
            read_tournament(manifest_text(manifest | {"deals": wrong}))


@pytest.mark.slow
def test_runs_with_other_deals_have_no_game_in_common(tmp_path: Path) -> None:
    """When they are rated together, with the same seed."""
    for name, first in (("one", 0), ("two", 1), ("like one", 0)):
        own, out = DEALS[first : first + 1], tmp_path / name
        library.run(["greedy", "uniform"], pairs=1, deals=own, out=out, progress=False)
    one, two, like = (tmp_path / name for name in ("one", "two", "like one"))
    assert not [note for note in library.rate(one, two).notes if "counted once" in note]
    assert [note for note in library.rate(one, like).notes if "counted once" in note]
