"""Plan a run before it is played: the pairs that separate bots, and their cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from arena.entries.resolve import resolve
from arena.errors import InputError, counted
from arena.library.comparing import panel_of
from arena.library.request import Bot, Location, folder_path, list_bots, plain
from arena.library.results import Results
from arena.runs.progress_bar import format_duration
from arena.statistics.planned import Planned, expect_test
from arena.statistics.ratings import ELO
from arena.statistics.sprt import bounds
from arena.store.csv_files import read_timings
from arena.store.reader import read_run
from arena.tournament.keys import COMPARED_PAIRS, ERROR_RATE, MOST_PAIRS, MOST_WIDTH, POWER
from arena.tournament.rounds import Counts
from arena.tournament.schedule import Pairing
from arena.tournament.stop import Until
from arena.tournament.until_rounds import UntilRounds
from engine.errors import show

_MOST_BOTS = 60
_TIMES = (0.5, 1.0, 1.5, 2.0)  # times the gap: gaps whose power is reported
_FIRST_PAIRS = 20  # in the first round of a run with until
_UNTIL_BOTS = 20  # with more, a simulation takes too long
_DRAWN, _FEWEST = 80, 4  # bots in all simulated runs with until, and the least number of runs
_SEED = 46

_Like: TypeAlias = "tuple[float, float, float | None]"
"""The effect of pairs, the spread in log odds, and the seconds of a game if known."""


class Way(NamedTuple):
    """A way to play: pairs of each pairing, total pairs, games and seconds, and the power.

    `each` is None if pairings differ; `seconds`, of one core, is None without an earlier run;
    `chance`, the probability that two neighbours are told apart, is None if a width was given.
    """

    way: str
    each: int | None
    pairs: int
    games: int
    seconds: float | None
    chance: float | None


class Plan(NamedTuple):
    """The plan of a run: a sentence, the ways to play, and the power of the first way by gap.

    `chances` has the power by gap in Elo points. `ways` is empty if no number of pairs is enough.

    >>> print(plan(3, against=2, gap=5))
    No number of pairs is enough: the panel does not say what the bots would score
    against others.
    """

    sentence: str
    ways: list[Way]
    chances: dict[float, float]

    def document(self) -> dict[str, Any]:
        """Return the document that `arena plan --json` prints."""
        chances = [{"gap": gap, "chance": chance} for gap, chance in self.chances.items()]
        ways = [way._asdict() for way in self.ways]
        return {"sentence": self.sentence, "ways": ways, "chances": chances}

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        if self.ways:
            yield f"{'pairs each':>24}{'pairs':>13}{'games':>15}{'one core':>17}{'chance':>8}"
        for way, each, pairs, games, seconds, chance in self.ways:
            numbers = f"{'' if each is None else format(each, ','):>12}{pairs:>13,}{games:>15,}"
            time = "" if seconds is None else format_duration(seconds)
            yield f"{way:<12}{numbers}{time:>17}{_write_percent(chance):>8}".rstrip()
        if self.chances:
            told = (f"{gap:g}: {_write_percent(chance)}" for gap, chance in self.chances.items())
            yield f"chance to see a gap, {self.ways[0].way}: {', '.join(told)}"
        yield from wrap(self.sentence, 80)


def plan(
    bots: Sequence[Bot] | int,
    *,
    gap: float | None = None,
    width: float | None = None,
    power: float = POWER,
    against: Sequence[Bot] | Bot | int | None = None,
    like: Location | None = None,
) -> Plan:
    """Compute the pairs that separate neighbours `gap` Elo apart, or narrow ratings to `width`.

    `bots` and `against`, the panel of a gauntlet, are bots or their number. All neighbours are
    `gap` apart, and are told apart with probability `power`. `width` is half of the widest interval
    of a rating. `like` is the folder of a similar run, from which the variance of pairs, the spread
    of pairings about the Elo and the time of a game are taken; without it the two games of a pair
    count as independent. Raises InputError.

    >>> [(way.way, way.pairs) for way in plan(2, gap=100).ways]
    [('round robin', 57), ('until', 92), ('compare', 43)]
    """
    gap, width, power, bots, against = plain((gap, width, power, bots, against))
    for name, elo in (("gap", gap), ("width", width)):
        if elo is not None and not (type(elo) in (int, float) and 1 <= elo <= MOST_WIDTH):
            raise InputError(f"{name}: {show(elo)} is not a number from 1 to {MOST_WIDTH:,}")
    if (gap is None) == (width is None):
        raise InputError("a plan needs a gap or a width, and not both")
    if not (type(power) is float and 0.5 <= power <= 0.99):
        raise InputError(f"power: {show(power)} is not a number from 0.5 to 0.99")
    panel = _count("against", against or 0, 0, list_bots(bots))
    number = _count("bots", bots, 1 if panel and width else 2)
    effect, spread, seconds = _measure(like)
    field = Planned(number, panel, (gap or 0.0) / ELO, effect, spread)
    each = field.pairs_to_tell(power) if gap else field.pairs_to_narrow((width or 0.0) / ELO)
    if each is None:
        why = "the panel does not say what the bots would score against others"
        return Plan(f"No number of pairs is enough: {why}.", [], {})
    gaps = [times * gap for times in _TIMES] if gap else []
    told = dict(zip(gaps, field.chances(each, *(one / ELO for one in gaps)), strict=True))
    ways = [
        Way(name, each_of, pairs, 2 * pairs, seconds and 2 * pairs * seconds, chance)
        for name, each_of, pairs, chance in _find_ways(
            field, each, power, width, told.get(gap or 0.0)
        )
    ]
    return Plan(_write_sentence(ways[0], gap, width), ways, told)


def _count(name: str, bots: Any, least: int, compared: Sequence[Bot] | None = None) -> int:
    """Return the number of bots, or of a panel for `compared` bots; raises InputError."""
    if type(bots) is not int:
        found = list_bots(bots) if compared is None else panel_of(bots, compared)
        for bot in found:
            if isinstance(bot, str):
                resolve(bot)
            elif bot is None or isinstance(bot, int | float):
                raise InputError(f"{show(bot)} is neither a bot nor how many there are")
        bots = len(found)
    if not least <= bots <= _MOST_BOTS:
        raise InputError(f"{name}: {bots:,} is not a number from {least} to {_MOST_BOTS}")
    return int(bots)


def _measure(like: Location | None) -> _Like:
    """Return the properties of the pairs of a run; raises InputError."""
    if like is None:
        return 1.0, 0.0, None
    from arena.differences.run_files import tables_of

    path = folder_path(like, "like")
    tournament, store = read_run(path)
    results = Results(tournament, store, read_timings(path), path)
    fit = tables_of(tournament, store.count(), store).judged.fit
    if not fit.scores:
        raise InputError(f"{path}: no two bots have played")
    spread = math.sqrt(fit.spread.variance) if fit.spread.is_measured else 0.0
    seconds = float(results.games["plies"].mean() * results.timings["wall_mean"].mean())
    return fit.model.effect(fit.strengths), spread, None if math.isnan(seconds) else seconds


def _find_ways(
    field: Planned, each: int, power: float, width: float | None, told: float | None
) -> Iterator[tuple[str, int | None, int, float | None]]:
    """Yield ways to play: the name, pairs of each pairing, total pairs, and the power."""
    yield "gauntlet" if field.panel else "round robin", each, each * len(field.pairings), told
    if field.panel and not width and (looked := field._replace(looks=True).pairs_to_tell(power)):
        yield "league", looked, looked * len(field.pairings), power
    if not field.panel and field.bots <= _UNTIL_BOTS:
        yield "until", None, math.ceil(expect_until(field, width)), None if width else 1.0
    if not (field.panel or width):
        found = expect_test(field, bounds(ERROR_RATE, 1 - power), COMPARED_PAIRS)
        yield "compare", None, found.pairs, found.chance


def expect_until(field: Planned, width: float | None) -> float:
    """Return the mean number of pairs of simulated runs with `until`."""
    rng = np.random.default_rng(_SEED)
    pairings = [Pairing(str(bot), str(opponent)) for bot, opponent in field.pairings]
    rounds = UntilRounds(pairings, _FIRST_PAIRS, Until(width or "resolved", MOST_PAIRS))
    leads = [field.strengths[one] - field.strengths[two] for one, two in field.pairings]
    shares = [(lost, 0, even, 0, won) for lost, even, won in map(field.shares, leads)]
    played = []
    for _ in range(_FEWEST if width else max(_FEWEST, _DRAWN // field.bots)):
        counts: dict[int, Counts] = {}
        while ranges := rounds.next(len(counts), counts, ()):  # 0 for the first round
            for pairing, first, end in ranges:
                more = rng.multinomial(end - first, shares[pairing])
                counts[pairing] = tuple((counts.get(pairing, 0) + more).tolist())
        played.append(sum(map(sum, counts.values())))
    return float(np.mean(played))


def _write_sentence(way: Way, gap: float | None, width: float | None) -> str:
    """Return a sentence on what the first way detects, and its cost."""
    if gap is not None:
        told = f"are told apart with a chance of {_write_percent(way.chance)}"
        known = f"two neighbours {gap:g} Elo points apart {told}"
    else:
        known = f"all ratings are known within {width:g} Elo points"
    with_pairs = f"With {counted(way.each or 0, 'pair')} of every two bots that meet"
    return f"{with_pairs} {known}: {counted(way.games, 'game')} in all."


def _write_percent(chance: float | None) -> str:
    """Return a probability as text, "" for None."""
    return "" if chance is None else f"{100 * chance:.0f} %"
