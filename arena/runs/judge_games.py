"""Let a bot judge recorded games on workers, or one game here, and keep the results."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import numpy as np

from arena.batch.beliefs import fit_weights, read_moves
from arena.batch.replay import record_arrays
from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.errors import InputError, counted, naming
from arena.executors.judge_chunk import judge_here
from arena.executors.local import Executor
from arena.executors.log import run_log
from arena.replays.finished_game import Game
from arena.runs.progress_bar import show_progress
from arena.runs.run import Interrupted
from arena.store.database import Database
from arena.store.reader import Choice, chosen_games, read_run
from arena.tournament import config_keys as keys
from arena.tournament.asking import BLUNDER, ROLLOUTS, SEARCHES, Habit, Judged, Question, Recorded
from arena.tournament.plan import Chunk, Plan
from arena.tournament.schedule import Fixture, Strikes
from arena.tournament.tournament import Tournament
from arena.tournament.versions import versions_here
from engine import STANDARD, EngineError, Record, Rules, Seat, Setup
from engine.errors import show

VALUER: Final = "champion"
"""The bot whose table estimates the value of a position after a round."""

_GAMES = 64  # games of a chunk with few worlds; larger chunks are hardly faster
_WORLDS = 512  # worlds of all games of a chunk together
_MOST_AGAIN = 4  # decisions of a seat; each takes some 0.5 s
_LIKE: Final = ("journeyman", "apprentice", "timing", "denier", "greedy", "majority")
"""The bots whose actions are known for many hands at once."""

_MOST_LEARNT = 40  # games of a bot, from which a model of it is fitted
_LEAST_WEIGHT = 0.02  # of a bot in a model
_CHUNKS = 16  # chunks at least, so that all workers are busy

_decisions = msgspec.msgpack.Decoder(list[Judged])
_FIND = "SELECT decisions FROM judged WHERE arena = ? AND game = ?"
_FORGET = "DELETE FROM judged WHERE arena < ?1 OR arena > ?1"  # with <> it would read every row


class JudgedGames(Database):
    """The decisions of a run's judged games by a key of the game, the judge and how it judged.

    They are in the store of the run, which other processes may read and write meanwhile. Without a
    path nothing is kept. What was added survives whatever ends the process.
    """

    def find(self, keys: Iterable[bytes]) -> dict[bytes, list[Judged]]:
        """Return the decisions of the games that are kept, of these; a damaged row is not."""
        return _find_kept(self, keys)

    def add(self, games: Mapping[bytes, Sequence[Judged]]) -> None:
        """Keep games: all of these or, where the process ends meanwhile, none.

        What another version of the arena has judged is removed.
        """
        own = versions_here().arena
        rows = [(own, key, msgspec.msgpack.encode(judged)) for key, judged in games.items()]
        with self.changing(InputError):
            self.make_judged()
            self.connection.execute(_FORGET, (own,))
            self.connection.executemany("INSERT OR REPLACE INTO judged VALUES (?, ?, ?)", rows)


def _find_kept(store: Database, keys: Iterable[bytes]) -> dict[bytes, list[Judged]]:
    found = {}
    with store.errors(InputError):
        if store.one("SELECT 1 FROM sqlite_master WHERE name = 'judged'"):
            for key in keys:
                with suppress(msgspec.MsgspecError, TypeError):
                    found[key] = _decisions.decode(store.one(_FIND, versions_here().arena, key))
    return found


class Judge(NamedTuple):
    """A bot that judges, the number of worlds, and the seed from which these are drawn."""

    entry: Entry
    worlds: int
    seed: int

    def keys(self, games: Iterable[Recorded]) -> list[bytes]:
        """Return the cache keys of games: hashes of all that the judged numbers depend on."""
        own = self.entry.describe() | {"label": "", "lane": ""}
        judges = resolve(VALUER).sha256, versions_here(), ROLLOUTS, SEARCHES
        what = repr((own, *judges, self.worlds, self.seed))
        return [hashlib.sha256(f"{what}{game!r}".encode()).digest() for game in games]

    @property
    def bots(self) -> list[Entry]:
        """The judge, and the bot that estimates the value of positions."""
        return [
            replace(self.entry, label="judge"),
            replace(resolve(VALUER), label="values", lane="inproc"),
        ]

    def judge(self, games: Sequence[Recorded]) -> list[list[Judged]]:
        """Return its decisions of each game, judged in this process."""
        return judge_here(games, self.bots, self.worlds, self.seed)


def find_judge(spec: str, worlds: int, seed: int) -> Judge:
    """Return the judge of a spec; raises InputError for an unsuitable bot or invalid numbers."""
    check_numbers(worlds, seed)
    entry = resolve(spec)
    if entry.command:
        raise InputError(f"bot {entry.target!r}: only a Python bot can judge")
    return Judge(replace(entry, lane="inproc"), worlds, seed)


Ask: TypeAlias = Callable[[Judge, Sequence[Recorded]], Sequence[Sequence[Judged]]]
"""Returns a judge's decisions of each game."""


def judge_again(
    games: Sequence[Recorded],
    judged: Sequence[Sequence[Judged]],
    most: int,
    group: Callable[[int, Judged], Hashable],
    ask: Ask,
    seed: int,
) -> list[list[Judged]]:
    """Return for each game its costliest decisions, with the numbers of the second judge.

    Of each group at most `most` decisions are judged again, which have lost something. `group` gets
    the place of the game and a judged decision; a decision of the group None is left out. `first`
    of a decision is its loss by the first judge.
    """
    lossy = [(place, one) for place, rows in enumerate(judged) for one in rows if one.loss > 0]
    lossy.sort(key=lambda two: (-two[1].loss, games[two[0]].name, two[1].ply))
    met: Counter[Hashable] = Counter()
    lost: list[dict[int, int]] = [{} for _ in games]
    for place, one in lossy:
        own = group(place, one)
        met[own] += 1
        if own is not None and met[own] <= most:
            lost[place][one.ply] = one.loss
    both = zip(games, lost, strict=True)
    again = [game._replace(plies=tuple(sorted(plies))) for game, plies in both if plies]
    second = find_judge(keys.SECOND, keys.LEAST_WORLDS, seed)  # searches each action, four times
    found = iter(ask(second, again) if again else ())
    return [
        [one._replace(first=plies[one.ply]) for one in (next(found) if plies else ())]
        for plies in lost
    ]


def fit_models(games: Sequence[Recorded], seats: Sequence[Sequence[str]]) -> dict[str, Habit]:
    """Return how each bot plays, fitted to its moves in some of these games.

    `seats` are the labels of the bots by seat. The records contain all hands.
    """
    met: Counter[str] = Counter()
    some = []
    for place, labels in enumerate(seats):
        if min(met[label] for label in labels) < _MOST_LEARNT:
            met.update(labels)
            some.append(place)
    numbers = {label: number for number, label in enumerate(met)}
    own: Iterable[Any] = (resolve(name).create(Setup(Random(0), 0, STANDARD)) for name in _LIKE)
    policies = [strategy.scores for strategy in own]
    arrays = record_arrays([(games[place].deal, games[place].actions) for place in some])
    bots = np.array([[numbers[label] for label in seats[place]] for place in some])
    seen = read_moves(*arrays, bots, policies)
    return {label: _make_model(fit_weights(seen, number)) for label, number in numbers.items()}


def _make_model(weights: Any) -> Habit:
    """Return the model of these probabilities of the bots, without those that are hardly met."""
    likely = sorted(zip(_LIKE, weights.round(3).tolist(), strict=True), key=lambda two: -two[1])
    return tuple(two for two in likely if two[1] >= _LEAST_WEIGHT)


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
            raise Interrupted(len(found), len(games), "judged and kept") from None
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

    def next(self, fits: Callable[[int], bool] | None = None) -> Chunk | None:
        """Return the next chunk, with its games as the question."""
        chunk = super().next(fits)
        if chunk is None:
            return None
        pairs = range(chunk.first, chunk.first + chunk.pairs)
        games = {(pair, 0): self.games[pair] for pair in pairs}
        return chunk._replace(question=Question(games, self.judge.worlds, self.judge.seed))


def describe_judge(worlds: int = keys.WORLDS) -> str:
    """Return the judge and its number of worlds, as text for a timeline.

    >>> describe_judge()
    'apprentice, 8 worlds'
    """
    return f"{keys.JUDGE}, {counted(worlds, 'world')}"


def review_record(record: Record, name: str = "", worlds: int = keys.WORLDS) -> list[Judged]:
    """Return the decisions of a game, judged as `arena analyse` does, in the order of the plies.

    Forced decisions are left out. With the `name` of a game, its numbers are equal to those of
    `arena analyse`. The decisions that lost 10 points or more, at most four of a seat, get the
    numbers of a second judge, and `first` is set. The game may be unfinished: then its decisions so
    far are judged. The numbers of a decision depend only on what its seat knew. The function can be
    called in any thread. Raises InputError for other rules than the published ones, an invalid
    record, and an unsuitable number of worlds.

    >>> import arena
    >>> judged = review_record(arena.play("greedy", "uniform", seed=7).record, worlds=4)
    >>> [one.ply for one in judged][:3]
    [0, 1, 2]
    """
    check_rules(record.rules)
    with naming("a record that cannot be played", EngineError):
        record.replay()
    game = Recorded(name, record.deal, record.actions)
    (found,) = find_judge(keys.JUDGE, worlds, 0).judge([game])
    return _review(game, found)


def find_review(folder: Path, fixture: Fixture, game: Game) -> list[Judged]:
    """Return what the judges say of a run's game, if `arena analyse` has judged it; else [].

    It has to be judged in the usual number of worlds. How the bots play is fitted to the games of
    these two.
    """
    recorded = record_of(fixture, game)
    (key,) = find_judge(keys.JUDGE, keys.WORLDS, 0).keys([recorded])
    tournament, store = read_run(folder)
    with closing(store):
        known = _find_kept(store, [key])
        if not known or all(_seat_of_blunder(0, one) is None for one in known[key]):
            return known.get(key, [])
        found = chosen_games(tournament, store, Choice(fixture.pairing))
        ended = islice((one for one in found if one[1].fault is None), _MOST_LEARNT)
        some = [(record_of(*one), one[1].seats) for one in ended]
    models = fit_models(*zip(*some, strict=True))
    modelled = recorded._replace(models=[models[label] for label in game.seats])
    return _review(modelled, known[key])


def record_of(fixture: Fixture, game: Game) -> Recorded:
    """Return a game of a run in the form for a judge."""
    return Recorded(fixture.name, game.record.deal, game.record.actions)


def _review(game: Recorded, found: list[Judged]) -> list[Judged]:
    """Return decisions in which the costliest of each seat have the numbers of the second judge."""
    (again,) = judge_again([game], [found], _MOST_AGAIN, _seat_of_blunder, Judge.judge, 0)
    second = {one.ply: one for one in again}
    return [second.get(one.ply, one) for one in found]


def _seat_of_blunder(_: int, one: Judged) -> Seat | None:
    return STANDARD.seat_at(one.ply) if one.loss >= BLUNDER else None
