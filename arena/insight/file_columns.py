"""List the columns of the CSV files of a run that no report shows as a table."""

from __future__ import annotations

from typing import Final

from arena.insight.table_columns import Column, TableColumns, interval

GAMES: Final = TableColumns(
    "games.csv",
    (
        Column("bot", meaning="The label of the bot that sat in `seat`."),
        Column("opponent", meaning="The label of the bot in the other seat."),
        Column("pair", meaning="The number of the deal in this pairing, from 0 on."),
        Column("seat", meaning="The seat of `bot`: seat 0 begins rounds 1 and 3."),
        Column("winner", meaning="The label of the winner; empty for a draw."),
        Column("win_type", meaning="How the game ended: city, points, tiebreak, forfeit or draw."),
        Column("points", meaning="The points of `bot` when the game ended (R12 to R15)."),
        Column("opponent_points", meaning="Those of the opponent."),
        Column("plies", meaning="How many actions were played."),
        Column("fault", meaning="What the loser of a forfeit did wrong; else empty."),
    ),
)
RANKINGS: Final = TableColumns(
    "rankings.csv",
    (
        Column("bot", meaning="The bot's label; rows only where there is a cycle."),
        Column("elo", meaning="As in `standings.csv`."),
        Column("nash", meaning="How often the equilibrium of choosing a bot chooses it."),
        Column("alpha_rank", meaning="How often evolution under strong selection plays it."),
        Column("cycle", meaning="The number of the cycles it is in; empty for none."),
    ),
)
LEADS: Final = TableColumns(
    "leads.csv",
    (
        Column("bot", meaning="The bot; empty for all bots."),
        Column("round", meaning="The round after which the points were counted."),
        Column("after", meaning="Whether the bot led, was level or was behind, by points."),
        Column("games", meaning="Games in which this was so, and that went on after the round."),
        Column("score", meaning="The share of the points that they brought."),
        *interval("score", "", "share", "The 95 % interval of the score, by pairs."),
    ),
)
DECISIVE: Final = TableColumns(
    "decisive.csv",
    (
        Column("bot", meaning="The bot that won; empty for all bots."),
        Column("win_type", meaning="How it won."),
        Column("round", meaning="The round of the ply at which the chance to win changed most."),
        Column("action", meaning="What was done there: a take, or a play of a card."),
        Column("games", meaning="Such games."),
        Column("share", meaning="Their share of the games that the bot won by this win type."),
        *interval("share", "", "share", "The 95 % interval of the share (Wilson)."),
        Column("swing", meaning="The mean change of the chance to win, towards the winner."),
        *interval("swing", "", "share", "The 95 % interval of the swing, by pairs."),
        Column(
            "own", meaning="The share of them in which the winner acted there; else the loser did."
        ),
        *interval("own", "", "share", "The 95 % interval of this share."),
    ),
)
