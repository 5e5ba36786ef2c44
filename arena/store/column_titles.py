"""List the columns of every table: name in CSV, title, format and meaning in reports.

A column that is only in the CSV file has no title. A file that is written (`arena.tables`) has the
columns in this order; a report shows those with a title, and its glossary has their meanings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from arena.lanes.faults import KINDS

if TYPE_CHECKING:
    import pandas as pd

    from arena.store.columns import Columns, TableName

Kind: TypeAlias = Literal[
    "text", "code", "count", "number", "elo", "change", "share", "points", "chance", "p", "seconds"
]
"""The formats of columns; all but the first two are sorted as numbers.

A share is 0 to 1 and is written in per cent; points are a difference of shares in percentage
points; a change has its sign; a chance is a probability, which is never written as 0 or 1; p is a
p-value, which is never written as 0.
"""


@dataclass(frozen=True)
class Column:
    """A column of a table: its name in CSV, its title, and its sentence in the glossary."""

    name: str
    title: str = ""
    kind: Kind = "text"
    meaning: str = ""
    optional: bool = False
    """Whether a count may be empty; a text and a number always may."""

    @property
    def dtype(self) -> str:
        """The type of the column in a DataFrame, or "" for a text."""
        if self.kind in ("text", "code"):
            return ""
        if self.kind == "count":
            return "Int64" if self.optional else "int64"
        return "float64"


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table, and the name of its CSV file, or "" if it has no file."""

    file: str
    columns: Sequence[Column]

    @property
    def names(self) -> list[str]:
        """Their names, in the order of the file."""
        return [column.name for column in self.columns]

    @property
    def shown(self) -> list[Column]:
        """Those that a report shows."""
        return [column for column in self.columns if column.title]

    def make(self, rows: Sequence[Sequence[Any]]) -> Columns:
        """Return these rows as a table whose numbers are numbers, also where all are empty."""
        import numpy as np

        from arena.store.columns import Columns

        table = Columns.of_rows(self.names, rows)
        floats = (column.name for column in self.columns if column.dtype == "float64")
        return table.put(**{name: table[name].astype(np.float64) for name in floats})

    def frame(self, rows: Columns | Sequence[Sequence[Any]]) -> pd.DataFrame:
        """Return a table as a DataFrame: its types are the declared ones, whatever the values.

        >>> STANDINGS.frame([]).dtypes["elo"], FAULTS.frame([]).dtypes["ply"]
        (dtype('float64'), dtype('int64'))
        """
        import pandas as pd

        from arena.store.columns import Columns

        table = rows if isinstance(rows, Columns) else Columns.of_rows(self.names, rows)
        text = pd.Series([""]).dtype
        return pd.DataFrame(
            {
                column.name: pd.Series(cells, dtype=column.dtype or text)
                for column, cells in zip(self.columns, table.lists(self.names), strict=True)
            }
        )


def list_columns(text: str) -> TableColumns:
    r"""Return the columns of a table, from a row for each: `names | title | kind | meaning`.

    The first row is the name of the file, or a dash. Both ends of an interval are listed in one
    row, as NAME_low and NAME_high, and so are columns that have only a name. The default kind is
    text; a count that may be empty is written `count?`.

    >>> listed = list_columns("takes.csv \n bot | Bot \n lead_low lead_high | Lead | number")
    >>> listed.file, listed.names, listed.columns[1].title
    ('takes.csv', ['bot', 'lead_low', 'lead_high'], 'Lead, low')
    """
    file, *rows = filter(str.strip, text.splitlines())
    return TableColumns(file.strip(" -"), tuple(chain.from_iterable(map(_read_row, rows))))


def _read_row(row: str) -> Iterator[Column]:
    names, title, kind, meaning = (" ".join(cell.split()) for cell in f"{row}|||".split("|")[:4])
    for name in names.split():
        end = name.rpartition("_")[2]
        shown = f"{title}, {end}" if title and end in ("low", "high") else title
        is_optional = kind.endswith("?")
        yield Column(name, shown, cast("Kind", kind.rstrip("?") or "text"), meaning, is_optional)


WIN_TYPES: Final[Mapping[str, str]] = {
    "city": "City",
    "points": "points",
    "tiebreak": "tie-break",
    "forfeit": "forfeit",
}
"""The name of each win type on pages and in the terminal."""

LOSS_COLUMNS: Final[Mapping[str, str]] = {
    **{name: f"{name}_losses" for name in ("city", "points", "tiebreak")},
    "forfeit": "forfeits",
}
"""The column of the losses of each win type."""

MEAN_END: Final = "The 95 % interval of a mean, with the pair as unit."
_KINDS: Final = ", ".join(f"{kind} ({one.text})" for kind, one in KINDS.items())

STANDINGS: Final = list_columns("""
    standings.csv
    rank | Rank | count | The place by Elo; equal ones share it.
    bot | Bot | text | The bot's label in this run.
    elo | Elo | elo | The rating, by a Bradley-Terry fit to all games: 100 points more are a score \
        of 64 % against each other; the mean is 1500 unless the run has an anchor.
    elo_low elo_high | Elo | elo | The interval of the Elo, from pairs of games: in 95 of 100 runs \
        all of them hold what endless play of every two bots would show. A bot that has won every \
        game has no upper end, one that has lost every game no lower: its Elo is a guess, and does \
        not count for the mean.
    games | Games | count | Finished games; each deal is played twice.
    wins | | count | Games won, in whatever way.
    draws | Draws | count | Games that were shared (R18).
    losses | Losses | count | Games lost, in whatever way.
    score | Score | share | The share of the points: a win is 1, a draw is 1/2.
    city_wins | City | count? | Games won by holding all three cities (R11).
    points_wins | Points | count? | Games won by the higher total (R16).
    tiebreak_wins | Tie-break | count? | Games won on equal totals (R17, R18).
    forfeit_wins | Forfeit wins | count? | Games won by a fault of the opponent.
    city_losses points_losses tiebreak_losses | | count?
    forfeits | Forfeits | count? | Games lost by a fault of the bot's own.
    mean_margin | Margin | number | The mean of own points less the opponent's, over games that \
        did not end by City or forfeit.
    group | Group | text | Two bots that share a letter are not apart by these games. Of two bots \
        that share none the upper one is the stronger one: in at most 5 of 100 runs is any such \
        order of the table wrong.
    """)
VERDICTS: Final = list_columns("""
    verdicts.csv
    bot | Bot | text | The one of the two bots that is ahead.
    opponent | Opponent | text | The other one.
    lead | Lead | elo | The Elo of the first one less that of the other one.
    lead_low lead_high | Lead | elo | In 95 of 100 runs all these intervals of the run hold at \
        once, so they also hold for the first bot, which the games have chosen.
    likely | Stronger | chance | How likely the first one is the stronger one, in an equal round \
        robin of these bots.
    verdict | Verdict | text | apart: the first one is surely the stronger one; in at most 5 of \
        100 runs any such order is wrong. leans: it is likely, with a probability of at least \
        90 %. open: neither.
    """)
HEAD_TO_HEAD: Final = list_columns("""
    head_to_head.csv
    bot | Bot
    opponent | Opponent | text | The other bot of the pairing.
    games | Games | count
    wins draws losses | | count
    score | Score | share
    score_low score_high | Score | share | The 95 % interval of the score, by pairs of games: \
        where it leaves out 50 %, one bot is better in this pairing.
    city_wins | City | count?
    points_wins | Points | count?
    tiebreak_wins | Tie-break | count?
    forfeit_wins | Forfeit wins | count?
    expected | By Elo | share | The score that the ratings of both bots say.
    residual | More than Elo says | points | The score less what the ratings say: a share in the \
        file, and percentage points in a report.
    residual_z | | number | The residual in standard errors, those of the luck of the pairs.
    residual_q | p-value, corrected | p | The p-value of what is beyond the Elo, corrected \
        for the number of pairings (Benjamini and Hochberg 1995): below 0.05 the Elo does \
        not explain this pairing.
    """)
WIN_TYPE_TABLE: Final = list_columns("""
    win_types.csv
    bot | Bot
    seat | Seat | count? | Seat 0 begins rounds 1 and 3, seat 1 rounds 2 and 4.
    games | Games | count
    wins | | count
    draws | Draws | count
    losses | | count
    city_wins | City, won | count? | Games won by City.
    points_wins | points, won | count? | Games won by points.
    tiebreak_wins | tie-break, won | count? | Games won by tie-break.
    forfeit_wins | forfeit, won | count? | Games won by forfeit.
    city_losses | City, lost | count? | Games lost by City.
    points_losses | points, lost | count? | Games lost by points.
    tiebreak_losses | tie-break, lost | count? | Games lost by tie-break.
    forfeits | forfeit, lost | count? | Games lost by forfeit.
    """)
WINS: Final = list_columns(f"""
    wins.csv
    bot | Bot | text | The bot; empty for all bots, where a game counts for both of its bots.
    round | After round | count | After the last round is the end of the game, whenever it came; \
        after the others only games that went on are counted.
    source | Source | text | Where points come from (R12-R14), their total, or the cities taken.
    games | Games | count | Games that were counted; forfeits are left out.
    ahead | Ahead | share | The share of them in which the bot had more than its opponent.
    won | Won | share | The share of these that it won, a draw as one half.
    won_low won_high | Won | share | The 95 % interval of this share, by pairs.
    by_city | By City | share | The share of these that it won by City.
    by_city_low by_city_high | By City | share | The 95 % interval of this share, by pairs.
    in_wins | In wins | number | Its mean number of points, or cities, in games that it won.
    in_wins_low in_wins_high | In wins | number | {MEAN_END}
    in_losses | In losses | number | The same in games that it lost.
    in_losses_low in_losses_high | In losses | number | {MEAN_END}
    """)
TAKES: Final = list_columns(f"""
    takes.csv
    bot | Bot
    round | Round | count? | The round of the game, 1 to 4; empty for all rounds.
    action | Action | count? | Which of the bot's actions in the round the take was, from 1 on; \
        empty for all.
    takes | Takes | count | How many takes there were.
    share | Share | share | Their share of the bot's takes in this round; in a whole round's row, \
        of all.
    share_low share_high | Share | share | The 95 % interval of a share (Wilson).
    cards | Cards | number | The mean number of cards that a take brought.
    cards_low cards_high | | number
    gain | Gain | number | Points by which a take made its pile worth more, on average.
    gain_low gain_high | Gain | number | {MEAN_END}
    """)
CARDS: Final = list_columns("""
    cards.csv
    bot | Bot
    card | Card | text | A kind: 5 to 8, alliances 2 to 4, betrayals x to z, C.
    games | Games | count
    played | Played | number | Cards of this kind that it played in a game, on average.
    played_low played_high | | number
    taken | Taken | number | Cards of this kind that it took in a game, on average.
    taken_low taken_high | | number
    won | Won | share | The score of the bot that took such a card, counted by cards. It goes with \
        the card, and need not come from it: who is ahead takes better cards.
    won_low won_high | Won | share | The 95 % interval of this share, by pairs of games.
    """)
FAULTS: Final = list_columns("""
    faults.csv
    game | Game | text | Both bots, the pair, and the seat of the first bot.
    bot | Bot
    kind | Kind | text | What the bot did wrong.
    ply | Ply | count | How many actions the game had before the fault.
    message | Message | text | What is known of the fault.
    traceback | | | Of an exception.
    output | | | What the bot printed in this game.
    command | Command | code | The command that plays the game again.
    """)
FAULT_KINDS: Final = list_columns(f"""
    -
    bot | Bot
    kind | Kind | text | What a bot did wrong: {_KINDS}; max_faults counts games not played after \
        too many faults.
    games | Games | count
    """)
TIMINGS: Final = list_columns("""
    timings.csv
    bot | Bot
    decisions | Decisions | count | How many decisions were timed.
    cpu_mean | Time | seconds | Mean seconds of the processor for a decision.
    cpu_p99 | Time, 99 % | seconds | 99 of 100 decisions took at most these seconds.
    cpu_max | Slowest | seconds | Seconds of the processor for the longest decision.
    wall_mean | Wall time | seconds | Mean seconds of a decision by the wall clock.
    wall_p99 | | seconds | The same as `cpu_p99` by the wall clock.
    wall_max | Slowest, wall | seconds | Seconds of the longest decision by the wall clock.
    """)
UNRESOLVED: Final = list_columns("""
    -
    bot
    opponent
    further_pairs | | count?
    """)
GAMES: Final = list_columns("""
    games.csv
    bot | | | The label of the bot that sat in `seat`.
    opponent | | | The label of the bot in the other seat.
    pair | | count | The number of the deal in this pairing, from 0 on.
    seat | | count | The seat of `bot`: seat 0 begins rounds 1 and 3.
    winner | | | The label of the winner; empty for a draw.
    win_type | | | How the game ended: city, points, tiebreak, forfeit or draw.
    points | | count | The points of `bot` when the game ended (R12 to R15).
    opponent_points | | count | Those of the opponent.
    plies | | count | How many actions were played.
    fault | | | What the loser of a forfeit did wrong; else empty.
    """)
LEAGUE: Final = list_columns("""
    league.csv
    bot | Bot | text | Its name; the page behind it has its versions and games.
    rank | Rank | count? | Its place among the active ones; empty before its first games.
    version | Version | count | Of the bytes that were submitted under the name.
    new | New | text | What the last round has rated for the first time: the bot, or its version.
    owner | Owner | text | Who submitted it.
    elo | Elo | elo | By all pairs ever played; the mean of the arena's own bots is fixed.
    elo_low | Elo | elo | The 95 % interval, which includes who was met.
    elo_high | Elo | elo
    course | Course | code | Its Elo after the last rounds that it played, of all versions, and now.
    group | Group | code | Bots with a common letter were not told apart.
    pairs | Pairs | count | Deals that it has played, each twice.
    note | Note | text | What its owner has to know.
    state | | | Whether it is active, or suspended for its faults.
    faults | | count | Of all versions of the name.
    """)


TABLES: Final[Mapping[TableName, TableColumns]] = {
    cast("TableName", one.file.removesuffix(".csv")): one
    for one in (STANDINGS, HEAD_TO_HEAD, WIN_TYPE_TABLE, VERDICTS, WINS, TAKES, CARDS)
}
"""The tables that are made of counted games, by the names of their files."""

_DEAL_END: Final = "The 95 % interval by deals, in the first row corrected for early stopping."
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
    error | | number | The standard error of the difference.
    """)
DECIDED: Final = list_columns("""
    decided.csv
    game | Game | text | The new version's game: bot/opponent/pair/seat.
    old_game | Old version's game | text | The game on the same deal.
    ply | Ply | count | The first at which the two games differ.
    opponent
    pair | | count | The number of the deal.
    seat | | count | The seat of the new version.
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
        corrected for early stopping.
    sure | Sure | text | Whether the lead is significant when all parts are looked at together; \
        empty if that was not asked.
    """)

SIGNIFICANCE: Final = Column(
    "sure",
    "Verdict",
    "text",
    "Whether the difference is significant when all differences of this table are looked at "
    "together (Benjamini and Hochberg 1995, at 5 %).",
)
