"""Make the tables of counted games: standings, head to head, win types, and seats."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from arena.batch.replay import Bools, Ints
from arena.insight.columns_of import interval, make_frame
from arena.insight.difference_columns import VERDICTS
from arena.insight.run_games import CITY_WIN, FORFEIT
from arena.insight.table_columns import (
    HEAD_TO_HEAD,
    LOSS_COLUMNS,
    STANDINGS,
    WIN_TYPE_TABLE,
    WIN_TYPES,
)
from arena.statistics.counts import MISSING, RESULTS, PairTotals
from arena.statistics.counts import WIN_TYPES as ENDINGS
from arena.statistics.field import Field
from arena.statistics.intervals import Estimate, Moments, score_intervals
from arena.statistics.letters import give_letters, give_ranks
from arena.store.counting import Counts, Tallies
from arena.tournament.schedule import Pairing
from engine.state import Seat

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
    sides: pd.DataFrame,
    field: Field,
    labels: Sequence[str],
    judged: Sequence[str] | None = None,
    verdicts: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return one row a bot, the strongest first; Elo with its 95 % interval.

    Bots that are not in the field come last and have no Elo. The interval of an unbeaten bot has
    no upper end, and that of a winless one no lower. `group` has letters, and two bots
    share one if they are not apart (`arena.statistics.verdicts`); bots that are not in
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
    table.insert(0, "rank", give_ranks(table["elo"].tolist()))
    verdicts = make_verdicts(field) if verdicts is None else verdicts
    table["group"] = group_bots([*table["bot"]], judged or field.labels, verdicts)
    return table[STANDINGS.names]


def group_bots(
    order: Sequence[str], judged: Sequence[str], verdicts: pd.DataFrame
) -> list[str | float]:
    """Return the letters of each bot in this order: two share one unless they are apart.

    One that was not judged has none.
    """
    apart = verdicts[verdicts["verdict"] == "apart"]
    found = {frozenset(two) for two in zip(apart["bot"], apart["opponent"], strict=True)}
    rated = [label for label in order if label in {*judged}]
    letters = give_letters(len(rated), lambda *two: frozenset(rated[n] for n in two) in found)
    by_label = dict(zip(rated, letters, strict=True))
    return [by_label.get(label, math.nan) for label in order]


def make_verdicts(judged: Field) -> pd.DataFrame:
    """Return one row for every two bots that are judged, the stronger ones first.

    The lead is empty where no games lead from one to the other.
    """
    rows: list[tuple[object, ...]] = []
    for bot, opponent in combinations(judged.in_order(), 2):
        found = judged.verdict(bot, opponent)
        if found is None:
            rows.append((bot, opponent, None, None, None, None, "open"))
        else:
            lead = Estimate(*found[:3]).cells
            rows.append((bot, opponent, *lead, found.likely, found.word))
    table = pd.DataFrame(rows, columns=VERDICTS.names)
    numbers = VERDICTS.names[2:6]
    table[numbers] = table[numbers].astype(float)
    return table


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


_CELLS = MISSING + 3  # and games that were scored, the sum of their margins, of the squares
_DECIDED = [name for name in ENDINGS if name != "draw"]


class Seats:
    """Counts the games of each pairing by seat, as its first bot sees them.

    A pair has one game for each seat of that bot: by bot and seat, games are independent.
    For all bots together a seat has both games of a pair.
    """

    def __init__(self, labels: Sequence[str], pairings: Sequence[Pairing]) -> None:
        self.labels = labels
        numbers = {label: number for number, label in enumerate(labels)}
        self.bots = np.array([[numbers[label] for label in two] for two in pairings])
        self.cells = np.zeros((len(pairings), 2, _CELLS), np.int64)
        self.by_seat = Moments(1, 2, scale=2), Moments(1, 2), Moments(1, 2)

    def add(self, endings: Counts) -> None:
        """Count pairs."""
        scored = _is_scored(endings.games)
        for seat in (0, 1):  # of the first bot
            ending, is_scored = endings.games[:, seat], scored[:, seat]
            cells = np.zeros((len(ending), _CELLS), np.int64)
            cells[np.arange(len(ending)), ending] = endings.pairs
            cells[:, MISSING] = is_scored * endings.pairs  # also where a game is missing
            cells[:, MISSING + 1] = is_scored * endings.margins[:, seat]
            cells[:, MISSING + 2] = is_scored * endings.squares[:, seat]
            np.add.at(self.cells[:, seat], endings.pairing, cells)
        self._add_by_seat(endings, scored)

    def _add_by_seat(self, endings: Counts, scored: Ints) -> None:
        """Count pairs for seat 0 and for seat 1, whoever sat there."""
        win_type, result = np.divmod(endings.games, RESULTS)
        is_played, is_drawn = endings.games != MISSING, result == RESULTS - 1
        games, pairs = is_played.sum(axis=1), endings.pairs
        score, by_city, margin = self.by_seat
        lead = scored[:, 0] * endings.margins[:, 0] - scored[:, 1] * endings.margins[:, 1]
        squares = (scored * endings.squares).sum(axis=1)
        squares -= 2 * scored.prod(axis=1) * endings.products
        for seat in (0, 1):
            won = is_played & (result == [seat, 1 - seat])
            points = (2 * won + (is_played & is_drawn)).sum(axis=1)
            wins = (won & (win_type == CITY_WIN)).sum(axis=1)
            _add(score, seat, pairs, games, points * pairs, points**2 * pairs)
            _add(by_city, seat, pairs, games, wins * pairs, wins**2 * pairs)
            _add(margin, seat, pairs, scored.sum(axis=1), lead * (1 - 2 * seat), squares)

    def table(self) -> pd.DataFrame:
        """Return a row for each bot, opponent and seat; then for each bot, and for all bots."""
        met = np.flatnonzero(self.cells[:, :, :MISSING].sum(axis=(1, 2)))
        bots, cells = self.bots[met], self.cells[met]
        bot = np.concatenate([bots[:, 0], bots[:, 1]])
        opponent = np.concatenate([bots[:, 1], bots[:, 0]])
        own = np.concatenate([cells, _turned(cells)])
        everyone = len(self.labels)
        total = np.zeros((everyone, 2, _CELLS), np.int64)
        np.add.at(total, bot, own)
        played = np.unique(bot)
        of_seats = total.sum(axis=0)[None] if len(played) else own[:0]
        rows = np.concatenate([own, total[played], of_seats])
        places = np.concatenate([bot, played, np.full(len(of_seats), everyone)])
        others = np.concatenate([opponent, np.full(len(played) + len(of_seats), everyone)])
        order = np.lexsort([others, places])
        return self._frame(places[order], others[order], rows[order])

    def _frame(self, bot: Ints, opponent: Ints, cells: Ints) -> pd.DataFrame:
        seats = np.tile([0, 1], len(cells))
        cells = cells.reshape(-1, _CELLS)
        ends = cells[:, :MISSING].reshape(-1, len(ENDINGS), RESULTS)
        won, lost, drawn = np.moveaxis(ends.sum(axis=1), 1, 0)
        games = won + lost + drawn
        score = Moments.independent(games, 2 * won + drawn, 4 * won + drawn, scale=2)
        city = ends[:, CITY_WIN, 0]
        of_city = Moments.independent(games, city, city)
        margin = Moments.independent(*np.moveaxis(cells[:, MISSING:], 1, 0))
        if len(cells):  # the last two rows are all bots: pairs have two games there
            for moments, own in zip((score, of_city, margin), self.by_seat, strict=True):
                moments.sums[:, -2:, 0] = own.sums[:, 0]
        columns = {
            "bot": bot.repeat(2),
            "opponent": opponent.repeat(2),
            "seat": seats,
            "games": games,
            "wins": won,
            "draws": drawn,
            "losses": lost,
            **interval("score", "score", score.shares()),
            **{f"{name}_wins": ends[:, ENDINGS.index(name), 0] for name in _DECIDED},
            **{LOSS_COLUMNS[name]: ends[:, ENDINGS.index(name), 1] for name in _DECIDED},
            **interval("city", "city_share", of_city.shares()),
            **interval("margin", "mean_margin", margin.means()),
        }
        return make_frame(columns, self.labels, games > 0)


def _is_scored(games: Ints) -> Ints:
    """Return 1 for the endings of games that ended with points, 0 for others."""
    is_scored: Bools = ~np.isin(games // RESULTS, (CITY_WIN, FORFEIT)) & (games != MISSING)
    return is_scored.astype(np.int64)


def _add(moments: Moments, seat: Seat, pairs: Ints, n: Ints, y: Ints, yy: Ints) -> None:
    """Add pairs that have `n` games each, to the moments of a seat; `y` and `yy` are sums."""
    parts = ((n > 0) * pairs, n * pairs, y, n * n * pairs, n * y, yy)
    moments.sums[:, 0, seat] += np.stack(parts).sum(axis=1)


def _turned(cells: Ints) -> Ints:
    """Return counts as the opponent sees them: in the other seat, lost for won."""
    ends = cells[:, ::-1, :MISSING].reshape(-1, RESULTS)
    turned = ends[:, [1, 0, 2]].reshape(len(cells), 2, MISSING)
    scored, margin, squares = np.moveaxis(cells[:, ::-1, MISSING:], 2, 0)
    return np.concatenate([turned, np.stack([scored, -margin, squares], axis=2)], axis=2)
