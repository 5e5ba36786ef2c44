"""Probe a bot from the arguments of a call: how much it loses at least, and to whom."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

from arena.addons.learn import probe_bot as runs
from arena.addons.learn.probe_bot import Probed
from arena.errors import InputError
from arena.executors.contract import open_executor
from arena.executors.log import NORMAL, QUIET
from arena.library.request import Bot, Location, folder_path, request, takes
from arena.tournament.keys import MOST_PAIRS, PROBED_PAIRS, LocalKeys
from engine.errors import show


@takes(LocalKeys)
def probe(
    bot: Bot,
    *,
    pairs: int = PROBED_PAIRS,
    seed: int = 0,
    learn: int | None = None,
    minutes: float | None = None,
    out: Location | None = None,
    force: bool = False,
    progress: bool = True,
    **keys: Unpack[LocalKeys],
) -> Probed:
    """Say how much a bot loses at least, to an opponent that knows how it plays.

    The opponent is kept in the file `out`, a bot of its own; without it, in probe-BOT.py. With
    `learn` or `minutes` it is the better one of the best response and a network that has learned
    from `learn` pairs of games, or for `minutes`. If the bot has no `scores`, the opponent knows a
    clone, which has learned in the same way. What has been learned is kept in results/. The result
    has a `sentence`, the `score` of the opponent in its `pairs` with the interval, `low` and
    `high`, and the opponent's `file`. Raises InputError, with the message of `arena probe`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = probe("greedy", pairs=2, out=f"{folder}/best.py", progress=False)
    >>> found.bot, found.pairs, found.score > 0.5
    ('greedy', 2, True)
    """
    if learn is not None and not (type(learn) is int and 1 <= learn <= MOST_PAIRS):
        raise InputError(f"learn: {show(learn)} is not a number from 1 to {MOST_PAIRS:,}")
    if minutes is not None and not 0 < minutes < float("inf"):
        raise InputError(f"minutes: {show(minutes)} is not a number above 0")
    given = {**keys, "seed": seed, "pairs": pairs}
    default = {"name": "probe", "pairs": PROBED_PAIRS}
    tournament, venue = request([bot, ("opponent", "uniform")], None, given, default)
    shown = NORMAL if progress else QUIET
    victim, place = tournament.entries[0], None if out is None else Path(folder_path(out, "out"))
    with open_executor(venue) as executor:
        opponent = runs.find_opponent(
            victim, executor, place, learn, minutes, tournament.pairs, seed, shown, force=force
        )
        return runs.probe(victim, opponent, tournament.pairs, tournament.seed, executor, shown)
