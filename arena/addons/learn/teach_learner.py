"""Teach a network: to play as a bot does, by its games, or to beat it."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from zipfile import BadZipFile

from arena.entries.entry import Entry
from arena.entries.file import replacing
from arena.entries.resolve import BOTS, resolve
from arena.errors import InputError, naming
from arena.executors.contract import Executor
from arena.executors.log import NORMAL
from arena.runs.progress_bar import show_progress
from arena.runs.rerun import prepare
from arena.runs.run import Interrupted, play_games
from arena.store.folder import RunFolder
from arena.store.reader import count_kept, read_run
from arena.tournament.config import Config, make_tournament
from arena.tournament.keys import MOST_PAIRS
from engine.notation import parse_actions
from engine.seeds import stream

if TYPE_CHECKING:
    from arena.addons.learn.ppo import Rival
    from arena.batch.learner import Clone, Network

TEACHER: Final = "apprentice"
"""The opponent in these games; its network is the start of a clone or a learner."""

_STEP = 8  # pairs between two readings of the clock


def play_to_learn(
    victim: Entry,
    folder: Path,
    executor: Executor,
    pairs: int | None,
    seconds: float,
    seed: int = 0,
    shown: int = NORMAL,
) -> int:
    """Play `pairs` pairs, or for `seconds`, into a folder; return the number of pairs there.

    Games in the folder are not played again. Raises InputError for bots that do not load, and what
    `run` raises.
    """
    tournament = make_tournament(Config([], 1, name=folder.name, seed=seed))
    tournament = replace(tournament, entries=[resolve(TEACHER, label="network"), victim])
    prepare(tournament, folder, strict=True)
    played = 0
    for played in [pairs] if pairs else _grow(count_kept(folder) // 2, seconds):
        play_games(replace(tournament, pairs=played), executor, RunFolder(folder), shown)
    return played


def _grow(pairs: int, seconds: float) -> Iterator[int]:
    """Yield increasing numbers of pairs while there is time, at least one."""
    end = time.monotonic() + seconds
    while pairs < MOST_PAIRS:
        pairs = min(MOST_PAIRS, pairs + _STEP)
        yield pairs
        if time.monotonic() >= end:
            return


def learn_clone(folder: Path, pairs: int, seed: int = 0) -> Clone:
    """Return a clone of the second bot of a run, learned from its first pairs.

    Raises InputError if that bot has forfeited a game.
    """
    import numpy as np

    from arena.batch.learner import gather, imitate
    from arena.batch.replay import in_rows

    tournament, store = read_run(folder)
    with closing(store):
        rows = [*store.records([pairs])]
    deals = bytearray()
    for pairing, pair, seat, _, win_type, _, _ in rows:
        if win_type == "forfeit":
            raise InputError(
                f"{tournament.labels[1]}: it has forfeited games: see arena show {folder}"
            )
        deals += tournament.draw(tournament.fixture(pairing, pair, seat)).deal
    actions = in_rows([parse_actions(row[-1]) for row in rows], tournament.rules.game_plies)
    seats = np.array([1 - row[2] for row in rows])
    choices = gather(np.frombuffer(bytes(deals), np.uint8).reshape(len(rows), -1), actions, seats)
    rng = np.random.default_rng(stream(seed, "clone").getrandbits(64))
    return imitate((BOTS / f"{TEACHER}.npz").read_bytes(), choices, rng)


LESSON: Final = 512
"""Pairs of games of one lesson: they are played, then the network is updated from them."""

_FIRST = 2  # lessons in which only the critic learns, as it starts untrained
_RATE, _ENTROPY = 1e-3, 0.01
_UNITS = (256, 128)  # hidden units of the critic


class Amount(NamedTuple):
    """The amount of training: a number of pairs of games, or a number of seconds."""

    pairs: int | None
    seconds: float

    @property
    def name(self) -> str:
        """The name of a learner's file: the learning rate depends on the number of pairs."""
        return f"learner-{self.pairs}.npz" if self.pairs else "learner.npz"

    def progress(self, pairs: int, seconds: float) -> float:
        """Return the share that has been done."""
        return pairs / self.pairs if self.pairs else seconds / self.seconds


class Learner:
    """A network in training, its critic and its random generator; it has played `pairs` pairs.

    Its bytes hold all of its state, so that training continues as if never interrupted.
    """

    def __init__(self, actor: Network, critic: Network, rng: Any, pairs: int, lessons: int) -> None:
        self.actor = actor
        self.critic = critic
        self.rng = rng
        self.pairs = pairs
        self.lessons = lessons

    @classmethod
    def new(cls, seed: int) -> Learner:
        """Return an untrained learner, which starts with the teacher's network."""
        import numpy as np

        from arena.addons.learn.ppo import SEEN
        from arena.batch.learner import Network, from_bytes

        rng = np.random.default_rng(stream(seed, "learner").getrandbits(64))
        actor = from_bytes((BOTS / f"{TEACHER}.npz").read_bytes())
        return cls(actor, Network.random([SEEN, *_UNITS, 1], rng, last=0.1), rng, 0, 0)

    def learn(self, victim: Rival, pairs: int, progress: float) -> None:
        """Play pairs of games against a bot, and learn from them."""
        from arena.addons.learn.ppo import Options, learn, play
        from arena.batch.learner import Network

        decisions = play(self.actor, 2 * pairs, self.rng, victim)
        actor = Network(self.actor.layers) if self.lessons < _FIRST else self.actor
        options = Options(rate=_RATE, entropy=_ENTROPY)
        learn(actor, self.critic, decisions, self.rng, options, progress)
        self.pairs += pairs
        self.lessons += 1

    def to_bytes(self) -> bytes:
        """Return the whole state of the learner, as an npz file."""
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
        """Return the learner in such a file; raises ValueError or KeyError for any other file."""
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
    """Return the weights of a network trained to beat a bot, and its number of pairs.

    The learner is saved in the folder after each lesson, and a later call continues from there.
    Returns None for a bot that cannot play many games at once. Raises InputError for one that
    fails, and Interrupted at Ctrl-C.
    """
    from arena.addons.learn.opponents import NoScores, meet_victim
    from arena.batch.learner import to_bytes

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
    """Return the learner that is saved in a file, None if the file does not exist."""
    try:
        return Learner.from_bytes(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile):
        raise InputError(f"{path}: not a learner as it was kept; remove it") from None


def _write(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    with naming(path, OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            part.write_bytes(content)
