"""Name and describe the columns of the CSV files of comparisons.

These compare two versions of a bot, two runs, a tournament under two sets of rules, the settings
of a bot, or every two bots of a run.
"""

from __future__ import annotations

from typing import Final

from arena.insight.table_columns import MEAN_END, Column, TableColumns, interval, plain

_DEAL_END: Final = (
    "The 95 % interval by deals; that of the first row is adjusted for stopping, and in a season "
    "at the level of the comparison."
)
SIGNIFICANCE: Final = Column(
    "sure",
    "Verdict",
    "text",
    "Whether the difference is significant when all differences of this table are looked at "
    "together (Benjamini and Hochberg 1995, at 5 %). Where both bots and the rules are the same, "
    "nothing but luck can differ, and nothing is tested.",
)
VERDICTS: Final = TableColumns(
    "verdicts.csv",
    (
        Column("bot", "Bot", "text", "The one of the two bots that is ahead."),
        Column("opponent", "Opponent", "text", "The other one."),
        Column("lead", "Lead", "elo", "The Elo of the first one less that of the other one."),
        *interval(
            "lead",
            "Lead",
            "elo",
            "In 95 of 100 runs all these intervals of the run hold at once, so they also hold for "
            "the first bot, which the games have chosen.",
        ),
        Column(
            "likely",
            "Stronger",
            "chance",
            "How likely the first one is the stronger one, in an equal round robin of these bots.",
        ),
        Column(
            "verdict",
            "Verdict",
            "text",
            "apart: the first one is surely the stronger one; in at most 5 of 100 runs any such "
            "order is wrong. leans: it is likely, with a probability of at least 90 %. open: "
            "neither.",
        ),
    ),
)
DIFFERENCES: Final = TableColumns(
    "differences.csv",
    (
        Column("part", "Part", "text", "What the row counts: all games, or those of one sort."),
        Column("name", "Of", "text", "The opponent, the seat, or the way games were won or lost."),
        Column("deals", "Deals", "count", "Deals that both versions have played, with both seats."),
        Column(
            "new", "New", "share", "The share of the points of the new version, or of its games."
        ),
        Column("old", "Old", "share", "The same of the old version."),
        Column("difference", "Difference, percentage points", "change", "New less old."),
        Column("low", "Difference, low", "change", _DEAL_END),
        Column("high", "Difference, high", "change", _DEAL_END),
        Column(
            "elo", "Elo", "change", "The Elo points by which the old version would have to rise."
        ),
        *interval("elo", "Elo", "change", _DEAL_END),
        *plain(error="The standard error of the difference."),
    ),
)
DECIDED: Final = TableColumns(
    "decided.csv",
    (
        Column("game", "Game", "text", "The new version's game: bot/opponent/pair/seat."),
        Column("old_game", "Old version's game", "text", "The game on the same deal."),
        Column("ply", "Ply", "count", "The first at which the two games differ."),
        *plain("opponent", pair="The number of the deal.", seat="The seat of the new version."),
        Column("new_score", "New", "number", "What the new version scored: 1, 1/2 or 0."),
        Column("old_score", "Old", "number", "What the old version scored."),
        Column("new_type", "New, by", "text", "How the new version's game ended."),
        Column("old_type", "Old, by", "text", "How the old version's game ended."),
    ),
)
ABLATION: Final = TableColumns(
    "ablation.csv",
    (
        Column("variant", "Variant", "text", "The rules."),
        *plain(
            measure="What is measured: how games end, seat 0, margin, spread, length.",
            bot="Of the measure spread, the strongest bot.",
            opponent="Of the measure spread, the weakest bot.",
            pairs="Pairs of each pairing.",
            games="Games of the run.",
            forfeits="Forfeits among them.",
            same_deals="Whether the games have the deals of the base: yes or no.",
        ),
        Column("value", "Value", "number", "The measure under these rules."),
        *interval("value", "Value", "number", MEAN_END),
        Column("difference", "Change", "change", "The value less that of the base."),
        *interval("difference", "Change", "change", MEAN_END),
    ),
)

_CHANGED: Final = Column("bot", "Bot", "text", "The label; two labels where the same bot has two.")
_STATUS: Final = Column(
    "status",
    "In both runs",
    "text",
    "The same, if the sha256 of the source and the parameters are equal; else changed.",
)
_RUN_END: Final = (
    "The 95 % interval of the difference, by pairs of games, and by deal where both runs have "
    "played one: where it leaves out 0, the difference is more than luck, one time in twenty "
    "wrongly."
)
_SHARE_CHANGE: Final = (
    Column("difference", "Change, percentage points", "change", "The other run less the base."),
    Column("low", "Change, low", "change", _RUN_END),
    Column("high", "Change, high", "change", _RUN_END),
    SIGNIFICANCE,
)
_SHARES: Final = (
    Column("base", "Base", "share", "The share in the base."),
    Column("other", "Other", "share", "The share in the other run."),
    *_SHARE_CHANGE,
)
RATING_CHANGES: Final = TableColumns(
    "",
    (
        _CHANGED,
        _STATUS,
        Column("base", "Elo, base", "elo", "The rating in the base."),
        Column(
            "other",
            "Elo, other",
            "elo",
            "The rating in the other run, moved to the scale of the base.",
        ),
        Column("difference", "Change", "change", "Elo in the other run less Elo in the base."),
        *_SHARE_CHANGE[1:],
    ),
)
SCORE_CHANGES: Final = TableColumns(
    "",
    (
        _CHANGED,
        Column("opponent", "Opponent", "text", "The other bot of the pairing."),
        Column("bots", "Bots", "text", "Whether both bots are the same in both runs."),
        Column("base_pairs", "Pairs, base", "count", "Deals, each played twice, in the base."),
        Column("other_pairs", "Pairs, other", "count", "Deals in the other run."),
        Column("shared_deals", "Shared deals", "count", "Deals that both runs have played."),
        Column("same_games", "Same games", "count", "Games on these deals with the same moves."),
        Column("base", "Score, base", "share", "The share of the points of the first bot."),
        Column("other", "Score, other", "share", "The same in the other run."),
        *_SHARE_CHANGE,
    ),
)
WIN_CHANGES: Final = TableColumns(
    "",
    (
        _CHANGED,
        _STATUS,
        Column("part", "Of its games", "text", "The score, or how games were won or lost."),
        Column("pairings", "Opponents", "count", "Opponents in both runs; each weighs the same."),
        *_SHARES,
    ),
)
TOTAL_CHANGES: Final = TableColumns(
    "",
    (
        Column("part", "Of all games", "text", "How games ended, or what seat 0 has scored."),
        Column("pairings", "Pairings", "count", "Pairings in both runs; each weighs the same."),
        *_SHARES,
    ),
)

_SETTING_END: Final = "The 95 % interval, as the search expects it."
CANDIDATES: Final = TableColumns(
    "candidates.csv",
    (
        Column("candidate", "Candidate", "text", "The setting by its number, in order of trying."),
        Column("setting", "Setting", "code", "The values of the parameters that are tuned."),
        Column("first_round", "From round", "count", "The first round that tried it."),
        Column("last_round", "To round", "count", "The last one, after which it was dropped."),
        Column("pairs", "Pairs", "count", "Pairs that it has played in all."),
        Column("score", "Score", "share", "Its score in these; rounds have different deals."),
        Column("elo", "Elo from the best", "change", "As the search expects it from all games."),
        *interval("elo", "Elo", "change", _SETTING_END),
        Column("status", "Status", "text", "Whether it may be the best, is behind, or failed."),
    ),
)
LANDSCAPE: Final = TableColumns(
    "landscape.csv",
    (
        Column("parameter", "Parameter", "text", "The others are as in the best setting."),
        Column("value", "Value", "code", "A value of the parameter."),
        Column("elo", "Elo from the best", "change", "As the search expects it from all games."),
        *interval("elo", "Elo", "change", _SETTING_END),
    ),
)
CONTOURS: Final = TableColumns(
    "contours.csv",
    (
        Column("parameter", "Parameter", "text", "The first of two parameters."),
        Column("value", "Value", "code", "Its value."),
        Column("other", "Other parameter", "text", "The second one."),
        Column("other_value", "Its value", "code", "Its value."),
        Column("elo", "Elo from the best", "change", "As the search expects it from all games."),
    ),
)
