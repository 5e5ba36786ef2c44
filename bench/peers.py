"""The same figures for other card-game engines, those that are installed."""

from __future__ import annotations

import importlib.metadata
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from bench import bare
from bench.engine import Row
from bench.timing import Work, paired, seconds, times_for


class Peer(NamedTuple):
    """One engine: a random game, its mean length in actions, and single operations by name."""

    play: Work
    length: Callable[[], float]
    operations: dict[str, Work]


def rows() -> Iterator[Row]:
    """Yield games/s of random play by each peer, with its ratio to the bare loop."""
    rng = random.Random(1)
    for name, make in PEERS.items():
        try:
            version = importlib.metadata.version(name.partition(" ")[0])
        except importlib.metadata.PackageNotFoundError:
            yield Row(name, "not installed")
            continue
        peer = make()
        own, _, ratio = paired(peer.play, lambda: bare.play(rng), rounds=10)
        yield Row(
            f"{name} {version}, games/s of {peer.length():.0f} actions",
            f"{1 / own:,.0f}",
            f"{ratio:.4f}",
        )
        for operation, work in peer.operations.items():
            yield Row(f"{name}: {operation}, ns", f"{_best(work) * 1e9:,.0f}")


def _best(work: Work) -> float:
    times = times_for(work, 0.02)
    return min(seconds(work, times) for _ in range(20))


def _open_spiel(game_name: str) -> Peer:
    import pyspiel

    game = pyspiel.load_game(game_name)

    def play() -> int:
        state, length = game.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                actions, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(random.choices(actions, weights)[0])
            else:
                state.apply_action(random.choice(state.legal_actions()))
                length += 1
        return length

    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    action = state.legal_actions()[0]
    operations: dict[str, Work] = {
        "copy": state.clone,
        "copy and apply": lambda: state.clone().apply_action(action),
        "legal": state.legal_actions,
        "view (observation_string)": lambda: state.observation_string(0),
    }
    return Peer(play, lambda: sum(play() for _ in range(50)) / 50, operations)


def _rlcard() -> Peer:
    import rlcard
    from rlcard.agents import RandomAgent

    env = rlcard.make("gin-rummy")
    env.set_agents([RandomAgent(num_actions=env.num_actions) for _ in range(2)])

    def play() -> Any:
        return env.run(is_training=False)

    def length() -> float:
        games = [play()[0] for _ in range(20)]
        return sum(len(own) // 2 for game in games for own in game) / len(games)

    env.reset()
    return Peer(play, length, {"view (get_state)": lambda: env.get_state(env.get_player_id())})


def _catanatron() -> Peer:
    from catanatron import Color, Game, RandomPlayer

    def new() -> Any:
        return Game([RandomPlayer(Color.RED), RandomPlayer(Color.BLUE)])

    def length() -> float:
        games = [new() for _ in range(10)]
        for game in games:
            game.play()
        return sum(len(game.state.actions) for game in games) / len(games)

    start = new()
    operations: dict[str, Work] = {
        "copy": start.copy,
        "copy and apply": lambda: start.copy().play_tick(),
    }
    return Peer(lambda: new().play(), length, operations)


PEERS: dict[str, Callable[[], Peer]] = {
    "open_spiel gin_rummy": lambda: _open_spiel("gin_rummy"),
    "open_spiel leduc_poker": lambda: _open_spiel("leduc_poker"),
    "rlcard gin-rummy": _rlcard,
    "catanatron two players": _catanatron,
}
