"""Train a clone that imitates a bot, from the bot's games against another one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena.entries.entry import Entry
from arena.entries.resolve import BOTS, resolve
from arena.errors import InputError
from arena.executors.contract import Executor
from arena.executors.log import NORMAL
from arena.runs.prepare import prepare
from arena.runs.run import play_games
from arena.store.folder import RunFolder
from arena.store.reader import count_kept, read_run
from arena.tournament.config import Config, make_tournament
from arena.tournament.keys import MOST_PAIRS
from engine.notation import parse_actions
from engine.seeds import stream

if TYPE_CHECKING:
    from arena.batch.learner import Clone

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
    for problem in prepare(tournament, folder):
        raise InputError(problem)
    played = 0
    for played in [pairs] if pairs else _growing(count_kept(folder) // 2, seconds):
        play_games(replace(tournament, pairs=played), executor, RunFolder(folder), shown)
    return played


def _growing(pairs: int, seconds: float) -> Iterator[int]:
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
