"""Rate the bots of a run, find results that misfit, and cycles of bots that beat each other.

In a cycle each bot beats the next one, and the last beats the first, so no ratings agree with all
results. So rankings that allow for cycles are shown beside the Elo: alpha-rank (how often each
player is played in evolution under strong selection) and the Nash average.

The Nash average is computed by annealing. For each temperature `heat` there is one logit quantal
response equilibrium, the mixture x = softmax(payoffs @ x / heat). It plays a player exp(1 / heat)
times as often as one that wins 1 less. Its entropy is at least that of every equilibrium p: for p
wins at least 0 from x, and x wins 0 from itself, so that p @ log(x) >= x @ log(x), and p @ log(p)
>= p @ log(x). As the heat falls, x tends to a Nash equilibrium.

Sources: Omidshafiei and others 2019 for alpha-rank, with one population and a constant-sum game;
Balduzzi, Tuyls, Perolat and Graepel 2018 for the Nash average; McKelvey and Palfrey 1995 for
quantal response.

The fit predicts the score of every pairing. The residual is the observed score minus the predicted
one. Its standard error comes from the luck of the pairing's own pairs, less the part of it to which
the fit has adapted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from arena.statistics.counts import NO_ANCHORS, Anchors, PairTotals, ScoreCounts
from arena.statistics.distributions import Floats, expit, logit, normal_below
from arena.statistics.intervals import LEVEL, Estimate, correct
from arena.statistics.model import Flags, Numbers, find_reach
from arena.statistics.ratings import ELO, MEAN, Fit, PairScores, Scale
from arena.statistics.verdicts import Verdict, Verdicts

_EXACT = 1e-3  # Elo points: half the interval of an anchor that is given as exact
_UNTESTED = 1e-6  # of a pairing's variance: a smaller residual variance counts as 0
_COLUMNS = ["bot", "opponent", "expected", "residual", "residual_z", "residual_q"]


class Residuals(NamedTuple):
    """What the ratings say of each pairing, from the side of its first bot, as arrays.

    `expected` is the share that they predict, `residual` the observed share minus it. `z` is the
    residual in standard errors, and `q` its p-value corrected for many pairings; both are nan if a
    bot's rating depends on this pairing only. Source: Benjamini and Hochberg 1995 for the
    correction.
    """

    expected: Floats
    residual: Floats
    z: Floats
    q: Floats

    @property
    def tested(self) -> int:
        """The number of pairings that other games test."""
        return int(np.isfinite(self.q).sum())


class Field:
    """The rated bots, by label, in the order of the run; games against others are left out.

    `pairings` are two labels each. Anchors that are not rated are ignored. With `even` every
    pairing weighs the same (`Fit`); with `looks` verdicts are valid at every number of pairs.
    """

    def __init__(
        self,
        pairings: Sequence[tuple[str, str]],
        totals: Iterable[PairTotals],
        labels: Sequence[str],
        unrated: Collection[str] = (),
        anchors: Anchors = NO_ANCHORS,
        *,
        even: bool = False,
        looks: bool = False,
    ) -> None:
        self.looks = looks
        self.labels = [label for label in labels if label not in unrated]
        self.numbers: Mapping[str, int] = {label: n for n, label in enumerate(self.labels)}
        self.scores: list[PairScores] = []
        self.met: dict[tuple[int, int], ScoreCounts] = {}
        for number, pairs, total, squares, by_score in totals:
            bot, opponent = pairings[number]
            if bot in self.numbers and opponent in self.numbers:
                two = self.numbers[bot], self.numbers[opponent]
                self.scores.append(PairScores(*two, pairs, total, squares))
                self.met[two] = by_score
        self.fit = Fit(len(self.labels), self.scores, even=even)
        self.anchors = {self.numbers[one]: anchors[one] for one in anchors if one in self.numbers}

    @cached_property
    def scale(self) -> Scale:
        """The zero of the ratings; anchors are weighted by how precisely their Elo is known."""
        known = self.anchors.items()
        return self.fit.scale({bot: 1 / max(error, _EXACT) ** 2 for bot, (_, error) in known})

    @cached_property
    def verdicts(self) -> Verdicts:
        """The verdicts on every two bots."""
        return Verdicts(self.fit, self.met, looks=self.looks)

    def verdict(self, bot: str, opponent: str) -> Verdict | None:
        """Return the verdict on two bots, the leader first, in Elo; None if no games connect them.

        Its numbers are rounded, so that all that is derived from them agrees.
        """
        return self.verdicts_on(bot, [opponent])[0]

    def verdicts_on(self, bot: str, others: Sequence[str]) -> list[Verdict | None]:
        """Return the verdicts on a bot and each of others, as `verdict` does."""
        places = [self.numbers[other] for other in others]
        return [*map(_in_elo, self.verdicts.on(self.numbers[bot], places))]

    @cached_property
    def residuals(self) -> Residuals:
        """How far the score of each pairing is from what the ratings say."""
        expected = self.fit.model.shares(self.fit.strengths)
        observed = np.array([score.total / (2 * score.pairs) for score in self.scores])
        z = _in_errors(self)
        return Residuals(expected, observed - expected, z, correct(2 * normal_below(-np.abs(z))))

    @property
    def groups(self) -> list[list[str]]:
        """The labels of the bots of each connected component of the graph of games."""
        numbers = self.fit.groups
        return [[*compress(self.labels, numbers == one)] for one in sorted({*numbers.tolist()})]

    @cached_property
    def ratings(self) -> dict[str, Estimate]:
        """The rating of each bot, with simultaneous intervals."""
        elos, errors = np.full(len(self.labels), MEAN), np.zeros(len(self.labels))
        for bot, known in self.anchors.items():
            elos[bot], errors[bot] = known
        weights = self.scale.weights
        error = np.sqrt(weights**2 @ errors**2)
        value, *ends = self.verdicts.ratings(self.scale)
        rows = [weights @ elos + ELO * value]
        for side, end in zip((-1, 1), ends, strict=True):
            rows.append(rows[0] + side * np.hypot(ELO * (end - value), error))
        table = zip(self.labels, *(row.tolist() for row in rows), strict=True)
        return {label: Estimate(*row) for label, *row in table}

    def in_order(self) -> list[str]:
        """Return the labels, the strongest bot first; ties of rounded ratings by label."""
        return sorted(self.labels, key=lambda one: (-round(self.ratings[one].value, 1), one))

    def unbounded(self) -> Iterator[tuple[str, str, float | None, float | None]]:
        """Yield the bots whose interval lacks an end: label, reason, and both ends or None."""
        scale = self.scale
        scored = self.fit.scored
        for bot, (label, rating) in enumerate(self.ratings.items()):
            if scale.no_high[bot]:
                record = "unbeaten" + (" by the rest" if scored[:, bot].any() else "")
            elif scale.no_low[bot]:
                record = "winless" + (" against the rest" if scored[bot].any() else "")
            else:
                continue
            yield label, record, *rating.scaled(1, 1).cells[1:]


def _in_elo(found: Verdict | None) -> Verdict | None:
    if found is None:
        return None
    lead, low, high = (round(ELO * end, 1) + 0.0 for end in found[:3])
    return Verdict(lead, low, high, round(found.likely, 4), found.word)


def make_residuals(field: Field) -> dict[str, npt.NDArray[Any]]:
    """Return the residuals of each ordered pair of rated bots that met, as columns by name."""
    labels = np.array(field.labels, dtype=object)
    bot, opponent = labels[field.fit.model.first], labels[field.fit.model.second]
    expected, residual, z, q = field.residuals
    own = bot, opponent, expected, residual, z, q
    turned = opponent, bot, 1 - expected, -residual, -z, q
    return {name: np.concatenate(both) for name, *both in zip(_COLUMNS, own, turned, strict=True)}


def _in_errors(field: Field) -> Floats:
    """Return the standardised residual of each pairing; nan if the fit reproduces its score.

    The leverage is the part of a change in a pairing's score that the fitted score follows. So the
    residual's variance is spread x (1 - 2 leverage) + weight squared x the variance of the fitted
    gap.
    """
    model, strengths = field.fit.model, field.fit.strengths
    weights, information = model.weights(strengths), model.information(strengths)
    spreads = model.effects(strengths) * information
    first, second = model.first, model.second
    inverse = model.inverse(strengths)
    own = np.diag(inverse)
    leverage = weights * (own[first] + own[second] - 2 * inverse[first, second])
    variance = spreads * (1 - 2 * leverage)
    variance += (information * field.fit.gap_errors[first, second]) ** 2
    beyond = model.total - 2 * model.pairs * model.shares(strengths)
    tested = variance > _UNTESTED * spreads
    return np.where(tested, beyond / np.sqrt(np.where(tested, variance, 1.0)), np.nan)


def find_misfits(field: Field) -> list[tuple[str, str, float, float]]:
    """Return the pairings whose residual is significant, the worst first.

    Each has two labels, first that of the bot that comes first in the field, and the expected and
    the residual share of this bot.
    """
    model, found, misfits = field.fit.model, field.residuals, []
    for place in np.flatnonzero(found.q < LEVEL).tolist():
        bot, opponent = int(model.first[place]), int(model.second[place])
        expected, residual = float(found.expected[place]), float(found.residual[place])
        if bot > opponent:
            bot, opponent, expected, residual = opponent, bot, 1 - expected, -residual
        misfits.append((-abs(float(found.z[place])), bot, opponent, expected, residual))
    named = field.labels
    return [
        (named[bot], named[opponent], expected, residual)
        for _, bot, opponent, expected, residual in sorted(misfits)
    ]


RANKING_COLUMNS = ["bot", "elo", "nash", "alpha_rank", "cycle"]


def find_beats(field: Field) -> Flags:
    """Return which bot (row) beats which one (column) significantly.

    The probability that any of these claims is wrong is at most 5 %. Source: Holm 1979.
    """
    model = field.fit.model
    beyond = model.total - model.pairs  # the score of the first bot above one half
    spread = model.squares - 2 * model.total + model.pairs
    p_values = 2 * normal_below(-np.abs(beyond) / np.sqrt(spread))
    order = np.argsort(p_values, kind="stable")
    bounds = LEVEL / np.arange(len(order), 0, -1)
    sure = order[np.logical_and.accumulate(p_values[order] <= bounds)]
    beats = np.zeros((model.bots, model.bots), dtype=bool)
    two = np.where(beyond > 0, (model.first, model.second), (model.second, model.first))
    beats[tuple(two[:, sure])] = True
    return beats


def number_cycles(beats: Flags) -> Numbers:
    """Return the strongly connected component of each bot, from 1; 0 for a bot without a cycle.

    Two bots are in one component if each beats the other through a chain of wins. Components are
    numbered in the order of their first bots.

    >>> beats = np.zeros((4, 4), dtype=bool)
    >>> beats[0, 1] = beats[1, 2] = beats[2, 3] = beats[3, 1] = True
    >>> number_cycles(beats).tolist()
    [0, 1, 1, 1]
    """
    reach = find_reach(beats)
    both = reach & reach.T
    cyclic = both.sum(axis=1) > 1
    numbers = np.zeros(len(beats), dtype=int)
    firsts = [int(row.argmax()) for row in both[cyclic]]
    numbers[cyclic] = np.unique(firsts, return_inverse=True)[1] + 1
    return numbers


def shortest_cycle(beats: Flags, start: int) -> list[int]:
    """Return a shortest cycle through a bot: the bot, one that it beats, and so on."""
    before, reached = {start: start}, [start]
    for bot in reached:  # the list grows meanwhile
        new = [one for one in np.flatnonzero(beats[bot]).tolist() if one not in before]
        before |= dict.fromkeys(new, bot)
        reached += new
    cycle = [next(bot for bot in reached if beats[bot, start])]
    while cycle[-1] != start:
        cycle.append(before[cycle[-1]])
    return cycle[::-1]


def make_rankings(field: Field, labels: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return Elo, Nash average and alpha-rank of the bots of every group with a cycle, as rows.

    Their cells are those of RANKING_COLUMNS. Without a cycle there are no rows. `cycle` is the
    number of the bot's strongly connected component, None for a bot without a cycle. Rows are in
    the order of `labels`. Sources: nash_average, alpha_rank.
    """
    if not field.labels:
        return []
    cycles = number_cycles(find_beats(field))
    groups = field.fit.groups
    elos = np.array([rating.value for rating in field.ratings.values()]).round(1)
    rows: list[tuple[Any, ...]] = []
    for group in np.unique(groups[cycles > 0]):
        bots = np.flatnonzero(groups == group)
        payoffs = make_payoffs(field)[np.ix_(bots, bots)]
        shares = nash_average(payoffs).round(4), alpha_rank(expit(payoffs)).round(4)
        for bot, *of_bot in zip(bots.tolist(), *(one.tolist() for one in shares), strict=True):
            cycle = int(cycles[bot]) or None
            rows.append((field.labels[bot], float(elos[bot]), *of_bot, cycle))
    places = {label: place for place, label in enumerate(labels)}
    return sorted(rows, key=lambda row: places[row[0]])


def make_payoffs(field: Field) -> Floats:
    """Return the lead of each bot (row) over each other bot (column), in log odds.

    It follows from their scores with the credit of the fit; for two bots that did not meet it is
    the difference of their ratings.
    """
    model, strengths = field.fit.model, field.fit.strengths
    payoffs = strengths[:, None] - strengths[None, :]
    leads = logit(model.total / (2 * model.pairs))
    payoffs[model.first, model.second] = leads
    payoffs[model.second, model.first] = -leads
    return np.asarray(payoffs)


def describe_cycle(field: Field) -> list[str]:
    """Return a cycle as labels, with the first repeated at the end; [] without a cycle."""
    beats = find_beats(field)
    cyclic = np.flatnonzero(number_cycles(beats)).tolist()
    if not cyclic:
        return []
    cycle = shortest_cycle(beats, cyclic[0])
    return [field.labels[bot] for bot in [*cycle, cycle[0]]]


_COOLING = 0.25
_COLDEST = 1e-8  # lowest temperature over the largest payoff, about the error of a probability
_MOST_STEPS = 100
_SHORTEST_STEP = 1e-6
_SMALLEST_PART = 1e-4  # of a step


def nash_average(payoffs: Floats) -> Floats:
    """Return the Nash equilibrium of largest entropy of a symmetric zero-sum game.

    `payoffs` are antisymmetric: what the row player wins from the column player. The result is the
    probability of each player in the equilibrium. It is 1 for a player that beats all others, and 0
    for dominated players.

    >>> rock_paper_scissors = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    >>> nash_average(rock_paper_scissors).round(3).tolist()
    [0.333, 0.333, 0.333]
    """
    scaled = payoffs / (np.abs(payoffs).max(initial=0.0) or 1.0)
    scores, heat = np.zeros(len(scaled)), 1.0
    while heat > _COLDEST:
        heat *= _COOLING
        scores = _balance(scaled / heat, scores)
    return _softmax(scores)


def _balance(payoffs: Floats, scores: Floats) -> Floats:
    """Return the fixed point: scores that equal those against their own softmax mixture.

    Newton's method, with steps that are halved until they reduce the error. The eigenvalues of its
    matrix have real part 1, so that it has an inverse.
    """
    for _ in range(_MOST_STEPS):
        mixture = _softmax(scores)
        won = payoffs @ mixture
        bend = np.eye(len(scores)) - payoffs * mixture + np.outer(won, mixture)
        step = np.linalg.solve(bend, won - scores)
        part, missing = 1.0, np.linalg.norm(won - scores)
        while part > _SMALLEST_PART:
            moved = scores + part * step
            if np.linalg.norm(payoffs @ _softmax(moved) - moved) <= (1 - part / 4) * missing:
                break
            part /= 2
        scores = moved
        if np.abs(step).max() < _SHORTEST_STEP * max(1.0, np.abs(scores).max()):
            break
    return scores


def _softmax(scores: Floats) -> Floats:
    """Return the mixture in which a player is exp(score) times as likely as one of score 0."""
    weights = np.exp(scores - scores.max())
    return np.asarray(weights / weights.sum())


POPULATION = 50
INTENSITY = 10.0
"""The selection intensity: a mutant that scores 0.55 takes over in 40 of 100 trials."""


def alpha_rank(shares: Floats, intensity: float = INTENSITY) -> Floats:
    """Return the share of time that a population is uniformly each player.

    `shares` are the scores of the row player against the column player, 0 to 1, with 1/2 on the
    diagonal. The fixation probabilities are those of a birth-and-death process.

    >>> alpha_rank(np.array([[0.5, 1, 0], [0, 0.5, 1], [1, 0, 0.5]])).round(3).tolist()
    [0.333, 0.333, 0.333]
    """
    fixation = _fixation(shares.T - 0.5, intensity)  # row: the resident player
    np.fill_diagonal(fixation, 0.0)
    return _stationary(fixation / max(1, len(shares) - 1))


def _fixation(leads: Floats, intensity: float) -> Floats:
    """Return the probability that a single mutant with this lead takes over a population."""
    advantage = intensity * POPULATION / (POPULATION - 1) * leads
    small = np.abs(advantage) < 1e-12
    safe = np.where(small, 1.0, advantage)
    return np.where(small, 1 / POPULATION, np.expm1(-safe) / np.expm1(-POPULATION * safe))


def _stationary(rates: Floats) -> Floats:
    """Return the stationary distribution of a Markov chain with these rates.

    States are eliminated one by one without subtraction, so that precision is kept for rates of any
    size. Source: Grassmann, Taksar and Heyman 1985.
    """
    rates = rates.copy()
    for last in range(len(rates) - 1, 0, -1):
        rates[:last, last] /= rates[last, :last].sum()
        rates[:last, :last] += np.outer(rates[:last, last], rates[last, :last])
    kept = np.ones(len(rates))
    for state in range(1, len(rates)):
        kept[state] = kept[:state] @ rates[:state, state]
    return np.asarray(kept / kept.sum())
