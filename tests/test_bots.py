"""The contract that every bot in bots/ keeps: the list is the folder's."""

from __future__ import annotations

import ast
import inspect
import random
from pathlib import Path
from typing import Any

import pytest

import bots
from arena.load import installed, load
from engine import STANDARD, Rules, Strategy, View, play_game
from engine.play import setup
from engine.seeds import stream
from engine.state import State, random_deal
from engine.view import view

FOLDER = Path(bots.__path__[0])
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")

pytestmark = pytest.mark.parametrize("name", NAMES)


def strategy(name: str, seed: int = 0) -> Strategy:
    return load(name).strategy(setup(seed, ("test",), 0))


def some_views(count: int) -> list[View]:
    """Return views of seats to act from random games."""
    rng = random.Random(5)
    views: list[View] = []
    while len(views) < count:
        state = State(random_deal(rng))
        while not state.over:
            views.append(view(state, state.to_act))
            state.apply(rng.choice(state.legal()))
    return views


def test_it_says_in_one_line_what_it_does(name: str) -> None:
    """The first line of the module's docstring is a sentence that fits a terminal."""
    line = dict(installed())[name]
    assert line.endswith(".")
    assert 20 < len(line) <= 66


def test_it_is_one_documented_file_of_a_dozen_to_a_hundred_lines(name: str) -> None:
    """Bots stay small, and every class and function of theirs says what it does."""
    text = (FOLDER / f"{name}.py").read_text()
    assert 12 <= len(text.splitlines()) <= 100
    for node in [node for top in ast.parse(text).body for node in (top, *getattr(top, "body", ()))]:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{node.name} has no docstring"


def test_it_plays_whole_games_against_every_bot(name: str) -> None:
    """A game in either seat comes to an end without a fault."""
    mine = load(name).bot
    for other in NAMES:
        for seed in range(5):
            theirs = load(other).bot
            for seats in ((mine, theirs), (theirs, mine)):
                game = play_game(*seats, seed=seed)
                assert game.win_type == "city" or len(game.record.actions) == 48


def test_it_answers_every_view_with_a_legal_action(name: str) -> None:
    """Whatever the position, the answer is one of view.legal, and an int."""
    player = strategy(name)
    for seen in some_views(2000):
        action = player.choose(seen)
        assert type(action) is int
        assert action in seen.legal


def test_equal_seeds_play_equal_games(name: str) -> None:
    """Its only luck is the generator it was given."""
    bot = load(name).bot
    assert play_game(bot, bot, seed=11) == play_game(bot, bot, seed=11)


def test_it_leaves_the_module_level_generator_alone(name: str) -> None:
    """Nothing draws from `random` itself."""
    before = random.getstate()
    play_game(load(name).bot, load(name).bot, seed=3)
    assert random.getstate() == before


def test_it_knows_only_its_view(name: str) -> None:
    """Two worlds with the same view get the same answer from strategies with the same seed."""
    rng = stream(9, "test")
    for _ in range(20):
        state = State(random_deal(rng))
        for _ in range(rng.randrange(40)):
            if state.over:
                break
            state.apply(rng.choice(state.legal()))
        if state.over:
            continue
        twin = state.copy()
        twin.deck, twin.removed = bytes(reversed(twin.deck)), bytes(reversed(twin.removed))
        seat = state.to_act
        answers = [strategy(name, 4).choose(view(world, seat)) for world in (state, twin)]
        assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "rules",
    [
        Rules(take_size=3),
        Rules(cities_needed=2),
        Rules(hand_size=4, rounds=5),
        Rules(copies=(9, 9, 9, 9, 1, 1, 1, 1, 1, 1, 3)),
    ],
    ids=repr,
)
def test_it_plays_variants(name: str, rules: Rules) -> None:
    """It reads the numbers from the rules it is given."""
    bot = load(name).bot
    for seed in range(5):
        play_game(bot, load("uniform").bot, seed=seed, rules=rules)


def test_its_parameters_have_types_and_defaults(name: str) -> None:
    """A config can set every parameter, and none has to be."""
    bot: Any = load(name).bot
    for parameter in list(inspect.signature(bot).parameters.values())[1:]:
        assert parameter.default is not inspect.Parameter.empty
        assert parameter.annotation is not inspect.Parameter.empty
    assert bot(setup(0, ("test",), 0, STANDARD)) is not None
