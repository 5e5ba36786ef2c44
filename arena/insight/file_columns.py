"""List the columns of a league's CSV file, and of those of a run that no report shows."""

from __future__ import annotations

from typing import Final

from arena.insight.table_columns import Column, TableColumns, interval, plain

GAMES: Final = TableColumns(
    "games.csv",
    tuple(
        plain(
            bot="The label of the bot that sat in `seat`.",
            opponent="The label of the bot in the other seat.",
            pair="The number of the deal in this pairing, from 0 on.",
            seat="The seat of `bot`: seat 0 begins rounds 1 and 3.",
            winner="The label of the winner; empty for a draw.",
            win_type="How the game ended: city, points, tiebreak, forfeit or draw.",
            points="The points of `bot` when the game ended (R12 to R15).",
            opponent_points="Those of the opponent.",
            plies="How many actions were played.",
            fault="What the loser of a forfeit did wrong; else empty.",
        )
    ),
)
RANKINGS: Final = TableColumns(
    "rankings.csv",
    tuple(
        plain(
            bot="The bot's label; rows only where there is a cycle.",
            elo="As in `standings.csv`.",
            nash="How often the equilibrium of choosing a bot chooses it.",
            alpha_rank="How often evolution under strong selection plays it.",
            cycle="The number of the cycles it is in; empty for none.",
        )
    ),
)
LEADS: Final = TableColumns(
    "leads.csv",
    (
        *plain(
            bot="The bot; empty for all bots.",
            round="The round after which the points were counted.",
            after="Whether the bot led, was level or was behind, by points.",
            games="Games in which this was so, and that went on after the round.",
            score="The share of the points that they brought.",
        ),
        *interval("score", "", "share", "The 95 % interval of the score, by pairs."),
    ),
)
DECISIVE: Final = TableColumns(
    "decisive.csv",
    (
        *plain(
            bot="The bot that won; empty for all bots.",
            win_type="How it won.",
            round="The round of the ply at which the chance to win changed most.",
            action="What was done there: a take, or a play of a card.",
            games="Such games.",
            share="Their share of the games that the bot won by this win type.",
        ),
        *interval("share", "", "share", "The 95 % interval of the share (Wilson)."),
        *plain(
            swing="The mean change of the chance to win, towards the winner.",
        ),
        *interval("swing", "", "share", "The 95 % interval of the swing, by pairs."),
        *plain(
            own="The share of them in which the winner acted there; else the loser did.",
        ),
        *interval("own", "", "share", "The 95 % interval of this share."),
    ),
)
LEAGUE: Final = TableColumns(
    "league.csv",
    (
        Column("bot", "Bot", "text", "Its name; the page behind it has its versions and games."),
        Column(
            "rank",
            "Rank",
            "count",
            "Its place among the active ones; empty before its first games.",
        ),
        Column("version", "Version", "count", "Of the bytes that were submitted under the name."),
        Column("owner", "Owner", "text", "Who submitted it."),
        Column("elo", "Elo", "elo", "By all pairs ever played; the panel's mean is fixed."),
        Column("elo_low", "Elo, low", "elo", "The 95 % interval, which includes who was met."),
        Column("elo_high", "Elo, high", "elo"),
        Column("group", "Group", "code", "Bots with a common letter were not told apart."),
        Column("shrunk", "Shrunk", "elo", "The Elo drawn to the mean by how little is known."),
        Column("pairs", "Pairs", "count", "Deals that it has played, each twice."),
        Column("note", "Note", "text", "What its owner has to know."),
        *plain(state="Whether it is active, or suspended for its faults."),
    ),
)
