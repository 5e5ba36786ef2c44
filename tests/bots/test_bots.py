"""The contract that every bot in bots/ keeps, and the games that they have always played."""

from __future__ import annotations

import ast
import inspect
import random
from collections.abc import Iterator
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

import pytest

import bots
from arena.check.sparring import VARIANTS
from arena.entries.entry import Entry
from arena.entries.resolve import installed, resolve
from arena.errors import InputError
from arena.lanes.limits import Limits
from arena.lanes.probe import find_problems
from engine import STANDARD, Game, Rules, Strategy, View, play_game
from engine.play import setup
from engine.seeds import stream
from engine.state import State, random_deal
from engine.view import view
from engine.worlds import sample
from tests.bots.golden import play, read
from tests.positions import walk
from tests.runs.test_rogues import needs_jail
from tests.tiers import few, tier

FOLDER = Path(bots.__path__[0])
COSTLY = ("grandmaster", "responder")
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")

SHORT: dict[str, dict[str, Any]] = {
    "champion": {"iterations": 8, "positions": 200},
    "endgame": {"unseen": 5},
    "flat_mc": {"worlds": 3},
    "grandmaster": {"budget": 0.01},
    "ismcts": {"iterations": 20, "positions": 200},
    "pimc": {"worlds": 2, "plies": 2, "positions": 200},
    "responder": {"worlds": 8, "games": 40},
}
"""Parameters with which slow bots play whole games quickly."""


def entry(name: str) -> Entry:
    """Return the bot of this name, with parameters that keep it short."""
    return resolve(name, params=SHORT.get(name))


def strategy(name: str, seed: int = 0, rules: Rules = STANDARD, seat: int = 0) -> Strategy:
    """Return a new strategy of the bot for one game."""
    return entry(name).create(setup(seed, seat, rules))


def game(first: str, second: str, seed: int, rules: Rules = STANDARD) -> Game:
    """Play a game of two bots with the engine's referee, and return it."""
    return play_game(entry(first).create, entry(second).create, seed=seed, rules=rules)


def some_views(number: int, rules: Rules = STANDARD) -> Iterator[View]:
    """Yield this many views of the seat to act from random games."""
    rng = random.Random(5)
    games = chain.from_iterable(walk(rng, rules) for _ in count())
    yield from islice((view(state, state.to_act) for state in games if not state.over), number)


def views_for(name: str) -> list[View]:
    """Return views from random games, fewer for a slow bot."""
    return list(some_views(40 if name in SHORT else 2000))


def parameters(name: str) -> list[inspect.Parameter]:
    """Return the parameters that a config can set."""
    return list(inspect.signature(resolve(name).load()).parameters.values())[1:]


each = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in COSTLY)) for name in NAMES]
)
playing = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.study] * (name in COSTLY)) for name in NAMES],
)
"""Each bot; those that take a second for it are for the study, and play against themselves here."""


@each
def test_it_is_one_documented_file_that_says_in_a_line_what_it_does(name: str) -> None:
    """Of 12 to 300 lines; the line fits a terminal, and what is public has a docstring."""
    line = dict(installed())[name]
    assert line.endswith(".")
    assert 20 < len(line) <= 66
    text = (FOLDER / f"{name}.py").read_text()
    assert 12 <= len(text.splitlines()) <= LONG.get(name, 300)
    for node in [node for top in ast.parse(text).body for node in (top, *getattr(top, "body", ()))]:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{node.name} has no docstring"


LONG = {"champion": 578}
"""Lines of bots that are longer than the others; each of champion's 68 weights has a name."""


@playing
@pytest.mark.parametrize("other", few(["greedy", "uniform"]))
def test_it_plays_whole_games_in_either_seat(name: str, other: str) -> None:
    """A game against a cheap bot ends without a fault."""
    for seed in range(2 if name in SHORT else 10):
        for seats in ((name, other), (other, name)):
            played = game(*seats, seed=seed)
            assert played.win_type == "city" or len(played.record.actions) == 48


@playing
def test_it_plays_legally_and_equal_seeds_play_equal_games(name: str) -> None:
    """In every position; its only randomness is the setup's: games in between change nothing."""
    player = strategy(name)
    for seen in views_for(name):
        action = player.choose(seen)
        assert type(action) is int
        assert action in seen.legal
    first = game(name, "greedy", seed=11)
    game(name, name, seed=12)
    game("greedy", name, seed=13, rules=Rules(take_size=3))
    assert game(name, "greedy", seed=11) == first


@playing
def test_it_remembers_neither_games_nor_decisions(name: str) -> None:
    """Views answered before, also under other rules, change no answer."""
    seen = views_for(name)[5:45:3]
    fresh = [strategy(name, seed=number).choose(one) for number, one in enumerate(seen)]
    other = strategy(name)
    for one in some_views(20, VARIANTS[6]):
        strategy(name, rules=one.rules).choose(one)
    for one in seen:
        other.choose(one)
    again = [strategy(name, seed=number).choose(one) for number, one in enumerate(seen)]
    assert again == fresh
    own = setup(1, 0)
    veteran = entry(name).create(own)
    for seen in views_for(name)[: 20 if name in SHORT else 50]:
        own.rng.seed(7)
        newcomer = setup(1, 0)
        newcomer.rng.seed(7)
        assert veteran.choose(seen) == entry(name).create(newcomer).choose(seen)


@playing
def test_it_knows_only_its_view(name: str) -> None:
    """Two worlds with the same view get the same answer from strategies with the same seed."""
    rng = stream(9, "test")
    for _ in range(20):
        state = State(random_deal(rng))
        for _ in range(rng.randrange(40)):
            if not state.over:
                state.apply(rng.choice(state.legal()))
        if not state.over:
            seat = state.to_act
            worlds = (state, sample(view(state, seat), rng))
            answers = [strategy(name, 4).choose(view(world, seat)) for world in worlds]
            assert answers[0] == answers[1]


@playing
@pytest.mark.parametrize("rules", few(VARIANTS, 3, 3), ids=map(str, range(len(VARIANTS))))
def test_it_plays_variants(name: str, rules: Rules) -> None:
    """It reads the numbers from the rules of its game, in either seat."""
    for seed, seats in enumerate(((name, "uniform"), ("uniform", name))):
        played = game(*seats, seed=seed, rules=rules)
        assert played.win_type == "city" or len(played.record.actions) == rules.game_plies


@each
def test_its_parameters_are_explained_and_a_wrong_one_is_refused_by_name(name: str) -> None:
    """Each can be set and none must be; one that is unknown, or of the wrong type."""
    bot: Any = resolve(name).load()
    for parameter in parameters(name):
        assert parameter.default is not inspect.Parameter.empty, parameter.name
        assert parameter.annotation is not inspect.Parameter.empty, parameter.name
        assert f"`{parameter.name}`" in str(bot.__doc__), parameter.name
    assert bot(setup(0, 0, STANDARD)) is not None
    wrong = [("depth_of_thought", 3), *((one.name, ["no"]) for one in parameters(name))]
    for parameter, value in wrong:
        with pytest.raises(InputError, match=rf"{name}.*{parameter}"):
            list(find_problems([resolve(name, params={parameter: value})], STANDARD, Limits()))


@pytest.mark.parametrize(
    "lane", ["process", pytest.param("jail", marks=[needs_jail, pytest.mark.slow])]
)
def test_every_bot_loads_in_a_process_of_its_own(lane: str) -> None:
    """A bot that builds on another bot can import it there, in a jail too."""
    entries = [resolve(name, lane=lane) for name in NAMES]
    assert list(find_problems(entries, STANDARD, Limits())) == []


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
