"""Name and describe the columns of the CSV files of comparisons.

These compare two versions of a bot, a tournament under two sets of rules, or settings
of a bot.
"""

from __future__ import annotations

from typing import Final

from arena.tables.table_columns import MEAN_END, Column, list_columns

_DEAL_END: Final = "The 95 % interval by deals; that of the first row is adjusted for stopping."
DIFFERENCES: Final = list_columns(f"""
    differences.csv
    part | Part | text | What the row counts: all games, or those of one sort.
    name | Of | text | The opponent, the seat, or the way games were won or lost.
    deals | Deals | count | Deals that both versions have played, with both seats.
    new | New | share | The share of the points of the new version, or of its games.
    old | Old | share | The same of the old version.
    difference | Difference, percentage points | change | New less old.
    low high | Difference | change | {_DEAL_END}
    elo | Elo | change | The Elo points by which the old version would have to rise.
    elo_low elo_high | Elo | change | {_DEAL_END}
    error | | | The standard error of the difference.
    """)
DECIDED: Final = list_columns("""
    decided.csv
    game | Game | text | The new version's game: bot/opponent/pair/seat.
    old_game | Old version's game | text | The game on the same deal.
    ply | Ply | count | The first at which the two games differ.
    opponent
    pair | | | The number of the deal.
    seat | | | The seat of the new version.
    new_score | New | number | What the new version scored: 1, 1/2 or 0.
    old_score | Old | number | What the old version scored.
    new_type | New, by | text | How the new version's game ended.
    old_type | Old, by | text | How the old version's game ended.
    """)
LEAD_PARTS: Final = list_columns("""
    lead_parts.csv
    split | By | text | The score is divided by ending; the margin by round, by source, and in \
        each round by source.
    part | Part | text | How games ended, the round, or the source of points; all is their sum.
    new | New | number | The score beyond one half that the new bot has from games that ended so; \
        or its points a game, and of two versions its margin.
    old | Old | number | The same of the old bot.
    lead | Lead | number | New less old.
    lead_low lead_high | Lead | number | The 95 % interval by deals; that of the whole score is \
        adjusted for stopping.
    sure | Sure | text | Whether the lead is significant when all parts are looked at together; \
        empty if that was not asked.
    """)
ABLATION: Final = list_columns(f"""
    ablation.csv
    variant | Variant | text | The rules.
    measure | | | What is measured: how games end, seat 0, margin, spread, length.
    bot | | | Of the measure spread, the strongest bot.
    opponent | | | Of the measure spread, the weakest bot.
    pairs | | | Pairs of each pairing.
    games | | | Games of the run.
    forfeits | | | Forfeits among them.
    same_deals | | | Whether the games have the deals of the base: yes or no.
    value | Value | number | The measure under these rules.
    value_low value_high | Value | number | {MEAN_END}
    difference | Change | change | The value less that of the base.
    difference_low difference_high | Change | change | {MEAN_END}
    """)

SIGNIFICANCE: Final = Column(
    "sure",
    "Verdict",
    "text",
    "Whether the difference is significant when all differences of this table are looked at "
    "together (Benjamini and Hochberg 1995, at 5 %).",
)

CANDIDATES: Final = list_columns("""
    candidates.csv
    candidate | Candidate | text | The setting by its number; the best one is first.
    setting | Setting | code | The values of the parameters that are tuned.
    rungs | Rungs | count | The rungs on which it has played.
    pairs | Pairs | count | Pairs that it has played on these.
    score | Score | share | Its score in them; it was chosen by these games.
    fault | Fault | text | Its first fault, which dropped it.
    """)
