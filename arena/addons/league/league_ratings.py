"""Rate the versions of a league by all their pairs, and choose the meetings of its next round.

A bot's rating is its Elo against all others. Results spread about the Elo model, so the variance of
a rating has two parts: the luck of the bot's pairs, and the choice of its opponents among all. That
is why further pairs against one opponent give little information, and a new opponent of known Elo
gives much. So newcomers first meet the panel, which connects them with all others. Each block of
pairs goes to the two bots whose variances it lowers most for its cost, weighted by importance:

1. versions with less than a tenth of the mean number of pairs come first, so that none starves;
2. then versions whose interval is wider than the target, the widest first; until they have met
   30 opponents (or all), they meet only new ones;
3. once all are within the target, versions whose order with a neighbour is least certain.

At last, groups that no game connects get a block each: only bots that games connect have a rating.

Sources: for one bot, the variance follows from the random-effects weights of DerSimonian and Laird
1986, with the variance of each opponent's own Elo added; choosing the greatest decrease of a
variance is the c-optimal design of Elfving 1952. Measured in bench/STUDIES.md, league.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from arena.addons.league.league_tables import Pairs, RatingRow, Version
from arena.entries.catalogue import ELO as LADDER
from arena.statistics.distributions import Floats, expit, normal_below
from arena.statistics.intervals import Z95
from arena.statistics.model import (
    LADDER_SPREAD,
    find_groups,
    make_laplacian,
    weigh_equally,
    weigh_variances,
)
from arena.statistics.ratings import ELO, MEAN, Fit, Scale
from arena.statistics.two_bots import pair_scores
from arena.statistics.verdicts import Verdicts
from arena.statistics.wording import give_letters

_GRID = np.linspace(0.0, 150.0, 61)  # Elo points


def shared_covariance(fit: Fit, panel: Sequence[int]) -> Floats:
    """Return what the panel's common deviation adds to the covariance of the strengths.

    The part that an equal round robin would have, too, is not an error. The estimate uses, for
    each bot, its mean gap to the panel minus its mean gap to all others, which does not depend on
    its own strength.
    """
    model = fit.model
    is_panel = np.isin(np.arange(model.bots), panel)
    to_panel = is_panel[model.first] != is_panel[model.second]
    weights = model.weights(fit.strengths)
    beyond = model.factors * (model.total - 2 * model.pairs * model.shares(fit.strengths))
    own = model.matrix(weights * to_panel)
    sums = np.array([np.diag(own), np.diag(model.matrix(weights * ~to_panel))])
    pulls = np.array([model.sum_ends(beyond * to_panel), model.sum_ends(beyond * ~to_panel)])
    known = ~is_panel & (sums > 0).all(axis=0)
    first, second = pulls[:, known] / sums[:, known]
    variance = _find_variance(first - second, (1 / sums[:, known]).sum(axis=0))
    full, equal = weigh_equally(model, fit.strengths)
    theirs = make_laplacian(full * (is_panel[:, None] != is_panel))
    moved = (model.inverse(fit.strengths) @ own - equal @ theirs)[:, ~is_panel]
    return np.asarray(variance * moved @ moved.T)


def _find_variance(gaps: Floats, variances: Floats) -> float:
    """Return the variance of gaps beyond their sampling variances, in squared log odds.

    It is a posterior mean with the prior of a spread. Larger values get a larger weight, because
    intervals fail to cover if the variance is underestimated.
    """
    logs = weigh_variances(gaps, variances + (_GRID[:, None] / ELO) ** 2)
    logs -= (_GRID / LADDER_SPREAD.high) ** 2 / 2
    likely = np.exp(logs - logs.max()) * _GRID**2
    return float(likely @ (_GRID / ELO) ** 2 / likely.sum())


class Rated(NamedTuple):
    """The ratings of a league's versions, by id, and the spread with its interval."""

    rows: dict[int, RatingRow]
    spread: tuple[float, float, float, bool]


def rate(
    versions: Sequence[Version],
    played: Sequence[Pairs],
    active: Collection[int],
    now: Collection[int] = (),
) -> Rated:
    """Return the ratings of all versions that played and are connected with the panel.

    `active` are the ids of the versions that get group letters, and `now` the ids of those that
    played in the last round.
    """
    met = {id for pairs in played for id in pairs[:2]}
    rated = [version for version in versions if version.id in met]
    numbers = {version.id: number for number, version in enumerate(rated)}
    counts = {(numbers[one], numbers[two]): by_score for one, two, by_score in played}
    scores = [pair_scores(*two, by_score) for two, by_score in counts.items()]
    if not rated:
        return Rated({}, (LADDER_SPREAD.high, 0.0, math.inf, False))
    spread = Fit(len(rated), scores).spread
    fit = Fit(len(rated), scores, known_spread=spread.elo)
    panel = [numbers[version.id] for version in rated if version.panel]
    shared = shared_covariance(fit, panel)
    fit.covariances = [one + shared for one in fit.covariances]
    zero = _zero(len(rated), panel)
    elo = _panel_elo([rated[number] for number in panel]) + ELO * (
        fit.strengths - zero @ fit.strengths
    )
    scale = fit.scale()._replace(weights=np.tile(zero, (len(rated), 1)))
    verdicts = Verdicts(fit, {two: tuple(by) for two, by in counts.items()}, looks=True)
    rows = _rows(rated, elo, verdicts, scale, panel, now)
    letters = _letters(rated, verdicts, elo, active)
    kept = {row.version: row._replace(letters=letters.get(row.version, "")) for row in rows}
    return Rated(kept, (spread.elo, spread.low, spread.high, spread.is_measured))


def _zero(bots: int, panel: Sequence[int]) -> Floats:
    """Return the weights of the strengths in the mean that is the zero of the scale."""
    counted = [*panel] or [*range(bots)]
    weights = np.zeros(bots)
    weights[counted] = 1 / len(counted)
    return weights


def _panel_elo(panel: Sequence[Version]) -> float:
    """Return the mean ladder Elo of the panel; a bot that is not on the ladder counts as 1500."""
    elos = [float(LADDER.get(version.spec, MEAN)) for version in panel]
    return math.fsum(elos) / len(elos) if elos else MEAN


def _rows(
    rated: Sequence[Version],
    elo: Floats,
    verdicts: Verdicts,
    scale: Scale,
    panel: Sequence[int],
    now: Collection[int],
) -> list[RatingRow]:
    """Return the row, without letters, of each version that games connect with the panel.

    The intervals hold all at once, as those of a run: also those of the first and the last.
    """
    fit, bound = verdicts.fit, verdicts.rating_bound(scale)
    errors = ELO * scale.errors(fit.full_covariance)
    pairs = np.zeros(len(rated))
    for score in fit.scores:
        pairs[[score.bot, score.opponent]] += score.pairs
    group = fit.groups[panel[0] if panel else 0]
    shrunk = _shrink(elo, errors)
    return [
        RatingRow(
            version.id,
            int(pairs[number]),
            float(elo[number]),
            None if scale.no_low[number] else float(elo[number] - bound * errors[number]),
            None if scale.no_high[number] else float(elo[number] + bound * errors[number]),
            float(shrunk[number]),
            "",
            version.id in now,
        )
        for number, version in enumerate(rated)
        if fit.groups[number] == group
    ]


def _shrink(elo: Floats, errors: Floats) -> Floats:
    """Shrink ratings towards their mean, the more the larger their errors (empirical Bayes).

    The prior is normal, with the mean and the spread of the ratings themselves.
    Source: Efron and Morris 1973.
    """
    weights = 1 / np.maximum(errors**2, 1.0)
    mean = float(weights @ elo / weights.sum())
    between = max(1.0, float(np.mean((elo - mean) ** 2 - errors**2)))
    return np.asarray(mean + between / (between + errors**2) * (elo - mean))


def _letters(
    rated: Sequence[Version], verdicts: Verdicts, elo: Floats, active: Collection[int]
) -> dict[int, str]:
    """Return the group letters of the active versions: two share one unless they are `apart`."""
    ranked = [number for number, version in enumerate(rated) if version.id in active]
    ranked.sort(key=lambda number: (-round(float(elo[number]), 1), rated[number].name))

    def is_apart(upper: int, lower: int) -> bool:
        return bool(verdicts.apart[ranked[upper], ranked[lower]])

    letters = give_letters(len(ranked), is_apart)
    return {rated[number].id: text for number, text in zip(ranked, letters, strict=True)}


BLOCK: Final = 10
"""Pairs that are assigned at once."""

BREADTH: Final = 30
"""The number of different opponents that a bot meets before it meets one of them again."""

_SHARE: Final = 0.1  # of the mean number of pairs: the least for every version
_PRIOR: Final = (400 / ELO) ** 2  # the variance of an unknown strength
_EFFECT: Final = 1.1  # the ratio of a pair's variance to that of two independent games
_SURE: Final = 1e-9


class Contender(NamedTuple):
    """An active version: its present Elo, half the width of its interval, and its cost.

    `half` is inf for a version without rating. `cost` is its time for a pair in seconds, and `most`
    the most pairs that it may play in the round.
    """

    elo: float
    half: float
    cost: float
    most: int


class Field:
    """The contenders of a round as arrays, with the information from their pairs so far.

    `pairs` is a symmetric matrix: the number of pairs played by each two contenders.
    """

    def __init__(self, contenders: Sequence[Contender], pairs: Floats, spread: float) -> None:
        columns = np.array(contenders, dtype=float).reshape(-1, len(Contender._fields)).T
        elo, self.half, self.cost, self.left = columns.copy()
        self.strengths = elo / ELO
        self.pairs = pairs.astype(float).copy()
        self.square = (spread / ELO) ** 2
        self.unknown = ~np.isfinite(self.half)
        self.doubt = np.minimum((self.half / Z95 / ELO) ** 2, _PRIOR)  # variances of strengths
        share = expit(self.strengths[:, None] - self.strengths[None, :])
        self.tells = 2 * share * (1 - share) / _EFFECT  # the information from one pair
        np.fill_diagonal(self.tells, 0.0)
        self.even = self.tells / np.maximum(self.tells.sum(axis=1, keepdims=True), _SURE)
        self._update(slice(None))

    def _weights(self, pairs: Floats, tells: Floats) -> Floats:
        """Return the inverse variance of each gap, from luck, spread, and the opponent's Elo."""
        information = pairs * tells
        return np.asarray(information / (1 + (self.square + self.doubt) * information))

    def _update(self, rows: slice | list[int]) -> None:
        """Recompute for some bots the sums of weights, and how much each block lowers variances."""
        if isinstance(rows, slice):
            self.whole = np.zeros(len(self.pairs))
            self.drop = np.zeros_like(self.pairs)
        own, tells, even = self.pairs[rows], self.tells[rows], self.even[rows]
        weights = self._weights(own, tells)
        whole, common = weights.sum(axis=1), (weights * even).sum(axis=1)
        more = self._weights(own + BLOCK, tells) - weights
        after = self._variance(whole[:, None] + more, common[:, None] + more * even)
        self.whole[rows] = whole
        self.drop[rows] = np.maximum(self._variance(whole, common)[:, None] - after, 0.0)

    def _variance(self, whole: Floats, common: Floats) -> Floats:
        """Return the variance of a strength, except for terms that do not depend on the pairs.

        `whole` is the sum of the weights, `common` the sum of their products with the weights of
        an equal round robin. A prior keeps the variance finite without pairs.
        """
        whole = whole + 1 / _PRIOR
        return np.asarray((1 - 2 * self.square * common) / whole)

    def give(self, bot: int, opponent: int, pairs: int = BLOCK) -> None:
        """Assign a block of pairs to two bots."""
        self.pairs[bot, opponent] += pairs
        self.pairs[opponent, bot] += pairs
        self.left[[bot, opponent]] -= pairs
        self._update([bot, opponent])

    def best(self, importance: Floats) -> tuple[int, int] | None:
        """Return the two bots whose block is worth most for its cost; None if no two may play."""
        met, may = self.pairs > 0, self.left >= BLOCK
        is_new = ~met & may[None, :] & ~np.eye(len(met), dtype=bool)
        narrow = (met.sum(axis=1) < BREADTH) & is_new.any(axis=1)
        useless = narrow[:, None] & met | self.unknown[:, None] & self.unknown[None, :]
        own = np.where(useless, 0.0, self.drop) * importance[:, None]
        worth = (own + own.T) / (self.cost[:, None] + self.cost[None, :])
        worth = np.where(may[:, None] & may[None, :], worth, -1.0)
        np.fill_diagonal(worth, -1.0)
        bot, opponent = divmod(int(worth.argmax()), len(worth))
        return (bot, opponent) if worth[bot, opponent] >= 0 else None


def choose_meetings(
    contenders: Sequence[Contender], pairs: Floats, spread: float, budget: int, target: float
) -> dict[tuple[int, int], int]:
    """Return the number of pairs of each meeting in a round, by the contenders' numbers.

    `pairs` is the matrix of pairs played before, `spread` is in Elo points, and `budget` is the
    approximate number of pairs in the round, before groups are connected.

    >>> known, new = Contender(1500, 9, 0.1, 1000), Contender(1500, math.inf, 0.1, 1000)
    >>> played = np.full((3, 3), 500.0); played[2] = played[:, 2] = 0
    >>> choose_meetings([known, known, new], played, 38.0, 40, 15.0)
    {(0, 2): 20, (1, 2): 20}
    """
    field = Field(contenders, pairs, spread)
    chosen: dict[tuple[int, int], int] = {}
    least = _SHARE * pairs.sum() / max(1, len(contenders))
    rank = _doubt_of_ranks(field)
    for _ in range(max(1, budget // BLOCK)):
        two = field.best(_importance(field, least, target, rank))
        if two is None:
            break
        field.give(*two)
        key = min(two), max(two)
        chosen[key] = chosen.get(key, 0) + BLOCK
    chosen |= dict.fromkeys(_find_bridges(contenders, field.pairs), BLOCK)
    return dict(sorted(chosen.items()))


def _find_bridges(contenders: Sequence[Contender], pairs: Floats) -> Iterator[tuple[int, int]]:
    """Yield meetings that connect the groups whose bots have no game against each other's.

    In each group it is the bot with the most pairs that meets the one of another group.
    """
    groups = find_groups(len(contenders), *np.nonzero(pairs))
    heads: dict[int, int] = {}
    for bot in np.argsort(-pairs.sum(axis=1), kind="stable").tolist():
        if contenders[bot].most >= BLOCK and pairs[bot].any():
            heads.setdefault(int(groups[bot]), bot)
    ordered = [*heads.values()]
    yield from ((min(ordered[0], other), max(ordered[0], other)) for other in ordered[1:])


def _importance(field: Field, least: float, target: float, rank: Floats) -> Floats:
    """Return the weight of each bot's variance in the choice of the next block."""
    starving = (field.pairs.sum(axis=1) < least) & (field.left >= BLOCK)
    if starving.any():
        return np.where(starving, 1.0, _SURE)
    wide = (field.half > target) & (field.left >= BLOCK)
    if wide.any():
        return np.where(wide, np.minimum(field.half / target, 10.0) ** 2, _SURE)
    return rank


def _doubt_of_ranks(field: Field) -> Floats:
    """Return, for each bot, the largest probability that it and a neighbour are misordered."""
    doubt = np.full(len(field.half), _SURE)
    errors = np.where(np.isfinite(field.half), field.half, 10 * ELO) / (Z95 * ELO)
    order = np.argsort(-field.strengths, kind="stable")
    for upper, lower in zip(order[:-1].tolist(), order[1:].tolist(), strict=True):
        gap = float(field.strengths[upper] - field.strengths[lower])
        error = math.hypot(float(errors[upper]), float(errors[lower]))
        wrong = float(normal_below(np.array(-gap / max(error, _SURE))))
        doubt[[upper, lower]] = np.maximum(doubt[[upper, lower]], wrong)
    return doubt
