"""What other frameworks add to a decision, each through the protocol that its users write bots for.

Every game is random play between two bots of one kind. A bot's own time is measured and taken
off: what stays is the framework's, rules, views, checks and records.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from time import perf_counter
from typing import Any, NamedTuple

from bench import gym
from bench.engine import positions
from bench.timing import Work, paired, seconds, times_for

COLUMNS = ("framework, game", "games/s", "decisions a game", "overhead a decision, us", "of ours")
NOTE = """Each framework plays a game of about our length through its own runner, on one core,
between two bots that draw a legal action (Catan takes longer, also to 3 points). The overhead is
the time of a game without that of its bots, by the number of decisions. The last column is this
overhead as a multiple of ours, which took turns with it in one process: of one game at a time, or
of many in lockstep."""

_LIMIT = 120  # seconds of a peer, of which it takes some ten on cores at rest
_ROUNDS = 10
_AT_ONCE = 1024  # games of Pgx

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]
"""What is done to the function of a bot that chooses: nothing, or a look at the clock."""


class Peer(NamedTuple):
    """A framework at play: how many decisions a call of `play` has, and what bots take for one."""

    play: Work
    games: float
    decisions: float
    choice: float

    def overhead(self, seconds: float) -> float:
        """Return the seconds of a decision that are not the bots', of a call that took so many."""
        return seconds / (self.games * self.decisions) - self.choice


class Row(NamedTuple):
    """One line of the table."""

    what: str
    rate: str
    decisions: str = ""
    overhead: str = ""
    ratio: str = ""


class Watch:
    """Counts choices, and adds up the seconds that they take."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Forget all choices so far."""
        self.choices, self.seconds = 0, 0.0

    def timed(self, choose: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that chooses as this one does, under watch."""

        def watched(*seen: Any) -> Any:
            begin = perf_counter()
            action = choose(*seen)
            self.seconds += perf_counter() - begin
            self.choices += 1
            return action

        return watched


def single(make: Callable[[Wrap], Work]) -> Peer:
    """Return a framework that plays game by game: `make` wraps its bots, and plays one game."""
    watch = Watch()
    play, empty = make(watch.timed), watch.timed(lambda: None)
    play()
    games, choices, choice, nothing = 0, 0, float("inf"), float("inf")
    for _ in range(_ROUNDS):
        watch.start()
        for _ in range(10_000):
            empty()
        nothing = min(nothing, watch.seconds / watch.choices)
        watch.start()
        begin = perf_counter()
        while perf_counter() - begin < 0.2:
            play()
            games += 1
        choices += watch.choices
        choice = min(choice, watch.seconds / watch.choices)
    return Peer(make(lambda choose: choose), 1, choices / games, choice - nothing)


def draw(legal: Any) -> Any:
    """Return a random item, as the bot `uniform` draws it."""
    return legal[int(random.random() * len(legal))]


def _ours(wrap: Wrap) -> Work:
    from bots.uniform import Uniform
    from engine import play_game

    class Bot(Uniform):
        choose = wrap(Uniform.choose)

    seeds = count()
    return lambda: play_game(Bot, Bot, seed=next(seeds))


def _open_spiel(wrap: Wrap) -> Work:
    import numpy as np
    import pyspiel
    from open_spiel.python.algorithms.evaluate_bots import evaluate_bots

    class Bot(pyspiel.Bot):  # type: ignore[misc]
        choose = staticmethod(wrap(draw))

        def step(self, state: Any) -> Any:
            return self.choose(state.legal_actions())

        def restart_at(self, state: Any) -> None:
            pass

        def inform_action(self, state: Any, player: int, action: int) -> None:
            pass

    game, rng, bots = pyspiel.load_game("go_fish"), np.random.RandomState(1), [Bot(), Bot()]
    return lambda: evaluate_bots(game.new_initial_state(), bots, rng)


def _rlcard(wrap: Wrap) -> Work:
    import rlcard

    class Agent:
        use_raw = False
        choose = staticmethod(wrap(lambda state: draw([*state["legal_actions"]])))

        def eval_step(self, state: Any) -> Any:
            return self.choose(state), {}

    env = rlcard.make("uno")
    env.set_agents([Agent(), Agent()])
    return lambda: env.run(is_training=False)


def _catanatron(wrap: Wrap) -> Work:
    from catanatron import Color, Game, Player

    class Bot(Player):  # type: ignore[misc]
        choose = staticmethod(wrap(draw))

        def decide(self, _: Any, playable_actions: Any) -> Any:
            return self.choose(playable_actions)

    return lambda: Game([Bot(Color.RED), Bot(Color.BLUE)], vps_to_win=3).play()


def _pettingzoo(wrap: Wrap) -> Work:
    import numpy as np
    from pettingzoo.classic import go_v5

    choose = wrap(lambda seen: draw(np.flatnonzero(seen["action_mask"])))
    env = go_v5.env(board_size=6)

    def play() -> None:
        env.reset()
        for _ in env.agent_iter():
            seen, _, ended, cut, _ = env.last()
            env.step(None if ended or cut else choose(seen))

    return play


def _kaggle(wrap: Wrap) -> Work:
    from kaggle_environments import make

    columns = range(10)
    choose = wrap(lambda seen: draw([column for column in columns if not seen.board[column]]))

    def agent(observation: Any) -> Any:
        return choose(observation)

    wide = {"rows": 7, "columns": len(columns), "inarow": 5}
    env = make("connectx", configuration=wide)
    return lambda: env.run([agent, agent])


def _our_vector() -> Peer:
    import gymnasium
    import numpy as np

    games = gymnasium.make_vec("arena.addons.rl.env:DistrictNoir-v0", num_envs=gym.GAMES)
    _, infos = games.reset(seed=1)
    luck = np.random.default_rng(1)
    choice = _best(lambda: gym.draw(infos["action_mask"], luck)) / gym.GAMES
    decisions = len(positions(random.Random(1), gym.SAMPLE)) / gym.SAMPLE
    return Peer(gym.stepping(gym.GAMES, {}), gym.GAMES / decisions, decisions, choice)


def _pgx() -> Peer:
    os.environ["JAX_PLATFORMS"] = "cpu"
    if hasattr(os, "sched_setaffinity"):  # XLA would use every core
        os.sched_setaffinity(0, [max(os.sched_getaffinity(0))])
    import jax
    import pgx
    from jax import numpy as jnp
    from pgx.experimental import auto_reset

    env = pgx.make("othello")
    step = jax.jit(jax.vmap(auto_reset(env.step, env.init)))
    key = jax.random.PRNGKey(1)
    state = jax.jit(jax.vmap(env.init))(jax.random.split(key, _AT_ONCE))

    def chosen(luck: Any, masks: Any) -> Any:
        wanted = jax.random.uniform(luck, (_AT_ONCE, 1)) * masks.sum(1, keepdims=True)
        return (jnp.cumsum(masks, 1) > wanted).argmax(1)

    choose = jax.jit(chosen)

    def play() -> None:
        nonlocal key, state
        key, luck, anew = jax.random.split(key, 3)
        actions = choose(luck, state.legal_action_mask)
        state = jax.block_until_ready(step(state, actions, jax.random.split(anew, _AT_ONCE)))

    decisions, live = 0, state.terminated == 0
    while live.any():
        decisions += int(live.sum())
        play()
        live &= ~state.terminated
    choice = _best(lambda: choose(key, state.legal_action_mask).block_until_ready()) / _AT_ONCE
    return Peer(play, _AT_ONCE * _AT_ONCE / decisions, decisions / _AT_ONCE, choice)


def _best(work: Work) -> float:
    times = times_for(work, 0.02)
    return min(seconds(work, times) for _ in range(20))


ONE, MANY = "ours, `play_game`", f"ours, `make_vec`, {gym.GAMES:,} at once"
PGX = f"Pgx, Othello, {_AT_ONCE:,} at once"
PEERS: Mapping[str, tuple[str, Callable[[], Peer]]] = {
    ONE: ("", lambda: single(_ours)),
    "OpenSpiel, Go Fish": ("open_spiel", lambda: single(_open_spiel)),
    "RLCard, Uno": ("rlcard", lambda: single(_rlcard)),
    "Catanatron, two players to 3 points": ("catanatron", lambda: single(_catanatron)),
    "PettingZoo, Go on 6 x 6": ("pettingzoo", lambda: single(_pettingzoo)),
    "kaggle-environments, ConnectX, 5 of 10 x 7": (
        "kaggle-environments",
        lambda: single(_kaggle),
    ),
    MANY: ("", _our_vector),
    PGX: ("pgx", _pgx),
}
"""By name: the distribution that has it, empty for ours, and what makes it."""


def rows() -> Iterator[Row]:
    """Yield a row for each framework, measured in a process of its own."""
    for name, (distribution, _) in PEERS.items():
        try:
            version = importlib.metadata.version(distribution) if distribution else ""
        except importlib.metadata.PackageNotFoundError:
            yield Row(name, "not installed")
            continue
        words = [sys.executable, "-m", "bench.peers", name]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=_LIMIT)
        except subprocess.TimeoutExpired:
            yield Row(name, f"nothing within {_LIMIT} s")
            continue
        if done.returncode:
            said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
            yield Row(name, f"failed: {said[-1]}".replace("|", "/"))
        else:
            named = name.replace(",", f" {version},", 1) if version else name
            yield Row(named, *json.loads(done.stdout.splitlines()[-1]))


def measure(name: str) -> tuple[str, str, str, str]:
    """Return the figures of a framework: games/s, decisions, overhead, and its multiple of ours."""
    peer, ours = (PEERS[each][1]() for each in (name, MANY if name in (MANY, PGX) else ONE))
    own, other, ratio = paired(peer.play, ours.play, rounds=_ROUNDS)
    multiple = peer.overhead(other / ratio) / ours.overhead(other)
    return (
        f"{peer.games / own:,.0f}",
        f"{peer.decisions:.0f}",
        f"{1e6 * peer.overhead(own):,.2f}",
        "1" if name in (ONE, MANY) else f"{multiple:,.1f}",
    )


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
