"""Environments of Gymnasium and PettingZoo are games of the engine, and so are data sets."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

import arena
from arena.addons.rl import Encoding, aec, dataset, mask
from arena.addons.rl.decisions import Decisions
from arena.addons.rl.env import DistrictNoirEnv
from arena.errors import InputError
from arena.replays.finished_game import Game
from bots.greedy import bot as greedy
from bots.uniform import bot as uniform
from engine import TAKE, Bot, Rules, Setup, State, View, outcome, play_game
from engine.notation import parse_actions, parse_deal
from engine.view import view
from tests import ROOT
from tests.conftest import Once
from tests.kit import run_python
from tests.positions import RULE_SETS
from tests.rogues import write
from tests.tiers import few


def state_of(env: DistrictNoirEnv) -> State:
    """Return the truth of the game, which no learner gets."""
    return env._state


def play_out(env: DistrictNoirEnv, seed: int | None = None) -> list[Any]:
    """Play a game at random; return all that the environment says of it."""
    rng = Random(seed or 0)
    observation, info = env.reset(seed=seed)
    said: list[Any] = [(observation.tobytes(), info["seat"], info["opponent"])]
    over = False
    while not over:
        action = rng.choice(np.flatnonzero(info["action_mask"]).tolist())
        observation, reward, over, _, info = env.step(action)
        said.append((observation.tobytes(), reward, info["action_mask"].tobytes()))
    return [*said, info["winner"], info["win_type"]]


def last_card(view: View) -> int:
    """Play the last kind of the hand, and take when there is none."""
    return next((action for action in reversed(view.legal) if action != TAKE), TAKE)


class Last:
    def __init__(self, setup: Setup) -> None:
        self.seat = setup.seat

    def choose(self, view: View, /) -> np.int64:
        assert view.seat == self.seat
        return np.int64(last_card(view))


def test_gymnasium_finds_nothing_to_say_about_it() -> None:
    """`check_env` passes, and no warning of it or of the wrappers of `make` is let through."""
    for options in (
        {},
        {"opponent": ["uniform", last_card], "seat": 1, "observation": "information_state"},
        {"rules": {"hand_size": 4, "rounds": 5}},
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            env = gymnasium.make("DistrictNoir-v0", **options)
            check_env(env.unwrapped)
            _, info = env.reset(seed=3)
            env.step(np.flatnonzero(info["action_mask"])[0])


@pytest.mark.slow
def test_a_missing_extra_is_named() -> None:
    """Each environment says what to install, and `arena.addons.rl` needs none of it."""
    code = """
import sys
sys.modules["gymnasium"] = sys.modules["pettingzoo"] = None
import arena.addons.rl
for name in ("env", "vector", "aec"):
    try:
        __import__(f"arena.addons.rl.{name}")
    except arena.InputError as error:
        print(error)
"""
    hint = "is not installed; pip install 'district-noir-arena[rl]'"
    libraries = ("gymnasium", "gymnasium", "pettingzoo")
    told = [f"arena.addons.rl: {library} {hint}" for library in libraries]
    assert run_python("-c", code, folder=ROOT).stdout.splitlines() == told


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
@pytest.mark.parametrize("name", ["observation", "information_state"])
def test_it_shows_the_view_of_the_seat_that_is_to_act(name: str, rules: Rules) -> None:
    """Its arrays are those of the learner's View, and its reward is the outcome."""
    env = DistrictNoirEnv("uniform", rules=rules, observation=name)
    encode = getattr(Encoding(rules), name)
    rng = Random(4)
    for seed in range(3):
        observation, info = env.reset(seed=seed)
        over, reward, seat, action = False, 0.0, info["seat"], TAKE
        while not over:
            seen = view(state_of(env), seat)
            assert observation.tobytes() == encode(seen).tobytes()
            assert observation in env.observation_space
            assert reward == 0.0
            if not seen.over:  # else the opponent had a city before, and any action ends it
                assert (seen.to_act, info["seat"]) == (seat, seat)
                assert info["action_mask"].tobytes() == mask(seen).tobytes()
                assert env.action_masks().tolist() == mask(seen).astype(bool).tolist()
                action = rng.choice(seen.legal)
            observation, reward, over, truncated, info = env.step(action)
            assert not truncated
        assert observation.tobytes() == encode(view(state_of(env), seat)).tobytes()
        winner, win_type, _ = outcome(state_of(env).piles, rules)
        assert reward == (0 if winner is None else 1 if winner == seat else -1)
        assert (info["winner"], info["win_type"]) == (-1 if winner is None else winner, win_type)


@pytest.mark.parametrize("opponent", [uniform, greedy])
def test_it_is_a_game_of_the_engine(opponent: Bot) -> None:
    """With its deal, its luck for each seat, and every action of the referee's loop."""
    env = DistrictNoirEnv(opponent)
    seats = set()
    for seed in range(6):
        _, info = env.reset(seed=seed)
        seat, over = info["seat"], False
        while not over:
            over = env.step(last_card(view(state_of(env), seat)))[2]
        address = int(seeding.np_random(seed)[0].integers(1 << 62))
        bots = [opponent, Last] if seat else [Last, opponent]
        game = play_game(*bots, seed=address)
        assert state_of(env) == game.record.replay()
        seats.add(seat)
    assert seats == {0, 1}


def test_the_same_seed_gives_the_same_games() -> None:
    """Byte by byte, one game after the other; another seed gives other ones; of agents, too."""
    games = []
    for seed in (8, 8, 9):
        env = DistrictNoirEnv(["uniform", "greedy"])
        games.append([play_out(env, seed), play_out(env), play_out(env)])
    assert games[0] == games[1] != games[2]
    assert games[0][1] != games[0][2]
    game, deals = aec.raw_env(), []
    for seed in (11, None, None, 11, None, None):
        game.reset(seed=seed)
        deals.append(game._state.deal())
        if seed:
            first, _ = DistrictNoirEnv("uniform", seat=0).reset(seed=seed)
            assert game.observe("seat_0")["observation"].tobytes() == first.tobytes()
    assert deals[:3] == deals[3:]
    assert len({*deals}) == 3


@pytest.mark.parametrize("action", [12, -1, 2.5, True, None, "missing"])
def test_an_illegal_action_loses(action: Any) -> None:
    """Whatever it is: a card that is not held, no action at all. Then only reset goes on."""
    env = DistrictNoirEnv("greedy", seat=1)
    _, info = env.reset(seed=1)
    if action == "missing":
        action = int(np.flatnonzero(info["action_mask"] == 0)[0])
    _, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert (info["winner"], info["win_type"]) == (0, "forfeit")
    assert info["illegal"].startswith("illegal action ")
    assert not info["action_mask"].any()
    assert not env.action_masks().any()
    with pytest.raises(ResetNeeded):
        env.step(TAKE)
    assert env.reset()[1]["action_mask"].any()


def test_a_game_may_be_over_before_the_first_turn() -> None:
    """Where a city wins, and one lies in the row: then any action ends the game, lost."""
    env = DistrictNoirEnv(lambda view: view.legal[-1], seat=1, rules={"cities_needed": 1})
    infos = (env.reset(seed=seed)[1] for seed in range(100))
    info = next(info for info in infos if state_of(env).over)
    assert np.flatnonzero(info["action_mask"]).tolist() == [TAKE]
    assert env.action_masks().sum() == 1
    _, reward, terminated, _, info = env.step(0)
    assert (reward, terminated, info["win_type"]) == (-1.0, True, "city")
    assert not info["action_mask"].any()


def test_whatever_plays_can_be_an_opponent(tmp_path: Path) -> None:
    """Specs with parameters, files, classes, functions that choose."""
    path = tmp_path / "my_bot.py"
    path.write_text("from bots.greedy import bot\n")
    for opponent, name in (
        ("ismcts(iterations=2)", "ismcts(iterations=2)"),
        *((str(path), "my_bot"), (path, "my_bot"), (Last, "Last"), (last_card, "last_card")),
    ):
        env = DistrictNoirEnv(opponent)
        assert env.reset(seed=1)[1]["opponent"] == name
        play_out(env)


def test_an_opponent_that_does_not_load_or_fails_is_named(tmp_path: Path) -> None:
    """In one line, when it is made or in a game; the learner gets no reward for a bot's mistake."""
    for name, text in {
        **{"broken": "1 / 0\n", "empty": "", "leaves": "raise SystemExit(3)\n"},
        **{"wants": "def bot(setup, depth): ...\n", "forgets": "def bot(setup): ...\n"},
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    expected: dict[Any, str] = {
        "greedi": "opponent 'greedi': no bot 'greedi' in bots/; did you mean greedy?",
        "cmd:cat": "opponent 'cmd:cat': a command has its own process",
        "greedy(depth=3)": "opponent 'greedy(depth=3)': TypeError: ",
        f"{tmp_path}/none.py": f"opponent '{tmp_path}/none.py': No such file",
        f"{tmp_path}/broken.py": "opponent 'broken': ZeroDivisionError: division by zero",
        f"{tmp_path}/empty.py": "opponent 'empty': ImportError: ",
        f"{tmp_path}/leaves.py": "opponent 'leaves': SystemExit: 3",
        f"{tmp_path}/wants.py": "opponent 'wants': TypeError: ",
        f"{tmp_path}/forgets.py": "opponent 'forgets': TypeError: bot(setup) returned None",
        7: "opponent 7: neither a spec, a class nor a function",
    }
    for opponent, message in expected.items():
        with pytest.raises(InputError) as raised:
            DistrictNoirEnv(["uniform", opponent])
        assert str(raised.value).startswith(message)
        assert "\n" not in str(raised.value)

    def silly(view: View) -> int:
        return -view.legal[-1]

    env = DistrictNoirEnv(silly, seat=1)
    with pytest.raises(InputError, match="opponent 'silly': IllegalAction: illegal action -11"):
        env.reset(seed=1)
    with pytest.raises(ResetNeeded):
        env.step(TAKE)


BY_NAME = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or "
    "gymnasium.spaces.discrete",
}
"""Warnings that PettingZoo gives of each game with masks but those of its own, by their names."""


def test_the_suites_of_pettingzoo_have_nothing_to_say() -> None:
    """Of the environment with its wrappers, bare, and in the parallel form."""

    def complaints(check: Callable[..., None], *arguments: Any) -> set[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            check(*arguments)
        return {str(warning.message) for warning in caught}

    bare = {"Environment has not defined a render() method"}
    for options in ({}, {"observation": "information_state"}):
        assert complaints(api_test, aec.env(**options)) == BY_NAME
        assert complaints(api_test, aec.raw_env(**options), 100) == BY_NAME | bare
    assert complaints(seed_test, aec.env) == set()
    assert complaints(parallel_seed_test, aec.parallel_env) == set()
    assert complaints(parallel_api_test, aec.parallel_env()) == set()


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
def test_it_is_the_engine_s_game(rules: Rules) -> None:
    """Each agent sees its own View, acts in turn, and gets what the outcome says."""
    game = aec.raw_env(rules=rules)
    encoding = Encoding(rules)
    rng = Random(5)
    for seed in range(2):
        game.reset(seed=seed)
        state = game._state
        while not state.over:
            assert game.agent_selection == f"seat_{state.to_act}"
            for seat, agent in enumerate(game.agents):
                seen = view(state, seat)
                shown = game.observe(agent)
                assert shown["observation"].tobytes() == encoding.observation(seen).tobytes()
                assert shown["action_mask"].tobytes() == mask(seen).tobytes()
                space: Any = game.observation_space(agent)
                assert shown in space
                assert space["observation"].high.max() == 1
            assert not any(game.rewards.values())
            assert not any(game.terminations.values())
            game.step(rng.choice(state.legal()))
        winner, win_type, _ = outcome(state.piles, rules)
        signs = [0.0 if winner is None else 1.0 if winner == seat else -1.0 for seat in (0, 1)]
        assert [game.rewards[agent] for agent in game.agents] == signs
        assert all(game.terminations.values())
        assert not any(game.truncations.values())
        for info in game.infos.values():
            assert info == {"winner": -1 if winner is None else winner, "win_type": win_type}
        for agent in (*game.agents,):
            assert not game.observe(agent)["action_mask"].any()
            game.step(None)
        assert game.agents == []


@pytest.mark.parametrize("make", [aec.raw_env, aec.env])
def test_an_illegal_action_of_an_agent_loses(make: Callable[[], Any]) -> None:
    """And the other agent wins."""
    game = make()
    game.reset(seed=1)
    game.step(TAKE)
    game.step(int(np.flatnonzero(game.observe("seat_1")["action_mask"] == 0)[0]))
    assert game.rewards == {"seat_0": 1.0, "seat_1": -1.0}
    assert all(game.terminations.values())
    for agent in ("seat_0", "seat_1"):
        info = game.infos[agent]
        assert (info["winner"], info["win_type"]) == (0, "forfeit")
        assert info["illegal"].startswith("illegal action ")
        assert not game.observe(agent)["action_mask"].any()


RULES = {"rounds": 3, "removed": 13}
BOTS = ["greedy", "uniform", "majority"]


@pytest.fixture(scope="module")
def folder(once: Once) -> Path:
    """A run of three bots under other rules."""
    return once("dataset", play) / "run"


def play(folder: Path) -> None:
    arena.run(BOTS, pairs=4, rules=RULES, out=folder / "run", progress=False)


def expected(folder: Path) -> list[tuple[bytes, bytes, int, int, int, str, int]]:
    """Return the rows that the views of the run's games give, by game and ply."""
    rules = Rules(**RULES)
    results, encoding, rows = arena.open(folder), Encoding(rules), []
    places = product(combinations(BOTS, 2), range(4), (0, 1))
    for number, (two, pair, first) in enumerate(places):
        game = results.game(*two, pair, first)
        state = State(parse_deal(game.record.deal, rules), rules)
        for action in parse_actions(game.record.actions):
            seen = view(state, state.to_act)
            label = game.seats[state.to_act]
            brought = 0 if game.winner is None else 1 if game.winner == label else -1
            bits, legal = encoding.observation(seen).tobytes(), mask(seen).tobytes()
            rows.append((bits, legal, action, brought, seen.seat, label, number))
            state.apply(action)
    return rows


def rows_of(blocks: list[Decisions]) -> list[tuple[bytes, bytes, int, int, int, str, int]]:
    return [
        (seen.tobytes(), legal.tobytes(), *map(int, rest[:3]), BOTS[rest[3]], int(rest[4]))
        for block in blocks
        for seen, legal, *rest in zip(*block, strict=True)
    ]


@pytest.mark.parametrize("games", few([5, 1, 1000]))
def test_every_decision_is_there_once(folder: Path, games: int) -> None:
    """However many games at a time: what the view says, what was played, what it brought."""
    assert rows_of([*dataset(folder, games)]) == expected(folder)


@pytest.mark.slow
def test_games_that_a_fault_ended_are_left_out(tmp_path: Path) -> None:
    """Their results are not those of their actions; the others keep their numbers."""
    bot = write(tmp_path, "upset", "assert view.opening[0] % 2\nreturn view.legal[0]")
    arena.run(["greedy", str(bot)], pairs=3, out=tmp_path / "run", progress=False)
    results = arena.open(tmp_path / "run")
    faulty = [bool(results.game("greedy", "upset", n // 2, n % 2).fault) for n in range(6)]
    numbers = {int(number) for block in dataset(tmp_path / "run") for number in block.games}
    assert 0 < sum(faulty) < 6
    assert numbers == {number for number, is_out in enumerate(faulty) if not is_out}


@pytest.mark.parametrize("actions", ["C" * 36, "T" * 60, "T5"])
def test_a_record_that_cannot_be_played_is_named(folder: Path, actions: str) -> None:
    """Illegal actions, too many and too few."""
    unchanged = Game.of

    def changed(*args: Any) -> Game:
        game = unchanged(*args)
        record = game.record._replace(actions=actions)
        return Game(record, game.seats, game.winner, game.win_type, game.points)

    with (
        mock.patch("arena.store.reader.Game.of", changed),
        pytest.raises(InputError, match=r"game greedy/uniform/./.: its record cannot be played"),
    ):
        next(dataset(folder))
