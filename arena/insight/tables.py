"""Tables: what a run's games add up to, as DataFrames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from arena.insight.table_columns import (
    HEAD_TO_HEAD,
    LOSS_COLUMNS,
    STANDINGS,
    WIN_TYPE_TABLE,
    WIN_TYPES,
)
from arena.statistics.counts import WIN_TYPES as ENDINGS
from arena.statistics.counts import PairTotals
from arena.statistics.field import Field
from arena.statistics.intervals import score_intervals
from arena.store.counting import Tallies
from arena.tournament.schedule import Pairing

_WINS = [f"{win_type}_wins" for win_type in WIN_TYPES]
_LOSSES = list(LOSS_COLUMNS.values())
_TOTALS = ["games", "wins", "draws", "losses"]


def make_sides(pairings: Sequence[Pairing], tallies: Tallies) -> pd.DataFrame:
    """Return the games of each pairing, seat, result and win type, as both bots see them."""
    bots = np.array(pairings, object).reshape(-1, 2)[tallies.pairing]
    own = pd.DataFrame(tallies._asdict()).assign(bot=bots[:, 0], opponent=bots[:, 1])
    theirs = own.rename(columns={"bot": "opponent", "opponent": "bot"})
    turned = own["result"].map({0: 1, 1: 0, 2: 2})
    theirs = theirs.assign(seat=1 - own["seat"], result=turned, margin=-own["margin"])
    both = pd.concat([own, theirs[own.columns]], ignore_index=True)
    both["win_type"] = np.array(ENDINGS, object)[both["win_type"]]
    both["wins"] = both["games"].where(both["result"] == 0, 0)
    both["losses"] = both["games"].where(both["result"] == 1, 0)
    both["draws"] = both["games"] - both["wins"] - both["losses"]
    for win_type in WIN_TYPES:
        of_type = both["win_type"] == win_type
        both[f"{win_type}_wins"] = both["wins"].where(of_type, 0)
        both[LOSS_COLUMNS[win_type]] = both["losses"].where(of_type, 0)
    return both


def make_pair_scores(pairings: Sequence[Pairing], totals: Iterable[PairTotals]) -> pd.DataFrame:
    """Return pairs, sum and sum of squares of their scores, of each ordered two bots that met."""
    rows = []
    for number, pairs, total, squares, _ in totals:
        bot, opponent = pairings[number]
        rows.append((bot, opponent, pairs, total, squares))
        rows.append((opponent, bot, pairs, 2 * pairs - total, 4 * (pairs - total) + squares))
    return pd.DataFrame(rows, columns=["bot", "opponent", "pairs", "total", "squares"])


def make_head_to_head(
    sides: pd.DataFrame, scores: pd.DataFrame, residuals: pd.DataFrame
) -> pd.DataFrame:
    """Return one row for each ordered two bots that met; `score` and its bounds are 0 to 1.

    The residuals are those of the ratings' fit; they are empty for bots without a rating.
    """
    keys = ["bot", "opponent"]
    table = tally(sides, keys).merge(scores, on=keys)
    of_pairs = (table[name].to_numpy(float) for name in ("pairs", "total", "squares"))
    table["score_low"], table["score_high"] = score_intervals(*of_pairs)
    table = table.merge(residuals, on=keys, how="left")
    return _rounded(table[HEAD_TO_HEAD.names])


def make_standings(
    sides: pd.DataFrame, field: Field, labels: Sequence[str], judged: Field | None = None
) -> pd.DataFrame:
    """Return one row a bot, the strongest first; Elo with its 95 % interval.

    Bots that are not in the field come last and have no Elo. The interval of an unbeaten bot has
    no upper end, and that of a winless one no lower. `group` has letters, and two bots
    share one if they were not told apart (`arena.statistics.apart`); bots that are not in
    `judged`, the field or less of it, have none.

    Bots whose Elo is equal when rounded are in the order of their labels, because the last
    bits of a fit are arbitrary. `mean_margin` is the mean of own points less the opponent's
    over the games that were scored: those not won by City or forfeit.
    """
    scored = sides[~sides["win_type"].isin(["city", "forfeit"])].groupby("bot")
    table = tally(sides, ["bot"]).set_index("bot").loc[list(labels)]
    table["mean_margin"] = scored["margin"].sum() / scored["games"].sum()
    columns = ["elo", "elo_low", "elo_high"]
    rows = [rating.cells for rating in field.ratings().values()]
    table[columns] = pd.DataFrame(rows, index=[*field.labels], columns=columns, dtype=float)
    table["_"] = table["score"].where(table["elo"].isna(), 0.0)  # the order of the unrated
    table = _rounded(table.reset_index())
    table = table.sort_values(["elo", "_", "bot"], ascending=[False, False, True])
    table.insert(0, "rank", range(1, len(table) + 1))
    letters = (judged or field).give_letters([*table["bot"]])
    table["group"] = pd.Series(letters, table.index, object).fillna(float("nan"))
    return table[STANDINGS.names]


def make_win_types(sides: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each bot and seat: games, and wins and losses of each win type."""
    table = tally(sides, ["bot", "seat"])
    return table[WIN_TYPE_TABLE.names]


def tally(sides: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return games, wins, draws, losses, score, and wins and losses of each type, by keys."""
    table = sides.groupby(by, sort=True)[[*_TOTALS, *_WINS, *_LOSSES]].sum().reset_index()
    table["score"] = (table["wins"] + table["draws"] / 2) / table["games"]
    return table


def _rounded(table: pd.DataFrame) -> pd.DataFrame:
    """Round what is estimated: Elo to tenths, shares to 4 digits, points to 3."""
    digits = dict.fromkeys(("score", "score_low", "score_high", "expected", "residual"), 4)
    digits |= {"residual_z": 2, "residual_q": 4, "mean_margin": 3}
    digits |= dict.fromkeys(("elo", "elo_low", "elo_high"), 1)
    table = table.round(digits)
    signed = [column for column in ("residual", "residual_z") if column in table]
    table[signed] += 0.0  # no zero with a sign
    return table
