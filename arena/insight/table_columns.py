"""List the columns of every table: name in CSV, title, format and meaning in reports.

A column that is only in the CSV file has no title. A file that is written (`arena.insight`) has the
columns in this order; a report shows those with a title, and its glossary has their meanings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from arena.lanes.faults import KINDS

Kind: TypeAlias = Literal[
    "text", "code", "count", "number", "elo", "change", "share", "points", "chance", "seconds"
]
"""How the cells of a column are written; all but the first two are sorted as numbers.

A share is 0 to 1 and written in per cent, points are such a difference in percentage points, a
change has its sign, and a chance is a probability, which is never written as 0 or 1.
"""


@dataclass(frozen=True)
class Column:
    """A column of a table: its name in CSV, its title, and its sentence in the glossary."""

    name: str
    title: str = ""
    kind: Kind = "text"
    meaning: str = ""


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table, and the CSV file that has them, empty where none has."""

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


def interval(name: str, title: str, kind: Kind, meaning: str) -> Iterator[Column]:
    """Yield the columns of both ends of an interval; they have no title where `title` is empty."""
    for end in ("low", "high"):
        yield Column(f"{name}_{end}", f"{title}, {end}" if title else "", kind, meaning)


def plain(*names: str, **meanings: str) -> Iterator[Column]:
    """Yield columns that are only in the CSV file: first those with a name alone, then others."""
    yield from map(Column, names)
    for name, meaning in meanings.items():
        yield Column(name, meaning=meaning)


WIN_TYPES: Final[Mapping[str, str]] = {
    "city": "City",
    "points": "points",
    "tiebreak": "tie-break",
    "forfeit": "forfeit",
}
"""How each win type is named where people read it."""

LOSS_COLUMNS: Final[Mapping[str, str]] = {
    **{name: f"{name}_losses" for name in ("city", "points", "tiebreak")},
    "forfeit": "forfeits",
}
"""The column of the games that were lost by each win type."""

_BOT: Final = Column("bot", "Bot")
_GAMES: Final = Column("games", "Games", "count")
_ENDS: Final = (*(f"{name}_wins" for name in WIN_TYPES), *LOSS_COLUMNS.values())
MEAN_END: Final = "The 95 % interval of a mean, with the pair as unit."
_SHARE_END: Final = "The 95 % interval of a share (Wilson)."
_SCORE_END: Final = (
    "The 95 % interval of the score, by pairs of games: where it leaves out 50 %, one bot is "
    "better in this pairing."
)
_ELO: Final = (
    "The rating, by a Bradley-Terry fit to all games: 100 points more are a score of 64 % against "
    "each other; the mean is 1500 unless the run has an anchor."
)
_ELO_END: Final = (
    "The interval of the Elo, from pairs of games: in 95 of 100 runs all of them hold what endless "
    "play of every two bots would show. A bot that has won every game has no upper end, one that "
    "has lost every game no lower: its Elo is a guess, and does not count for the mean."
)
_GROUP: Final = (
    "Two bots that share a letter are not apart by these games. Of two bots that share none the "
    "upper one is the stronger one: in at most 5 of 100 runs is any such order of the table wrong."
)

STANDINGS: Final = TableColumns(
    "standings.csv",
    (
        Column("rank", "Rank", "count", "The place by Elo; equal ones share it."),
        Column("bot", "Bot", "text", "The bot's label in this run."),
        Column("elo", "Elo", "elo", _ELO),
        *interval("elo", "Elo", "elo", _ELO_END),
        Column("games", "Games", "count", "Finished games; each deal is played twice."),
        *plain(wins="Games won, in whatever way."),
        Column("draws", "Draws", "count", "Games that were shared (R18)."),
        Column("losses", "Losses", "count", "Games lost, in whatever way."),
        Column("score", "Score", "share", "The share of the points: a win is 1, a draw is 1/2."),
        Column("city_wins", "City", "count", "Games won by holding all three cities (R11)."),
        Column("points_wins", "Points", "count", "Games won by the higher total (R16)."),
        Column("tiebreak_wins", "Tie-break", "count", "Games won on equal totals (R17, R18)."),
        Column("forfeit_wins", "Forfeit wins", "count", "Games won by a fault of the opponent."),
        *plain("city_losses", "points_losses", "tiebreak_losses"),
        Column("forfeits", "Forfeits", "count", "Games lost by a fault of the bot's own."),
        Column(
            "mean_margin",
            "Margin",
            "number",
            "The mean of own points less the opponent's, over games that did not end by City or "
            "forfeit.",
        ),
        Column("group", "Group", "text", _GROUP),
    ),
)
HEAD_TO_HEAD: Final = TableColumns(
    "head_to_head.csv",
    (
        _BOT,
        Column("opponent", "Opponent", "text", "The other bot of the pairing."),
        _GAMES,
        *plain("wins", "draws", "losses"),
        Column("score", "Score", "share"),
        *interval("score", "Score", "share", _SCORE_END),
        Column("city_wins", "City", "count"),
        Column("points_wins", "Points", "count"),
        Column("tiebreak_wins", "Tie-break", "count"),
        Column("forfeit_wins", "Forfeit wins", "count"),
        Column("expected", "By Elo", "share", "The score that the ratings of both bots say."),
        Column(
            "residual",
            "Beyond Elo",
            "points",
            "The score less what the ratings say: a share in the file, and percentage points "
            "in a report.",
        ),
        *plain(residual_z="The residual in standard errors, those of the luck of the pairs."),
        Column(
            "residual_q",
            "q",
            "chance",
            "The p-value of what is beyond the Elo, corrected for the number of pairings "
            "(Benjamini and Hochberg 1995): below 0.05 the Elo does not explain this pairing.",
        ),
    ),
)
WIN_TYPE_TABLE: Final = TableColumns(
    "win_types.csv",
    (
        _BOT,
        Column("seat", "Seat", "count", "Seat 0 begins rounds 1 and 3, seat 1 rounds 2 and 4."),
        _GAMES,
        *plain("wins"),
        Column("draws", "Draws", "count"),
        *plain("losses"),
        *(
            Column(f"{name}_wins", f"{title}, won", "count", f"Games won by {title}.")
            for name, title in WIN_TYPES.items()
        ),
        *(
            Column(LOSS_COLUMNS[name], f"{title}, lost", "count", f"Games lost by {title}.")
            for name, title in WIN_TYPES.items()
        ),
    ),
)
SEATS: Final = TableColumns(
    "seats.csv",
    (
        _BOT,
        *plain("opponent"),
        Column("seat", "Seat", "count"),
        _GAMES,
        *plain("wins", "draws", "losses"),
        Column("score", "Score", "share"),
        *interval("score", "Score", "share", "The 95 % interval of the score, by pairs."),
        *plain(*_ENDS),
        Column(
            "city_share", "City share", "share", "The share of the games that were won by City."
        ),
        *interval("city", "City", "share", "The 95 % interval of the share won by City."),
        Column("mean_margin", "Margin", "number"),
        *plain("margin_low", "margin_high"),
    ),
)
SOURCES: Final = TableColumns(
    "wins_by_source.csv",
    (
        _BOT,
        Column("result", "Result", "text", "Whether the bot won or lost the games of this row."),
        Column(
            "win_type", "Decided by", "text", "By City or by points; points has the tie-breaks."
        ),
        Column("source", "Source", "text", "Where points at the end come from (R12-R14)."),
        _GAMES,
        Column("points", "Points", "number", "The mean of the bot's own points from this source."),
        *interval("points", "Points", "number", MEAN_END),
        Column("lead", "Lead", "number", "The mean of own points less the opponent's."),
        *plain("lead_low", "lead_high"),
    ),
)
TAKES: Final = TableColumns(
    "takes.csv",
    (
        _BOT,
        Column("round", "Round", "count", "The round of the game, 1 to 4; empty for all rounds."),
        Column(
            "action",
            "Action",
            "count",
            "Which of the bot's actions in the round the take was, from 1 on; empty for all.",
        ),
        Column("takes", "Takes", "count", "How many takes there were."),
        Column(
            "share",
            "Share",
            "share",
            "Their share of the bot's takes in this round; in a whole round's row, of all.",
        ),
        *interval("share", "Share", "share", _SHARE_END),
        Column("cards", "Cards", "number", "The mean number of cards that a take brought."),
        *plain("cards_low", "cards_high"),
        Column(
            "gain", "Gain", "number", "Points by which a take made its pile worth more, on average."
        ),
        *interval("gain", "Gain", "number", MEAN_END),
        Column(
            "lead",
            "Lead gained",
            "number",
            "Points by which a take raised the lead, on average.",
        ),
        *plain("lead_low", "lead_high"),
        Column(
            "early", "Early", "share", "Share of takes with fewer than five cards, of a short row."
        ),
        *plain("early_low", "early_high"),
        Column("forced", "Forced", "share", "Share of takes with an empty hand (R8)."),
        *plain("forced_low", "forced_high"),
    ),
)
CARDS: Final = TableColumns(
    "cards.csv",
    (
        _BOT,
        Column("card", "Card", "text", "A kind: 5 to 8, alliances 2 to 4, betrayals x to z, C."),
        *plain("games"),
        Column(
            "played", "Played", "number", "Cards of this kind that it played in a game, on average."
        ),
        *plain("played_low", "played_high"),
        Column(
            "taken", "Taken", "number", "Cards of this kind that it took in a game, on average."
        ),
        *plain("taken_low", "taken_high"),
        Column("sampled", "Games sampled", "count", "Games of which won to adds come."),
        Column("won", "Won", "share", "Games won by who took such a card, counted by cards."),
        Column("expected", "Expected", "share", "The same, as the state before the take said."),
        Column(
            "more",
            "More",
            "points",
            "Won less expected: how much more often than the state said. It goes with the card, "
            "and need not come from it.",
        ),
        *plain("more_low", "more_high"),
        Column(
            "adds",
            "Adds",
            "points",
            "What one such card adds to More, beside the other cards of its take: a correlation, "
            "adjusted, and no cause. `arena worth RUN --intervene` makes the experiment.",
        ),
        *interval("adds", "Adds", "points", MEAN_END),
    ),
)
FAULTS: Final = TableColumns(
    "faults.csv",
    (
        Column("game", "Game", "text", "Both bots, the pair, and the seat of the first bot."),
        _BOT,
        Column("kind", "Kind", meaning="What the bot did wrong."),
        Column("ply", "Ply", "count", "How many actions the game had before the fault."),
        Column("message", "Message", "text", "What is known of the fault."),
        *plain(traceback="Of an exception.", output="What the bot printed in this game."),
        Column("command", "Command", "code", "The command that plays the game again."),
    ),
)
FAULT_KINDS: Final = TableColumns(
    "",
    (
        _BOT,
        Column(
            "kind",
            "Kind",
            "text",
            "What a bot did wrong: "
            + ", ".join(f"{kind} ({one.text})" for kind, one in KINDS.items())
            + "; max_faults counts games not played after too many faults.",
        ),
        _GAMES,
    ),
)
TIMINGS: Final = TableColumns(
    "timings.csv",
    (
        _BOT,
        Column("decisions", "Decisions", "count", "How many decisions were timed."),
        Column("cpu_mean", "Time", "seconds", "Mean seconds of the processor for a decision."),
        Column(
            "cpu_p99", "Time, 99 %", "seconds", "99 of 100 decisions took at most these seconds."
        ),
        Column(
            "cpu_max", "Slowest", "seconds", "Seconds of the processor for the longest decision."
        ),
        Column(
            "wall_mean", "Wall time", "seconds", "Mean seconds of a decision by the wall clock."
        ),
        *plain(wall_p99="The same as `cpu_p99` by the wall clock."),
        Column(
            "wall_max",
            "Slowest, wall",
            "seconds",
            "Seconds of the longest decision by the wall clock.",
        ),
    ),
)
