"""Name and describe the columns of what `arena analyse` finds."""

from __future__ import annotations

from typing import Final

from arena.insight.table_columns import MEAN_END, Column, TableColumns, interval, plain
from arena.store.folder import ANALYSIS
from engine.cards import CHARS

CHANCES: Final = tuple(f"chance_{character}" for character in CHARS)
"""The columns of the chance to win after each action, by its character."""

_WORLDS: Final = Column("worlds", "Worlds", "count", "In how many worlds each action was tried.")
_LOSS: Final = "The chance to win that the action gave away, by a split sample of the worlds."

DECISIONS: Final = TableColumns(
    ANALYSIS,
    (
        Column("game", "Game", "text", "Both bots, the pair, and the seat of the first bot."),
        *plain("bot", "opponent", "pair", "seat", "ply", "round"),
        Column("action", "Action", "text", "What was played: a card of this kind, or T to take."),
        Column("legal", "Legal", "count", "How many actions were legal, at least two."),
        Column("chance", "Chance", "share", "The chance to win after the action, as judged."),
        Column("best", "Best", "text", "The action with the highest chance."),
        Column("best_chance", "Its chance", "share", "The highest of noisy numbers: too high."),
        Column("loss", "Loss", "share", f"{_LOSS} It may be below 0 by chance."),
        Column("error", "Error", "share", "The standard error of the loss."),
        Column("result", "Result", "number", "What the game brought the bot: 1, 1/2 or 0."),
        _WORLDS,
        *plain(*CHANCES),
    ),
)
LOSSES: Final = TableColumns(
    "",
    (
        *plain("bot"),
        Column("opponent", "Opponent", "text", "Only losses against the same one are compared."),
        Column("part", "Part", "text", "All decisions, those of a round, the plays or the takes."),
        Column("games", "Games", "count", "Games with such a decision."),
        Column("decisions", "Decisions", "count", "Decisions with two legal actions or more."),
        Column("loss", "Loss", "share", f"The mean for a decision. {_LOSS}"),
        *interval("loss", "Loss", "share", MEAN_END),
        Column("game_loss", "Loss a game", "share", "The mean sum of the losses of a game."),
        *interval("game_loss", "Loss a game", "share", MEAN_END),
        Column(
            "blunders",
            "Blunders",
            "count",
            "Decisions that lost 10 points of 100 or more, and more than two standard errors.",
        ),
        _WORLDS,
    ),
)
CALIBRATION: Final = TableColumns(
    "",
    (
        Column("bot", "Bot", "text", "Who decided; empty for all bots."),
        Column("bin", "From", "share", "The chance after the action was this, or up to 0.1 more."),
        *plain("decisions"),
        Column("chance", "Chance", "share", "The mean of these chances."),
        Column("won", "Won", "share", "What these games brought on average; a draw is half."),
        *interval("won", "Won", "share", "The 95 % interval of the share, by pairs."),
        _WORLDS,
    ),
)
AGREEMENT: Final = TableColumns(
    "",
    (
        *plain("bot", "other", "positions"),
        Column("share", "Alike", "share", "The share of positions in which both choose alike."),
        *interval("share", "Alike", "share", "The 95 % interval of the share, by pairs."),
    ),
)
