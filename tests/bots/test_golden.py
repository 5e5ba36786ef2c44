"""Our bots play the games that they played when their Elo was measured."""

from __future__ import annotations

import pytest

from arena.entries.catalogue import ELO
from tests.bots.golden import SEEDS, play, read
from tests.tiers import tier

GAMES = read()
SEARCHING = ("champion", "flat_mc", "ismcts", "pimc")
"""Bots of which a game takes half a second: none is quick, and the third is for the study."""
SLOWEST = ("grandmaster", "responder")  # a second or two
CASES = [
    pytest.param(
        name,
        seed,
        marks=tier(seed - 1, 0, 1 + (name not in SLOWEST))
        if name in (*SEARCHING, *SLOWEST)
        else [],
    )
    for name, seed in GAMES
]


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_a_bot_plays_as_before(name: str, seed: int) -> None:
    """Action by action; after a wanted change `python -m tests.bots.golden` writes them again."""
    assert play(name, seed) == GAMES[name, seed]


def test_every_bot_of_the_ladder_has_its_games() -> None:
    """So many of each; a bot that is new has none until somebody writes the file."""
    names = {name for name, _ in GAMES}
    assert {*ELO} <= names
    assert {*GAMES} == {(name, seed) for name in names for seed in range(1, SEEDS + 1)}
