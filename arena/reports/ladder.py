"""Make the first screen of a report: a sentence, a row for each bot, and what to do next.

A row has the rating with its interval, drawn, and one bar of how its games ended.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arena.errors import counted
from arena.statistics.wording import write_ends
from arena.tables.summary import plain_rows

if TYPE_CHECKING:
    import pandas as pd

ENDINGS: Final = {
    # class of the page: (name, column of wins, column of losses)
    "city": ("City", "city_wins", "city_losses"),
    "points": ("points", "points_wins", "points_losses"),
    "tiebreak": ("tie-break", "tiebreak_wins", "tiebreak_losses"),
    "forfeit": ("forfeit", "forfeit_wins", "forfeits"),
}
"""How a game ends, in the order of the wins in a bar; losses come in the opposite order."""

MOST_RUNGS = 50
"""The most bots of a first screen; the table of standings has all of them."""

_STEPS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
_MOST_LINES = 6
_MARGIN = 0.04  # of the width, left and right of all intervals


class Part(NamedTuple):
    """A part of a bar, in percent of its width: the games that ended in one way."""

    shape: str
    start: float
    width: float


class Lately(NamedTuple):
    """What the row of a bot in a league has besides.

    It rose by `moved` ranks, None for a bot that is new. `city` is the share of its games that it
    won by City, `at` the day of its last submission. `lines` are its ratings by round, a line for
    each version: points in percent of the width and of the height; the last one is at `end`.
    """

    moved: int | None
    city: float
    at: str
    lines: Sequence[str] = ()
    end: tuple[float, float] | None = None


class Rung(NamedTuple):
    """A row of the ladder; places are in percent of the width of the ratings.

    `low` and `high` are the ends of the interval, at the edge where an end is not known. `verdict`
    is that on this bot and the next one.
    """

    rank: int
    bot: str
    link: str
    elo: str
    dot: float
    low: float
    high: float
    rating: str
    parts: Sequence[Part]
    score: float
    ended: str
    verdict: str
    lately: Lately | None = None


class Forfeiting(NamedTuple):
    """A bot that forfeited games: how many, why, and where its first fault is shown."""

    bot: str
    said: str
    link: str
    where: str = "Its first one"


@dataclass(frozen=True)
class Ladder:
    """The rows of a first screen, the best bot first.

    `lines` are the places of round ratings, `step` Elo apart; `endings` are the kinds that occur.
    `left` is the number of bots without a row. In a league ranks have moved `since` a round.
    """

    rungs: Sequence[Rung]
    lines: Sequence[float]
    step: int
    endings: Sequence[str]
    left: int = 0
    since: str = ""

    def legend(self) -> Iterator[tuple[str, str]]:
        """Yield the class and the name of each kind of ending."""
        return ((kind, ENDINGS[kind][0]) for kind in self.endings)


@dataclass(frozen=True)
class Opening:
    """A first screen; `task` says in words what `command` does next, and `more` is said later."""

    extent: str
    sentence: str
    more: Sequence[str]
    ladder: Ladder
    forfeiting: Sequence[Forfeiting] = ()
    task: str = ""
    command: str = ""


def make_ladder(
    standings: pd.DataFrame, verdicts: pd.DataFrame, links: Sequence[str | None]
) -> Ladder:
    """Return the rows of the first bots of the standings.

    `links` are the targets of their names, as many as there are.
    """
    rows = plain_rows(standings.head(MOST_RUNGS))
    nexts = {(row["bot"], row["opponent"]): row["verdict"] for row in plain_rows(verdicts)}
    return lay_out(rows, nexts, links[: len(rows)], len(standings) - len(rows))


def lay_out(
    rows: Sequence[Mapping[str, Any]],
    verdicts: Mapping[tuple[str, str], str],
    links: Sequence[str | None],
    left: int = 0,
    since: str = "",
) -> Ladder:
    """Return the rows of some bots, from those of a table; `verdicts` are on neighbours.

    A row of a league has `lately` as well.
    """
    scale = _Scale([end for row in rows for end in _ends(row)])
    below = [*(row["bot"] for row in rows[1:]), None]
    rungs = [
        _rung(row, scale, link or "", verdicts.get((row["bot"], other or "")))
        for row, link, other in zip_longest(rows, links, below)
    ]
    seen = [
        kind
        for kind, (_, won, lost) in ENDINGS.items()
        if any((row[won] or 0) + (row[lost] or 0) for row in rows)
    ]
    return Ladder(rungs, scale.lines(), scale.step, seen, left, since)


def _ends(row: Mapping[str, Any]) -> Iterator[float]:
    return (row[name] for name in ("elo", "elo_low", "elo_high") if row[name] is not None)


class _Scale:
    """The horizontal axis of the ratings, in percent."""

    def __init__(self, elos: Sequence[float]) -> None:
        low, high = min(elos, default=0), max(elos, default=0)
        margin = max(high - low, 1) * _MARGIN
        self.low, self.high = low - margin, high + margin
        width = self.high - self.low
        self.step = next((one for one in _STEPS if width / one <= _MOST_LINES), _STEPS[-1])

    def place(self, elo: float) -> float:
        return round(100 * (elo - self.low) / (self.high - self.low), 2)

    def lines(self) -> list[float]:
        first = math.ceil(self.low / self.step)
        last = math.floor(self.high / self.step)
        return [self.place(number * self.step) for number in range(first, last + 1)]


def _rung(row: Mapping[str, Any], scale: _Scale, link: str, verdict: str | None) -> Rung:
    elo, low, high = row["elo"], row["elo_low"], row["elo_high"]
    return Rung(
        row["rank"],
        row["bot"],
        link,
        "" if elo is None else f"{elo:.0f}",
        -1.0 if elo is None else scale.place(elo),
        0.0 if low is None else scale.place(low),
        100.0 if high is None else scale.place(high),
        "not rated" if elo is None else f"{elo:.0f} Elo, 95 %: {write_ends(low, high)}",
        [*_parts(row)],
        row["score"],
        _describe(row),
        verdict or "",
        row.get("lately"),
    )


def _parts(row: Mapping[str, Any]) -> Iterator[Part]:
    """Yield the parts of a bar that have a game: wins, draws, and losses in the opposite order."""
    if row["forfeits"] is None:  # how games ended is not known
        return
    won = [(f"{kind}-won", row[column]) for kind, (_, column, _) in ENDINGS.items()]
    lost = [(f"{kind}-lost", row[column]) for kind, (_, _, column) in reversed(ENDINGS.items())]
    start = 0
    for shape, games in [*won, ("draw", row["draws"]), *lost]:
        if games:
            share = 100 / row["games"]
            yield Part(shape, round(start * share, 3), round(games * share, 3))
        start += games


def _describe(row: Mapping[str, Any]) -> str:
    """Return how the games of a bot ended, in words."""
    games = counted(row["games"], "game")
    if row["forfeits"] is None:
        return f"{row['score']:.1%} of {games}"
    won = [f"{row[column]:,} by {name}" for name, column, _ in ENDINGS.values() if row[column]]
    lost = [f"{row[column]:,} by {name}" for name, _, column in ENDINGS.values() if row[column]]
    draws = [f"{row['draws']:,} drawn"] * bool(row["draws"])
    said = [f"won {', '.join(won) or 'none'}", *draws, f"lost {', '.join(lost) or 'none'}"]
    return f"of {games} {'; '.join(said)}"
