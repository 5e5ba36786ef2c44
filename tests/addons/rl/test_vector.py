"""The vector of games does what the engine does game by game, and keeps Gymnasium's contract."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

from arena.addons.rl import Encoding, mask, random_deals
from arena.addons.rl.decisions import OBSERVATIONS
from arena.addons.rl.vector import DistrictNoirVectorEnv
from arena.errors import InputError
from engine import STANDARD, TAKE, Rules, State, View, outcome
from engine.view import view
from tests.batch.test_lockstep import ALL_RULES
from tests.tiers import few

COUNT = 12
ID = "arena.addons.rl.env:DistrictNoir-v0"


class Plain:
    """The same games in the engine, one by one, with the same deals."""

    def __init__(self, seed: int, rules: Rules, observation: str = "observation") -> None:
        self.rules = rules
        self.observe: Callable[[View], np.ndarray] = getattr(Encoding(rules), observation)
        self.rng = seeding.np_random(seed)[0]
        self.states = self.deal(COUNT)
        self.ended: list[tuple[int, State, int, list[float]]] = []

    def deal(self, count: int) -> list[State]:
        """Return the next games."""
        deals = random_deals(count, self.rng, self.rules)
        return [State(deal.tobytes(), self.rules) for deal in deals]

    def step(self, actions: list[int]) -> list[float]:
        """Carry the actions out, and return the rewards; `ended` are the games that are over."""
        rewards = [0.0] * COUNT
        self.ended = []
        for game, (state, action) in enumerate(zip(self.states, actions, strict=True)):
            seat = state.to_act
            winner: int | None = 1 - seat
            is_legal = action in state.legal()
            if is_legal:
                state.apply(action)
                winner = outcome(state.piles, self.rules).winner
            if state.over or not is_legal:
                signs = [
                    0.0 if winner is None else 1.0 if winner == one else -1.0 for one in (0, 1)
                ]
                rewards[game] = signs[seat]
                self.ended.append((game, state, seat, signs))
        for (game, *_), state in zip(self.ended, self.deal(len(self.ended)), strict=True):
            self.states[game] = state
        return rewards

    def check(self, observations: np.ndarray, infos: dict[str, Any]) -> None:
        """Assert that the arrays are those of the views of the seats to act."""
        assert infos["seat"].tolist() == [state.to_act for state in self.states]
        for game, state in enumerate(self.states):
            seen = view(state, state.to_act)
            assert observations[game].tobytes() == self.observe(seen).tobytes()
            assert infos["action_mask"][game].tobytes() == mask(seen).tobytes()

    def check_ended(self, infos: dict[str, Any]) -> None:
        """Assert what infos says of the games that are over."""
        games = [game for game, *_ in self.ended]
        assert ("final_obs" in infos) == bool(games)
        if not games:
            return
        final = infos["final_info"]
        for flags in (infos["_final_obs"], infos["_final_info"], final["_returns"]):
            assert np.flatnonzero(flags).tolist() == games
        for game, state, seat, signs in self.ended:
            seen = self.observe(view(state, seat))
            assert infos["final_obs"][game].tobytes() == seen.tobytes()
            assert final["seat"][game] == seat
            assert final["returns"][game].tolist() == signs
            assert final["illegal"][game] == (not state.over)
        assert sum(last is not None for last in infos["final_obs"]) == len(games)


@pytest.mark.parametrize("rules", few(ALL_RULES.values(), 8), ids=ALL_RULES)
def test_it_is_the_engine_game_by_game(rules: Rules) -> None:
    """Observations, masks, rewards, ends and new deals, with an illegal action now and then."""
    check_play(rules, "observation")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["published", "nothing removed", "few cards: rounds"])
def test_information_states_are_those_of_the_engine(name: str) -> None:
    """With all that has happened in a game, and nothing of the one before it."""
    check_play(ALL_RULES[name], "information_state")


def check_play(rules: Rules, observation: str) -> None:
    """Play random games in both, and compare all that is said of them."""
    env = gymnasium.make_vec(ID, num_envs=COUNT, rules=rules, observation=observation)
    plain = Plain(3, rules, observation)
    observations, infos = env.reset(seed=3)
    rng = Random(4)
    ends = illegal = 0
    steps = 2 * rules.game_plies + 14
    rate = 7 / steps / COUNT  # of illegal actions
    for _ in range(steps):
        plain.check(observations, infos)
        assert observations in env.observation_space
        choices = [*map(State.legal, plain.states)]
        actions = [rng.choice(legal) if rng.random() > rate else -1 for legal in choices]
        observations, rewards, terminated, truncated, infos = env.step(np.array(actions))
        assert rewards.tolist() == plain.step(actions)
        assert np.flatnonzero(terminated).tolist() == [game for game, *_ in plain.ended]
        assert not truncated.any()
        plain.check_ended(infos)
        ends += len(plain.ended)
        illegal += -1 in actions
    assert ends > COUNT
    assert illegal


@pytest.mark.parametrize("action", [-1, 12, 10**9, "missing"])
def test_an_illegal_action_loses_its_game(action: Any) -> None:
    """And no other one."""
    env = DistrictNoirVectorEnv(2)
    _, infos = env.reset(seed=1)
    if action == "missing":
        action = np.flatnonzero(infos["action_mask"][0] == 0)[0]
    _, rewards, terminated, _, infos = env.step(np.array([action, TAKE]))
    assert rewards.tolist() == [-1.0, 0.0]
    assert terminated.tolist() == [True, False]
    assert infos["final_info"]["returns"][0].tolist() == [-1.0, 1.0]
    assert infos["seat"].tolist() == [0, 1]


def test_the_same_seed_and_actions_give_the_same_bytes() -> None:
    """And another seed gives other ones; without a seed the deals go on."""
    runs = []
    for seed in (5, 5, 6):
        env = DistrictNoirVectorEnv(4)
        said = [env.reset(seed=seed)[0].tobytes(), env.reset()[0].tobytes()]
        masks = env.reset()[1]["action_mask"]
        for _ in range(60):
            observations, rewards, _, _, infos = env.step(masks.argmax(axis=1))
            masks = infos["action_mask"]
            said += [observations.tobytes(), rewards.tobytes(), masks.tobytes()]
        runs.append(said)
    assert runs[0] == runs[1] != runs[2]
    assert runs[0][0] != runs[0][1]


def test_observations_may_be_left_out() -> None:
    """Then the games, masks and rewards are the same ones, and a row of observations is empty."""
    seen, none = (DistrictNoirVectorEnv(6, observation=name) for name in ("observation", "none"))
    infos, same = seen.reset(seed=3)[1], none.reset(seed=3)[1]
    ends = 0
    for _ in range(60):
        actions = infos["action_mask"].argmax(axis=1)
        _, rewards, terminated, _, infos = seen.step(actions)
        empty, also, over, _, same = none.step(actions)
        assert empty.shape == (6, 0)
        assert empty in none.observation_space
        assert (infos["action_mask"] == same["action_mask"]).all()
        assert (rewards.tolist(), terminated.tolist()) == (also.tolist(), over.tolist())
        ends += over.sum()
        assert [last is not None for last in same.get("final_obs", [])] in ([], over.tolist())
    assert ends >= 6


@pytest.mark.parametrize("observation", OBSERVATIONS)
@pytest.mark.parametrize("copy", [True, False])
def test_arrays_are_copies_unless_they_may_be_overwritten(copy: bool, observation: str) -> None:
    """With copy=False each step fills the same memory, and what is written there is forgotten."""
    env = DistrictNoirVectorEnv(5, copy=copy, observation=observation)
    first, infos = env.reset(seed=1)
    before, seats = first.copy(), infos["seat"].tolist()
    second, _, _, _, after = env.step(infos["action_mask"].argmax(axis=1))
    assert (first == before).all() == copy
    assert np.shares_memory(first, second) == (not copy)
    assert np.shares_memory(infos["action_mask"], after["action_mask"]) == (not copy)
    assert (second != before).any()
    assert infos["seat"].tolist() == seats != after["seat"].tolist()
    twin = DistrictNoirVectorEnv(5, observation=observation)
    masks = twin.reset(seed=1)[1]["action_mask"]
    twin.step(masks.argmax(axis=1))
    second[:] = 1
    actions = after["action_mask"].argmax(axis=1)
    assert (env.step(actions)[0] == twin.step(actions)[0]).all()


def test_gymnasium_makes_it_and_wraps_it() -> None:
    """By `make_vec`; its wrappers read the ends of games and the infos."""
    env = gymnasium.make_vec(
        ID, num_envs=3, vectorization_mode="vector_entry_point", rules={"rounds": 4}
    )
    assert env.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.SAME_STEP
    assert env.single_observation_space.shape == (354,)
    assert env.action_space.shape == (3,)
    assert gymnasium.make_vec(ID).num_envs == 1
    wrapped = DictInfoToList(RecordEpisodeStatistics(env))
    _, infos = wrapped.reset(seed=2)
    games = []
    for _ in range(50):
        actions = np.array([info["action_mask"].argmax() for info in infos])
        _, _, _, _, infos = wrapped.step(actions)
        games += [info for info in infos if "final_info" in info]
    assert len(games) >= 3
    for info in games:
        assert 12 < info["episode"]["l"] <= 48
        assert info["final_info"]["returns"].sum() == 0
        assert info["final_obs"].shape == (354,)


def test_what_cannot_be_used_is_named() -> None:
    """In one line: options, rules, and what is no array of actions."""
    env = DistrictNoirVectorEnv(2)
    with pytest.raises(ResetNeeded):
        env.step(np.array([0, 0]))
    env.reset(seed=1)
    for actions, message in (
        ([0, 0], r"actions: \[0, 0\] is not an array of whole numbers"),
        (np.array([0.0, 1.0]), "is not an array of whole numbers"),
        (np.array([0]), r"actions: an array of shape \(1,\), and not \(2,\)"),
    ):
        with pytest.raises(InputError, match=message):
            env.step(actions)  # type: ignore[arg-type]
    options: dict[str, Any]
    for options, message in (
        ({"render_mode": "ansi"}, "no option render_mode; with vectorization_mode='sync'"),
        ({"rules": {"cards": 3}}, "rules: unknown rule 'cards'; the rules are "),
        ({"rules": 4}, "rules: rules must be a mapping"),
        ({"num_envs": 0}, "num_envs: 0 is not a number from 1"),
        ({"observation": "all"}, "observation: 'all' is not one of: observation, inf.*, none$"),
        ({"autoreset_mode": "next"}, "autoreset_mode: 'next' is not one of: NEXT_STEP, SAME_ST"),
    ):
        with pytest.raises(InputError, match=message):
            gymnasium.make_vec(ID, **options)
    assert DistrictNoirVectorEnv(1, rules=STANDARD).rules is STANDARD
