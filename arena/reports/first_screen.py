"""Make the first screen of a report: a sentence, a row for each bot, and what to do next.

A row has the rating with its interval, drawn, and one bar of how its games ended.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final, NamedTuple

import msgspec
from markupsafe import Markup

from arena.differences.comparison import Compared, SprtResult, comparison_command
from arena.errors import LABEL_WIDTH, arena_command, counted, pad, wrapped
from arena.reports.axis import Lead, Scale, strip, write_lines
from arena.statistics.number_texts import write_ends, write_whole
from arena.store.columns import Columns
from arena.tables.headline import Headline
from arena.tables.standings_text import short_names
from arena.tournament.tournament import Tournament, name_bots

ENDINGS: Final = {
    # class of the page: (name, column of wins, column of losses)
    "city": ("City", "city_wins", "city_losses"),
    "points": ("points", "points_wins", "points_losses"),
    "tiebreak": ("tie-break", "tiebreak_wins", "tiebreak_losses"),
    "forfeit": ("forfeit", "forfeit_wins", "forfeits"),
}
"""How a game ends, in the order of the wins in a bar; losses come in the opposite order."""

_TALL = 46  # pixels of a row
_GO_ON, _PLAY_ON = "Go on", "Play on"
MOST_RUNGS = 50
"""The most bots of a first screen; the table of standings has all of them."""


class Part(NamedTuple):
    """A part of a bar, in percent of its width: the games that ended in one way."""

    shape: str
    start: float
    width: float


class Rung(NamedTuple):
    """A row of the ladder; places are in percent of the width of the ratings.

    `low` and `high` are the ends of the interval, at the edge where an end is not known; the rating
    is then a guess, and has no `dot`. `verdict` is that on this bot and the next one. Without a
    rank it is a bot of the scale.
    """

    rank: int | None
    bot: str
    link: str
    elo: str
    dot: float | None
    low: float
    high: float
    rating: str
    parts: Sequence[Part]
    score: float
    ended: str
    verdict: str

    @property
    def percent(self) -> str:
        """The score in whole per cent."""
        return write_whole(self.score)

    def draw_rating(self) -> Markup:
        """Return the picture of its rating."""
        dots = [(self.low, self.dot, self.high, "ink")] if self.elo else []
        return strip(_TALL, f"{self.bot}: {self.rating}", dots=dots)

    def draw_ends(self) -> Markup:
        """Return the picture of how its games ended, and of its score."""
        score = round(100 * self.score, 2)
        bars = [(one.start, one.width, f"bar {one.shape.replace('-', ' ')}") for one in self.parts]
        said = f"{self.bot}: {self.ended}"
        return strip(_TALL, said, lines=[(50, "half")], bars=bars, above=[(score, "cut")])


class Forfeiting(NamedTuple):
    """A bot that forfeited games: how many, why, and where its first fault is shown."""

    bot: str
    said: str
    link: str
    where: str = "The first game"


@dataclass(frozen=True)
class Ladder:
    """The rows of a first screen, the best bot first.

    `ticks` are the places of round ratings, `step` Elo apart; `endings` are the kinds that occur.
    `left` is the number of bots without a row. The rows may be those `of_league`.
    """

    rungs: Sequence[Rung]
    ticks: Sequence[tuple[float, str]]
    step: int
    endings: Sequence[str]
    left: int = 0
    of_league: bool = False

    @property
    def lines(self) -> str:
        """The lines of round ratings, as a style of all rows."""
        return write_lines([(place, False) for place, _ in self.ticks])

    def legend(self) -> Iterator[tuple[str, str]]:
        """Yield the class and the name of each kind of ending."""
        return ((kind, ENDINGS[kind][0]) for kind in self.endings)


@dataclass(frozen=True)
class Opening:
    """A first screen; `task` says in words what `command` does next, or the page of `link`.

    `more` is said later, in the section of the name `beside`, by default the first one. It has
    the ladder of all bots, or the lead of one over another.
    """

    extent: str
    sentence: str
    more: Sequence[str]
    ladder: Ladder | None
    forfeiting: Sequence[Forfeiting] = ()
    task: str = ""
    command: str = ""
    lead: Lead | None = None
    beside: str = ""
    link: str = ""

    @property
    def continues(self) -> bool:
        """Whether the command continues this run, in its folder."""
        return self.task in (_GO_ON, _PLAY_ON)

    def lines(self) -> Iterator[TextLine]:
        """Yield the lines of a first screen in a terminal of 80 columns, without its task."""
        yield TextLine(self.extent)
        yield from map(TextLine, wrapped(self.sentence))
        for one in self.forfeiting:
            yield from map(TextLine, wrapped(f"! {one.bot} {one.said}"))
        yield TextLine("")
        if self.lead:
            yield from _format_lead(self.lead)
        if self.ladder and self.ladder.rungs:
            yield from _format_ladder(self.ladder)


def make_ladder(standings: Columns, verdicts: Columns) -> Ladder:
    """Return the rows of the first bots of the standings."""
    rows = standings.where(slice(MOST_RUNGS)).dicts()
    nexts = {row[:2]: row[2] for row in verdicts.rows(["bot", "opponent", "verdict"])}
    return lay_out(rows, nexts, [], len(standings) - len(rows))


def lay_out(
    rows: Sequence[Mapping[str, Any]],
    verdicts: Mapping[tuple[str, str], str],
    links: Sequence[str | None],
    left: int = 0,
    *,
    of_league: bool = False,
) -> Ladder:
    """Return the rows of some bots, from those of a table; `verdicts` are on neighbours."""
    ends = (row[name] for row in rows for name in ("elo", "elo_low", "elo_high"))
    scale = Scale([end for end in ends if end is not None])
    below = [*(row["bot"] for row in rows[1:]), None][: len(rows)]
    rungs = [
        _rung(row, scale, link or "", verdicts.get((row["bot"], other or "")))
        for row, link, other in zip_longest(rows, links, below)
    ]
    shapes = {part.shape.partition("-")[0] for rung in rungs for part in rung.parts}
    seen = [kind for kind in ENDINGS if kind in shapes]
    ticks = [(scale.place(value), f"{value}") for value in scale.round_values()]
    return Ladder(rungs, ticks, scale.step, seen, left, of_league)


def _rung(row: Mapping[str, Any], scale: Scale, link: str, verdict: str | None) -> Rung:
    elo, low, high = row["elo"], row["elo_low"], row["elo_high"]
    is_guess, ends = low is None or high is None, write_ends(low, high)
    said = f"{ends} Elo (95 %)" if is_guess else f"{elo:.0f} Elo, 95 %: {ends}"
    return Rung(
        row["rank"],
        row["bot"],
        link,
        "" if elo is None else _write_bound(low, high) if is_guess else f"{elo:.0f}",
        None if is_guess else scale.place(elo),
        0.0 if low is None else scale.place(low),
        100.0 if high is None else scale.place(high),
        "not rated" if elo is None else said,
        [*_parts(row)],
        row["score"],
        _describe(row),
        verdict or "",
    )


def _write_bound(low: float | None, high: float | None) -> str:
    """Return the only known end of an interval in few letters.

    >>> _write_bound(2040.4, None), _write_bound(None, 871.6), _write_bound(None, None)
    ('≥2040', '≤872', '?')
    """
    return f"≤{high:.0f}" if high is not None else "?" if low is None else f"≥{low:.0f}"


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


_NOTHING, _MINE = ("", ""), "./my_bot.py"
_ROUND_PAIRS = 100  # in a command that plays more


def suggest_next(tournament: Tournament, found: Headline) -> tuple[str, str]:
    """Return what to do next in words, and its command; both are empty if no words name the bots.

    Two first bots that are not apart are compared; else the first one is challenged.
    """
    top = found.top
    if top is None:
        return _NOTHING
    if top.verdict.word == "apart":
        return _suggest(tournament, "Challenge the first", "play", [top.bot], _MINE)
    return _suggest(tournament, "Settle first place", "compare", [top.bot, top.second])


def suggest_after(tournament: Tournament, result: SprtResult, found: Compared) -> tuple[str, str]:
    """Return what to do after a comparison in words, and its command, both empty if nothing.

    One that is not finished continues. Else the stronger one is challenged, and if none surely is,
    more pairs are played.
    """
    if tournament.rules.changes():
        return _NOTHING
    if not found.finished:
        return _GO_ON, result.command
    if found.claim in ("better", "weaker"):
        stronger = result.new if found.claim == "better" else result.old
        return _suggest(tournament, "Challenge the stronger one", "compare", [stronger], _MINE)
    if found.claim is None or not found.further_pairs or not result.command:
        return _NOTHING
    pairs = result.evidence.pairs + found.further_pairs
    whole = math.ceil(pairs / _ROUND_PAIRS) * _ROUND_PAIRS
    more = msgspec.structs.replace(result.stop, max_pairs=max(whole, result.stop.max_pairs))
    return _PLAY_ON, comparison_command(tournament, more)


def _suggest(
    tournament: Tournament, task: str, verb: str, labels: Sequence[str], *others: str
) -> tuple[str, str]:
    """Return a task and its command with some bots after the others, if words can name them."""
    named = name_bots([tournament.by_label[label] for label in labels])
    if named is None or tournament.rules.changes():
        return _NOTHING
    specs, lane = named
    return task, arena_command(verb, [*others, *specs], lane)


_WIDE = 80  # columns of a terminal
_AXIS, _LEAD, _BAR = 13, 60, 20  # of an interval, of a lead, and of how games ended
_LETTERS: Final = {kind: name[0].upper() for kind, (name, *_) in ENDINGS.items()}


class TextLine(NamedTuple):
    """A line of a first screen in a terminal; its last part is the `bar` of how games ended."""

    text: str
    bar: str = ""


def _format_lead(lead: Lead) -> Iterator[TextLine]:
    name = short_names([lead.new, lead.old], _LEAD - 20).of(lead.new)
    yield TextLine(f"{name} {lead.text}, {lead.verdict}")
    yield TextLine(f"  {_draw(_LEAD, lead.low, lead.high, lead.dot, lead.zero)}")
    yield TextLine(f"  {_label(lead.ticks)}".rstrip())


def _format_ladder(ladder: Ladder) -> Iterator[TextLine]:
    head = f"{'rank':>4}  {'bot':<{LABEL_WIDTH}} {'elo':>5} {'95 %':^{_AXIS}} {'score':>6}"
    yield TextLine(f"{head} {'City':>6}  how games ended")
    names = short_names((rung.bot for rung in ladder.rungs), LABEL_WIDTH)
    for rung in ladder.rungs:
        axis = (
            _draw(_AXIS, rung.low, rung.high, rung.dot) if rung.elo else f"{'not rated':^{_AXIS}}"
        )
        label = pad(names.of(rung.bot), LABEL_WIDTH)
        city = sum(part.width for part in rung.parts if part.shape == "city-won") / 100
        shares = f"{rung.score:>6.1%} {city:>6.1%}"
        yield TextLine(
            f"{rung.rank or '-':>4}  {label} {rung.elo:>5} {axis} {shares}  ",
            "".join(_spell(part) for part in rung.parts),
        )
    if ladder.left:
        table = "site/league.csv" if ladder.of_league else "standings.csv"
        yield TextLine(f"{ladder.left:,} more in {table}")
    named = [f"{_LETTERS[kind]} {name}" for kind, name in ladder.legend()]
    is_drawn = any(part.shape == "draw" for rung in ladder.rungs for part in rung.parts)
    said = ", ".join([*named, *["= draw"] * is_drawn])
    yield TextLine(f"{said}; small letters: lost; {100 // _BAR} % each")


def _spell(part: Part) -> str:
    """Return a part of a bar as letters."""
    start, end = (round(place * _BAR / 100) for place in (part.start, part.start + part.width))
    kind, _, side = part.shape.partition("-")
    letter = _LETTERS.get(kind, "=")
    return (letter.lower() if side == "lost" else letter) * (end - start)


def _draw(width: int, low: float, high: float, dot: float | None, zero: float | None = None) -> str:
    """Draw an interval with characters; places are in percent.

    >>> _draw(11, 20, 60, 40, 0)
    '| --o--    '
    """
    cells = [" "] * width
    first, last = (round(place * (width - 1) / 100) for place in (low, high))
    cells[first : last + 1] = "-" * (last + 1 - first)
    for place, mark in (zero, "|"), (dot, "o"):
        if place is not None:
            cells[round(place * (width - 1) / 100)] = mark
    return "".join(cells)


def _label(ticks: Sequence[tuple[float, str]]) -> str:
    """Return the labels of an axis, each around its place, as many as there is room for."""
    line = ""
    for place, label in ticks:
        start = max(0, round(place * (_LEAD - 1) / 100) - len(label) // 2)
        if not line or start > len(line):
            line = f"{line:<{start}}{label}"
    return line
