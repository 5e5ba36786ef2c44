"""Compare two versions of a bot game by game, on the same deals against the same opponents."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arena.statistics.counts import MISSING, RESULTS
from arena.statistics.counts import WIN_TYPES as ENDINGS
from arena.statistics.intervals import Z95, Estimate
from arena.statistics.sequential_test import elo_difference
from arena.statistics.two_bots import mean_by_deal, variance
from arena.store.column_titles import DECIDED, DIFFERENCES, WIN_TYPES
from arena.store.columns import Columns
from arena.store.counting import HALVES, NOT_PLAYED, match
from arena.store.store import Store
from arena.tournament.schedule import Fixture, Pairing
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    import pandas as pd

_SHARES, _ELO = ["new", "old", "difference", "low", "high"], ["elo", "elo_low", "elo_high"]
_DIGITS = dict.fromkeys(_SHARES, 4) | dict.fromkeys(_ELO, 1) | {"error": 6}


class PairedGame(NamedTuple):
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


class PairedGames(NamedTuple):
    """What two versions did on the same deals.

    `differences` is the lead of the new one in total and by part, and `decided` has the games
    in which a different move came before a different result. Of the `games` that were played
    for this, of both versions together, `same_games` of each came out the same move by move.
    Two versions on separate deals would have needed `separate_games`. Opponents that are out
    count nowhere.
    """

    differences: pd.DataFrame
    decided: pd.DataFrame
    games: int
    same_games: int
    separate_games: int


def make_paired_games(
    tournament: Tournament, store: Store, mean: Estimate, out: Collection[str]
) -> PairedGames:
    """Return what two versions did; `mean` is what the new one has more in a deal, by the test."""
    rows = read_games(tournament, store, out)
    total = mean.scaled(0.5)
    played = rows[rows["played"].astype(bool)]
    games = 2 * len(played)
    return PairedGames(
        make_differences(rows, total),
        _list_decided(tournament, played),
        games,
        int(played["ply"].isna().sum()),
        round(games * separate_games(rows)),
    )


def _list_decided(tournament: Tournament, played: pd.DataFrame) -> pd.DataFrame:
    """Return the games in which the change decided, with the names of both versions' games."""
    differs = played["ply"].notna() & (played["new_score"] != played["old_score"])
    decided = played[differs].copy()
    for column, label in (("game", 0), ("old_game", 1)):
        bot = tournament.labels[label]
        places = zip(decided["opponent"], decided["pair"], decided["seat"], strict=True)
        decided[column] = [Fixture(Pairing(bot, one), *rest).name for one, *rest in places]
    return DECIDED.frame(Columns.of(decided[DECIDED.names]))


_ENDED = {1.0: "won", 0.5: "drew", 0.0: "lost"}


def say_decided(new: str, old: str, ply: int, new_score: float, old_score: float) -> str:
    """Return how the game of a new version is another one than that of the old one.

    >>> say_decided("deep", "flat", 38, 1.0, 0.0)
    'differs from ply 38 on: deep won, flat lost'
    """
    return f"differs from ply {ply} on: {new} {_ENDED[new_score]}, {old} {_ENDED[old_score]}"


def read_games(
    tournament: Tournament, store: Store, out: Collection[str], version: int = 1
) -> pd.DataFrame:
    """Return every game of a new version beside that of the old one; opponents out have none.

    The columns are those of `PairedGame`.
    """
    import pandas as pd

    games = []
    for number in sorted(tournament.new_pairings):
        opponent = tournament.pairings[number].opponent
        if opponent in out or tournament.version_of(number) != version:
            continue
        pairings = number, tournament.old_pairing(number)
        new, old = match(*map(store.read_pairs, pairings))
        there = (new.games != MISSING) & (old.games != MISSING)  # a run under way may lack one
        for row, seat in np.argwhere(there).tolist():
            both = [(one.games[row, seat], one.actions[row, seat]) for one in (new, old)]
            scores = (HALVES[ending] / 2 for ending, _ in both)
            types = (ENDINGS[ending // RESULTS] for ending, _ in both)
            ply = _first_difference(*both)
            played = max(new.forfeits[row, seat], old.forfeits[row, seat]) < NOT_PLAYED
            place = opponent, int(new.pair[row]), seat
            games.append(PairedGame._make((*place, *scores, *types, ply, bool(played))))
    return pd.DataFrame(games, columns=PairedGame._fields)


def _first_difference(new: tuple[int, str], old: tuple[int, str]) -> int | None:
    """Return the first ply at which two games differ, None if they have one ending and record."""
    both = enumerate(zip(new[1], old[1], strict=False))
    differ = (ply for ply, (one, other) in both if one != other)
    return None if new == old else next(differ, min(len(new[1]), len(old[1])))


def make_differences(games: pd.DataFrame, total: Estimate | None = None) -> pd.DataFrame:
    """Return the lead of the new version in total and by part, with intervals by deal.

    `games` has the columns of `PairedGame`; `total` is the lead in all where a test gave it: its
    interval and its Elo are corrected for early stopping. `new` and `old` are shares of
    games, won for `won_by` and lost for `lost_by`, and `difference` is the one less the other as
    they stand there. `error` is the standard error of the difference; of the total it is that on
    the side of 0. Rows without a difference of strength have no Elo. Without a game there is no
    row.
    """
    if games.empty:
        return DIFFERENCES.frame([])
    rows = [_row("total", "", games, given=total)]
    for part in ("opponent", "seat"):
        for name, of_one in games.groupby(part, sort=part == "seat"):
            rows.append(_row(part, str(name), of_one))
    for part, won in (("won_by", 1.0), ("lost_by", 0.0)):
        for win_type in WIN_TYPES:
            ended = {
                f"{one}_score": (games[f"{one}_score"] == won) & (games[f"{one}_type"] == win_type)
                for one in ("new", "old")
            }
            if any(of_one.any() for of_one in ended.values()):
                rows.append(_row(part, win_type, games.assign(**ended)))
    table = DIFFERENCES.frame(rows).round(_DIGITS)
    table[[*_DIGITS]] += 0.0  # so that -0.0 is 0.0
    return table


def _row(
    part: str, name: str, games: pd.DataFrame, given: Estimate | None = None
) -> tuple[object, ...]:
    """Return a row: shares of both, their difference with its interval, and the Elo points."""
    both = games[["old_score", "new_score"]].astype(float)
    old, new = both["old_score"], both["new_score"]
    by_deal = both.groupby([games["opponent"], games["pair"]]).mean()
    deals = len(by_deal)
    shares = [round(float(of_one.mean()), _DIGITS["new"]) for of_one in (new, old)]
    olds, news = by_deal.to_numpy().T
    lead = given or mean_by_deal([news - olds])
    shown = lead._replace(value=shares[0] - shares[1])
    row = (part, name, deals, *shares, *_bound_lead(shown))
    if part in ("won_by", "lost_by"):
        return (*row, None, None, None, _error(shown))
    share = 1.0 if given else deals / (deals + 1)  # with one deal more, which is even
    before = _prior_shares(old, games["opponent"], len(old) / deals)
    elos = (elo_difference(before, value * share, deals) for value in _bound_lead(lead))
    return (*row, *elos, _error(shown))


def _bound_lead(lead: Estimate) -> tuple[float, ...]:
    """Return a lead from -1 to 1 with such bounds, which are around it."""
    ends = min(lead.low, lead.value), max(lead.high, lead.value)
    return tuple(max(-1.0, min(1.0, value)) for value in (lead.value, *ends))


def _error(lead: Estimate) -> float:
    """Return the standard error of a lead, on the side of 0 where the sides differ."""
    half = lead.value - lead.low if lead.value > 0 else lead.high - lead.value
    return max(0.0, half) / Z95


def _prior_shares(scores: pd.Series[float], opponents: pd.Series[str], games: float) -> list[float]:
    """Return the share of the score against each opponent, with `games` more, half of them won."""
    sums = scores.groupby(opponents, sort=False).agg(["sum", "count"])
    return [(total + games / 2) / (count + games) for total, count in sums.itertuples(index=False)]


def separate_games(games: pd.DataFrame) -> float:
    """Return how many games on separate deals have the same error, for each one of these.

    The variances of the two versions' pair scores add up where the deals differ. They and that
    of the difference are taken within each opponent, whose numbers of deals are equal, and
    each has one deal more of the largest variance, as everywhere. A deal of which not all was
    played does not count, and without any the answer is 0.
    """
    deals = games.groupby(["opponent", "pair"], sort=False)
    pairs = deals[["new_score", "old_score"]].sum()[deals["played"].all()]
    if pairs.empty:
        return 0.0
    apart = together = 0.0
    for _, scores in pairs.groupby("opponent", sort=False):
        new, old = (scores[name].to_numpy(float) for name in ("new_score", "old_score"))
        apart += variance(new - 1, -1, 1) + variance(old - 1, -1, 1)
        together += variance(new - old, -2, 2)
    return apart / together
