"""The vector of games against bots does what the engine and the bots do game by game."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils import seeding

from arena.addons.rl import Encoding, Lockstep, mask, random_deals
from arena.addons.rl.decisions import find_opponents
from arena.addons.rl.vector import DistrictNoirVectorEnv
from arena.batch.learner import Network, to_bytes
from arena.errors import InputError
from bots import apprentice
from bots.uniform import Uniform
from engine import STANDARD, TAKE, Rules, State, outcome
from engine.play import setup
from engine.view import view
from tests.bots.test_networks import BOTS, ODD
from tests.tiers import few

ID = "arena.addons.rl.env:DistrictNoir-v0"
COUNT = 8
SEEDS = [*range(70, 70 + COUNT)]


class Game:
    """Games in the engine, as a seed deals them; without bots the learner has both seats."""

    def __init__(self, seed: int, names: list[Any], rules: Rules, skips: bool) -> None:
        self.rng = seeding.np_random(seed)[0]
        self.rules, self.skips = rules, skips
        self.bots = find_opponents(names, rules) if names else []
        self.asked = 0
        self.begin()

    def begin(self) -> None:
        """Begin a game, in which the opponent may act first."""
        self.state = State(random_deals(1, self.rng, self.rules)[0].tobytes(), self.rules)
        if self.bots:
            self.seat = int(self.rng.integers(2, size=1)[0])
            share = np.full(len(self.bots), 1 / len(self.bots)).cumsum()
            self.opponent = self.bots[int(share.searchsorted(self.rng.random(), side="right"))]
            self.strategy = self.opponent.begin(setup(0, 1 - self.seat, self.rules))
        self.go_on()

    def go_on(self) -> None:
        """Play to the learner's next choice, or to the end."""
        while not self.state.over:
            legal = self.state.legal()
            if not self.bots:
                self.seat = self.state.to_act
                self.asked += 1
                return
            if self.state.to_act != self.seat:
                self.asked += len(legal) > 1
                action = self.strategy.choose(view(self.state, 1 - self.seat))
            elif self.skips and len(legal) == 1:
                action = legal[0]
            else:
                return
            self.state.apply(self.state.checked(action))

    def step(self, action: int) -> float | None:
        """Carry out the learner's action; return the reward of a game that is over."""
        if not self.state.over:
            if action not in self.state.legal():
                return -1.0
            self.state.apply(action)
            self.go_on()
        if not self.state.over:
            return None
        winner = outcome(self.state.piles, self.rules).winner
        return 0.0 if winner is None else 1.0 if winner == self.seat else -1.0

    def see(self, observation: str) -> tuple[bytes, list[int]]:
        """Return what the learner observes, and its mask."""
        seen = view(self.state, self.seat)
        legal = (np.arange(12) == TAKE).astype(int) if self.state.over else mask(seen)
        return getattr(Encoding(self.rules), observation)(seen).tobytes(), legal.tolist()


def check(
    names: Any,
    views: int,
    rules: Rules = STANDARD,
    skips: bool = False,
    observation: str = "information_state",
) -> int:
    """Play until bots (else learners) were asked so often; return how many games were over."""
    options: Any = {"rules": rules, "observation": observation, "skip_forced": skips}
    env = gymnasium.make_vec(ID, COUNT, opponent=names, **options)
    several = names if isinstance(names, list) else [names] * (names is not None)
    games = [Game(seed, several, rules, skips) for seed in SEEDS]
    observations, infos = env.reset(seed=SEEDS)  # type: ignore[arg-type]
    rng = np.random.default_rng(1)
    ends = wrong = 0
    while sum(game.asked for game in games) < views:
        assert observations in env.observation_space
        for number, game in enumerate(games):
            legal = infos["action_mask"][number].tolist()
            assert (observations[number].tobytes(), legal) == game.see(observation)
            assert infos["seat"][number] == game.seat
            assert names is None or infos["opponent"][number] == game.opponent.name
        actions = (rng.random((COUNT, 12)) * infos["action_mask"]).argmax(axis=1)
        actions[rng.random(COUNT) < (0.002 if names else 7 / views)] = -1
        observations, rewards, over, truncated, infos = env.step(actions)
        found = [game.step(int(action)) for game, action in zip(games, actions, strict=True)]
        assert over.tolist() == [reward is not None for reward in found]
        assert rewards.tolist() == [reward or 0 for reward in found]
        assert not truncated.any()
        assert ("final_obs" in infos) == over.any()
        end = infos.get("final_info", {})
        for flags in (infos["_final_obs"], infos["_final_info"], end["_returns"]) if end else ():
            assert (flags == over).all()
        for number in np.flatnonzero(over):
            game, reward = games[number], found[number]
            assert infos["final_obs"][number].tobytes() == game.see(observation)[0]
            assert names is None or end["opponent"][number] == game.opponent.name
            assert end["seat"][number] == game.seat
            assert end["returns"][number].tolist() == [reward, -reward][:: 1 - 2 * game.seat]
            assert end["illegal"][number] == (not game.state.over)
            wrong += not game.state.over
            game.begin()
            ends += 1
    assert names or wrong
    return ends


MIXTURE = ["greedy", "timing", "majority(patience=2)"]


@pytest.mark.parametrize("views", few([300, 10_000], 1, 0))
@pytest.mark.parametrize("names", [*BOTS, "apprentice", MIXTURE], ids=str)
def test_its_answers_are_those_of_the_bot_that_a_person_plays(names: Any, views: int) -> None:
    """Move by move, with what the learner sees, the ends and the new deals; a list is a mixture."""
    assert check(names, views) > views / 60


@pytest.mark.parametrize("skips", [False, True])
@pytest.mark.parametrize("rules", few([Rules(take_size=4), *ODD.values()], 2), ids=str)
def test_they_are_so_under_other_rules(rules: Rules, skips: bool) -> None:
    """With forced actions and without."""
    assert check("greedy", 300, rules, skips)


MODES = ("SAME_STEP", "NEXT_STEP", "DISABLED")


@pytest.mark.parametrize(("mode", "skips"), few(product(MODES, (False, True)), unpack=True))
def test_a_game_may_end_before_the_learner_acts(mode: str, skips: bool) -> None:
    """Then any action ends it, as in the environment of one game."""
    rules = Rules(cities_needed=1, hand_size=2, rounds=10, take_size=2)
    assert check("timing", 300, rules, skips) > COUNT
    options = {"opponent": "timing", "rules": rules, "autoreset_mode": mode}
    env = DistrictNoirVectorEnv(400, skip_forced=skips, **options)  # type: ignore[arg-type]
    observations, infos = env.reset(seed=2)
    early = env.games.over.copy()
    assert 10 < early.sum() < 100
    assert (infos["seat"][early] >= 0).all()
    assert all(np.flatnonzero(row).tolist() == [TAKE] for row in infos["action_mask"][early])
    actions = np.where(early, 7, infos["action_mask"].argmax(axis=1))
    after, rewards, over, _, infos = env.step(actions)
    assert over[early].all()
    assert (rewards[early] == -1).all()
    last = infos.get("final_obs", after)
    assert all((last[game] == observations[game]).all() for game in np.flatnonzero(early))
    assert not infos.get("final_info", infos)["illegal"][early].any()


@pytest.mark.parametrize("opponent", few(["greedy", None], 0))
def test_forced_actions_are_skipped_on_request(opponent: str | None) -> None:
    """Of both seats, too: each mask has a choice."""
    env = DistrictNoirVectorEnv(50, opponent=opponent, skip_forced=True)
    _, infos = env.reset(seed=1)
    steps, ends = 0, 0
    while ends < 100:
        assert infos["action_mask"].sum(axis=1).min() > 1
        _, rewards, over, _, infos = env.step(infos["action_mask"].argmax(axis=1))
        ends += over.sum()
        steps += 1
        for game in np.flatnonzero(over):
            seat = infos["final_info"]["seat"][game]
            assert rewards[game] == infos["final_info"]["returns"][game, seat]
    assert steps <= 40 * (1 if opponent else 2)


def test_opponents_are_drawn_for_each_game_and_the_learner_may_have_one_seat() -> None:
    """A mapping has weights; else the seats are as frequent; the others play one by one."""
    for seat in (0, 1):
        env = DistrictNoirVectorEnv(40, opponent="greedy", seat=seat)
        assert set(env.reset(seed=1)[1]["seat"].tolist()) == {seat}
    names = {"greedy": np.int64(3), "timing": 1}
    infos = DistrictNoirVectorEnv(4000, opponent=names, observation="none").reset(seed=1)[1]
    assert infos["seat"].mean() == pytest.approx(0.5, abs=0.04)
    counts = Counter(infos["opponent"].tolist())
    assert counts["greedy"] == pytest.approx(3000, abs=130)
    assert counts["timing"] == 4000 - counts["greedy"]
    games = gymnasium.make_vec(ID, 3, vectorization_mode="sync", opponent=["uniform", Uniform])
    _, infos = games.reset(seed=7)
    assert set(infos["opponent"]) <= {"uniform", "Uniform"}


WEIGHTS = [to_bytes(Network.random([379, 8, 12], np.random.default_rng(seed))) for seed in (1, 2)]
"""The files of small networks, as training writes them."""


@pytest.mark.slow
def test_a_checkpoint_is_an_opponent(tmp_path: Path) -> None:
    """As a function of many games, and as a folder with it and a bot that reads it."""
    page = Path(__file__).parents[3] / "docs" / "examples" / "selfplay" / "bot.py"
    (tmp_path / "bot.py").write_text(page.read_text())
    (tmp_path / "weights.npz").write_bytes(WEIGHTS[0])
    assert check(f"{tmp_path}/", 300)
    said = []
    for one in (f"{tmp_path}/", apprentice.read(WEIGHTS[0]).scores_in):
        env = DistrictNoirVectorEnv(20, opponent=one)
        masks, seen = env.reset(seed=3)[1]["action_mask"], []
        for _ in range(50):
            observations, *_, infos = env.step(masks.argmax(axis=1))
            masks = infos["action_mask"]
            seen.append(observations.tobytes())
        said.append(seen)
    assert said[0] == said[1]


@pytest.mark.slow
def test_a_pool_changes_between_games() -> None:
    """Games go on against theirs; those that begin are against the new ones, in every mode."""
    for mode in ("SAME_STEP", "NEXT_STEP"):
        env = DistrictNoirVectorEnv(60, opponent=["greedy", "denier"], autoreset_mode=mode)
        begun = env.reset(seed=1)[1]["opponent"].copy()
        infos = env.step(np.full(60, TAKE))[4]
        env.meet("timing")
        fresh = np.zeros(60, bool)
        for step in range(80):
            if step == 30:
                env.meet({apprentice.read(WEIGHTS[1]).scores_in: 1, "majority": 2})
                begun, fresh = infos["opponent"].copy(), np.zeros(60, bool)
            waiting = infos["seat"] < 0
            _, _, over, _, infos = env.step(infos["action_mask"].argmax(axis=1))
            fresh |= over if mode == "SAME_STEP" else waiting
            assert (infos["opponent"][~fresh] == begun[~fresh]).all()
            if step < 30:
                assert set(infos["opponent"][fresh]) <= {"timing"}
        assert set(infos["opponent"]) == {"scores_in", "majority"}


def nothing(games: Lockstep) -> np.ndarray:
    return np.full((games.count, 12), -np.inf)


def too_few(games: Lockstep) -> np.ndarray:
    return np.zeros((games.count + 1, 12))


def failing(_games: Lockstep) -> np.ndarray:
    raise ZeroDivisionError("no score")


def test_what_cannot_be_an_opponent_is_named() -> None:
    """In one line, before a game begins; and what fails in one, too."""
    for options, message in (
        ({"opponent": "greedi"}, "opponent 'greedi': no bot .*; did you mean greedy"),
        ({"opponent": "./weights.npz"}, "'./weights.npz': weights without a bot; give the folder"),
        ({"opponent": "uniform"}, r"'uniform': it has no method scores\(games\), .*'sync'\)$"),
        ({"opponent": Uniform}, r"'Uniform': it has no method scores\(games\)"),
        ({"opponent": ["greedy", 3]}, "opponent 3: neither a spec, a class nor a function"),
        ({"opponent": []}, "opponent: none is given"),
        ({"opponent": {}}, "opponent: none is given"),
        ({"opponent": {"greedy": 0}}, "'greedy': its weight 0 is no number above 0"),
        ({"opponent": {"greedy": "2"}}, "'greedy': its weight '2' is no number above 0"),
        ({"opponent": {"greedy": True}}, "'greedy': its weight True is no number above 0"),
        ({"opponent": {"greedy": np.nan}}, "'greedy': its weight nan is no number above 0"),
        ({"opponent": "greedy", "seat": 2}, "seat: 2 is not 0, 1 or 'both'"),
        ({"seat": 1}, "seat: 1; without an opponent the learner plays both"),
        ({"opponent": "greedy", "skip_forced": 1}, "skip_forced: 1 is neither True nor False"),
    ):
        with pytest.raises(InputError, match=message) as raised:
            gymnasium.make_vec(ID, **options)
        assert "\n" not in str(raised.value)
    for one, message in (
        (nothing, "opponent 'nothing': no legal action has a score"),
        (too_few, "opponent 'too_few': scores of shape .9, 12., not .8, 12."),
        (failing, "opponent 'failing': ZeroDivisionError: no score"),
    ):
        with pytest.raises(InputError, match=message):
            DistrictNoirVectorEnv(8, opponent=one, seat=1).reset(seed=1)
    with pytest.raises(InputError, match="meet: these games were made without an opponent"):
        DistrictNoirVectorEnv(8).meet("greedy")
