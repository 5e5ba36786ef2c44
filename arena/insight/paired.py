"""Twins: the games of a new version beside those of the old one, as tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.statistics.difference import Values, compare_means
from arena.statistics.intervals import Z95, Estimate
from arena.statistics.sprt import elo_difference

WIN_TYPES = ("city", "points", "tiebreak", "forfeit")
COLUMNS = [
    *("part", "name", "deals", "new", "old", "difference", "low", "high"),
    *("elo", "elo_low", "elo_high", "error"),
]
_DIGITS = dict.fromkeys(COLUMNS[3:8], 4) | dict.fromkeys(COLUMNS[8:11], 1) | {"error": 6}


class Twin(NamedTuple):
    """One game of both versions: the same deal and seat against the same opponent.

    The scores are 1, 1/2 or 0; `ply` is the first at which the two games differ, None where
    all moves are the same. Where one of them was forfeited by rule they were not both `played`.
    """

    opponent: str
    pair: int
    seat: int
    new_score: float
    old_score: float
    new_type: str
    old_type: str
    ply: int | None
    played: bool = True


def make_differences(twins: pd.DataFrame, total: Estimate) -> pd.DataFrame:
    """Return the lead of the new version in total and by part, with intervals by deal.

    `twins` has the columns of `Twin`; `total` is the lead in all, which the test gave: its
    interval and its Elo are adjusted for stopping. `new` and `old` are shares of games, won for
    `won_by` and lost for `lost_by`, and `difference` is the one less the other as they stand
    there. `error` is the standard error of the difference; of the total it is that on the side
    of 0. Rows without a difference of strength have no Elo. Without a game there is no row.
    """
    if twins.empty:
        return pd.DataFrame(columns=COLUMNS)
    rows = [_row("total", "", twins, *_scores(twins), given=total)]
    for opponent, games in twins.groupby("opponent", sort=False):
        rows.append(_row("opponent", str(opponent), games, *_scores(games)))
    for seat, games in twins.groupby("seat"):
        rows.append(_row("seat", str(seat), games, *_scores(games)))
    for part, won in (("won_by", 1.0), ("lost_by", 0.0)):
        for win_type in WIN_TYPES:
            new, old = (
                ((twins[f"{version}_score"] == won) & (twins[f"{version}_type"] == win_type))
                for version in ("new", "old")
            )
            if new.any() or old.any():
                rows.append(_row(part, win_type, twins, new.astype(float), old.astype(float)))
    table = pd.DataFrame(rows, columns=COLUMNS).round(_DIGITS)
    table[COLUMNS[3:]] += 0.0  # so that -0.0 is 0.0
    return table


def _scores(games: pd.DataFrame) -> tuple[pd.Series[float], pd.Series[float]]:
    return games["new_score"], games["old_score"]


def _row(
    part: str,
    name: str,
    games: pd.DataFrame,
    new: pd.Series[float],
    old: pd.Series[float],
    given: Estimate | None = None,
) -> tuple[object, ...]:
    """Return a row: shares of both, their difference with its interval, and the Elo points."""
    deal = [games["opponent"], games["pair"]]
    olds, news = (of_one.groupby(deal).mean().to_numpy(float) for of_one in (old, new))
    deals = len(olds)
    shares = [round(float(of_one.mean()), _DIGITS["new"]) for of_one in (new, old)]
    lead = given or compare_means([Values(np.asarray(olds), np.asarray(news), deals)]).estimate
    shown = lead._replace(value=shares[0] - shares[1])
    row = (part, name, deals, *shares, *_bounded(shown))
    if part in ("won_by", "lost_by"):
        return (*row, None, None, None, _error(shown))
    share = 1.0 if given else deals / (deals + 1)  # with one deal more, which is even
    before = _prior_shares(old, games["opponent"], len(old) / deals)
    elos = (elo_difference(before, value * share, deals) for value in _bounded(lead))
    return (*row, *elos, _error(shown))


def _bounded(lead: Estimate) -> tuple[float, ...]:
    """Return a lead from -1 to 1 with such bounds, which are around it."""
    ends = min(lead.low, lead.value), max(lead.high, lead.value)
    return tuple(max(-1.0, min(1.0, value)) for value in (lead.value, *ends))


def _error(lead: Estimate) -> float:
    """Return the standard error of a lead, on the side of 0 where the sides differ."""
    half = lead.value - lead.low if lead.value > 0 else lead.high - lead.value
    return max(0.0, half) / Z95


def _prior_shares(scores: pd.Series[float], opponents: pd.Series[str], games: float) -> list[float]:
    """Return the share of the score against each opponent, with so many games more, even ones."""
    sums = scores.groupby(opponents, sort=False).agg(["sum", "count"])
    return [(total + games / 2) / (count + games) for total, count in sums.itertuples(index=False)]


def separate_games(twins: pd.DataFrame) -> float:
    """Return how many games on separate deals have the same error, for each one of these.

    The variances of the two versions' pair scores add up where the deals differ. They and that
    of the difference are taken within each opponent, whose numbers of deals are equal, and
    each has one deal more of the largest variance, as everywhere. A deal of which not all was
    played does not count, and without any the answer is 0.
    """
    deals = twins.groupby(["opponent", "pair"], sort=False)
    pairs = deals[["new_score", "old_score"]].sum()[deals["played"].all()]
    if pairs.empty:
        return 0.0
    pairs["difference"] = pairs["new_score"] - pairs["old_score"]
    apart = together = 0.0
    for _, scores in pairs.groupby("opponent", sort=False):
        apart += _variance(scores["new_score"] - 1, most=1)
        apart += _variance(scores["old_score"] - 1, most=1)
        together += _variance(scores["difference"], most=2)
    return apart / together


def _variance(values: pd.Series[float], most: float) -> float:
    """Return the variance, with one more value that is half of it `most` and half -`most`."""
    number = len(values) + 1
    total, square = float(values.sum()), float((values**2).sum())
    return (square + most**2) / number - (total / number) ** 2
