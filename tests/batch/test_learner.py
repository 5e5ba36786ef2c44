"""A network that learns in numpy, and the clone of a bot."""

from __future__ import annotations

import io
import pkgutil

import numpy as np
import pytest

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


def test_the_numbers_of_a_file_are_those_of_apprentice() -> None:
    """Its units, and its weights when they are read and written again."""
    assert (learner.UNIT, learner.WEIGHT) == (apprentice.UNIT, apprentice.WEIGHT)
    own = np.load(io.BytesIO(WEIGHTS))
    again = np.load(io.BytesIO(to_bytes(from_bytes(WEIGHTS))))
    assert {*own} == {*again}
    for name in own:
        assert abs(own[name].astype(float) - again[name]).max() <= 1, name


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


def test_a_network_goes_down_its_slopes() -> None:
    """The slopes of each weight are what a small change of it does."""
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
