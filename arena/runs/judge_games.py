"""Let a bot judge recorded games on the workers of an executor, and keep the results."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Final, NamedTuple

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.executors.contract import Executor
from arena.executors.log import run_log
from arena.runs.progress_bar import show_progress
from arena.runs.run import Interrupted
from arena.store.judged_games import JudgedGames
from arena.tournament import keys
from arena.tournament.judged import Judged, Question, Recorded
from arena.tournament.plan import Chunk, Fits, Plan
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from arena.tournament.versions import versions_here
from engine import STANDARD, Rules
from engine.errors import show

VALUER: Final = "champion"
"""The bot whose table estimates the value of a position after a round."""

_GAMES = 64  # games of a chunk with few worlds; larger chunks are hardly faster
_WORLDS = 512  # worlds of all games of a chunk together
_CHUNKS = 16  # chunks at least, so that all workers are busy


class Judge(NamedTuple):
    """A bot that judges, the number of worlds, and the seed from which these are drawn."""

    entry: Entry
    worlds: int
    seed: int

    def keys(self, games: Iterable[Recorded]) -> list[bytes]:
        """Return the cache keys of games: hashes of all that the judged numbers depend on."""
        own = self.entry.describe() | {"label": "", "lane": ""}
        what = repr((own, resolve(VALUER).sha256, versions_here(), self.worlds, self.seed))
        return [hashlib.sha256(f"{what}{game!r}".encode()).digest() for game in games]

    @property
    def bots(self) -> list[Entry]:
        """The judge, and the bot that estimates the value of positions."""
        return [
            replace(self.entry, label="judge"),
            replace(resolve(VALUER), label="values", lane="inproc"),
        ]


def find_judge(spec: str, worlds: int, seed: int) -> Judge:
    """Return the judge of a spec; raises InputError for an unsuitable bot or invalid numbers."""
    check_numbers(worlds, seed)
    entry = resolve(spec)
    if entry.command:
        raise InputError(f"bot {entry.target!r}: only a Python bot can judge")
    return Judge(replace(entry, lane="inproc"), worlds, seed)


def check_numbers(worlds: int, seed: int) -> None:
    """Raise InputError for an invalid number of worlds or an invalid seed."""
    check_bounds(
        worlds=(worlds, keys.LEAST_WORLDS, keys.MOST_WORLDS), seed=(seed, 0, keys.MOST_SEED)
    )
    if worlds % 2:
        why = "one half chooses the best action, the other half says what it is worth"
        raise InputError(f"worlds: {worlds} is odd; {why}")


def check_bounds(**numbers: tuple[int, int, int]) -> None:
    """Raise InputError for numbers out of bounds or not int; each is (number, least, most)."""
    for name, (value, least, most) in numbers.items():
        if type(value) is not int or not least <= value <= most:
            raise InputError(f"{name}: {show(value)} is not a number from {least} to {most:,}")


def check_rules(rules: Rules) -> None:
    """Raise InputError for other rules than the published ones: no judge knows them."""
    if rules != STANDARD:
        raise InputError("other rules than the published ones, which no judge knows")


def judge_games(
    judge: Judge,
    games: Sequence[Recorded],
    kept: JudgedGames,
    executor: Executor,
    *,
    progress: bool = True,
) -> list[list[Judged]]:
    """Return the judged decisions of games, in order; those that are `kept` are not judged again.

    Raises InputError for a bot that cannot judge, and Interrupted at Ctrl-C.
    """
    keys = judge.keys(games)
    found = kept.find(keys)
    missing = {key: game for key, game in zip(keys, games, strict=True) if key not in found}
    if not missing:
        return [found[key] for key in keys]
    plan = _Judging([*missing.values()], judge)
    of_place, tournament = [*missing], _tournament(judge)
    known = len(games) - len(missing)
    with (
        run_log(None) as log,
        show_progress(len(games), known, log=log.terminal, shown=progress) as bar,
    ):
        try:
            with closing(executor.play(plan, tournament, log)) as chunks:
                for played in chunks:
                    if played.refusal:
                        raise InputError(f"bot {judge.entry.target!r}: {played.refusal}")
                    plan.learn(played)
                    new = {of_place[game.pair]: [*game.decisions] for game in played.judged}
                    kept.add(new)
                    found |= new
                    bar.add(len(new))
        except KeyboardInterrupt:
            raise Interrupted(len(found), len(games)) from None
    return [found[key] for key in keys]


def _tournament(judge: Judge) -> Tournament:
    """Return the tournament that workers get: the judge and the bot that values positions."""
    return Tournament("analysis", judge.seed, 1, judge.bots, STANDARD)


class _Judging(Plan):
    """A plan whose chunks carry recorded games; the index of a game serves as its pair number."""

    def __init__(self, games: Sequence[Recorded], judge: Judge) -> None:
        self.games = games
        self.judge = judge
        strikes = Strikes(_tournament(judge).pairings, len(games), most=sys.maxsize)
        size = min(_GAMES, _WORLDS // judge.worlds, len(games) // _CHUNKS)
        super().__init__([[range(len(games))]], strikes, (0,), max(1, size))

    def next(self, fits: Fits | None = None) -> Chunk | None:
        """Return the next chunk, with its games as the question."""
        chunk = super().next(fits)
        if chunk is None:
            return None
        pairs = range(chunk.first, chunk.first + chunk.pairs)
        games = {(pair, 0): self.games[pair] for pair in pairs}
        return chunk._replace(question=Question(games, self.judge.worlds, self.judge.seed))
