"""Tactics: positions with one right answer, which the stronger bots must find.

Each is a View in its notation. The right action is the best by minimax over all hands of the
opponent. Before the last round only city wins count there, because the points are still open.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import pytest

from arena.entries.resolve import resolve
from engine import STANDARD, View
from engine.cards import CHARS, size
from engine.play import setup
from tests.minimax import worth


class Position(NamedTuple):
    """What is right, what a seat sees, and the one right action."""

    theme: str
    view: str
    right: str


POSITIONS = [
    Position("take the third city before it is taken away", "1 88 2y 5x5727TC65CTz75yC4", "T"),
    Position(
        "take the third city before it is buried", "1 78 47 y8x2TC87C56Tz865T55T6768T3yC256", "T"
    ),
    Position(
        "take the third city though far behind",
        "1 8y 63 yz6T555782T6xT4878662CT3TCxT6787877yy255xC",
        "T",
    ),
    Position("play the third city and take it", "0 C 2y z5762TC688T4yy6787T666CTzx7x288T", "C"),
    Position(
        "play the second city when the third lies in the row", "1 C 3C y55z7728TC8Tyxyx527T", "C"
    ),
    Position(
        "collect three cities in one take",
        "0 5CC C6 yyx55xT2868Ty5667T4877T25z7x8y3T32T6z767T",
        "C",
    ),
    Position(
        "take two cities before they are buried", "1 83 z8 xT2y6y7xy7T8x6C7T565456T86TC2C6", "T"
    ),
    Position("take the opponent's third city away", "0 63 2y 5x5727TC65CTz75yC48", "T"),
    Position("take the last card away, a city", "0 78 Cx 8885T78C546T5xT82668323Tzz255C", "T"),
    Position(
        "play a city while the own take can follow", "0 CC 7C zyx66726TT322y55T482888Txy7668", "C"
    ),
    Position(
        "play a city while the own take can follow, in round 2", "1 CC x7 x5727TC688T3z27238", "C"
    ),
    Position(
        "hold the third city back until the forced take",
        "1 3C 62 yzy6577T58T3xx8288TC76CT2x7T57587",
        "3",
    ),
    Position(
        "hold the third city back in the last round",
        "0 zC 5y xC556T6378T6yy2xC5T7478T28T6773z878T72268T5x8",
        "z",
    ),
    Position(
        "take the deciding majorities", "0 5 85 y787CTC825T7yy886T6C86T5xz2x63T76T67yx2773T85", "T"
    ),
    Position(
        "take the alliance of four and the 5 that ends a majority",
        "1 7 5C zy5667T7278T28T453C6626Tyzx77y8TC8T8y7x5x86T",
        "T",
    ),
    Position(
        "wait until the betrayal is out of reach",
        "1 6 86 zxx78yyC84TTxy8778T3765T66T77822723T6T8zCyC5",
        "6",
    ),
    Position(
        "wait one card with an alliance in hand",
        "1 3 z6 x65y5y8x2TT877z65CT5874T8x2CT586377Tyy288T77",
        "3",
    ),
    Position(
        "do not open a five-card gift", "1 5z 78 8T526xT27C7x676y7x38T8CT2y6568T75T46zyy753", "z"
    ),
    Position(
        "spoil the row instead of playing the 8",
        "1 8y 62 xx5537T73T4878T628C5582Tyz8766T67C8Tyzx827",
        "y",
    ),
    Position(
        "take the open row before it is a gift",
        "0 52 78 zy75TC576y6Txyx75x8T26T878T283868TC8yz76526",
        "T",
    ),
    Position(
        "take on a tie that 8s break", "0 7 7x 8y8T36226CT4T5yT25z6C5y8x2765TT7C787x5y6T8678", "T"
    ),
    Position(
        "take on a tie that 7s break", "0 zz 85 7T2672x3y7T8y6TC7267588Tx285Ty4T6558TC7C667", "T"
    ),
    Position(
        "let the forced take be a betrayal",
        "0 6y 38 3x57TC66868T7yT677525z7T56T8z5y48x2T27CTCx887",
        "y",
    ),
    Position(
        "feed betrayals while the opponent waits",
        "0 8xx 7z 77y8C7T266CTx25y76T8383T587y2T4688T87TC56z5",
        "x",
    ),
    Position(
        "a city as a blank in the forced take",
        "0 5C 77 x45x8T26C7T86yzyT3z5858Ty827T688867T3y7T52627",
        "C",
    ),
]
"""Cities before the last round, then the last round."""

SOLVERS = [
    "pimc",
    "ismcts(iterations=400)",
    "ismcts(iterations=400, positions=0)",
    "champion",
]

IN_THE_LAST_ROUND = ["endgame", "endgame(inside='uniform')"]
AHEAD = ["denier", "timing"]
CHEAP = ["uniform", "greedy", "majority", "city_hunter"]


def answer(spec: str, position: Position, seed: int = 0) -> str:
    """Return what a bot does in the position, as text."""
    seen = View.from_text(position.view)
    return CHARS[resolve(spec).create(setup(seed, seen.seat)).choose(seen)]


@pytest.mark.parametrize("position", POSITIONS, ids=lambda position: position.theme)
def test_the_right_action_is_the_best_over_all_hands(position: Position) -> None:
    """By minimax in every world, and by a clear margin."""
    seen = View.from_text(position.view)
    values = worth(seen)
    deals = comb(size(seen.unseen), seen.opponent_cards)
    best, second = sorted(values.values(), reverse=True)[:2]
    assert values[CHARS.index(position.right)] == best
    assert best - second >= deals
    assert best in (0, deals)


@pytest.mark.parametrize("position", POSITIONS, ids=lambda position: position.theme)
@pytest.mark.parametrize("spec", SOLVERS)
def test_a_search_finds_the_right_action(spec: str, position: Position) -> None:
    """With each of three seeds."""
    assert {answer(spec, position, seed) for seed in range(3)} == {position.right}


@pytest.mark.parametrize("spec", IN_THE_LAST_ROUND)
def test_the_endgame_finds_all_right_actions_of_the_last_round(spec: str) -> None:
    """The bot inside gives no help, because only one action is best."""
    last = [one for one in POSITIONS if View.from_text(one.view).round == STANDARD.rounds]
    assert len(last) >= 12
    assert [one.theme for one in last if answer(spec, one) != one.right] == []


@pytest.mark.parametrize("spec", AHEAD)
def test_bots_that_look_one_take_ahead_find_most(spec: str) -> None:
    """Without a search; they miss what needs two takes or a tie-break."""
    assert sum(answer(spec, one) == one.right for one in POSITIONS) >= 20


@pytest.mark.parametrize("spec", CHEAP)
def test_the_table_is_too_hard_for_cheap_bots(spec: str) -> None:
    """Each of them misses several; otherwise the table would show nothing."""
    assert sum(answer(spec, one) != one.right for one in POSITIONS) >= 4
