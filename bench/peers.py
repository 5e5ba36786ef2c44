"""The same figures for other card-game engines, those that are installed."""

from __future__ import annotations

import importlib.metadata
import random
from collections.abc import Callable, Iterator
from typing import Any

from bench import bare
from bench.engine import Row
from bench.timing import paired


def rows() -> Iterator[Row]:
    """Yield games/s of random play by each peer, as a ratio to the bare loop."""
    rng = random.Random(1)
    for name, make in PEERS.items():
        package = name.partition(" ")[0]
        try:
            version = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            yield Row(name, "not installed")
            continue
        games, actions, copy = make()
        own, _, ratio = paired(games, lambda: bare.play(rng), rounds=10)
        figure = f"{1 / own:,.1f} games/s of {actions():.0f} actions"
        copies = ""
        if copy is not None:
            seconds, _, _ = paired(copy, lambda: bare.play(rng), rounds=10)
            copies = f", copy {seconds * 1e9:,.0f} ns"
        yield Row(f"{name} {version}", figure + copies, f"{ratio:.5f}")


Peer = tuple[Callable[[], object], Callable[[], float], Callable[[], object] | None]


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
    return play, lambda: sum(play() for _ in range(50)) / 50, state.clone


def _rlcard() -> Peer:
    import rlcard
    from rlcard.agents import RandomAgent

    env = rlcard.make("gin-rummy")
    env.set_agents([RandomAgent(num_actions=env.num_actions) for _ in range(2)])

    def play() -> Any:
        return env.run(is_training=False)

    def length() -> float:
        trajectories, _ = play()
        return float(sum(len(own) // 2 for own in trajectories))

    return play, length, None


def _catanatron() -> Peer:
    from catanatron import Color, Game, RandomPlayer

    def new() -> Any:
        return Game([RandomPlayer(Color.RED), RandomPlayer(Color.BLUE)])

    def length() -> float:
        game = new()
        game.play()
        return float(len(getattr(game.state, "action_records", getattr(game.state, "actions", []))))

    return lambda: new().play(), length, new().copy


PEERS: dict[str, Callable[[], Peer]] = {
    "open_spiel gin_rummy": lambda: _open_spiel("gin_rummy"),
    "open_spiel leduc_poker": lambda: _open_spiel("leduc_poker"),
    "rlcard gin-rummy": _rlcard,
    "catanatron two players": _catanatron,
}
