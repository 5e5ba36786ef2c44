"""Probe a bot: write an opponent that exploits its policy, and let the two play."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from arena.addons.learn import opponents
from arena.addons.learn.opponents import HOW, NO_SCORES, SOMEBODY, name_of
from arena.entries.entry import Entry
from arena.entries.new_bot import ending_of
from arena.entries.resolve import resolve
from arena.entries.spec import is_file
from arena.errors import InputError, counted, naming
from arena.executors.local import Executor, open_executor
from arena.executors.log import QUIET
from arena.files import replacing
from arena.lanes.temp_and_cache_folders import scratch_folder
from arena.library.keywords import Bot, Location, folder_path, make_playing, request, takes
from arena.runs.rerun import prepare
from arena.runs.run import Interrupted, run
from arena.statistics.intervals import Estimate, score_interval
from arena.statistics.number_texts import write_estimate
from arena.store.reader import Choice as Chosen
from arena.store.reader import chosen_games
from arena.store.store import Store
from arena.tournament.config import Config, make_tournament
from arena.tournament.config_keys import MOST_PAIRS, PROBED_PAIRS, LocalKeys, Venue
from arena.tournament.tournament import Tournament
from engine import STANDARD
from engine.errors import show

_PARTS = 1 << 20  # of a chance: whole numbers add up in any order
_SHARE = "value", "low", "high"


class Learned(NamedTuple):
    """A clone's number of pairs to learn from, and the share of choices equal to the bot's.

    `before` is that share of `apprentice`, from which the clone was trained.
    """

    pairs: int
    alike: float
    before: float


class Probed(NamedTuple):
    """The result of a probe: the opponent's score with its interval, the pairs, and its file.

    `rounds` says by how much the bot's chance to win falls in each round, and `blind` what an
    opponent wins that learns nothing about the bot's hand from what the bot plays, if it was asked
    for. `clone` is set if the opponent responds to a clone.
    """

    bot: str
    file: str
    pairs: int
    score: float
    low: float
    high: float
    rounds: tuple[Estimate, ...] = ()
    blind: Estimate | None = None
    clone: Learned | None = None

    @property
    def sentence(self) -> str:
        """The finding in one sentence, no stronger than the interval."""
        share = write_estimate(Estimate(self.score, self.low, self.high), ".0%", level=True)
        if self.low <= 1 / 2:
            return f"{self.bot} loses {share} to this opponent, perhaps more to another one"
        return f"{self.bot} loses at least {100 * self.low:.0f} %: it lost {share} to this opponent"

    def document(self) -> dict[str, Any]:
        """Return what `arena probe --json` prints."""
        clone = self.clone._asdict() if self.clone else None
        made = {"sentence": self.sentence, "clone": clone}
        rounds = [dict(zip(_SHARE, one.cells, strict=True)) for one in self.rounds]
        blind = self.blind and dict(zip(_SHARE, self.blind.cells, strict=True))
        return self._asdict() | made | {"rounds": rounds, "blind": blind}

    def lines(self) -> Iterator[str]:
        """Yield the lines that `arena probe` prints."""
        yield self.sentence
        yield f"in {counted(self.pairs, 'pair')}; the opponent is {self.file}"
        for number, taken in enumerate(self.rounds, 1):
            yield f"  round {number}: {write_estimate(taken, '+.1%')} of the chance to win"
        if self.blind:
            yield f"  without inferring the hand it wins {write_estimate(self.blind, '.0%')}"
        if self.clone:
            pairs, alike, before = self.clone
            yield (
                f"it knows only a clone, learned from {counted(pairs, 'pair')}: "
                f"the same action in {100 * alike:.0f} % of choices"
            )
            yield f"  (apprentice, of which it was made: {100 * before:.0f} %)"


class Asked(NamedTuple):
    """The settings of a probe; the fields are those of `probe`, and the level of the log."""

    out: Path | None
    learn: int | None
    pairs: int
    seed: int
    shown: int
    force: bool
    blind: bool = False


class Opponent(NamedTuple):
    """The file of an opponent, and the clone it responds to, if any.

    `make` returns the content of its file; with `blind`, that of the opponent that learns nothing
    from what the bot plays.
    """

    file: Path
    make: Callable[..., bytes]
    clone: Learned | None = None


@takes(LocalKeys)
def probe(
    bot: Bot,
    *,
    pairs: int = PROBED_PAIRS,
    seed: int = 0,
    learn: int | None = None,
    out: Location | None = None,
    force: bool = False,
    blind: bool = False,
    progress: bool = True,
    **keys: Unpack[LocalKeys],
) -> Probed:
    """Say how much a bot loses at least, to an opponent that knows how it plays.

    The opponent is kept in the file `out`, a bot of its own; without it, in probe-BOT.py,
    or .zip for a bot with files of its own. With
    `learn`, for a bot that has no `scores`, the opponent knows a clone, which has learned from this
    number of pairs of games; these are kept in results/. With `blind` another opponent plays, too,
    which learns nothing about the hand from what the bot plays. The result has a `sentence`, the
    opponent's `score` in a number of `pairs` with its interval, `low` and `high`, its gains by
    round, `rounds`, and its `file`. Raises InputError with the message of the command.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = probe("greedy", pairs=2, out=f"{folder}/best.py", progress=False)
    >>> found.bot, found.pairs, found.score > 0.5
    ('greedy', 2, True)
    """
    if learn is not None and not (type(learn) is int and 1 <= learn <= MOST_PAIRS):
        raise InputError(f"learn: {show(learn)} is not a number from 1 to {MOST_PAIRS:,}")
    given = {**keys, "seed": seed, "pairs": pairs}
    default = {"name": "probe", "pairs": PROBED_PAIRS}
    how = make_playing(None, progress=progress)
    base, how = request([bot, SOMEBODY], None, given, default, how)
    file = None if out is None else folder_path(out, "out")
    asked = Asked(file, learn, base.pairs, base.seed, how.shown, force, blind)
    return probe_entry(base.entries[0], how.venue, asked)


def probe_entry(victim: Entry, venue: Venue, asked: Asked) -> Probed:
    """Find an opponent of a bot, let the two play, and return the result.

    Raises what `find_opponent` raises, and InputError for a bot that forfeits a game. A note of
    Interrupted says what is kept.
    """
    kept = "nothing is kept"
    if asked.learn:
        kept = "what was played is kept in results/, and the same command goes on"
    try:
        with open_executor(venue) as executor:
            opponent = find_opponent(victim, executor, asked)
            kept = f"the opponent is kept in {opponent.file}"
            return _measure(victim, opponent, executor, asked)
    except Interrupted as interrupted:
        interrupted.add_note(kept)
        raise


def find_opponent(victim: Entry, executor: Executor, asked: Asked) -> Opponent:
    """Write the opponent of a bot; with `learn` it responds to a clone, which is learned first.

    The games of the clone are kept in results/, in a folder with the bot's name and hash, and the
    next call continues from there. Raises InputError for a program if no clone is learned, for a
    path that cannot be written, and for another file there, unless `force` is set.
    """
    learn, known = asked.learn, None
    if learn is None:
        make: Callable[..., bytes] = partial(opponents.respond_to, victim)
    else:
        folder = Path("results") / f"{name_of(victim)}-{victim.sha256[:8]}-{asked.seed}"
        opponents.play_to_learn(victim, folder, executor, learn, asked.seed, asked.shown)
        clone = opponents.learn_clone(folder, learn, asked.seed)
        make = partial(opponents.respond_to_clone, victim, clone)
        known = Learned(learn, clone.alike, clone.before)
    content = make()
    path = asked.out or Path(f"{name_of(victim)}{ending_of(content)}")
    return Opponent(_write(path, content, force=asked.force), make, known)


def _write(path: Path, content: bytes, *, force: bool) -> Path:
    """Write a bot's file, unless it exists with this content, and return its path.

    Raises InputError for another file there without `force`, and for a name with a wrong ending.
    """
    is_file = path.is_file()
    if is_file and path.read_bytes() == content:
        return path
    if os.path.lexists(path) and not (force and is_file):
        how = "--force replaces it" if is_file else "it is not a file"
        raise InputError(f"{path}: exists already; {how}")
    if path.suffix != (ending := ending_of(content)):
        raise InputError(f"{path}: the file of this opponent ends in {ending}")
    with naming(path, OSError), replacing(Path(os.path.realpath(path))) as part:
        part.write_bytes(content)
    return path


def _meet(victim: Entry, file: Path, pairs: int, seed: int) -> Tournament:
    """Return the tournament of a bot against the opponent in this file.

    If the bot is one of the arena's, it and its opponent are played in the worker.
    """
    text = os.fspath(file)
    spec = text if is_file(text) else os.path.join(os.curdir, text)
    lane = victim.lane if victim.is_ours else None
    opponent = resolve(spec, lane=lane)
    tournament = make_tournament(Config([], pairs, name="probe", seed=seed))
    return replace(tournament, entries=[opponent, victim])


def _measure(victim: Entry, opponent: Opponent, executor: Executor, asked: Asked) -> Probed:
    """Let a bot play against an opponent, and return the result.

    Raises InputError if one of the two forfeits a game; the first pair is checked before the others
    are played, and the opponent's file is removed then. Raises what `run` raises, too.
    """
    file, pairs = opponent.file, asked.pairs
    tournament = _meet(victim, file, pairs, asked.seed)
    try:
        prepare(tournament, strict=True)
        with _play(tournament, executor, asked.shown) as store:
            score, rounds = _score(store, pairs), gains_by_round(tournament, store)
    except InputError:
        file.unlink()
        raise
    blind = None
    if asked.blind:
        with scratch_folder() as folder:
            other = folder / f"{name_of(victim)}{file.suffix}"
            other.write_bytes(opponent.make(blind=True))
            match = _meet(victim, other, pairs, asked.seed)
            with _play(match, executor, asked.shown) as store:
                blind = _score(store, pairs)
    found = (*score[:3], rounds, blind, opponent.clone)
    return Probed(tournament.labels[1], os.fspath(file), pairs, *found)


@contextmanager
def _play(tournament: Tournament, executor: Executor, shown: int) -> Iterator[Store]:
    """Yield the store of the games of an opponent against a bot; raise InputError for a forfeit."""
    with closing(Store(None)) as store:
        run(replace(tournament, pairs=1), executor, None, QUIET, store=store)
        check_forfeits(tournament, store)
        run(tournament, executor, None, shown, store=store)
        check_forfeits(tournament, store)
        yield store


def _score(store: Store, pairs: int) -> Estimate:
    """Return the opponent's mean score of a game."""
    scores = [0.0] * pairs
    for _, result in store.results():
        scores[result.pair] += result.score
    total, squares = sum(scores), sum(score * score for score in scores)
    return Estimate(total / (2 * pairs), *score_interval(pairs, total, squares))


def gains_by_round(tournament: Tournament, store: Store) -> tuple[Estimate, ...]:
    """Return by how much the first bot's chance to win rises in each round, in the mean.

    The chances are those of `champion`; the gains add up to the score of a game less one half.
    """
    import numpy as np

    from arena.statistics.intervals import Moments
    from arena.tables.game_arrays import add_rows
    from arena.tables.points_and_takes import chances_by_game

    games = {(0, at.pair, at.seat): game for at, game in chosen_games(tournament, store, Chosen())}
    plies = range(0, STANDARD.game_plies + 1, STANDARD.round_plies)
    moments, rows = Moments(1, STANDARD.rounds, _PARTS), np.arange(STANDARD.rounds)
    for (_, pair, seat), course in chances_by_game(tournament, games).items():
        rises = np.diff([course[min(ply, len(course) - 1)] for ply in plies]) * (1 - 2 * seat)
        counted_rises = np.rint(rises * _PARTS).astype(np.int64)
        add_rows(moments, 0 * rows, rows, 0 * rows + pair, counted_rises)
    ends = zip(*(values[0].tolist() for values in moments.means()), strict=True)
    return tuple(Estimate(*one) for one in ends)


def check_forfeits(tournament: Tournament, store: Store) -> None:
    """Raise InputError if an opponent, the first bot, or the bot that it met forfeited a game."""
    _, victim = tournament.labels
    for _, result in store.results():
        if result.fault is None:
            continue
        message = result.fault.message
        if result.winner == 0:
            raise InputError(f"{victim}: it has forfeited a game: {message}")
        if NO_SCORES in message:
            raise InputError(f"{victim}: it {NO_SCORES}, by which its policy is asked; {HOW}")
        raise InputError(f"{victim}: its method scores fails: {message}")
