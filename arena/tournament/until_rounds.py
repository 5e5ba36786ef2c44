"""Add pairs where the standings are least certain, up to a wanted precision."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product

import numpy as np

from arena.errors import counted
from arena.statistics.bradley_terry import Floats
from arena.statistics.ratings import ELO, Fit
from arena.statistics.two_bots import pair_scores
from arena.statistics.verdicts import Verdicts
from arena.tournament.rounds import Counts, Rounds, Unresolved
from arena.tournament.schedule import Pairing, PairRange
from arena.tournament.stop import Until
from arena.tournament.tournament import Tournament


class Standings:
    """The standings of the bots still in the run, as numbers from 0, and the fit of their pairs.

    `order` sorts the bots by Elo, the strongest first; `numbers` are the two bots of each pairing
    that can continue. The games of bots that are `out` do not count. `met` are the pairings with at
    least one pair, in the order of the fit, which gives every pairing the same weight. `anchor` is
    the number of the bot at the zero of the Elo scale, None if the mean is at zero.
    """

    def __init__(
        self,
        pairings: Sequence[Pairing],
        counts: Mapping[int, Counts],
        out: Collection[str],
        anchor: str | None = None,
    ) -> None:
        every = dict.fromkeys(label for pairing in pairings for label in pairing)
        self.labels = [label for label in every if label not in out]
        places = {label: place for place, label in enumerate(self.labels)}
        self.anchor = places.get(anchor or "")
        self.numbers = {
            number: (places[bot], places[opponent])
            for number, (bot, opponent) in enumerate(pairings)
            if bot in places and opponent in places
        }
        self.played = {number: sum(counts.get(number, ())) for number in self.numbers}
        met = {two: counts[number] for number, two in self.numbers.items() if self.played[number]}
        self.met = [number for number in self.numbers if self.played[number]]
        scores = [pair_scores(*two, by_score) for two, by_score in met.items()]
        self.fit = Fit(len(self.labels), scores, even=True)
        self.scale = self.fit.scale({} if self.anchor is None else {self.anchor: 1.0})
        self.verdicts = Verdicts(self.fit, met, looks=True)
        self._inverse = self.fit.model.inverse(self.fit.strengths)
        elos = (ELO * self.fit.strengths).round(1).tolist()
        self.order = sorted(range(len(self.labels)), key=lambda bot: (-elos[bot], self.labels[bot]))

    def doubtful(self, target: str) -> list[tuple[int, int]]:
        """Return every two bots that a target asks for and that are not apart, the upper first."""
        kind, _, value = target.partition(":")
        if kind == "resolved":
            asked = [*zip(self.order, self.order[1:], strict=False)]
        elif kind == "against":
            bot = self.labels.index(value) if value in self.labels else None
            asked = [two for two in combinations(self.order, 2) if bot in two]
        else:
            most = int(value or 1)
            asked = [*product(self.order[:most], self.order[most:])]
        return [two for two in asked if not self.verdicts.apart[two]]

    def growth(self, upper: int, lower: int, *, hope: float = 0.0) -> float | None:
        """Return the factor by which all pairs must grow until two bots are separated.

        It assumes that the true lead is the estimated one plus `hope` standard errors. None if no
        number of pairs would suffice, or if no chain of games connects the two.
        """
        error = float(self.fit.gap_errors[upper, lower])
        lead = float(self.verdicts.leads[upper, lower]) + hope * error
        times = self.verdicts.times(upper, lower, lead) if lead > 0 else math.inf
        return None if math.isnan(error) or math.isinf(times) else times

    def half_widths(self, *, luck: bool = False) -> Floats:
        """Return half the width of each bot's simultaneous interval, in Elo points.

        With `luck`, only the part that further pairs would narrow.
        """
        covariance = self.fit.covariance if luck else self.fit.full_covariance
        bound = ELO * self.verdicts.rating_bound(self.scale)
        return bound * self.scale.errors(covariance)

    def open_by_pairing(self, contrast: Floats) -> Floats:
        """Return, for each pairing in `met`, its part of a difference's variance times its pairs.

        The variance is that of independent games, because a pairing's own variance cannot be
        estimated from few pairs.
        """
        model = self.fit.model
        moved = contrast @ self._inverse
        weights = model.weights(self.fit.strengths)
        squares = (moved[model.first] - moved[model.second]) ** 2
        return np.asarray(squares * weights * model.factors * model.played)

    def contrast(self, bot: int, opponent: int | None = None) -> Floats:
        """Return the contrast of a lead: the strengths' weights in a bot's lead over another.

        Without an opponent it is the lead over the zero of the scale.
        """
        weights = np.zeros(len(self.labels))
        if opponent is None:
            weights -= self.scale.weights[bot]
        else:
            weights[opponent] = -1.0
        weights[bot] += 1.0
        return weights

    def pairings_of(self, *bots: int) -> list[int]:
        """Return the pairings of any of these bots, in the order of the schedule."""
        return [number for number, two in self.numbers.items() if not {*bots}.isdisjoint(two)]

    def growth_of_one(self, bot: int, width: float) -> float | None:
        """Return the factor by which the pairs must grow to narrow an interval to this half width.

        None if the part of the interval that does not depend on the pairs is wider than that.
        """
        whole, luck = (float(self.half_widths(luck=only)[bot]) for only in (False, True))
        rest = width**2 - max(0.0, whole**2 - luck**2)
        return max(1.0, luck**2 / rest) if rest > 0 else None


_PAIR_DIGITS = 6  # digits of a number of pairs; rounding errors must not change decisions
_BISECTIONS = 100
_MOST = 1e9  # pairs


class Narrowing:
    """Allocates pairs to pairings so that a difference's variance falls with the fewest pairs.

    Every pairing has the same weight in a difference, so the variance is a sum over pairings of a
    constant divided by the pairing's number of pairs. The optimal numbers of pairs are proportional
    to the square roots of the constants (Neyman allocation). `given` are the pairs allocated to
    each pairing, at most its `room`. Source: Neyman 1934.
    """

    def __init__(self, standings: Standings, room: Mapping[int, int]) -> None:
        self.given: Counter[int] = Counter()
        self._standings = standings
        self._numbers = [*standings.met]  # pairings, in the order of the fit
        self._pairs = np.array([standings.played[n] for n in self._numbers], dtype=float)
        self._room = np.array([max(0, room.get(n, 0)) for n in self._numbers], dtype=float)

    def narrow(
        self, contrast: Floats, pairings: Iterable[int], growth: float, least: int = 1
    ) -> int:
        """Allocate pairs for the variance that a growth of all pairs by this factor would give.

        Return their number. Pairs from earlier calls count. No pairing gets more than `least` or,
        if that is more, half the pairs of the largest of these pairings.
        """
        chosen = np.isin(self._numbers, [*pairings])
        if not chosen.any():
            return 0
        most = max(float(least), float(self._pairs[chosen].max()) // 2)
        room = np.where(chosen, np.minimum(self._room, most), 0.0)
        wanted = self._allot_pairs(contrast, growth, room)
        for number, more in zip(self._numbers, wanted.tolist(), strict=True):
            if more:
                self.given[number] += int(more)
        return int(wanted.sum())

    def count_wanted(self, contrast: Floats, pairings: Iterable[int], growth: float) -> int:
        """Return the number of pairs that would be allocated without a limit."""
        chosen = np.isin(self._numbers, [*pairings])
        return int(self._allot_pairs(contrast, growth, np.where(chosen, np.inf, 0.0)).sum())

    def most_growth(self, contrast: Floats, pairings: Iterable[int]) -> float:
        """Return the factor by which a variance falls if these pairings have all their room."""
        cost = self._standings.open_by_pairing(contrast)
        room = np.where(np.isin(self._numbers, [*pairings]), self._room, 0.0)
        least = float(np.sum(cost / (self._pairs + room)))
        return float(np.sum(cost / self._pairs)) / least if least > 0 else math.inf

    def _allot_pairs(self, contrast: Floats, growth: float, room: Floats) -> Floats:
        """Return each pairing's further pairs for a variance that is `growth` times smaller."""
        cost = self._standings.open_by_pairing(contrast)
        given = np.array([self.given[number] for number in self._numbers], dtype=float)
        now = self._pairs + given
        most = np.maximum(now, self._pairs + np.maximum(room, given))
        target = float(np.sum(cost / self._pairs)) / growth
        roots = np.sqrt(cost)
        if float(np.sum(cost / now)) <= target:
            return np.zeros(len(now))
        low, high = 0.0, _MOST / max(float(roots.max()), 1e-300)
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            reached = float(np.sum(cost / np.clip(middle * roots, now, most))) <= target
            low, high = (low, middle) if reached else (middle, high)
        ends = np.ceil(np.round(np.clip(high * roots, now, most), _PAIR_DIGITS))
        return np.asarray(ends - now)


_GROWTH = 1.5  # the largest growth of the relevant pairs in a round
_LEAST_GROWTH = 1.05  # the smallest growth, to keep the rounds few
_UNKNOWN = 10**9  # pairs; more than any run plays
_DIGITS = 2  # significant digits of an estimated number of pairs
_HOPE = 2.0  # standard errors by which a true lead may exceed its estimate


class UntilRounds(Rounds):
    """Rounds of a run that stops at its target precision; `find_open` lists unresolved questions.

    `width` is half the width of the target intervals in Elo points, None if bots must be separated:
    those for which `target` asks. `anchor` is the label of the bot at the zero of the Elo scale.
    """

    leaves_out_unrated = True

    def __init__(
        self, pairings: Sequence[Pairing], pairs: int, stop: Until, anchor: str | None = None
    ) -> None:
        self.pairings = pairings
        self.pairs = pairs
        self.target = str(stop.target)
        self.width = None if isinstance(stop.target, str) else stop.target
        self.max_pairs = stop.max_pairs
        self.anchor = anchor
        self.least = max(1, pairs // 4)

    def next(
        self, number: int, counts: Mapping[int, Counts], out: Collection[str], /
    ) -> list[PairRange]:
        """Return the pairs of this round; empty if all is resolved or no pairing may continue."""
        if number == 0:
            pairs = min(self.pairs, self.max_pairs)
            return [PairRange(pairing, 0, pairs) for pairing in range(len(self.pairings))]
        standings = Standings(self.pairings, counts, out, self.anchor)
        played = standings.played
        room = {pairing: self.max_pairs - played[pairing] for pairing in played}
        narrowing = Narrowing(standings, room)
        if self.width is None:
            self._order(standings, narrowing)
        else:
            self._narrow(standings, narrowing, self.width)
        return [
            PairRange(pairing, played[pairing], played[pairing] + pairs)
            for pairing, pairs in sorted(narrowing.given.items())
        ]

    def find_open(self, counts: Mapping[int, Counts], out: Collection[str]) -> list[Unresolved]:
        """Return the unresolved questions from the top of the standings; empty if none remains."""
        return self._find_open(Standings(self.pairings, counts, out, self.anchor))

    def _find_open(self, standings: Standings) -> list[Unresolved]:
        labels = standings.labels
        if self.width is None:
            return [
                Unresolved(
                    labels[upper], labels[lower], self._count_further(standings, upper, lower)
                )
                for upper, lower in standings.doubtful(self.target)
            ]
        widths = standings.half_widths()
        return [
            Unresolved(labels[bot], None, self._count_further(standings, bot))
            for bot in standings.order
            if widths[bot] > self.width
        ]

    def _count_further(
        self, standings: Standings, bot: int, opponent: int | None = None
    ) -> int | None:
        """Estimate the number of further pairs needed to resolve a question, None if unknown."""
        if opponent is not None:
            growth = standings.growth(bot, opponent)
            contrast, bots = standings.contrast(bot, opponent), [bot, opponent]
        else:
            growth = standings.growth_of_one(bot, self.width or math.inf)
            contrast, bots = standings.contrast(bot, standings.anchor), [bot]
        if growth is None or not standings.met:
            return None
        pairings = standings.pairings_of(*bots)
        wanted = Narrowing(standings, {}).count_wanted(contrast, pairings, growth) or 1
        return wanted if wanted < _UNKNOWN else None

    def status(self, counts: Mapping[int, Counts], out: Collection[str] = (), /) -> str:
        """Return the number of unresolved questions as text."""
        if not counts:
            return ""
        pairs = sum(map(sum, counts.values()))
        found = self.find_open(counts, out)
        asked = "neighbours" if self.target == "resolved" else "pairs of bots"
        what = f"{asked} not told apart" if self.width is None else "intervals too wide"
        return f"after {counted(pairs, 'pair')}: {what}: {len(found)}"

    def _describe_known(self, standings: Standings) -> str:
        """Return what a run has found out that has reached its target."""
        kind, _, value = self.target.partition(":")
        if self.width is not None:
            return f"all intervals are within {self.width:g} Elo points"
        if kind == "resolved":
            return "every two neighbours are told apart"
        if kind == "against":
            return f"{value} is told apart from every other bot"
        best = [standings.labels[bot] for bot in standings.order[: int(value or 1)]]
        if len(best) == 1:
            return f"{best[0]} is the strongest"
        return f"{', '.join(best[:-1])} and {best[-1]} are the {len(best)} strongest"

    def describe_end(
        self, counts: Mapping[int, Counts], out: Collection[str], unrated: Collection[str], /
    ) -> list[str]:
        """Return lines that report whether all is resolved, and the cost of the rest in pairs."""
        gone = [*out, *unrated]
        left = {label for two in self.pairings for label in two} - {*gone}
        kind, _, bot = self.target.partition(":")
        is_gone = kind == "against" and bot in gone
        if len(left) < 2 or is_gone:
            lost = [bot] if is_gone else out or unrated
            why = "had too many faults" if {*lost} & {*out} else "finished no game"
            return [f"nothing to find out: {' and '.join(lost)} {why}"]
        standings = Standings(self.pairings, counts, gone, self.anchor)
        found = self._find_open(standings)
        after = f"after {counted(sum(map(sum, counts.values())), 'pair')}"
        others = "".join(_but_for(out, unrated))
        if not found:
            return [f"resolved {after}: {self._describe_known(standings)}{others}"]
        most = f"with {self.max_pairs:,} at most in a pairing"
        if self.width is None and min(standings.played.values()) < self.max_pairs:
            most = f"ended early, as {self.max_pairs:,} in a pairing would hardly tell more"
        head = f"not resolved {after}, {most}{others}:"
        return [head, *(f"  {_describe_open(one)}" for one in found)]

    def _order(self, standings: Standings, narrowing: Narrowing) -> None:
        """Allocate pairs to the pairings of unseparated bots if that can separate them.

        It cannot if even a lead two standard errors larger would need more pairs than may be
        played: so where only equal bots are left the run ends early. With "first", bots that cannot
        be first any more meet no further.
        """
        for upper, lower in standings.doubtful(self.target):
            contrast = standings.contrast(upper, lower)
            pairings = standings.pairings_of(upper, lower)
            needed = standings.growth(upper, lower, hope=_HOPE)
            if needed is None or needed > narrowing.most_growth(contrast, pairings):
                continue
            self._give(narrowing, contrast, pairings, standings.growth(upper, lower))

    def _narrow(self, standings: Standings, narrowing: Narrowing, width: float) -> None:
        """Allocate pairs to the bots whose intervals are too wide, the widest first."""
        widths = standings.half_widths(luck=True)
        wide = [bot for bot in standings.order if widths[bot] > width]
        for bot in sorted(wide, key=lambda bot: -round(float(widths[bot]), 6)):
            contrast = standings.contrast(bot, standings.anchor)
            growth = (float(widths[bot]) / width) ** 2
            self._give(narrowing, contrast, standings.pairings_of(bot), growth)

    def _give(
        self, narrowing: Narrowing, contrast: Floats, pairings: list[int], growth: float | None
    ) -> None:
        """Allocate pairs for half of the missing growth, up to the limit of a round."""
        wanted = _GROWTH if growth is None else 1 + (growth - 1) / 2
        now = min(_GROWTH, max(_LEAST_GROWTH, wanted))
        narrowing.narrow(contrast, pairings, now, self.least)


def make_rounds(tournament: Tournament, stop: Until) -> UntilRounds:
    """Return the rounds of a tournament with this stopping rule."""
    anchor = tournament.anchor.bot if tournament.anchor else None
    return UntilRounds(tournament.pairings, tournament.pairs, stop, anchor)


def _but_for(out: Collection[str], unrated: Collection[str]) -> Iterator[str]:
    """Yield the bots that remain unresolved, with the reason.

    >>> print(*_but_for(["a", "b"], ["b", "c"]))
    , but for a, b, which had too many faults , but for c, which finished no game
    """
    if out:
        yield f", but for {', '.join(out)}, which had too many faults"
    if unrated := [label for label in unrated if label not in out]:
        yield f", but for {', '.join(unrated)}, which finished no game"


def _describe_open(one: Unresolved) -> str:
    """Describe an unresolved question, and what it would cost to resolve it."""
    apart = f"{one.bot} and {one.opponent} are not told apart"
    what = apart if one.opponent else f"the interval of {one.bot} is too wide"
    return f"{what}: {describe_cost(one.further_pairs)}"


def describe_cost(further: int | None) -> str:
    """Describe the number of further pairs in words.

    >>> describe_cost(27902), describe_cost(None)
    ('about 28,000 further pairs', 'no number of further pairs can be named')
    """
    if further is None:
        return "no number of further pairs can be named"
    return f"about {counted(int(float(f'{further:.{_DIGITS}g}')), 'further pair')}"
