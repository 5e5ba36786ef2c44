"""Write the pages of a league, as a site that works offline.

No page contains the source or the output of a bot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Final

from arena.addons.league.bot_page import bot_report
from arena.addons.league.inbox import TOKENS
from arena.addons.league.league import League
from arena.addons.league.league_standing import Standing, are_apart, standings, table
from arena.addons.league.league_tables import ACTIVE, SUSPENDED
from arena.errors import counted, name_some, wrapped
from arena.reports.blocks import Report, Section, Table, Text
from arena.reports.first_screen import MOST_RUNGS, Forfeiting, Opening, lay_out
from arena.reports.html import to_html
from arena.store.column_titles import LEAGUE, Column
from arena.store.columns import Columns
from arena.store.csv_files import replace_table
from arena.store.folder import write_text
from arena.tables.headline import say_order

SITE: Final = "site"
"""The folder of the pages, in the league's folder."""

_DAY: Final = timedelta(days=1)
_MOST_REFUSED = 20
_LEAST = 2  # bots in an order

_REFUSED: Final = (Column("at", "When (UTC)", "code"), Column("bot", "Bot"), Column("why", "Why"))


def write_pages(folder: Path) -> Path:
    """Write all pages of the league in a folder; return the index's path."""
    with closing(League(folder)) as league:
        return write_site(league)


def write_site(league: League) -> Path:
    """Write the index, its table, and the pages of all names; return the index's path.

    A round changes the rank and the rating of bots that did not play in it. Raises InputError if a
    file cannot be written.
    """
    folder, found = league.folder / SITE, standings(league)
    for name in sorted({one.name for one in league.ledger.versions()}):
        page = folder / "bots" / f"{name}.html"
        write_text(page, to_html(bot_report(league, name, found)))
    replace_table(folder / LEAGUE.file, Columns.of_rows(*table(league, found)))
    index = folder / "index.html"
    write_text(index, to_html(_index(league, found)))
    return index


def _index(league: League, found: Sequence[Standing]) -> Report:
    """Return the index page: the standings, what has happened, and how to read it."""
    opening = make_opening(league, found)
    rows = [tuple(getattr(one, column.name) for column in LEAGUE.shown) for one in found]
    links = [_link(one) for one in found]
    figures = Table("standings", "Standings", LEAGUE.shown, rows, links)
    sections = [
        Section("standings", "All figures", [figures]),
        *_list_refused(league),
        Section("how", "How to read this", [Text(_HOW)]),
    ]
    labels = [one.bot for one in found]
    title = f"League {_name(league)}"
    return Report(title, [opening.sentence], sections, opening=opening, labels=labels)


_HOW: Final = (
    "Bots without a rank are the arena's own. They are the scale: their mean Elo is fixed, so "
    "numbers of different months compare. A new version of a bot meets the deals of the old one.",
    "A version with too many faults is suspended: it plays no more until its owner hands in "
    "another one. The page of a bot says what to work on.",
)


def _name(league: League) -> str:
    return league.folder.resolve().name


def _link(one: Standing) -> str:
    return f"./bots/{one.bot}.html"


def say_standings(found: Sequence[Standing]) -> str:
    """Return what is sure of the order of the bots that have a rank, as one sentence.

    >>> from arena.addons.league.league_standing import Standing
    >>> rows = [(1, "ann", "a"), (2, "bob", "ab"), (3, "cid", "b")]
    >>> said = [Standing(n, bot, 1, "x", 1, 0, 2, 9, of, "active", "") for n, bot, of in rows]
    >>> say_standings(said)
    'ann is first, but not told apart from bob.'
    """
    rated = [one for one in found if one.rank]
    if len(rated) < _LEAST:
        first = f"{rated[0].bot} is" if rated else "No bot is"
        return f"{first} rated so far, beside the arena's own."
    ends = range(1, len(rated))
    ahead = next((n for n in ends if are_apart(rated[:n], rated[n:])), 0)
    word = "apart" if are_apart(rated[:1], rated[1:2]) else "open"
    return say_order([one.bot for one in rated], word, ahead)


def make_opening(league: League, found: Sequence[Standing]) -> Opening:
    """Return the first screen: a sentence, a row for each bot with a rank, and the scale."""
    rated = [one for one in found if one.rank]
    placed = [one for one in found if one.elo is not None and one.state == ACTIVE]
    shown = placed[:MOST_RUNGS]
    waiting = [one.bot for one in found if one.state == ACTIVE and one.elo is None]
    extent = f"{_name(league)} \u00b7 {counted(len(rated), 'bot')} \u00b7 round {league.number:,}"
    more = [f"Not rated yet: {name_some(waiting)}."] if waiting else []
    if new := [
        one.bot if one.version == 1 else f"{one.bot} {one.version}" for one in found if one.new
    ]:
        more.append(f"New in this round: {name_some(new)}.")
    precise = "are" if league.is_precise() else "are not yet all"
    target = f"{league.settings.target:g} Elo"
    more.append(f"This is after round {league.number:,}; ratings {precise} within {target}.")
    is_web = (league.folder / TOKENS).is_dir()
    return Opening(
        extent,
        say_standings(found),
        more,
        lay_out(
            [*_rows(league, shown)],
            find_verdicts(shown),
            [_link(one) for one in shown],
            len(placed) - len(shown),
            of_league=True,
        ),
        [
            Forfeiting(one.bot, f"is {one.note}", _link(one), "What to do")
            for one in found
            if one.state == SUSPENDED
        ],
        task="Hand in a bot" if is_web else "",
        link="../" if is_web else "",
    )


def format_opening(league: League) -> Iterator[str]:
    """Yield the first screen and what is said with it for a terminal of 80 columns."""
    opening = make_opening(league, standings(league))
    yield from (f"{line.text}{line.bar}".rstrip() for line in opening.lines())
    yield from chain.from_iterable(map(wrapped, opening.more))


def find_verdicts(shown: Sequence[Standing]) -> dict[tuple[str, str], str]:
    """Return the verdict on each two neighbours: `apart`, or `open` if they share a letter."""
    return {
        (one.bot, two.bot): "apart" if are_apart([one], [two]) else "open"
        for one, two in pairwise(shown)
    }


def _rows(league: League, shown: Sequence[Standing]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the ladder: a bot's rating, and how its games ended."""
    labels = {version.name: version.label for version in league.ledger.versions()}
    for one in shown:
        yield {**league.games.totals[labels[one.bot]], **one._asdict()}


def _list_refused(league: League) -> Iterator[Section]:
    """Yield a section with what was refused in the last day, in words of the arena, if anything."""
    since = (league.desk.now() - _DAY).isoformat(timespec="seconds")
    refused = league.ledger.refusals("owner <> '' AND at >= ?", since)[-_MOST_REFUSED:]
    rows = [(one.at[:16].replace("T", " "), one.name, one.public) for one in reversed(refused)]
    if rows:
        title = "Refused since yesterday"
        yield Section("refused", title, [Table("refused", title, _REFUSED, rows)])
