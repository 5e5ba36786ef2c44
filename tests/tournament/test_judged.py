"""Judged decisions: what a worker may answer, by the bounds of its numbers."""

from __future__ import annotations

from typing import Any

import pytest

from arena.tournament.judged import ILLEGAL, PARTS, Judged, JudgedGame, is_possible

PLIES, ACTIONS = 40, 3
GOOD = Judged(0, 2, [ILLEGAL, 0, PARTS], -PARTS, 0)
LAST = Judged(PLIES - 1, 0, [PARTS, 1, ILLEGAL], PARTS, PARTS)


def test_numbers_at_their_bounds_are_possible() -> None:
    """A loss may be below 0, where another action only seemed to be better."""
    assert is_possible(JudgedGame(0, 0, [GOOD, LAST]), PLIES, ACTIONS)
    assert is_possible(JudgedGame(0, 0, []), PLIES, ACTIONS)


@pytest.mark.parametrize(
    "wrong",
    [
        {"ply": -1},
        {"ply": PLIES},
        {"action": -1},
        {"action": ACTIONS},
        {"chances": [0, 0]},
        {"chances": [0, 0, ILLEGAL - 1]},
        {"chances": [0, 0, PARTS + 1]},
        {"loss": PARTS + 1},
        {"loss": -PARTS - 1},
        {"error": -1},
        {"error": PARTS + 1},
    ],
    ids=str,
)
def test_one_number_beyond_its_bounds_is_enough(wrong: dict[str, Any]) -> None:
    """Whatever else is right, also in the other decisions."""
    game = JudgedGame(0, 0, [LAST, GOOD._replace(**wrong)])
    assert not is_possible(game, PLIES, ACTIONS)


def test_the_best_action_is_a_legal_one() -> None:
    """Also where nothing can win; of equal ones it is the first."""
    assert GOOD._replace(chances=[ILLEGAL, 0, 0]).best == 1
    assert GOOD._replace(chances=[ILLEGAL, 1, 2]).best == 2
