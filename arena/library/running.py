"""Run a tournament, compare two bots, play one game, or open a run, by a call of the library."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from html import escape
from typing import TYPE_CHECKING, Any, Unpack

from arena.entries.catalogue import expand_ladder
from arena.errors import InputError
from arena.library import keywords
from arena.library.keywords import Bot, Location, list_bots
from arena.library.results import Results
from arena.replays.finished_game import Game
from arena.runs.rerun import add_thoughts, play_again
from arena.runs.run import Outcome, Playing
from arena.store.csv_files import Timings, read_timings
from arena.store.reader import read_run
from arena.store.store import Store
from arena.tournament.config_keys import COMPARED_PAIRS, ELO0, ELO1, ERROR_RATE, MOST_PAIRS
from arena.tournament.stop import make_sprt
from arena.tournament.tournament import Tournament
from engine.errors import show

if TYPE_CHECKING:
    import pandas as pd

    from arena.differences import comparison as made
    from arena.store.columns import Frames, TableName
    from arena.tournament.sprt_rounds import Verdict


def open_run(folder: str | os.PathLike[str]) -> Results:
    """Return the results of a finished or a running run, as they are now.

    The folder is only read, and a run that is writing there continues. Raises InputError for
    a folder without a run.

    >>> import arena, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = arena.run(["greedy", "uniform"], pairs=1, out=f"{folder}/friday", progress=False)
    ...     arena.open(f"{folder}/friday").played
    2
    """
    path = keywords.folder_path(folder, "folder")
    tournament, store = read_run(path)
    return Results(tournament, store, read_timings(path), path)


_DEFAULT = {"name": "run", "pairs": 100}  # pairs as for `arena play`


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run; `results` are those of the games that were finished.

    >>> results = run(["greedy", "uniform"], pairs=1, progress=False)
    >>> print(Interrupted(results))
    interrupted: 2 of 2 games are in `results` of this exception
    >>> print(Interrupted(results, out="results/friday"))
    interrupted: 2 of 2 games are kept in results/friday/; the same call goes on
    """

    def __init__(self, results: Results, out: Location | None = None) -> None:
        self.results = results
        self._out = out
        where = "in `results` of this exception"
        if out is not None:
            where = f"kept in {os.fspath(out)}/; the same call goes on"
        super().__init__(f"interrupted: {results.played:,} of {results.total:,} games are {where}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Let another process raise it again."""
        return Interrupted, (self.results, self._out)


@keywords.takes(keywords.RunKeys)
def run(
    bots: Sequence[Bot] | None = None,
    *,
    config: Mapping[str, Any] | Location | None = None,
    against: Sequence[Bot] | Bot | None = None,
    out: Location | None = None,
    fresh: bool = False,
    replace: bool = False,
    repeat: bool = True,
    progress: bool = True,
    **keys: Unpack[keywords.RunKeys],
) -> Results:
    """Play a tournament, and return its results.

    A bot is a spec, a class or function, a mapping as in a config, or a label with one of these.
    `config` is a mapping or a YAML file; `bots` are added to its own, and the other arguments have
    the names of its keys and come before its values. A config that is the manifest of a run is
    played as it is, with bots that are still the same. With `against`, a bot, some of them or
    "ladder", the bots play these, and not each other. With `until`, "first" or a number of Elo
    points, a pairing plays up to `max_pairs`. `out` is a folder for the run's files, in which a
    run continues, or a `fresh` one begins; without `out` nothing stays on disk. An `executor` is a
    `dask.distributed.Client`, or what the key of a config is. Bots that have changed raise
    ChangedBots, or `replace` those of before. With `repeat`, a hundredth of the games is played
    again at the end, and a warning names bots whose moves differ. Raises InputError, with the
    message of `arena run`, WorkerDied if workers die and no bot is to blame, NoSites if a cluster
    has no machine left, and Interrupted after Ctrl-C.

    >>> results = run(["greedy", "uniform"], pairs=2, seed=7, progress=False)
    >>> results.played, list(results.standings["bot"])
    (4, ['greedy', 'uniform'])
    """
    given: dict[str, Any] = {**keys}
    if against is not None:
        given |= {"format": "gauntlet", "panel": list_bots(against)}
    how = keywords.make_playing(out, fresh=fresh, replace=replace, progress=progress, repeat=repeat)
    return play_out(*keywords.request(bots, config, given, _DEFAULT, how))[1]


def play_out(tournament: Tournament, how: Playing) -> tuple[Outcome, Results]:
    """Play what is left of a tournament; raises Interrupted.

    The games of a run without a folder are in its results.
    """
    store = None if how.out else Store(None)

    def read(timings: Timings | None = None) -> Results:
        return Results(tournament, store, timings) if store else open_run(how.out or "")

    try:
        outcome = how.play(tournament, store)
    except KeyboardInterrupt:
        with suppress(InputError):  # there may be no run yet
            raise Interrupted(read(), how.out) from None
        raise
    return outcome, read(outcome.timings)


@keywords.takes(keywords.GameKeys)
def play(
    bot: Bot,
    opponent: Bot,
    *,
    pair: int = 0,
    seat: int = 0,
    deal: str | None = None,
    thoughts: bool = False,
    **keys: Unpack[keywords.GameKeys],
) -> Game:
    """Play one game, in which `bot` has this seat, within the arena's limits.

    It is the game of this pair and seat in every run with this seed in which the bots have
    these labels; with a `deal`, in every run with fixed deals that has it there. A bot that does
    something wrong forfeits, and `fault` says why. With `thoughts` the bots are asked what they
    thought of their actions, where they can say it. Raises InputError for what cannot be played.

    >>> game = play("greedy", "uniform", seed=3)
    >>> game.seats, game.ending
    (('greedy', 'uniform'), 'greedy wins on points, 22 : 7')
    """
    if type(pair) is not int or not 0 <= pair < MOST_PAIRS:
        raise InputError(f"pair: {show(pair)} is not a number from 0 to {MOST_PAIRS - 1:,}")
    if type(seat) is not int or seat not in (0, 1):
        raise InputError(f"seat: {show(seat)} is not 0 or 1")
    default = {"name": "game", "pairs": pair + 1, "workers": 1}
    tournament, how = keywords.request([bot, opponent], None, keys, default, Playing())
    tournament = tournament if deal is None else tournament.on_deal(deal)
    game = play_again(tournament, pair, seat, how.venue)
    if thoughts:
        game, note = add_thoughts(tournament, tournament.fixture(0, pair, seat), game)
        if note:
            warnings.warn(note, stacklevel=3)
    return game


class Comparison:
    """The result of a comparison: the verdict, the lead in Elo points, and its games.

    >>> import arena
    >>> comparison = arena.compare("denier", "uniform", seed=1, max_pairs=16, progress=False)
    >>> comparison.verdict, comparison.pairs, comparison.counts
    ('undecided', 16, (0, 0, 1, 0, 15))
    >>> comparison.differences is None
    True
    """

    def __init__(self, found: made.SprtResult, results: Results) -> None:
        """Take what was found, and the results of the games."""
        self._found = found
        self.results = results

    @property
    def verdict(self) -> Verdict:
        """What the test says: one of better, not better and undecided."""
        return self._found.verdict

    @property
    def sentence(self) -> str:
        """Which of the two is stronger, in words; no more is said than the interval says."""
        return self._found.sentence

    @property
    def pairs(self) -> int:
        """How many pairs were played; against other bots, how many by each version."""
        return self._found.evidence.pairs

    @property
    def counts(self) -> tuple[int, ...]:
        """The pairs by the new bot's score: 0, 1/2, 1, 3/2 and 2.

        Against other bots they are by what it has more than the old one: -2 to 2 by halves.
        """
        return tuple(self._found.evidence.counts)

    @property
    def llr(self) -> float:
        """The log-likelihood ratio of elo1 against elo0."""
        return self._found.evidence.ratio

    @property
    def elo(self) -> float:
        """The lead in Elo points, corrected for early stopping."""
        return self._found.elo.value

    @property
    def elo_low(self) -> float:
        """The lower end of its 95 % interval."""
        return self._found.elo.low

    @property
    def elo_high(self) -> float:
        """The upper end of its 95 % interval."""
        return self._found.elo.high

    @cached_property
    def tables(self) -> Frames:
        """The tables of the run, and those of the comparison, by the names of their files."""
        from arena.store.columns import Frames

        paired, made = self._found.paired, self.results.tables.makers
        own: tuple[TableName, ...] = ("differences", "decided") if paired else ()
        return Frames(made | {name: partial(getattr, paired, name) for name in own})

    @property
    def differences(self) -> pd.DataFrame | None:
        """The lead in total, by opponent, seat and win type (differences.csv).

        None where the two bots played each other.
        """
        return self.tables.get("differences")

    @property
    def decided(self) -> pd.DataFrame | None:
        """The games in which the change decided (decided.csv), None as for `differences`."""
        return self.tables.get("decided")

    def document(self) -> dict[str, Any]:
        """Return what `arena compare --json` prints of it."""
        return self._found.document()

    def __str__(self) -> str:
        return "\n".join([*self._found.lines(), *self._found.difference_lines()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return it for a notebook; labels may be anything."""
        text = f"<pre>{escape(chr(10).join(self._found.lines()))}</pre>"
        if self.differences is None:
            return text
        return text + self.differences.to_html(index=False, escape=True, border=0, na_rep="")


@keywords.takes(keywords.CompareKeys)
def compare(
    new: Bot,
    old: Bot,
    *,
    against: Sequence[Bot] | Bot | None = None,
    elo0: float = ELO0,
    elo1: float = ELO1,
    alpha: float = ERROR_RATE,
    beta: float = ERROR_RATE,
    max_pairs: int = COMPARED_PAIRS,
    out: Location | None = None,
    fresh: bool = False,
    replace: bool = False,
    progress: bool = True,
    **keys: Unpack[keywords.CompareKeys],
) -> Comparison:
    """Play until a sequential test says whether `new` is stronger than `old`.

    It weighs an Elo difference of `elo1` (H1) against `elo0` (H0), with error rates `alpha` and
    `beta`, and is undecided after `max_pairs`. With `against`, a bot, some of them or "ladder",
    both meet these bots on the same deals, and the difference by deal is tested. The other
    arguments, and the errors, are those of `run`.

    >>> comparison = compare(
    ...     "denier", "uniform", against="majority", seed=1, max_pairs=16, progress=False
    ... )
    >>> comparison.elo_low > 100
    True
    """
    from arena.tournament.sprt_rounds import as_comparison

    stop = make_sprt(elo0, elo1, alpha, beta, max_pairs)
    given: dict[str, Any] = {**keys}
    if against is not None:
        given |= {"format": "gauntlet", "panel": panel_of(against, (new, old))}
    default = {"name": "compare", "pairs": max_pairs}
    how = keywords.make_playing(out, fresh=fresh, replace=replace, progress=progress)
    tournament, how = keywords.request([new, old], None, given, default, how)
    outcome, results = play_out(as_comparison(tournament, stop), how)
    assert outcome.comparison is not None
    return Comparison(outcome.comparison, results)


def panel_of(against: Any, compared: Sequence[Bot]) -> list[Any]:
    """Return the opponents of some bots, the ladder's in place of its name."""
    names = [bot[0] if isinstance(bot, tuple) else bot for bot in compared]
    return expand_ladder(list_bots(against), [name for name in names if isinstance(name, str)])
