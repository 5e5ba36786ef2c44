"""Learn a clone of a bot: a network that chooses as the bot does in its games."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena.entries.entry import Entry
from arena.entries.resolve import BOTS, resolve
from arena.errors import InputError
from arena.executors.local import Executor
from arena.executors.log import NORMAL
from arena.runs.rerun import prepare
from arena.runs.run import play_games
from arena.store.folder import RunFolder
from arena.store.reader import read_run
from arena.tournament.config import Config, make_tournament
from engine.notation import parse_actions
from engine.seeds import stream

if TYPE_CHECKING:
    from arena.batch.learner import Clone

TEACHER: Final = "apprentice"
"""The opponent in these games; its network is the start of a clone."""


def play_to_learn(
    victim: Entry,
    folder: Path,
    executor: Executor,
    pairs: int,
    seed: int = 0,
    shown: int = NORMAL,
) -> None:
    """Play so many pairs into a folder, but for games that are there.

    Raises InputError for bots that do not load, and what `run` raises.
    """
    tournament = make_tournament(Config([], pairs, name=folder.name, seed=seed))
    tournament = replace(tournament, entries=[resolve(TEACHER, label="network"), victim])
    prepare(tournament, folder, strict=True)
    play_games(tournament, executor, RunFolder(folder), shown)


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
    for pairing, pair, seat, _, win_type, _ in rows:
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
