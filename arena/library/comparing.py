"""Compare two bots, or plan a run, from the arguments of a call."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, partial
from html import escape
from statistics import NormalDist
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from arena.entries.catalogue import expand_ladder
from arena.entries.resolve import resolve
from arena.errors import InputError, counted
from arena.library import request
from arena.library.request import Bot, Location, list_bots, plain
from arena.library.results import Results
from arena.library.running import play_out
from arena.statistics.ratings import ELO
from arena.statistics.two_bots import ALPHA, boundary
from arena.store.columns import Frames, TableName
from arena.tournament.config_keys import COMPARED_PAIRS, ELO0, ELO1, ERROR_RATE, MOST_WIDTH, POWER
from arena.tournament.sprt_rounds import Verdict, as_comparison
from arena.tournament.stop import make_sprt
from engine.errors import show

if TYPE_CHECKING:
    import pandas as pd

    from arena.differences import comparison as made

_MOST_BOTS = 60
_STEPS = 20  # until the bound of a lead no longer moves


class Plan(NamedTuple):
    """The plan of a round robin: the pairs of every two bots, all games, and a sentence.

    `first` are the games after which a run with `until: first` knows the strongest.

    >>> print(plan(6, gap=50))
    With 83 pairs of every two bots, neighbours 50 Elo points apart are told apart
    with a chance of 80 %: 2,490 games in all. The strongest is known after about
    1,800 games with --until first.
    """

    pairs: int
    games: int
    sentence: str
    first: int

    def __str__(self) -> str:
        return "\n".join(wrap(self.sentence, 80))


def plan(bots: Sequence[Bot] | int, *, gap: float, power: float = POWER) -> Plan:
    """Compute the pairs that separate neighbours in a round robin with `power`.

    `bots` are bots or their number, and each is `gap` Elo points stronger than the next one. Raises
    InputError.

    >>> plan(6, gap=20).games
    14220
    """
    gap, power, bots = plain((gap, power, bots))
    if not (type(gap) in (int, float) and 1 <= gap <= MOST_WIDTH):
        raise InputError(f"gap: {show(gap)} is not a number from 1 to {MOST_WIDTH:,}")
    if not (type(power) is float and 0.5 <= power <= 0.99):
        raise InputError(f"power: {show(power)} is not a number from 0.5 to 0.99")
    number = _count(bots)
    pairs = pairs_to_tell(number, gap, power)
    games, first = pairs * number * (number - 1), 2 * pairs_to_lead(number, gap)
    first = int(float(f"{first:.2g}"))
    sentence = (
        f"With {counted(pairs, 'pair')} of every two bots, neighbours {gap:g} Elo points apart are "
        f"told apart with a chance of {100 * power:.0f} %: {counted(games, 'game')} in all. The "
        f"strongest is known after about {counted(first, 'game')} with --until first."
    )
    return Plan(pairs, games, sentence, first)


def _count(bots: Any) -> int:
    """Return the number of bots; raises InputError."""
    if type(bots) is not int:
        for bot in (found := list_bots(bots)):
            if isinstance(bot, str):
                resolve(bot)
            elif bot is None or isinstance(bot, int | float):
                raise InputError(f"{show(bot)} is neither a bot nor how many there are")
        bots = len(found)
    if not 2 <= bots <= _MOST_BOTS:
        raise InputError(f"bots: {bots:,} is not a number from 2 to {_MOST_BOTS}")
    return int(bots)


def pairs_to_tell(bots: int, gap: float, power: float) -> int:
    """Return the pairs of every two bots of a ladder with which neighbours are told apart.

    A gap must exceed its bound and the luck of the power, in standard errors. The bound is that of
    Bonferroni for the gap and those others that are not told apart yet, as the test steps down. The
    error is that of the Bradley-Terry model, where the two games of a pair are independent. The
    study (bench/STUDIES.md) says by how much that misses.

    >>> [pairs_to_tell(bots, 20, 0.8) for bots in (2, 6, 20)]
    [1189, 474, 207]
    """
    strengths = gap / ELO * np.arange(bots)
    information = 1 / (1 + np.cosh(strengths[:, None] - strengths))  # of the two games of a pair
    np.fill_diagonal(information, 0.0)
    inverse = np.linalg.pinv(np.diag(information.sum(axis=0)) - information)
    upper, lower = np.arange(bots - 1), np.arange(1, bots)
    variances = inverse[upper, upper] + inverse[lower, lower] - 2 * inverse[upper, lower]
    normal, open_gaps = NormalDist(), 1 + (1 - power) * (bots - 2)
    errors = normal.inv_cdf(1 - ALPHA / 2 / open_gaps) + normal.inv_cdf(power)
    return math.ceil(float(variances.mean()) * (errors * ELO / gap) ** 2)


def pairs_to_lead(bots: int, gap: float) -> int:
    """Return the pairs of a run with `until: first` on a ladder of bots.

    The lead of the first bot must exceed a bound that holds at every look, and pairs are given to
    it and its rival as its variance falls fastest. The others have a first round of 20 pairs.

    >>> [pairs_to_lead(bots, 20) for bots in (2, 8, 12)]
    [1704, 6084, 7746]
    """
    share, square = 1 / (1 + 10 ** (-gap / 400)), 9.0
    for _ in range(_STEPS):
        level = 2 * ALPHA / (bots - 1 if bots > 2 else 4)
        square = float(boundary(square * (ELO / gap) ** 2, level))
    variance = 2 * ((bots - 1) / bots) ** 2 / (share * (1 - share))  # of the lead, times the pairs
    return math.ceil(variance * square * (ELO / gap) ** 2) + 10 * (bots - 2) * (bots - 3)


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


@request.takes(request.CompareKeys)
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
    **keys: Unpack[request.CompareKeys],
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
    stop = make_sprt(elo0, elo1, alpha, beta, max_pairs)
    given: dict[str, Any] = {**keys}
    if against is not None:
        given |= {"format": "gauntlet", "panel": panel_of(against, (new, old))}
    default = {"name": "compare", "pairs": max_pairs}
    how = request.make_playing(out, fresh=fresh, replace=replace, progress=progress)
    tournament, how = request.request([new, old], None, given, default, how)
    outcome, results = play_out(as_comparison(tournament, stop), how)
    assert outcome.comparison is not None
    return Comparison(outcome.comparison, results)


def panel_of(against: Any, compared: Sequence[Bot]) -> list[Any]:
    """Return the opponents of some bots, the ladder's in place of its name."""
    names = [bot[0] if isinstance(bot, tuple) else bot for bot in compared]
    return expand_ladder(list_bots(against), [name for name in names if isinstance(name, str)])
