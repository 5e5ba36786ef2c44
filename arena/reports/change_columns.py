"""Change columns: what the columns of tables mean that compare runs."""

from __future__ import annotations

from arena.reports.document import Column

_INTERVAL = (
    "The 95 % interval of the difference, by pairs of games, and by deal where both runs have "
    "played one: where it leaves out 0, the difference is more than luck, one time in twenty "
    "wrongly."
)
_SURE = (
    "Whether the difference is beyond chance when all differences of this table are looked at "
    "together (Benjamini and Hochberg 1995, at 5 %). Where both bots and the rules are the same, "
    "nothing but luck can differ, and nothing is tested."
)
_SHARE_ENDS = (
    Column("difference", "Change, % points", "change", "The other run less the base."),
    Column("difference_low", "Change, low", "change", _INTERVAL),
    Column("difference_high", "Change, high", "change", _INTERVAL),
    Column("verdict", "Verdict", "text", _SURE),
)
_BOT = Column("bot", "Bot", "text", "The label; two labels where the same bot has two.")
_STATUS = Column(
    "status",
    "In both runs",
    "text",
    "The same, if the sha256 of the source and the parameters are equal; else changed.",
)
_SHARES = (
    Column("base", "Base", "share", "The share in the base."),
    Column("other", "Other", "share", "The share in the other run."),
    *_SHARE_ENDS,
)
RATING_COLUMNS = (
    _BOT,
    _STATUS,
    Column("base", "Elo, base", "elo", "The rating in the base."),
    Column(
        "other", "Elo, other", "elo", "The rating in the other run, moved to the scale of the base."
    ),
    Column("difference", "Change", "change", "Elo in the other run less Elo in the base."),
    *_SHARE_ENDS[1:],
)
HEAD_TO_HEAD_COLUMNS = (
    _BOT,
    Column("opponent", "Opponent", "text", "The other bot of the pairing."),
    Column("bots", "Bots", "text", "Whether both bots are the same in both runs."),
    Column("base_pairs", "Pairs, base", "count", "Deals, each played twice, in the base."),
    Column("other_pairs", "Pairs, other", "count", "Deals in the other run."),
    Column("shared_deals", "Shared deals", "count", "Deals that both runs have played."),
    Column("same_games", "Same games", "count", "Games on these deals with the same moves."),
    Column("base", "Score, base", "share", "The share of the points of the first bot."),
    Column("other", "Score, other", "share", "The same in the other run."),
    *_SHARE_ENDS,
)
WIN_COLUMNS = (
    _BOT,
    _STATUS,
    Column("part", "Of its games", "text", "The score, or how games were won or lost."),
    Column("pairings", "Opponents", "count", "Opponents in both runs; each weighs the same."),
    *_SHARES,
)
TOTAL_COLUMNS = (
    Column("part", "Of all games", "text", "How games ended, or what seat 0 has scored."),
    Column("pairings", "Pairings", "count", "Pairings in both runs; each weighs the same."),
    *_SHARES,
)
