"""The contract that every bot in bots/ keeps, their games of always, and how bots search."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import scipy

import bots
from arena.check.sparring import VARIANTS
from arena.entries.entry import Entry
from arena.entries.resolve import installed, resolve
from arena.errors import InputError
from arena.lanes.limits import Limits
from arena.lanes.load_check import find_problems
from bots.greedy import Greedy
from bots.ismcts import Ismcts, Playout
from bots.responder import Responder
from bots.uniform import bot as uniform
from engine import STANDARD, Game, Rules, Setup, Strategy, hands, size
from engine.play import play_game, setup
from engine.view import View, view
from tests.bots.golden import play, read
from tests.bots.test_endgame import worth
from tests.positions import RULE_SETS, choices
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
    return entry(name).create(setup(seed, seat, rules))


def game(first: str, second: str, seed: int, rules: Rules = STANDARD) -> Game:
    return play_game(entry(first).create, entry(second).create, seed=seed, rules=rules)


def views_for(name: str) -> list[View]:
    """Return views from random games, fewer for a slow bot."""
    return [*islice(choices(seed=5), 40 if name in SHORT else 2000)]


def parameters(name: str) -> list[inspect.Parameter]:
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
    for one in islice(choices(rules=VARIANTS[6], seed=5), 20):
        strategy(name, rules=one.rules).choose(one)
    own = setup(1, 0)
    veteran = entry(name).create(own)
    for one in views_for(name)[: 20 if name in SHORT else 50]:
        own.rng.seed(7)
        newcomer = setup(1, 0)
        newcomer.rng.seed(7)
        assert veteran.choose(one) == entry(name).create(newcomer).choose(one)
    again = [strategy(name, seed=number).choose(one) for number, one in enumerate(seen)]
    assert again == fresh


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
"""Bots of which a game takes half a second: one is quick, and the third is for the study."""
CASES = [
    pytest.param(name, seed, marks=tier(seed - 1, int(name in SEARCHING), 1))
    if name in (*SEARCHING, *COSTLY)
    else (name, seed)
    for name, seed in GAMES
]


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_a_bot_plays_as_before(name: str, seed: int) -> None:
    """Action by action; after a wanted change `python -m tests.bots.golden` writes them again."""
    assert play(name, seed) == GAMES[name, seed]


TUNED = {
    "ismcts(iterations=20, playout='game')": "56T77z8CyT7526T2857858zTCT773x6yTy6y8632x82x7TTC",
    "ismcts(iterations=20, playout='uniform')": "86T557yC7T7z75T682z82T58T77x3yCy6T6yx68x782T32TC",
    "endgame(inside='majority')": "yz55777T86TCz28828T5567T3y7yCx6yT76Txx722CT8863T",
    "champion(iterations=20, prior=0.5)": "7zy68C7T57T572z82588TT56CT7x3y6y6yT772x8362xTC8T",
}


@pytest.mark.parametrize(("spec", "actions"), TUNED.items())
def test_a_search_with_other_parameters_plays_as_before(spec: str, actions: str) -> None:
    """Other ways to play on, another bot inside, and a network's policy beside the visits."""
    searching = resolve(spec).create
    assert play_game(searching, searching, seed=1).record.actions == actions


PLAYOUTS: tuple[Playout, ...] = ("game", "uniform", "greedy")
LEAST_P = 1e-4


def searcher(rules: Rules = STANDARD, playout: Playout = "greedy", iterations: int = 30) -> Ismcts:
    """Return a search without the exact last round."""
    return Ismcts(setup(1, 0, rules), iterations, playout=playout, positions=0)


@pytest.mark.parametrize("playout", PLAYOUTS)
@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
def test_its_worlds_look_like_the_view(rules: Rules, playout: Playout) -> None:
    """view(world) == view for each world, and changing one world changes no other."""
    for seen in islice(choices(2, rules), 0, None, 3):
        drawn = list(islice(searcher(rules, playout).worlds(seen), 12))
        for world in drawn:
            assert view(world, seen.seat) == seen
            assert world.to_act == seen.seat
            world.apply(seen.legal[0])
        assert len({id(world.hands) for world in drawn}) == len(drawn)


def test_a_search_ends_after_its_seconds_and_only_whole_playouts_deal_on() -> None:
    """Though its iterations would take days; for other playouts a world ends with its round."""
    seen = next(choices())
    decks = {playout: next(searcher(playout=playout).worlds(seen)).deck for playout in PLAYOUTS}
    assert len(decks["game"]) == 30
    assert decks["uniform"] == decks["greedy"] == b""
    bot = Ismcts(setup(0, 0), iterations=10**9, seconds=0.05, positions=0)
    assert bot.choose(seen) in seen.legal


@pytest.mark.slow
@pytest.mark.parametrize("playout", PLAYOUTS)
def test_the_opponents_hands_are_drawn_in_proportion_to_their_deals(playout: Playout) -> None:
    """Chi-square over all hands in a last round; one shuffle gives several worlds."""
    seen = View.from_text("1 5z 78 8T526xT27C7x676y7x38T8CT2y6568T75T46zyy753")
    expected = dict(hands(seen))
    drawn = islice(searcher(playout=playout).worlds(seen), 8000)
    frequencies = Counter(world.hands[seen.opponent] for world in drawn)
    assert set(frequencies) == set(expected)
    total = sum(expected.values())
    shares = [8000 * ways / total for ways in expected.values()]
    assert scipy.stats.chisquare([frequencies[hand] for hand in expected], shares).pvalue > LEAST_P


@pytest.mark.parametrize("seat", [0, 1])
def test_results_are_credited_to_the_seat_that_acts(seat: int) -> None:
    """In a decided last round, seen from either seat, all actions win or all lose."""
    checked = Counter[int]()
    for seen in choices(40, seed=3):
        few = size(seen.hand) + seen.opponent_cards <= 3
        if seen.seat != seat or seen.round < 4 or seen.taken == (True, True) or not few:
            continue
        values = worth(seen)
        deals = sum(ways for _, ways in hands(seen))
        if set(values.values()) not in ({deals}, {-deals}):
            continue
        sure = values[seen.legal[0]]
        tree = searcher(iterations=200).search(seen)
        best = max(tree.children.values(), key=lambda child: child.visits)
        share = best.total / best.visits
        assert share > 0.75 if sure > 0 else share < 0.25
        checked[sure > 0] += 1
    assert min(checked[True], checked[False]) >= 3


def test_its_opponent_is_made_for_the_other_seat_and_a_blind_response_infers_nothing() -> None:
    """With the rules of the game; blind, all hands keep the weight with which they were dealt."""
    seats = []

    def victim(own: Setup) -> Greedy:
        seats.append((own.seat, own.rules))
        return Greedy(own)

    for seat in (0, 1):
        own = setup(1, seat, STANDARD)
        Responder(own).meet(own, victim)
    assert seats == [(1, STANDARD), (0, STANDARD)]
    with pytest.raises(TypeError, match="Uniform has no method scores"):
        Responder(setup(1, 0)).meet(setup(1, 0), uniform)
    seen = View.from_text("1 5678C xy 8")
    ways = dict(hands(seen))
    for is_blind in (False, True):
        known = Responder(setup(1, 1), "timing", blind=is_blind)
        known.choose(seen)
        each = zip(known.belief.hands, known.belief.weights, strict=True)
        shares = {round(weight / ways[hand], 9) for hand, weight in each}
        assert (len(shares) == 1) is is_blind
