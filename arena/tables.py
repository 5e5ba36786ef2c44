"""Tables: what a run's games add up to, as data frames that become the CSV files."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from arena import ratings
from arena.match import GameResult
from arena.schedule import Pairing

WIN_TYPES = ("city", "points", "tiebreak", "forfeit")
LOSS_COLUMNS = {
    "city": "city_losses",
    "points": "points_losses",
    "tiebreak": "tiebreak_losses",
    "forfeit": "forfeits",
}
_WINS = [f"{win_type}_wins" for win_type in WIN_TYPES]
_LOSSES = list(LOSS_COLUMNS.values())
_TOTALS = ["games", "wins", "draws", "losses"]


def games(pairings: Sequence[Pairing], results: Sequence[Sequence[GameResult]]) -> pd.DataFrame:
    """Return one row a game, sorted by pairing, pair and seat.

    `results` holds each pairing's games in any order. `bot` sat in `seat` and its opponent
    in the other one; `winner` is a label, empty for a draw; `fault` is the forfeit's kind.
    """
    rows = [
        (*pairing, game.pair, game.seat, _label(pairing, game.winner), *game[3:])
        for pairing, played in zip(pairings, results, strict=True)
        for game in sorted(played, key=lambda game: game[:2])
    ]
    columns = ["bot", "opponent", "pair", "seat", "winner", "win_type", *GameResult._fields[4:]]
    return pd.DataFrame(rows, columns=columns)


def _label(pairing: Pairing, winner: int | None) -> str:
    return "" if winner is None else pairing[winner]


def head_to_head(games: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each ordered two bots that met; `score` and its bounds are 0 to 1."""
    sides = _sides(games)
    table = _tally(sides, ["bot", "opponent"])
    pairs = _pair_scores(sides)
    low_high = list(map(ratings.score_interval, pairs["pairs"], pairs["total"], pairs["squares"]))
    table["score_low"] = [low for low, _ in low_high]
    table["score_high"] = [high for _, high in low_high]
    columns = ["bot", "opponent", *_TOTALS, "score", "score_low", "score_high", *_WINS]
    return _rounded(table[columns])


def standings(games: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """Return one row a bot, the strongest first; Elo with its 95 % interval, mean 1500.

    `mean_margin` is the mean of own points less the opponent's over the games that were
    scored: those not won by City or forfeit.
    """
    sides = _sides(games)
    scored = sides[~sides["win_type"].isin(["city", "forfeit"])]
    table = _tally(sides, ["bot"]).set_index("bot").loc[list(labels)]
    table["mean_margin"] = scored.groupby("bot")["margin"].mean()
    for name, values in zip(("elo", "elo_low", "elo_high"), _elo(sides, labels), strict=True):
        table[name] = values
    table = table.reset_index().sort_values(["elo", "bot"], ascending=[False, True])
    table.insert(0, "rank", range(1, len(table) + 1))
    columns = ["rank", "bot", "elo", "elo_low", "elo_high", *_TOTALS, "score", *_WINS, *_LOSSES]
    return _rounded(table[[*columns, "mean_margin"]])


def win_types(games: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each bot and seat: games, and wins and losses of each win type."""
    table = _tally(_sides(games), ["bot", "seat"])
    return table[["bot", "seat", *_TOTALS, *_WINS, *_LOSSES]]


def _sides(games: pd.DataFrame) -> pd.DataFrame:
    """Return two rows a game: the game as each of its two bots sees it."""
    mirrored = games.rename(
        columns={
            "bot": "opponent",
            "opponent": "bot",
            "points": "opponent_points",
            "opponent_points": "points",
        }
    ).assign(seat=1 - games["seat"])
    sides = pd.concat([games, mirrored[games.columns]], ignore_index=True)
    sides["win"] = (sides["winner"] == sides["bot"]).astype(int)
    sides["loss"] = (sides["winner"] == sides["opponent"]).astype(int)
    sides["game_score"] = (1 + sides["win"] - sides["loss"]) / 2
    sides["margin"] = sides["points"] - sides["opponent_points"]
    return sides


def _tally(sides: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return games, wins, draws, losses, score, and wins and losses of each type, by keys."""
    marks = sides[[*by, "win", "loss", "game_score"]].copy()
    for win_type in WIN_TYPES:
        of_type = (sides["win_type"] == win_type).astype(int)
        marks[f"{win_type}_wins"] = sides["win"] * of_type
        marks[LOSS_COLUMNS[win_type]] = sides["loss"] * of_type
    groups = marks.groupby(by, sort=True)
    table = groups.sum().rename(columns={"win": "wins", "loss": "losses"})
    table["games"] = groups.size()
    table["draws"] = table["games"] - table["wins"] - table["losses"]
    table["score"] = table["game_score"] / table["games"]
    return table.reset_index()


def _pair_scores(sides: pd.DataFrame) -> pd.DataFrame:
    """Return, by ordered pairing, how many pairs, and their scores' sum and sum of squares."""
    keys = ["bot", "opponent"]
    scores = sides.groupby([*keys, "pair"], sort=True)["game_score"].sum().reset_index()
    scores["square"] = scores["game_score"] ** 2
    groups = scores.groupby(keys, sort=True)
    return groups.agg(
        pairs=("pair", "size"), total=("game_score", "sum"), squares=("square", "sum")
    ).reset_index()


def _elo(sides: pd.DataFrame, labels: Sequence[str]) -> list[tuple[float, ...]]:
    """Return the bots' ratings, lows and highs, each in the order of the labels."""
    numbers = {label: number for number, label in enumerate(labels)}
    pairs = _pair_scores(sides.iloc[: len(sides) // 2])  # the second half mirrors the first
    scores = map(
        ratings.PairScores,
        pairs["bot"].map(numbers),
        pairs["opponent"].map(numbers),
        pairs["pairs"],
        pairs["total"],
        pairs["squares"],
    )
    return list(zip(*ratings.fit(len(labels), list(scores)), strict=True))


def _rounded(table: pd.DataFrame) -> pd.DataFrame:
    """Round what is estimated: Elo to tenths, shares to 4 digits, points to 3."""
    digits = {"score": 4, "score_low": 4, "score_high": 4, "mean_margin": 3}
    return table.round(digits | {"elo": 1, "elo_low": 1, "elo_high": 1})
