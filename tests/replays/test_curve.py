"""The curve of a game: a bot's values, and in the last plies all hands that fit are searched."""

from __future__ import annotations

from random import Random

import pytest

from arena.entries.resolve import resolve
from arena.replays.curve import (
    PARTS,
    SEARCHED,
    find_beliefs,
    find_curve,
    how_far_off,
    part_of,
    share_of_search,
)
from engine import Record, Rules, State, hands
from engine.notation import parse_actions, parse_deal
from engine.view import view
from tests import ROOT
from tests.batch.test_last_round import solve
from tests.replays.games import random_record, twins

CHAMPION = resolve("champion")
RECORD = random_record(Random(5))
LEFT = 5


def test_it_is_the_bots_values_until_the_last_plies_and_under_other_rules() -> None:
    """There nothing is searched, and under other rules no error is known."""
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
    ply = len(RECORD.actions) - LEFT
    state = State(parse_deal(RECORD.deal))
    state.follow(parse_actions(RECORD.actions[:ply]))
    total = ways = 0
    for pack, count in hands(view(state, seat)):
        world = state.copy()
        world.hands[1 - seat] = pack
        total += count * solve(world)
        ways += count
    share = share_of_search(LEFT)
    (said,) = find_beliefs(RECORD, CHAMPION, (seat,))
    (found,) = find_curve(RECORD, CHAMPION, (seat,)).beliefs
    assert found[ply] == pytest.approx(share * total / (ways << 24) + (1 - share) * said[ply])


@pytest.mark.parametrize("seat", [0, 1])
def test_a_seat_does_not_see_the_other_hand(seat: int) -> None:
    """Games that it cannot tell apart have the same curve."""
    for record, other in twins(seat):
        curves = [find_curve(one, CHAMPION, (seat,)).beliefs for one in (record, other)]
        assert curves[0] == curves[1]


def test_the_error_is_that_of_the_part_and_of_how_clear_the_chance_is() -> None:
    """Both seats alike, and none of what is sure."""
    assert how_far_off(0, 0.55) == how_far_off(11, 0.45) == 0.2
    assert how_far_off(40, 0.95) < how_far_off(39, 0.95) < how_far_off(30, 0.95)
    assert how_far_off(30, 0.0) == how_far_off(30, 1.0) == 0.0
    off = find_curve(RECORD, CHAMPION).off
    assert off is how_far_off
    assert find_curve(RECORD, resolve("grandmaster")).off is None


def test_an_unfinished_game_has_a_curve_to_where_it_is() -> None:
    """In its last plies, too."""
    curve = find_curve(Record(RECORD.deal, RECORD.actions[:43]), CHAMPION)
    assert curve.chances == find_curve(RECORD, CHAMPION).chances[:44]


def test_the_errors_are_those_that_were_measured() -> None:
    """The table of bench/STUDIES.md; what it lacks is as for the next less clear chance."""
    section = (ROOT / "bench" / "STUDIES.md").read_text().partition("## Replays: ")[2]
    lines = section.partition("| part |")[2].splitlines()[2 : 2 + len(PARTS)]
    for line, first in zip(lines, (0, 12, 24, 36, 40), strict=True):
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        assert name == PARTS[part_of(first)]
        measured = [int(cell) for cell in cells if cell != "-"]
        found = [100 * how_far_off(first, 0.55 + 0.1 * zone) for zone in range(5)]
        assert found == pytest.approx(measured + [measured[-1]] * (5 - len(measured)))
