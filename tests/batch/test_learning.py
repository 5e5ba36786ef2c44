"""A network that learns in numpy, the clone of a bot, and what each seat did and got."""

from __future__ import annotations

import io
import pkgutil
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from arena.addons.rl import Trajectories, by_seat
from arena.batch import learner
from arena.batch.learner import Choices, Network, from_bytes, gather, imitate, to_bytes
from arena.batch.replay import NOTHING
from bots import apprentice
from bots.greedy import bot as greedy
from bots.timing import bot as timing
from engine import STANDARD, play_game
from engine.encoding import encoder_of, worths
from engine.notation import parse_actions, parse_cards
from engine.state import State
from engine.view import view

WEIGHTS = pkgutil.get_data("bots", "apprentice.npz") or b""


def choices_of(games: int) -> tuple[Choices, list[bytes], list[bytes]]:
    """Return what greedy chose in seat 0 and 1 in turn, with the deals and the actions."""
    deals, played = [], []
    for number in range(games):
        seats = (greedy, timing) if number % 2 == 0 else (timing, greedy)
        record = play_game(*seats, seed=number).record
        deals.append(parse_cards(record.deal))
        played.append(parse_actions(record.actions))
    actions = np.full((games, STANDARD.game_plies), NOTHING, np.uint8)
    for row, some in zip(actions, played, strict=True):
        row[: len(some)] = np.frombuffer(some, np.uint8)
    table = np.frombuffer(b"".join(deals), np.uint8).reshape(games, -1)
    return gather(table, actions, np.arange(games) % 2), deals, played


def test_the_numbers_of_a_file_are_those_of_apprentice_and_slopes_lead_down() -> None:
    """Its units and weights, read and written again; each slope is what a small change does."""
    assert (learner.UNIT, learner.WEIGHT) == (apprentice.UNIT, apprentice.WEIGHT)
    own = np.load(io.BytesIO(WEIGHTS))
    again = np.load(io.BytesIO(to_bytes(from_bytes(WEIGHTS))))
    assert {*own} == {*again}
    for name in own:
        assert abs(own[name].astype(float) - again[name]).max() <= 1, name
    network = Network.random([5, 7, 3], np.random.default_rng(1))
    inputs = np.random.default_rng(2).normal(size=(4, 5)).astype(np.float32)
    wanted = np.ones((4, 3), np.float32)

    def loss() -> float:
        return float(((network(inputs) - wanted) ** 2).sum() / 2)

    losses = [loss()]
    for _ in range(200):
        network.improve(network(inputs) - wanted, 0.01)
        losses.append(loss())
    assert losses[-1] < 0.05 * losses[0]


def test_choices_are_what_the_bot_saw_and_did() -> None:
    """View by view in the engine; forced actions are left out."""
    choices, deals, played = choices_of(4)
    found = {
        (int(game), known.astype(np.float32).tobytes()): (mask.tolist(), int(action))
        for known, mask, action, game in zip(*choices, strict=True)
    }
    count = 0
    for game, (deal, actions) in enumerate(zip(deals, played, strict=True)):
        state = State(deal, STANDARD)
        for action in actions:
            seen = view(state, state.to_act)
            if state.to_act == game % 2 and len(seen.legal) > 1:
                leads = [worth / learner.TEN_POINTS for worth in worths(seen)]
                bits = [*encoder_of(STANDARD).observation(seen), *leads]
                mask, chosen = found[game, np.array(bits, np.float32).tobytes()]
                assert chosen == action
                assert [kind for kind, legal in enumerate(mask) if legal] == [*seen.legal]
                count += 1
            state.apply(action)
    assert count == len(choices.actions)


@pytest.mark.slow
def test_a_clone_comes_nearer_and_equal_luck_makes_it_again() -> None:
    """In games from which it has not learned; never further away than where it began."""
    choices, _, _ = choices_of(64)
    clones = [imitate(WEIGHTS, choices, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert clones[0] == clones[1] != clones[2]
    for clone in clones:
        assert clone.alike > clone.before + 0.05
    apprentice.read(clones[0].content)
    few, _, _ = choices_of(2)
    assert imitate(WEIGHTS, few, np.random.default_rng(1)).before > 0
    none = Choices(*(part[:0] for part in choices))
    assert imitate(WEIGHTS, none, np.random.default_rng(1)).content == WEIGHTS


ID = "arena.addons.rl.env:DistrictNoir-v0"


def play(mode: str, illegal: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the seats, rewards and ends of random games, with a share of illegal actions."""
    games = gymnasium.make_vec(ID, num_envs=30, autoreset_mode=mode)
    _, infos = games.reset(seed=1)
    rng = np.random.default_rng(3)
    said: list[Any] = []
    for _ in range(130):
        seats = infos["seat"]
        actions = (rng.random((30, 12)) * infos["action_mask"]).argmax(axis=1)
        actions[rng.random(30) < illegal] = -1
        _, rewards, over, _, infos = games.step(actions)
        said.append((seats, rewards, over))
        if mode == "DISABLED" and over.any():
            _, infos = games.reset(options={"reset_mask": over})
    seats, rewards, over = (np.array(part) for part in zip(*said, strict=True))
    return seats, rewards, over


def plainly(seats: np.ndarray, rewards: np.ndarray, over: np.ndarray) -> list[tuple[Any, ...]]:
    """Return the trajectories of a column at a time, an action after the other."""
    found: list[tuple[Any, ...]] = []
    for game in range(seats.shape[1]):
        open_: dict[int, list[int]] = {}
        for step in range(len(seats)):
            seat = int(seats[step, game])
            if seat < 0:
                continue
            open_.setdefault(seat, []).append(step)
            if over[step, game]:
                for one, steps in open_.items():
                    result = rewards[step, game] * (1 if one == seat else -1)
                    found.append((game, one, steps, result, True))
                open_ = {}
        found += [(game, one, steps, 0.0, False) for one, steps in open_.items()]
    return found


def listed(played: Trajectories) -> list[tuple[Any, ...]]:
    """Return the trajectories as plain values."""
    return [(*one[:2], one.steps.tolist(), *one[3:]) for one in played.split()]


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP", "DISABLED"])
def test_each_seat_has_its_own_decisions_and_result(mode: str) -> None:
    """In every mode, also of games that the arrays cut off."""
    said = play(mode, illegal=0.004)
    played = by_seat(*said)
    paths = listed(played)
    assert sorted(paths) == sorted(plainly(*said))
    assert [(steps[0], game) for game, _, steps, *_ in paths] == sorted(
        (steps[0], game) for game, _, steps, *_ in paths
    )
    assert sum(finished for *_, finished in paths) >= 2 * 2 * 30
    for game, seat, steps, result, finished in paths:
        assert (played.seats[steps, game] == seat).all()
        assert (played.returns[steps, game] == result).all()
        assert (played.finished[steps, game] == finished).all()
        assert played.following[steps, game].tolist() == [*steps[1:], -1]
        assert played.last[steps, game].tolist() == [False] * (len(steps) - 1) + [finished]
        assert played.rewards[steps, game].tolist() == [0.0] * (len(steps) - 1) + [result]


def test_what_one_seat_wins_the_other_loses_also_in_a_standard_loop() -> None:
    """So the mean is 0; a loop that adds up the rewards, or a wrapper, has half of them."""
    seats, rewards, over = play("SAME_STEP")
    played = by_seat(seats, rewards, over)
    assert played.rewards.sum() == 0
    assert np.count_nonzero(played.rewards) == 2 * np.count_nonzero(rewards)
    games = RecordEpisodeStatistics(gymnasium.make_vec(ID, num_envs=200), buffer_length=10**6)
    _, infos = games.reset(seed=7)
    rng = np.random.default_rng(7)
    seats, rewards, over = [], [], []
    for _ in range(100):
        seats.append(infos["seat"])
        actions = (rng.random((200, 12)) * infos["action_mask"]).argmax(axis=1)
        _, reward, terminated, _, infos = games.step(actions)
        rewards.append(reward)
        over.append(terminated)
    results = [one.result for one in by_seat(seats, rewards, over).split() if one.finished]
    assert np.mean(games.return_queue) > 0.02
    assert np.mean(results) == 0
    assert len(results) == 2 * len(games.return_queue)
