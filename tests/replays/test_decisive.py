"""The decisive ply of a game, by the values of `champion` or of a bot of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.replays.curve import describe_decisive, find_chances
from arena.tables.replayed_games import chances_of
from arena.tables.run_games import read_batches
from engine import Record, Rules, to_text
from tests.conftest import Arena
from tests.tables.games import play, tournament

SEATS = ("ann", "bob")
CUP = tournament(bots=2, pairs=2)
GAME = next(game for game in play(CUP) if len(game.row.actions) == 48)
RECORD = Record(to_text(CUP.draw(CUP.fixture(*GAME.row[:3])).deal), GAME.row.actions)

BOT = '''
"""Sees its chance in the number of the ply."""
class Seer:
    def __init__(self, setup, at=7, chance=0.875):
        self.seat, self.at, self.value = setup.seat, at, chance
    def choose(self, view, /):
        return view.legal[0]
    def chance(self, view, /):
        if view.seat != self.seat or self.value < 0:
            return None
        own = self.value if len(view.history) >= self.at else 0.5
        return own if view.seat else 0.5
bot = Seer
'''


@pytest.fixture
def seer(tmp_path: Path) -> str:
    (tmp_path / "seer.py").write_text(BOT)
    return str(tmp_path / "seer.py")


def test_by_default_the_chances_are_those_of_the_tables() -> None:
    """For a finished game, at every ply and at the end."""
    wanted = chances_of(next(read_batches(CUP, [GAME.row])))[0]
    assert find_chances(RECORD, resolve("champion")) == pytest.approx(wanted.tolist(), abs=1e-9)


def test_a_bot_of_ones_own_is_asked_in_both_seats(seer: str) -> None:
    """In a process of its own: from ply 7 on seat 1 is at 0.875, and seat 0 at 0.5."""
    unfinished = Record(RECORD.deal, RECORD.actions[:12])
    lines = describe_decisive(unfinished, SEATS, seer)
    action = "takes" if RECORD.actions[6] == "T" else f"plays {RECORD.actions[6]}"
    assert " ".join(map(str.strip, lines)) == (
        f"the decisive ply, by seer: ply 6, ann {action}, "
        "and its chance to win goes from 50% to 31%"
    )


def test_what_is_not_known_is_said(seer: str) -> None:
    """A bot that does not know, other rules, a game without a ply, a record of no game."""
    line = "the decisive ply is not known: {} does not value these positions"
    assert describe_decisive(RECORD, SEATS, f"{seer}(chance=-1.0)") == [
        line.format("seer(chance=-1.0)")
    ]
    rules = Record(RECORD.deal, RECORD.actions[:3], Rules(set_bonus=3))
    assert describe_decisive(rules, SEATS, "champion") == [line.format("champion")]
    assert describe_decisive(Record(RECORD.deal, ""), SEATS, "champion") == []
    assert describe_decisive(Record(RECORD.deal, "TTTTT"), SEATS, "champion") == []


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("greedy", "bot 'greedy': TypeError: its strategy has no method `chance`"),
        ("cmd:cat", "bot 'cmd:cat': only a Python bot can be asked for chances"),
        ("nobody", "no bot 'nobody' in bots/"),
        ("champion(luck=1)", "unexpected keyword argument 'luck'"),
    ],
)
def test_other_bots_are_refused_in_one_line(by: str, message: str) -> None:
    """They have no method, are programs in another language, or do not exist."""
    with pytest.raises(InputError) as refused:
        describe_decisive(RECORD, SEATS, by)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_number_that_is_no_chance_is_refused(seer: str) -> None:
    """With the ply."""
    with pytest.raises(InputError, match=r"returned 3\.0 at ply 7: not 0 to 1"):
        describe_decisive(RECORD, SEATS, f"{seer}(chance=3.0)")


@pytest.mark.slow
def test_show_ends_with_the_decisive_ply(arena: Arena, tmp_path: Path) -> None:
    """Of a file and of a run; who cannot say it is refused before the game is printed."""
    (tmp_path / "game.jsonl").write_text(RECORD.to_json() + "\n")
    done = arena("show", "game.jsonl")
    assert "\nthe decisive ply, by champion: ply " in done.stdout
    assert "% to " in done.stdout.splitlines()[-1]
    done = arena("show", "game.jsonl", "--by", "greedy")
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    arena("play", "greedy", "uniform", "--pairs", "1", "--out", "run", "--quiet")
    done = arena("show", "run", "greedy/uniform/0/0")
    assert "\nthe decisive ply, by champion: ply " in done.stdout
