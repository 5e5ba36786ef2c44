"""Teach a network to win against a bot of ours that does not learn."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, NamedTuple

from arena.entries.entry import Entry
from arena.entries.resolve import BOTS
from arena.errors import InputError
from arena.runs.clone_bot import TEACHER
from engine import STANDARD
from engine.play import setup
from engine.seeds import stream

if TYPE_CHECKING:
    from arena.batch.rollouts import Policy

LESSON: Final = 1024
"""Games between two changes of the network."""

_WARM = 2  # lessons in which only the critic learns


class Taught(NamedTuple):
    """A network that has learned in so many games, as an npz file, and whether it was stopped."""

    content: bytes
    games: int
    stopped: bool = False


def policy_of(victim: Entry) -> Policy | None:
    """Return how a bot of ours scores actions in many games, or None if it does not.

    A stranger's code is not run here: so of its bot nothing is known.
    """
    if not victim.is_ours or victim.restriction:
        return None
    try:
        strategy = victim.create(setup(0, 0, STANDARD))
    except Exception as error:  # as a stranger's bot would in its process
        raise InputError(f"bot {victim.target!r}: {error}") from None
    policy: Policy | None = getattr(strategy, "scores", None)
    return policy


def teach(policy: Policy, games: int | None, seconds: float, seed: int) -> Taught:
    """Return a network that has learned in so many games, or for so long, against a policy.

    It begins as that of `apprentice`. Ctrl-C ends the training, and what was learned until then
    counts.
    """
    import numpy as np

    from arena.batch.learner import Network, from_bytes, to_bytes
    from arena.batch.ppo import SEEN, Frozen, Options, learn, play

    rng = np.random.default_rng(stream(seed, "taught").getrandbits(64))
    actor = from_bytes((BOTS / f"{TEACHER}.npz").read_bytes())
    critic = Network.random([SEEN, 256, 128, 1], rng, last=0.1)
    options, rival = Options(entropy=0.01), Frozen(policy)
    begin, played, progress, lesson = time.monotonic(), 0, 0.0, 0
    try:
        while progress < 1:
            count = LESSON if games is None else min(LESSON, games - played)
            decisions = play(actor, count, rng, rival)
            pupil = actor if lesson >= _WARM else Network(actor.layers)
            learn(pupil, critic, decisions, rng, options, progress)
            played, lesson = played + count, lesson + 1
            progress = played / games if games else (time.monotonic() - begin) / seconds
    except KeyboardInterrupt:
        return Taught(to_bytes(actor), played, stopped=True)
    return Taught(to_bytes(actor), played)
