"""Judge the decisions of one game in this process, without a crew of workers."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing
from pathlib import Path

from arena.errors import InputError, counted
from arena.executors.judge_chunk import judge_here
from arena.games.judged import Judged, Recorded
from arena.runs.judge_games import check_rules, find_judge
from arena.store.folder import JUDGED
from arena.store.judged_games import JudgedGames
from arena.tournament import keys
from engine import EngineError, Record


def describe_judge(by: str = keys.JUDGE, worlds: int = keys.WORLDS) -> str:
    """Return the judge and its number of worlds, as text for a timeline.

    >>> describe_judge()
    'apprentice, 8 worlds'
    """
    return f"{by}, {counted(worlds, 'world')}"


def review_record(
    record: Record,
    *,
    name: str = "",
    by: str = keys.JUDGE,
    worlds: int = keys.WORLDS,
    seed: int = 0,
    plies: Collection[int] | None = None,
    folder: Path | None = None,
) -> list[Judged]:
    """Return the decisions of a game, judged as `arena analyse` does, in the order of the plies.

    Forced decisions are left out; with `plies`, only decisions at these plies are judged. With the
    `name` of a game, its numbers are equal to those of `arena analyse`; if that has kept them in
    the `folder` of a run, they are read from there. The game may be unfinished: then its decisions
    so far are judged. The numbers of a decision depend only on what its seat knew. The function can
    be called in any thread. Raises InputError for other rules than the published ones, an invalid
    record, and a bot that cannot judge.

    >>> import arena
    >>> record = arena.play("greedy", "uniform", seed=7).record
    >>> judged = review_record(record, plies=range(12))
    >>> [one.ply for one in judged][:3]
    [0, 1, 2]
    """
    check_rules(record.rules)
    try:
        record.replay()
    except EngineError as error:
        raise InputError(f"a record that cannot be played: {error}") from None
    judge = find_judge(by, worlds, seed)
    wanted = (
        None if plies is None else tuple(ply for ply in range(len(record.actions)) if ply in plies)
    )
    game = Recorded(name, record.deal, record.actions, wanted)
    if folder and (folder / JUDGED).is_file():
        (key,) = judge.keys([game])
        with closing(JudgedGames(folder / JUDGED)) as kept:
            if known := kept.find([key]):
                return known[key]
    try:
        (found,) = judge_here([game], judge.bots, worlds, seed)
    except InputError as error:
        raise InputError(f"bot {judge.entry.target!r}: {error}") from None
    return found
