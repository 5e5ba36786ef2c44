"""The curve of a game and its decisive ply: a bot's values, and at the end all hands that fit."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.replays.curve import (
    PARTS,
    SEARCHED,
    describe_decisive,
    find_beliefs,
    find_curve,
    how_far_off,
    mean_chances,
    part_of,
    share_of_search,
)
from arena.tables.game_arrays import read_batches
from arena.tables.points_and_takes import chances_of
from engine import Record, Rules, State, hands, to_text
from engine.notation import parse_actions, parse_deal
from engine.view import view
from tests import ROOT
from tests.batch.test_last_round import solve
from tests.conftest import Arena
from tests.replays.games import random_record, twins
from tests.tables.games import play, tournament

CHAMPION = resolve("champion")
RECORD = random_record(Random(5))


def test_it_is_the_bots_values_until_the_last_plies_and_under_other_rules() -> None:
    curve = find_curve(RECORD, CHAMPION)
    beliefs = find_beliefs(RECORD, CHAMPION)
    for own, said in zip(curve.beliefs, beliefs, strict=True):
        assert own[: -SEARCHED - 1] == said[: -SEARCHED - 1]
        assert own[-SEARCHED - 1 : -1] != said[-SEARCHED - 1 : -1]
        assert own[-1] == said[-1]
    other = random_record(Random(5), Rules(set_bonus=4))
    assert find_curve(other, CHAMPION).off is None
    assert find_curve(other, CHAMPION).beliefs == find_beliefs(other, CHAMPION)


@pytest.mark.parametrize("seat", [0, 1])
def test_near_the_end_every_hand_that_fits_counts_as_often_as_it_is_dealt(seat: int) -> None:
    """Each is solved by the bot `endgame`, with all cards open."""
    left = 5
    ply = len(RECORD.actions) - left
    state = State(parse_deal(RECORD.deal))
    state.follow(parse_actions(RECORD.actions[:ply]))
    total = ways = 0
    for pack, count in hands(view(state, seat)):
        world = state.copy()
        world.hands[1 - seat] = pack
        total += count * solve(world)
        ways += count
    share = share_of_search(left)
    (said,) = find_beliefs(RECORD, CHAMPION, (seat,))
    (found,) = find_curve(RECORD, CHAMPION, (seat,)).beliefs
    assert found[ply] == pytest.approx(share * total / (ways << 24) + (1 - share) * said[ply])


@pytest.mark.parametrize("seat", [0, 1])
def test_a_seat_does_not_see_the_other_hand(seat: int) -> None:
    for record, other in twins(seat):
        curves = [find_curve(one, CHAMPION, (seat,)).beliefs for one in (record, other)]
        assert curves[0] == curves[1]


def test_the_error_is_that_of_the_part_and_of_how_clear_the_chance_is() -> None:
    assert how_far_off(0, 0.55) == how_far_off(11, 0.45) == 0.2
    assert how_far_off(40, 0.95) < how_far_off(39, 0.95) < how_far_off(30, 0.95)
    assert how_far_off(30, 0.0) == how_far_off(30, 1.0) == 0.0
    assert find_curve(RECORD, CHAMPION).off is how_far_off
    assert find_curve(RECORD, resolve("grandmaster")).off is None


def test_an_unfinished_game_has_a_curve_to_where_it_is_also_in_its_last_plies() -> None:
    curve = find_curve(Record(RECORD.deal, RECORD.actions[:43]), CHAMPION)
    assert curve.chances == find_curve(RECORD, CHAMPION).chances[:44]


def test_the_errors_are_those_that_were_measured() -> None:
    """The table of bench/STUDIES.md; what it lacks is as for the next less clear chance."""
    section = (ROOT / "bench" / "STUDIES.md").read_text().partition("## Replays: ")[2]
    lines = section.partition("| part |")[2].splitlines()[2 : 2 + len(PARTS)]
    for line, first in zip(lines, (0, 12, 24, 36, 40), strict=True):
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        measured = [int(cell) for cell in cells if cell != "-"]
        found = [100 * how_far_off(first, 0.55 + 0.1 * zone) for zone in range(5)]
        assert name == PARTS[part_of(first)]
        assert found == pytest.approx(measured + [measured[-1]] * (5 - len(measured)))


SEATS = ("ann", "bob")
CUP = tournament(bots=2, pairs=2)
GAME = next(game for game in play(CUP) if len(game.row.actions) == 48)
WHOLE = Record(to_text(CUP.draw(CUP.fixture(*GAME.row[:3])).deal), GAME.row.actions)

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
    wanted = chances_of(next(read_batches(CUP, [GAME.row])))[0]
    assert mean_chances(find_beliefs(WHOLE, CHAMPION)) == pytest.approx(wanted.tolist(), abs=1e-9)


def test_a_bot_of_ones_own_is_asked_in_both_seats(seer: str) -> None:
    """In a process of its own: from ply 7 on seat 1 is at 0.875, and seat 0 at 0.5."""
    unfinished = Record(WHOLE.deal, WHOLE.actions[:12])
    lines = describe_decisive(unfinished, SEATS, seer)
    action = "takes" if WHOLE.actions[6] == "T" else f"plays {WHOLE.actions[6]}"
    assert " ".join(map(str.strip, lines)) == (
        f"the decisive ply, by seer: ply 6, ann {action}, "
        "and its chance to win goes from 50% to 31%"
    )


def test_what_is_not_known_is_said(seer: str) -> None:
    """A bot that does not know, other rules, a game without a ply, a record of no game."""
    line = "the decisive ply is not known: {} does not value these positions"
    shy, rules = "seer(chance=-1.0)", Record(WHOLE.deal, WHOLE.actions[:3], Rules(set_bonus=3))
    assert describe_decisive(WHOLE, SEATS, f"{seer}(chance=-1.0)") == [line.format(shy)]
    assert describe_decisive(rules, SEATS, "champion") == [line.format("champion")]
    for actions in ("", "TTTTT"):
        assert describe_decisive(Record(WHOLE.deal, actions), SEATS, "champion") == []


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("greedy", "bot 'greedy': TypeError: its strategy has no method `chance`"),
        ("cmd:cat", "bot 'cmd:cat': only a Python bot can be asked for chances"),
        ("nobody", "no bot 'nobody' in bots/"),
        ("champion(luck=1)", "unexpected keyword argument 'luck'"),
        ("SEER(chance=3.0)", "returned 3.0 at ply 7: not 0 to 1"),
    ],
)
def test_a_bot_that_cannot_say_its_chance_is_refused_in_one_line(
    seer: str, by: str, message: str
) -> None:
    with pytest.raises(InputError) as refused:
        describe_decisive(WHOLE, SEATS, by.replace("SEER", seer))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.slow
def test_show_ends_with_the_decisive_ply(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "game.jsonl").write_text(WHOLE.to_json() + "\n")
    done = arena("show", "game.jsonl")
    assert "\nthe decisive ply, by champion: ply " in done.stdout
    assert "% to " in done.stdout.splitlines()[-1]
    done = arena("show", "game.jsonl", "--by", "greedy")
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    arena("play", "greedy", "uniform", "--pairs", "1", "--out", "run", "--quiet")
    done = arena("show", "run", "greedy/uniform/0/0")
    assert "\nthe decisive ply, by champion: ply " in done.stdout
