"""Teach a network to beat a bot that does not learn, and keep it after every lesson."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from zipfile import BadZipFile

from arena.entries.entry import Entry
from arena.entries.resolve import BOTS
from arena.errors import InputError
from arena.runs.clone_bot import TEACHER
from arena.runs.progress_bar import show_progress
from arena.runs.run import Interrupted
from engine.seeds import stream

if TYPE_CHECKING:
    from arena.batch.learner import Network
    from arena.batch.ppo import Rival

LESSON: Final = 512
"""Pairs of games that are played before the network learns from them."""

_FIRST = 2  # lessons of the critic alone, which begins without knowledge
_RATE, _ENTROPY = 1e-3, 0.01
_UNITS = (256, 128)  # of the critic


class Amount(NamedTuple):
    """How much is learned: from so many pairs of games, or for so many seconds."""

    pairs: int | None
    seconds: float

    @property
    def name(self) -> str:
        """What the file of a learner is called: with another amount its rate falls otherwise."""
        return f"learner-{self.pairs}.npz" if self.pairs else "learner.npz"

    def progress(self, pairs: int, seconds: float) -> float:
        """Return which part has been done."""
        return pairs / self.pairs if self.pairs else seconds / self.seconds


class Learner:
    """A network that learns, its critic, and the generator of its luck; `pairs` it has played.

    As bytes it is all of that, so that it goes on as if it had never been away.
    """

    def __init__(self, actor: Network, critic: Network, rng: Any, pairs: int, lessons: int) -> None:
        self.actor = actor
        self.critic = critic
        self.rng = rng
        self.pairs = pairs
        self.lessons = lessons

    @classmethod
    def new(cls, seed: int) -> Learner:
        """Return one that has learned nothing, whose network is that of the teacher."""
        import numpy as np

        from arena.batch.learner import Network, from_bytes
        from arena.batch.ppo import SEEN

        rng = np.random.default_rng(stream(seed, "learner").getrandbits(64))
        actor = from_bytes((BOTS / f"{TEACHER}.npz").read_bytes())
        return cls(actor, Network.random([SEEN, *_UNITS, 1], rng, last=0.1), rng, 0, 0)

    def learn(self, victim: Rival, pairs: int, progress: float) -> None:
        """Play so many pairs of games against a bot, and learn from them."""
        from arena.batch.learner import Network
        from arena.batch.ppo import Options, learn, play

        decisions = play(self.actor, 2 * pairs, self.rng, victim)
        actor = Network(self.actor.layers) if self.lessons < _FIRST else self.actor
        options = Options(rate=_RATE, entropy=_ENTROPY)
        learn(actor, self.critic, decisions, self.rng, options, progress)
        self.pairs += pairs
        self.lessons += 1

    def to_bytes(self) -> bytes:
        """Return all that the learner is, as an npz file."""
        import numpy as np

        arrays = {
            f"{name}{part}{place}": array
            for name, network in (("actor", self.actor), ("critic", self.critic))
            for part in ("layers", "means", "squares")
            for place, array in enumerate(getattr(network, part))
        }
        rest = {
            "steps": [self.actor.steps, self.critic.steps],
            "rng": self.rng.bit_generator.state,
            "pairs": self.pairs,
            "lessons": self.lessons,
        }
        file = io.BytesIO()
        np.savez(file, allow_pickle=False, rest=np.array(json.dumps(rest)), **arrays)
        return file.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> Learner:
        """Return the learner of such a file; raises ValueError or KeyError for another one."""
        import numpy as np

        learner = cls.new(0)
        with np.load(io.BytesIO(content)) as arrays:
            rest = json.loads(str(arrays["rest"]))
            networks = (("actor", learner.actor), ("critic", learner.critic))
            for (name, network), steps in zip(networks, rest["steps"], strict=True):
                network.steps = steps
                for part in ("layers", "means", "squares"):
                    for place, array in enumerate(getattr(network, part)):
                        array[:] = arrays[f"{name}{part}{place}"]
        learner.rng.bit_generator.state = rest["rng"]
        learner.pairs, learner.lessons = rest["pairs"], rest["lessons"]
        return learner


def teach(
    victim: Entry, folder: Path, amount: Amount, seed: int, *, shown: bool = True
) -> tuple[bytes, int] | None:
    """Return the weights of a network that has learned to beat a bot, and from how many pairs.

    It is kept in the folder after each lesson, and goes on from there. Returns None for a bot that
    cannot be asked in many games. Raises InputError for one that fails, and Interrupted at Ctrl-C.
    """
    from arena.batch.learner import to_bytes
    from arena.runs.victim_process import NoScores, meet_victim

    if victim.command:
        return None
    path = folder / amount.name
    learner = _read(path) or Learner.new(seed)
    kept = learner.pairs
    try:
        with (
            show_progress(2 * (amount.pairs or 0), 2 * kept, shown=shown) as bar,
            meet_victim(victim) as rival,
        ):
            begun = time.monotonic()
            done = amount.progress(learner.pairs, 0.0)
            while done < 1:
                pairs = min(LESSON, amount.pairs - learner.pairs) if amount.pairs else LESSON
                learner.learn(rival, pairs, done)
                _write(path, learner.to_bytes())
                bar.add(2 * pairs)
                done = amount.progress(learner.pairs, time.monotonic() - begun)
    except NoScores:
        return None
    except KeyboardInterrupt:
        raise Interrupted(2 * kept, 2 * (amount.pairs or 0)) from None
    return to_bytes(learner.actor), learner.pairs


def _read(path: Path) -> Learner | None:
    """Return the learner that is kept in a file, None without a file."""
    try:
        return Learner.from_bytes(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile):
        raise InputError(f"{path}: not a learner as it was kept; remove it") from None


def _write(path: Path, content: bytes) -> None:
    """Write a file so that it is never there in part."""
    part = path.with_suffix(".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
